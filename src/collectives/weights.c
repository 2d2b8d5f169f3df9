#include "collectives/weights.h"

#include <string.h>

#include "base/error.h"
#include "base/read_file.h"
#include "config/problem.h"

#define MAX_BYTES ((size_t)256 * 1024 * 1024)
#define MAX_WHOLE 1000000000000U
#define MILLION   1000000U

struct CcsWeights {
    uint32_t n_ranks;
    uint32_t n_rows; /* n_ranks, or 1 if all sources have the same */
    CcsWork *before; /* by row, then n_ranks + 1 columns: the sum of the weights before it */
    CcsWork largest; /* sum of a row */
};

static CcsWork *row_of(const CcsWeights *weights, CcsRank source)
{
    return &weights->before[(size_t)(source % weights->n_rows) * (weights->n_ranks + 1)];
}

static CcsWeights *weights_new(uint32_t n_ranks, uint32_t n_rows)
{
    CcsWeights *weights = g_new0(CcsWeights, 1);

    weights->n_ranks = n_ranks;
    weights->n_rows = n_rows;
    weights->before = g_new0(CcsWork, (size_t)n_rows * (n_ranks + 1));
    return weights;
}

void ccs_weights_free(CcsWeights *weights)
{
    if (weights == NULL)
        return;
    g_free(weights->before);
    g_free(weights);
}

static void put(CcsWeights *weights, CcsRank source, CcsRank target, CcsWork weight)
{
    CcsWork *row = row_of(weights, source);

    row[target + 1] = row[target] + weight;
    weights->largest = MAX(weights->largest, row[target + 1]);
}

CcsWeights *ccs_weights_new_skewed(uint32_t n_ranks, uint64_t skew, GError **error)
{
    CcsWork all = (CcsWork)n_ranks * CCS_SKEW_ONE;

    if (skew < CCS_SKEW_ONE || skew > all) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "the skew is the load of the busiest receiver over the mean, so it must be from"
                    " 1 (balanced) to the number of ranks, %u, not %.15g",
                    n_ranks, (double)skew / (double)CCS_SKEW_ONE);
        return NULL;
    }
    CcsWeights *weights = weights_new(n_ranks, 1);
    /* With these, rank 0 receives skew (n - 1) of n (n - 1). */
    put(weights, 0, 0, (CcsWork)skew * MAX(n_ranks - 1, 1));
    for (CcsRank target = 1; target < n_ranks; target++)
        put(weights, 0, target, all - skew);
    return weights;
}

typedef struct {
    const char *label;
    const char *text;
    size_t n_bytes;
    size_t at;
    uint32_t line; /* from 1 */
    size_t line_begin;
} Reader;

static bool fail_at(const Reader *reader, size_t at, const char *problem, GError **error)
{
    uint32_t column = (uint32_t)(at - reader->line_begin) + 1;
    g_autofree char *place = ccs_problem_place(reader->label, reader->line, column);
    g_autofree char *excerpt =
        ccs_problem_excerpt(reader->text, reader->n_bytes, reader->line, column);

    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "%s: error: %s%s", place, problem, excerpt);
    return false;
}

static char peek(const Reader *reader)
{
    return reader->at < reader->n_bytes ? reader->text[reader->at] : '\n';
}

/* And a comment behind them. */
static void skip_blanks(Reader *reader)
{
    while (peek(reader) == ' ' || peek(reader) == '\t' || peek(reader) == '\r')
        reader->at++;
    if (peek(reader) != '#')
        return;
    while (peek(reader) != '\n')
        reader->at++;
}

static void next_line(Reader *reader)
{
    reader->at++;
    reader->line++;
    reader->line_begin = reader->at;
}

/* A number in millionths. */
static bool read_number(Reader *reader, uint64_t *ret_number, GError **error)
{
    size_t begin = reader->at;
    uint64_t whole = 0;
    uint64_t unit = MILLION;
    uint64_t part = 0;

    for (; g_ascii_isdigit(peek(reader)); reader->at++) {
        whole = whole * 10 + (uint64_t)(peek(reader) - '0');
        if (whole >= MAX_WHOLE)
            return fail_at(reader, begin, "a weight must be below 10^12", error);
    }
    if (peek(reader) == '.') {
        for (reader->at++; g_ascii_isdigit(peek(reader)); reader->at++) {
            if (unit == 1)
                return fail_at(reader, begin, "a weight has up to 6 decimals", error);
            unit /= 10;
            part += unit * (uint64_t)(peek(reader) - '0');
        }
    }
    if (reader->at == begin || (reader->at == begin + 1 && reader->text[begin] == '.'))
        return fail_at(reader, begin, "a weight must be a number that is not negative", error);
    *ret_number = whole * MILLION + part;
    return true;
}

