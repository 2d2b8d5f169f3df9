#include "config/problem.h"

#include <string.h>

/* A long line is shown from this many characters before the place, and no more than so many. */
#define EXCERPT_BEFORE 60U
#define EXCERPT_WIDTH  100U

CcsProblem *ccs_problem_new(const CcsYaml *at, const char *text)
{
    CcsProblem *problem = g_new0(CcsProblem, 1);

    problem->origin = at->origin;
    problem->line = at->line;
    problem->column = at->column;
    problem->text = g_strdup(text);
    return problem;
}

void ccs_problem_free(CcsProblem *problem)
{
    if (problem == NULL)
        return;
    g_free(problem->text);
    g_free(problem);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

int ccs_problem_compare(const void *a, const void *b)
{
    const CcsProblem *first = *(const CcsProblem *const *)a;
    const CcsProblem *second = *(const CcsProblem *const *)b;
    int order = compare_numbers(first->origin, second->origin);

    if (order == 0)
        order = compare_numbers(first->line, second->line);
    if (order == 0)
        order = compare_numbers(first->column, second->column);
    return order != 0 ? order : strcmp(first->text, second->text);
}

char *ccs_problem_place(const char *label, uint32_t line, uint32_t column)
{
    if (line == 0)
        return g_strdup(label);
    return g_strdup_printf("%s:%u:%u", label, line, column);
}

/* The length of the line break at @at, 0 if there is none. */
static size_t break_length(const char *at, const char *end)
{
    static const char *const breaks[] = {"\r\n",     "\n",           "\r",
                                         "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

    if (*at != '\n' && *at != '\r' && *at != breaks[3][0] && *at != breaks[4][0])
        return 0; /* almost every byte of a long text */
    for (size_t i = 0; i < G_N_ELEMENTS(breaks); i++) {
        size_t length = strlen(breaks[i]);
        if ((size_t)(end - at) >= length && memcmp(at, breaks[i], length) == 0)
            return length;
    }
    return 0;
}

static const char *line_end(const char *line, const char *end)
{
    while (line < end && break_length(line, end) == 0)
        line++;
    return line;
}

static const char *find_line(const char *text, const char *end, uint32_t number)
{
    const char *line = text;

    for (uint32_t i = 1; i < number; i++) {
        line = line_end(line, end);
        if (line == end)
            return NULL;
        line += break_length(line, end);
    }
    return line;
}

void ccs_text_place_advance(CcsTextPlace *place, const char *to, const char *end)
{
    while (place->at < to) {
        size_t length = break_length(place->at, end);
        if (length > 0) {
            place->at += length;
            place->line++;
            place->column = 1;
        } else {
            place->at = ccs_utf8_next(place->at);
            place->column++;
        }
    }
}

static void append_printable(GString *to, const char *from, const char *end)
{
    for (const char *c = from; c < end; c = ccs_utf8_next(c)) {
        gunichar character = g_utf8_get_char(c);
        bool is_shown = character == '\t' || g_unichar_isprint(character);
        g_string_append_unichar(to, is_shown ? character : '?');
    }
}

/* One blank per character, but a tab for a tab, so that the caret stands where it should. */
static void append_blanks(GString *to, const char *from, const char *end)
{
    for (const char *c = from; c < end; c = ccs_utf8_next(c))
        g_string_append_c(to, *c == '\t' ? '\t' : ' ');
}

static const char *forward(const char *from, const char *end, uint32_t n_characters)
{
    const char *at = from;

    for (uint32_t i = 0; i < n_characters && at < end; i++)
        at = ccs_utf8_next(at);
    return at;
}

/* @text may be what was refused for not being UTF-8; then nothing is shown of that line. */
char *ccs_problem_excerpt(const char *text, size_t n_bytes, uint32_t line, uint32_t column)
{
    const char *end = text + n_bytes;
    const char *start = line == 0 ? NULL : find_line(text, end, line);

    if (start == NULL || !g_utf8_validate_len(start, (gsize)(line_end(start, end) - start), NULL))
        return g_strdup("");
    end = line_end(start, end);

    const char *caret = forward(start, end, column - 1);
    bool is_cut = column > EXCERPT_WIDTH;
    const char *from = is_cut ? forward(start, end, column - 1 - EXCERPT_BEFORE) : start;
    const char *to = forward(from, end, EXCERPT_WIDTH);
    GString *excerpt = g_string_new(is_cut ? "\n ..." : "\n ");
    append_printable(excerpt, from, to);
    g_string_append(excerpt, to < end ? "...\n " : "\n ");
    g_string_append(excerpt, is_cut ? "   " : "");
    append_blanks(excerpt, from, caret);
    g_string_append_c(excerpt, '^');
    return g_string_free(excerpt, FALSE);
}
