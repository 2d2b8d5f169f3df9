#include "formats/markup.h"

#include <string.h>

#include "base/error.h"
#include "config/problem.h"

#define MAX_ATTRIBUTES 64U /* of an element */

struct CcsMarkup {
    const CcsMarkupText *text;
    const CcsMarkupHandlers *handlers;
    void *data;
    const char *end;        /* of the text */
    CcsTextPlace element;   /* the element told of last */
    const char *attributes; /* the first of them, and where they end */
    const char *behind;
    const char *const *names;
    const char *const *values;
};

static bool fail(const CcsMarkupText *text, CcsMarkupPlace place, const char *what, GError **error)
{
    g_autofree char *where = ccs_problem_place(text->label, place.line, place.column);
    g_autofree char *excerpt =
        ccs_problem_excerpt(text->text, text->n_bytes, place.line, place.column);

    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "%s: error: %s%s", where, what, excerpt);
    return false;
}

bool ccs_markup_fail_at(const CcsMarkupText *text, CcsMarkupPlace place, GError **error,
                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return fail(text, place, what, error);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_name(const char *at, const char *end)
{
    while (at < end && !is_blank(*at) && *at != '=' && *at != '/' && *at != '>')
        at++;
    return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Behind what @begin and @close stand around, if it is at @at; else NULL. */
static const char *skip_between(const char *at, const char *end, const char *begin,
                                const char *close)
{
    if ((size_t)(end - at) < strlen(begin) || memcmp(at, begin, strlen(begin)) != 0)
        return NULL;
    const char *found =
        g_strstr_len(at + strlen(begin), end - at - (ptrdiff_t)strlen(begin), close);
    return found == NULL ? end : found + strlen(close);
}

/* The next start tag from @at on. GMarkup does not tell where elements begin, but it tells of
 * each start tag once, in order, and has found the text until there well-formed. */
static const char *find_tag(const char *at, const char *end)
{
    while (at < end) {
        const char *tag = memchr(at, '<', (size_t)(end - at));
        if (tag == NULL)
            break;
        at = skip_between(tag, end, "<!--", "-->");
        if (at == NULL)
            at = skip_between(tag, end, "<![CDATA[", "]]>");
        if (at == NULL)
            at = skip_between(tag, end, "<?", "?>");
        if (at == NULL)
            at = skip_between(tag, end, "</", ">");
        if (at == NULL)
            return tag;
    }
    return end;
}

/* Goes on from the attribute at @at to the next one. @ret_end is the end of its name. Returns:
 * NULL if there is none at @at. */
static const char *skip_attribute(const char *at, const char *end, const char **ret_end)
{
    if (at >= end || *at == '>' || *at == '/')
        return NULL;
    *ret_end = skip_name(at, end);
    const char *quote = skip_blanks(MIN(skip_blanks(*ret_end, end) + 1, end), end);
    const char *close = quote < end ? memchr(quote + 1, *quote, (size_t)(end - quote - 1)) : NULL;
    return close == NULL ? end : skip_blanks(close + 1, end);
}

/* Where the attribute @name of the element stands, or the one after @n_before others of that name;
 * the element itself if it has none such. */
static CcsMarkupPlace place_of(const CcsMarkup *markup, const char *name, uint32_t n_before)
{
    CcsTextPlace place = markup->element;
    const char *at = markup->attributes;
    const char *behind = NULL;

    while (name != NULL) {
        const char *next = skip_attribute(at, markup->end, &behind);
        if (next == NULL)
            break;
        bool is_it = (size_t)(behind - at) == strlen(name) && memcmp(at, name, strlen(name)) == 0;
        if (is_it && n_before-- == 0) {
            ccs_text_place_advance(&place, at, markup->end);
            break;
        }
        at = next;
    }
    return (CcsMarkupPlace){place.line, place.column};
}

CcsMarkupPlace ccs_markup_place(const CcsMarkup *markup)
{
    return (CcsMarkupPlace){markup->element.line, markup->element.column};
}

const char *ccs_markup_attribute(const CcsMarkup *markup, const char *name)
{
    for (size_t i = 0; markup->names[i] != NULL; i++) {
        if (strcmp(markup->names[i], name) == 0)
            return markup->values[i];
    }
    return NULL;
}

bool ccs_markup_fail(const CcsMarkup *markup, const char *attribute, GError **error,
                     const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return fail(markup->text, place_of(markup, attribute, 0), what, error);
}

char *ccs_markup_shorten(const char *text)
{
    return g_utf8_substring(text, 0, MIN(g_utf8_strlen(text, -1), 40));
}

const char *ccs_markup_text(const CcsMarkup *markup, const char *name, GError **error)
{
    const char *text = ccs_markup_attribute(markup, name);

    if (text == NULL)
        ccs_markup_fail(markup, NULL, error, "'%s' is missing", name);
    return text;
}

bool ccs_markup_number(const CcsMarkup *markup, const CcsMarkupNumber *number, int64_t *ret_number,
                       GError **error)
{
    const char *text = ccs_markup_attribute(markup, number->name);

    if (text == NULL && number->otherwise != CCS_MARKUP_NEEDED) {
        *ret_number = number->otherwise;
        return true;
    }
    if (text == NULL)
        return ccs_markup_fail(markup, NULL, error, "'%s' is missing", number->name);
    if (g_ascii_string_to_signed(text, 10, number->least, number->most, ret_number, NULL))
        return true;
    g_autofree char *shown = ccs_markup_shorten(text);
    return ccs_markup_fail(markup, number->name, error,
                           "'%s' must be a number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                           ", not '%s'",
                           number->name, number->least, number->most, shown);
}

bool ccs_markup_word(const CcsMarkup *markup, const char *name, const char *const *words,
                     uint32_t *ret_index, GError **error)
{
    const char *text = ccs_markup_text(markup, name, error);

    if (text == NULL)
        return false;
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret_index = i;
            return true;
        }
    }
    g_autofree char *shown = ccs_markup_shorten(text);
    g_autofree char *hint = ccs_did_you_mean(text, words);
    g_autoptr(GString) all = g_string_new(NULL);
    for (uint32_t i = 0; words[i] != NULL; i++)
        g_string_append_printf(all, " %s", words[i]);
    return ccs_markup_fail(markup, name, error, "'%s' cannot be '%s'%s; it is one of:%s", name,
                           shown, hint, all->str);
}

