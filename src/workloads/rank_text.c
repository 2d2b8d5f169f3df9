#include "workloads/rank_text.h"

#include <string.h>

#define MAX_DIGITS 9
#define MAX_SHOWN  60

/* A text that is being read from left to right, blanks between words left out. */
typedef struct {
    const char *at;
} Reader;

static void skip_blanks(Reader *reader)
{
    reader->at += strspn(reader->at, " \t");
}

static bool take(Reader *reader, const char *word)
{
    skip_blanks(reader);
    if (!g_str_has_prefix(reader->at, word))
        return false;
    reader->at += strlen(word);
    return true;
}

static bool take_number(Reader *reader, uint32_t *ret_number)
{
    skip_blanks(reader);
    size_t n_digits = strspn(reader->at, "0123456789");
    if (n_digits == 0 || n_digits > MAX_DIGITS)
        return false;
    *ret_number = (uint32_t)g_ascii_strtoull(reader->at, NULL, 10);
    reader->at += n_digits;
    return true;
}

static bool is_at_end(Reader *reader)
{
    skip_blanks(reader);
    return *reader->at == '\0';
}

/* Ranks from first to last by a step. */
typedef struct {
    uint32_t first;
    uint32_t last;
    uint32_t step;
} Range;

static bool take_range(Reader *reader, uint32_t n_ranks, Range *ret_range)
{
    Range range = {0, n_ranks - 1, 1};

    if (!take(reader, "all")) {
        if (!take_number(reader, &range.first))
            return false;
        range.last = range.first;
        if (take(reader, "-") && !take_number(reader, &range.last))
            return false;
    }
    if (take(reader, "/") && !take_number(reader, &range.step))
        return false;
    *ret_range = range;
    return range.step > 0 && range.first <= range.last;
}

static char *add_range(const Range *range, uint32_t n_ranks, bool *is_in, GArray *ranks)
{
    for (uint64_t i = range->first; i <= range->last; i += range->step) {
        uint32_t rank = (uint32_t)i;
        if (rank >= n_ranks)
            return g_strdup_printf("names rank %u, but the job has %u rank%s (0 to %u)", rank,
                                   n_ranks, n_ranks == 1 ? "" : "s", n_ranks - 1);
        if (is_in[rank])
            return g_strdup_printf("names rank %u twice", rank);
        is_in[rank] = true;
        g_array_append_val(ranks, rank);
    }
    return NULL;
}

/* "must be ..., not 'TEXT'", with a long text cut. */
static char *refuse(const char *expected, const char *text)
{
    bool is_long = g_utf8_strlen(text, -1) > MAX_SHOWN;
    g_autofree char *shown = is_long ? g_utf8_substring(text, 0, MAX_SHOWN) : g_strdup(text);

    return g_strdup_printf("must be %s, not '%s%s'", expected, shown, is_long ? "..." : "");
}

char *ccs_rank_set_read(const char *text, uint32_t n_ranks, bool *is_in, GArray *ranks)
{
    static const char expected[] = "ranks such as all, 3, 0-7, 0-6/2 or 0-3, 8";
    Reader reader = {text};
    char *problem = NULL;
    Range range;

    do {
        if (!take_range(&reader, n_ranks, &range))
            return refuse(expected, text);
        problem = add_range(&range, n_ranks, is_in, ranks);
    } while (problem == NULL && take(&reader, ","));
    if (problem == NULL && !is_at_end(&reader))
        return refuse(expected, text);
    return problem;
}

static bool take_operand(Reader *reader, CcsPeerRule *rule)
{
    bool is_minus = false;
    uint32_t number = 0;

    rule->kind = CCS_PEER_RULE_PLUS;
    if (take(reader, "xor"))
        rule->kind = CCS_PEER_RULE_XOR;
    else if (!take(reader, "+") && !(is_minus = take(reader, "-")))
        return true;
    if (!take_number(reader, &number))
        return false;
    rule->operand = is_minus ? -(int64_t)number : number;
    return true;
}

static bool take_modulus(Reader *reader, CcsPeerRule *rule)
{
    uint32_t number = 0;

    if (!take(reader, "mod"))
        return true;
    rule->has_modulus = true;
    if (take(reader, "n"))
        return true;
    rule->modulus = take_number(reader, &number) ? number : 0;
    return rule->modulus > 0;
}

static bool take_rule(Reader *reader, CcsPeerRule *rule)
{
    uint32_t number = 0;

    if (take(reader, "rank"))
        return take_operand(reader, rule) && take_modulus(reader, rule) && is_at_end(reader);
    if (!take_number(reader, &number))
        return false;
    rule->operand = number;
    return is_at_end(reader);
}

char *ccs_peer_rule_read(const char *text, CcsPeerRule *ret_rule)
{
    Reader reader = {text};
    CcsPeerRule rule = {.kind = CCS_PEER_RULE_RANK};

    if (!take_rule(&reader, &rule))
        return refuse("a rank such as 3, rank + 1, rank - 1 mod n or rank xor 1", text);
    *ret_rule = rule;
    return NULL;
}

int64_t ccs_peer_rule_apply(const CcsPeerRule *rule, uint32_t rank, uint32_t n_ranks)
{
    int64_t peer = rule->operand;

    if (rule->kind == CCS_PEER_RULE_PLUS)
        peer += rank;
    else if (rule->kind == CCS_PEER_RULE_XOR)
        peer ^= rank;
    if (!rule->has_modulus)
        return peer;
    int64_t modulus = rule->modulus == 0 ? n_ranks : rule->modulus;
    peer %= modulus;
    return peer < 0 ? peer + modulus : peer;
}
