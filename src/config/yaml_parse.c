#include <string.h>

#include <yaml.h>

#include "config/yaml.h"

/* libyaml looks an alias up among all anchors, one by one. */
#define MAX_ANCHORS 256U

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_parser_t, yaml_parser_delete)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_document_t, yaml_document_delete)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(yaml_event_t, yaml_event_delete)

G_GNUC_PRINTF(4, 5)
static bool fail(CcsYamlProblem *problem, uint32_t line, uint32_t column, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    problem->line = line;
    problem->column = column;
    problem->message = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

/* Marks count from 0. The text is limited to CCS_YAML_MAX_BYTES, so the casts lose nothing. */
static uint32_t line_of(yaml_mark_t mark)
{
    return (uint32_t)mark.line + 1;
}

static uint32_t column_of(yaml_mark_t mark)
{
    return (uint32_t)mark.column + 1;
}

static bool fail_at(CcsYamlProblem *problem, yaml_mark_t mark, const char *message)
{
    return fail(problem, line_of(mark), column_of(mark), "%s", message);
}

/* The place of the byte that is @offset bytes behind the start of @text, all valid before it. */
static bool fail_at_byte(CcsYamlProblem *problem, const char *text, size_t offset,
                         const char *message)
{
    uint32_t line = 1;
    const char *line_start = text;

    for (size_t i = 0; i < offset; i++) {
        if (text[i] != '\n')
            continue;
        line++;
        line_start = &text[i + 1];
    }
    size_t n_characters = (size_t)g_utf8_strlen(line_start, (gssize)(&text[offset] - line_start));
    return fail(problem, line, (uint32_t)n_characters + 1, "%s", message);
}

/* Many %TAG lines take libyaml quadratic time before it tells of the first. */
static bool check_no_directive(const char *text, size_t n_bytes, CcsYamlProblem *problem)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (text[i] == '%' && (i == 0 || text[i - 1] == '\n' || text[i - 1] == '\r'))
            return fail_at_byte(problem, text, i,
                                "a line may not start with '%' (YAML directives "
                                "have no use here)");
    }
    return true;
}

static bool check_bytes(const char *text, size_t n_bytes, CcsYamlProblem *problem)
{
    const char *end;

    if (n_bytes > CCS_YAML_MAX_BYTES)
        return fail(problem, 0, 0, "is larger than %zu MiB", CCS_YAML_MAX_BYTES >> 20);
    if (!g_utf8_validate_len(text, n_bytes, &end)) {
        bool is_nul = *end == '\0';
        return fail_at_byte(problem, text, (size_t)(end - text),
                            is_nul ? "a NUL byte: this is no text file"
                                   : "a byte that is not valid UTF-8");
    }
    return check_no_directive(text, n_bytes, problem);
}

static void start_parser(yaml_parser_t *parser, const char *text, size_t n_bytes)
{
    int is_ready = yaml_parser_initialize(parser);

    g_assert(is_ready);
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)text, n_bytes);
}

static bool is_tab_at(const char *text, size_t n_bytes, yaml_mark_t mark)
{
    const char *at = text;

    for (size_t i = 0; i < mark.index && at < text + n_bytes; i++)
        at = ccs_utf8_next(at);
    return at < text + n_bytes && *at == '\t';
}

static bool fail_to_parse(const yaml_parser_t *parser, const char *text, size_t n_bytes,
                          CcsYamlProblem *problem)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return fail(problem, 0, 0, "not enough memory to read it");
    g_autofree char *message = g_strdup_printf("not valid YAML: %s", parser->problem);
    if (parser->error == YAML_READER_ERROR)
        return fail_at_byte(problem, text, MIN(parser->problem_offset, n_bytes), message);
    if (is_tab_at(text, n_bytes, parser->problem_mark))
        return fail_at(problem, parser->problem_mark, "a tab (YAML is indented with spaces)");
    if (parser->context == NULL)
        return fail_at(problem, parser->problem_mark, message);
    return fail(problem, line_of(parser->problem_mark), column_of(parser->problem_mark),
                "%s %s (line %u)", message, parser->context, line_of(parser->context_mark));
}

typedef struct {
    uint32_t n_documents;
    uint32_t n_values;
    uint32_t n_anchors;
    uint32_t depth;
} Tally;

static bool has_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor != NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor != NULL;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor != NULL;
    default:
        return false;
    }
}

static bool count_event(Tally *tally, const yaml_event_t *event, CcsYamlProblem *problem)
{
    yaml_event_type_t type = event->type;
    bool is_start = type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;

    if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT)
        tally->depth--;
    if (type == YAML_DOCUMENT_START_EVENT && ++tally->n_documents == 2)
        return fail_at(problem, event->start_mark, "a second document: a file holds exactly one");
    if (is_start && ++tally->depth > CCS_YAML_MAX_DEPTH)
        return fail_at(problem, event->start_mark, "values are nested too deeply");
    if (has_anchor(event) && ++tally->n_anchors > MAX_ANCHORS)
        return fail_at(problem, event->start_mark, "too many anchors");
    bool is_value = is_start || type == YAML_SCALAR_EVENT || type == YAML_ALIAS_EVENT;
    if (is_value && ++tally->n_values > CCS_YAML_MAX_VALUES)
        return fail_at(problem, event->start_mark, "too many values in one file");
    return true;
}