/* GMarkup does not mind a name that comes twice, but XML does (section 3.1 of the standard, the
 * constraint on unique attributes). */
static bool check_names(const CcsMarkup *markup, GError **error)
{
    const char *const *names = markup->names;

    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (i == MAX_ATTRIBUTES)
            return ccs_markup_fail(markup, NULL, error, "there are more than %u attributes",
                                   MAX_ATTRIBUTES);
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(names[i], names[j]) != 0)
                continue;
            g_autofree char *shown = ccs_markup_shorten(names[i]);
            g_autofree char *what = g_strdup_printf("'%s' is there twice", shown);
            return fail(markup->text, place_of(markup, names[i], 1), what, error);
        }
    }
    return true;
}

static void start_element(GMarkupParseContext *context, const char *element, const char **names,
                          const char **values, gpointer data, GError **error)
{
    CcsMarkup *markup = data;
    const char *tag = find_tag(markup->behind, markup->end);
    const char *name_end = NULL;

    (void)context;
    ccs_text_place_advance(&markup->element, tag, markup->end);
    markup->attributes =
        skip_blanks(skip_name(MIN(tag + 1, markup->end), markup->end), markup->end);
    for (const char *at = markup->attributes; at != NULL;
         at = skip_attribute(at, markup->end, &name_end))
        markup->behind = at;
    markup->names = names;
    markup->values = values;
    if (check_names(markup, error))
        markup->handlers->start(markup, element, markup->data, error);
}

static void end_element(GMarkupParseContext *context, const char *element, gpointer data,
                        GError **error)
{
    CcsMarkup *markup = data;

    (void)context;
    markup->handlers->end(markup, element, markup->data, error);
}

static CcsMarkupPlace place_in(GMarkupParseContext *context)
{
    int line = 1;
    int column = 1;

    g_markup_parse_context_get_position(context, &line, &column);
    return (CcsMarkupPlace){(uint32_t)line, (uint32_t)MAX(column, 1)};
}

static void refuse_text(GMarkupParseContext *context, const char *text, gsize n_bytes,
                        gpointer data, GError **error)
{
    CcsMarkup *markup = data;

    for (gsize i = 0; i < n_bytes; i++) {
        if (!is_blank(text[i])) {
            fail(markup->text, place_in(context), "there must be no text between the elements",
                 error);
            return;
        }
    }
}

static void refuse_document_type(GMarkupParseContext *context, const char *text, gsize n_bytes,
                                 gpointer data, GError **error)
{
    CcsMarkup *markup = data;
    bool is_comment = n_bytes >= 4 && memcmp(text, "<!--", 4) == 0;

    if (n_bytes >= 2 && text[1] == '!' && !is_comment)
        fail(markup->text, place_in(context), "only elements and comments are read here", error);
}

/* GMarkup's own messages begin with the place, in its words. */
static void translate(const CcsMarkup *markup, GMarkupParseContext *context, const GError *failure,
                      GError **error)
{
    const char *what = failure->message;
    const char *colon = g_str_has_prefix(what, "Error on line") ? strstr(what, ": ") : NULL;
    g_autofree char *valid = g_utf8_make_valid(colon == NULL ? what : colon + 2, -1);

    if (g_ascii_isupper(valid[0]) && g_ascii_islower(valid[1]))
        valid[0] = g_ascii_tolower(valid[0]);
    fail(markup->text, place_in(context), valid, error);
}

bool ccs_markup_parse(const CcsMarkupText *text, const CcsMarkupHandlers *handlers, void *data,
                      GError **error)
{
    static const GMarkupParser parser = {start_element, end_element, refuse_text,
                                         refuse_document_type, NULL};
    CcsMarkup markup = {.text = text,
                        .handlers = handlers,
                        .data = data,
                        .end = text->text + text->n_bytes,
                        .element = {text->text, 1, 1},
                        .attributes = text->text,
                        .behind = text->text};
    g_autoptr(GMarkupParseContext) context =
        g_markup_parse_context_new(&parser, (GMarkupParseFlags)0, &markup, NULL);
    g_autoptr(GError) failure = NULL;

    if (g_markup_parse_context_parse(context, text->text, (gssize)text->n_bytes, &failure) &&
        g_markup_parse_context_end_parse(context, &failure))
        return true;
    if (failure->domain == CCS_ERROR)
        g_propagate_error(error, g_steal_pointer(&failure));
    else
        translate(&markup, context, failure, error);
    return false;
}