/* One line with the weights of @source. */
static bool read_row(Reader *reader, CcsWeights *weights, CcsRank source, GError **error)
{
    g_autofree char *problem = NULL;

    for (CcsRank target = 0; target < weights->n_ranks; target++) {
        uint64_t weight = 0;
        skip_blanks(reader);
        if (!read_number(reader, &weight, error))
            return false;
        put(weights, source, target, weight);
        skip_blanks(reader);
        if (target + 1 == weights->n_ranks)
            break;
        if (peek(reader) == ',') {
            reader->at++;
            continue;
        }
        problem = peek(reader) == '\n'
                      ? g_strdup_printf("the line has %u weights, but there are %u ranks",
                                        target + 1, weights->n_ranks)
                      : g_strdup("a comma must follow a weight");
        return fail_at(reader, reader->at, problem, error);
    }
    if (peek(reader) == '\n')
        return true;
    problem =
        g_strdup_printf("the line has more weights than there are ranks, %u", weights->n_ranks);
    return fail_at(reader, reader->at, problem, error);
}

static bool read_rows(Reader *reader, CcsWeights *weights, GError **error)
{
    g_autofree char *problem = NULL;
    CcsRank n_read = 0;

    for (; reader->at < reader->n_bytes; next_line(reader)) {
        skip_blanks(reader);
        if (peek(reader) == '\n')
            continue;
        if (n_read == weights->n_ranks) {
            problem = g_strdup_printf("there are more lines than ranks, %u", weights->n_ranks);
            return fail_at(reader, reader->at, problem, error);
        }
        if (!read_row(reader, weights, n_read++, error))
            return false;
    }
    if (n_read == weights->n_ranks)
        return true;
    problem =
        g_strdup_printf("there %s %u line%s of weights, but %u rank%s", n_read == 1 ? "is" : "are",
                        n_read, ccs_plural(n_read), weights->n_ranks, ccs_plural(weights->n_ranks));
    return fail_at(reader, reader->at, problem, error);
}

CcsWeights *ccs_weights_read(const char *label, const char *text, size_t n_bytes, uint32_t n_ranks,
                             GError **error)
{
    size_t n_skipped = ccs_byte_order_mark(text, n_bytes);
    Reader reader = {
        .label = label, .text = text + n_skipped, .n_bytes = n_bytes - n_skipped, .line = 1};
    g_autoptr(CcsWeights) weights = weights_new(n_ranks, n_ranks);

    if (!read_rows(&reader, weights, error))
        return NULL;
    if (weights->largest == 0) {
        reader.line = 0;
        fail_at(&reader, reader.at, "all weights are 0", error);
        return NULL;
    }
    return g_steal_pointer(&weights);
}

CcsWeights *ccs_weights_load(const char *file, uint32_t n_ranks, GError **error)
{
    g_autoptr(GByteArray) bytes = ccs_read_file(file, MAX_BYTES, error);

    if (bytes == NULL)
        return NULL;
    return ccs_weights_read(ccs_file_label(file), (const char *)bytes->data, bytes->len, n_ranks,
                            error);
}

/* How much of @size lies before a column: rounded down, so that differences add up. */
static CcsBytes share(const CcsWeights *weights, CcsWork before, CcsBytes size)
{
    return (CcsBytes)(before * size / weights->largest);
}

CcsBytes ccs_weights_bytes(const CcsWeights *weights, CcsRank source, CcsRank target, CcsBytes size)
{
    const CcsWork *row = row_of(weights, source);

    return share(weights, row[target + 1], size) - share(weights, row[target], size);
}

static CcsWork load_of(const CcsWeights *weights, CcsRank target)
{
    CcsWork load = 0;

    for (uint32_t row = 0; row < weights->n_rows; row++)
        load += row_of(weights, row)[target + 1] - row_of(weights, row)[target];
    return load;
}

double ccs_weights_load_ratio(const CcsWeights *weights, CcsRank *ret_busiest)
{
    CcsWork most = 0;
    CcsWork all = 0;
    CcsRank busiest = 0;

    for (CcsRank target = 0; target < weights->n_ranks; target++) {
        CcsWork load = load_of(weights, target);
        all += load;
        if (load > most) {
            most = load;
            busiest = target;
        }
    }
    if (ret_busiest != NULL)
        *ret_busiest = busiest;
    return (double)most * weights->n_ranks / (double)all;
}

bool ccs_weights_are_even(const CcsWeights *weights)
{
    const CcsWork *first = row_of(weights, 0);

    for (CcsRank source = 0; source < weights->n_rows; source++) {
        const CcsWork *row = row_of(weights, source);
        for (CcsRank target = 0; target < weights->n_ranks; target++) {
            if (row[target + 1] - row[target] != first[1])
                return false;
        }
    }
    return true;
}