/* Goes through the text once without keeping anything, so that a text beyond the limits
 * costs no memory. */
static bool check_limits(const char *text, size_t n_bytes, CcsYamlProblem *problem)
{
    g_auto(yaml_parser_t) parser;
    Tally tally = {0};
    bool is_end = false;

    start_parser(&parser, text, n_bytes);
    while (!is_end) {
        g_auto(yaml_event_t) event = {0};
        if (!yaml_parser_parse(&parser, &event))
            return fail_to_parse(&parser, text, n_bytes, problem);
        if (!count_event(&tally, &event, problem))
            return false;
        is_end = event.type == YAML_STREAM_END_EVENT;
    }
    if (tally.n_documents == 0)
        return fail(problem, 0, 0, "is empty");
    return true;
}

typedef struct {
    yaml_document_t *document;
    const yaml_node_t *parents[CCS_YAML_MAX_DEPTH];
    uint32_t depth;
    uint32_t n_values;
    CcsYamlProblem *problem;
} Builder;

static bool is_inside_itself(const Builder *builder, const yaml_node_t *node)
{
    for (uint32_t i = 0; i < builder->depth; i++) {
        if (builder->parents[i] == node)
            return true;
    }
    return false;
}

static bool check_node(Builder *builder, const yaml_node_t *node)
{
    static const char *const tags[] = {YAML_STR_TAG, YAML_SEQ_TAG, YAML_MAP_TAG, NULL};

    if (++builder->n_values > CCS_YAML_MAX_VALUES)
        return fail_at(builder->problem, node->start_mark,
                       "too many values once aliases are replaced");
    if (is_inside_itself(builder, node))
        return fail_at(builder->problem, node->start_mark, "an alias stands inside what it names");
    if (node->type != YAML_SCALAR_NODE && builder->depth == CCS_YAML_MAX_DEPTH)
        return fail_at(builder->problem, node->start_mark, "values are nested too deeply");
    if (!g_strv_contains(tags, (const char *)node->tag))
        return fail_at(builder->problem, node->start_mark, "tags have no use here");
    return true;
}

static CcsYaml *build(Builder *builder, int id);

static bool add_child(Builder *builder, CcsYaml *yaml, int id)
{
    CcsYaml *child = build(builder, id);

    if (child != NULL)
        g_ptr_array_add(yaml->children, child);
    return child != NULL;
}

static bool add_pair(Builder *builder, CcsYaml *yaml, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = yaml_document_get_node(builder->document, pair->key);

    if (key->type != YAML_SCALAR_NODE)
        return fail_at(builder->problem, key->start_mark, "a key must be a word");
    return add_child(builder, yaml, pair->key) && add_child(builder, yaml, pair->value);
}

static bool add_children(Builder *builder, CcsYaml *yaml, const yaml_node_t *node)
{
    if (node->type == YAML_SEQUENCE_NODE) {
        for (int *id = node->data.sequence.items.start; id < node->data.sequence.items.top; id++) {
            if (!add_child(builder, yaml, *id))
                return false;
        }
        return true;
    }
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        if (!add_pair(builder, yaml, pair))
            return false;
    }
    return true;
}

static CcsYaml *build_scalar(Builder *builder, const yaml_node_t *node)
{
    const char *text = (const char *)node->data.scalar.value;

    if (strlen(text) != node->data.scalar.length) {
        fail_at(builder->problem, node->start_mark, "a NUL character in a value");
        return NULL;
    }
    CcsYaml *yaml = ccs_yaml_new(CCS_YAML_SCALAR, text);
    yaml->is_quoted = node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return yaml;
}

static CcsYaml *build_collection(Builder *builder, const yaml_node_t *node)
{
    bool is_list = node->type == YAML_SEQUENCE_NODE;
    g_autoptr(CcsYaml) yaml = ccs_yaml_new(is_list ? CCS_YAML_LIST : CCS_YAML_MAPPING, NULL);

    builder->parents[builder->depth++] = node;
    bool is_complete = add_children(builder, yaml, node);
    builder->depth--;
    return is_complete ? g_steal_pointer(&yaml) : NULL;
}

static CcsYaml *build(Builder *builder, int id)
{
    const yaml_node_t *node = yaml_document_get_node(builder->document, id);

    if (!check_node(builder, node))
        return NULL;
    CcsYaml *yaml = node->type == YAML_SCALAR_NODE ? build_scalar(builder, node)
                                                   : build_collection(builder, node);
    if (yaml != NULL) {
        yaml->line = line_of(node->start_mark);
        yaml->column = column_of(node->start_mark);
    }
    return yaml;
}

CcsYaml *ccs_yaml_parse(const char *text, size_t n_bytes, CcsYamlProblem *ret_problem)
{
    g_auto(yaml_parser_t) parser = {0};
    g_auto(yaml_document_t) document = {0};

    if (!check_bytes(text, n_bytes, ret_problem) || !check_limits(text, n_bytes, ret_problem))
        return NULL;
    start_parser(&parser, text, n_bytes);
    if (!yaml_parser_load(&parser, &document)) {
        fail_to_parse(&parser, text, n_bytes, ret_problem);
        return NULL;
    }
    Builder builder = {.document = &document, .problem = ret_problem};
    return build(&builder, 1);
}
