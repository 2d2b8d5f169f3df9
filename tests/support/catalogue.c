#include "tests/support/catalogue.h"

#include <math.h>

#include <check.h>

#include "collectives/verify.h"

const uint32_t ccs_rank_counts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                    13, 14, 15, 16, 17, 24, 31, 32, 33, 64, 72};
const int ccs_n_rank_counts = (int)G_N_ELEMENTS(ccs_rank_counts);

#define UNEVEN(gpus)                                                                               \
    "nodes: [" gpus "]\n"                                                                          \
    "node: {gpus: 8, nvlink: {bandwidth: 300 GB/s, latency: 1 us},"                                \
    " nics: {count: 1, bandwidth: 50 GB/s, latency: 1 us}}\n"                                      \
    "fabric: {kind: switch}\n"

const CcsUneven ccs_uneven[] = {
    {UNEVEN("{gpus: 8}, {gpus: 4}"), 12},
    {UNEVEN("{gpus: 3}, {gpus: 1}, {gpus: 2}"), 6},
    {UNEVEN("{gpus: 2}, {gpus: 1}"), 3},
    {UNEVEN("{gpus: 6}, {gpus: 1}, {gpus: 1}, {gpus: 1}, {gpus: 1}"), 10},
    {UNEVEN("{gpus: 2}, {gpus: 2}, {gpus: 3}, {gpus: 2}"), 9},
};
const int ccs_n_uneven = (int)G_N_ELEMENTS(ccs_uneven);

char *ccs_flat_switch(uint32_t n_ranks)
{
    return g_strdup_printf(
        "nodes: %u\n"
        "node: {gpus: 1, nics: {count: 1, bandwidth: 50 GB/s, latency: 1.5 us}}\n"
        "fabric: {kind: switch}\n",
        n_ranks);
}

const CcsTransport ccs_costly = {.message_cost = 700000,
                                 .reduce_rate = 250 * (CCS_RATE_PER_BYTE * 1000000000U)};

bool ccs_is_among(const CcsAlgorithm *algorithm, const CcsCollectives *group)
{
    for (; *group != CCS_N_COLLECTIVES; group++) {
        if (algorithm->collective == *group)
            return true;
    }
    return false;
}

void ccs_try_all(const CcsCollectives *group, CcsAsked asked, uint32_t n_ranks, CcsTry *try)
{
    const CcsRank roots[] = {0, n_ranks - 1, n_ranks / 2};

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        const CcsCollectiveInfo *info = ccs_collective_info(ccs_algorithms[i]->collective);
        if (!ccs_is_among(ccs_algorithms[i], group))
            continue;
        asked.collective = info->name;
        asked.algorithm = ccs_algorithms[i]->name;
        for (size_t j = 0; j < (info->has_root ? MIN(n_ranks, G_N_ELEMENTS(roots)) : 1); j++) {
            asked.root = roots[j];
            try(&asked);
        }
    }
}

/* Returns: false where there is none because the number of ranks is odd. */
static bool make_schedule(const CcsAsked *asked, CcsAnswer *answer)
{
    bool is_made = ccs_ask_schedule(asked, answer);

    ck_assert_msg(is_made || ccs_schedule_n_ranks(answer->schedule) % 2 == 1, "%s %s refuses",
                  asked->collective, asked->algorithm);
    return is_made;
}

void ccs_try_to_verify(const CcsAsked *asked)
{
    g_auto(CcsAnswer) answer;
    g_autoptr(GError) error = NULL;

    if (!make_schedule(asked, &answer))
        return;
    bool is_right = ccs_verify(answer.schedule, &error);
    for (uint32_t seed = 2; seed < 4 && is_right; seed++)
        is_right = ccs_verify_play(answer.schedule, CCS_PLAY_RANDOM, seed, &error);
    ck_assert_msg(is_right, "%s %s, %u ranks, root %u: %s", asked->collective, asked->algorithm,
                  ccs_schedule_n_ranks(answer.schedule), asked->root,
                  error == NULL ? "" : error->message);
}

/* Also of sizes that ranks and channels do not divide, and of less than a byte a rank. */
void ccs_try_bound(const CcsAsked *asked)
{
    static const CcsBytes sizes[] = {0, 1, 5, 1000, 65537};
    g_auto(CcsAnswer) answer;

    if (!make_schedule(asked, &answer))
        return;
    ccs_answer_clear(&answer);
    ccs_ask(asked, &answer);
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        ccs_ask_size(&answer, asked, sizes[i]);
        ck_assert_msg(answer.outcome.time >= answer.bound.time,
                      "%s %s of %u bytes: %.6f us below the %s bound", asked->collective,
                      asked->algorithm, (unsigned)sizes[i], ccs_time_us(answer.outcome.time),
                      answer.bound.name);
    }
}

/* On the flat switch, with the costly transport. */
static double formula_ps(const CcsTerms *terms, CcsBytes size)
{
    return terms->latencies * 3e6 + terms->costs * 7e5 +
           (terms->sizes / 50 + terms->reductions / 250) * (double)size * 1e3;
}

/* Returns: whether the formula holds for @n ranks. */
static bool try_formula(const CcsAlgorithm *algorithm, uint32_t n, uint32_t n_chunks)
{
    static const CcsBytes factors[] = {0, 1, 17, 4096, 1000003};
    g_autofree char *machine = ccs_flat_switch(n);
    CcsAsked asked = {.machine = machine,
                      .collective = ccs_collective_info(algorithm->collective)->name,
                      .algorithm = algorithm->name,
                      .n_chunks = n_chunks,
                      .transport = ccs_costly};
    g_auto(CcsAnswer) answer = {0};
    CcsTerms terms;

    if (algorithm->terms == NULL || !algorithm->terms(n, n_chunks, &terms))
        return false;
    ccs_ask(&asked, &answer);
    for (size_t i = 0; i < G_N_ELEMENTS(factors); i++) {
        CcsBytes size = factors[i] * n * n_chunks * 64; /* all chunks are equal */
        ccs_ask_size(&answer, &asked, size);
        double off = (double)answer.outcome.time - formula_ps(&terms, size);
        double n_roundings = MAX(terms.costs, 1) * (terms.reductions > 0 ? 2 : 1);
        ck_assert_msg(fabs(off) <= n_roundings + 0.01,
                      "%s %s, %u ranks, %u chunks: %.6f us, off by %f ps", asked.collective,
                      asked.algorithm, n, n_chunks, ccs_time_us(answer.outcome.time), off);
    }
    return true;
}

void ccs_try_formulas(const CcsCollectives *group)
{
    static const uint32_t counts[] = {2, 3, 4, 6, 8, 12, 16, 17, 32, 64};

    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        const CcsAlgorithm *algorithm = ccs_algorithms[i];
        uint32_t n_held = 0;
        uint32_t n_held_deep = 0;
        uint32_t n_tried = G_N_ELEMENTS(counts);
        if (!ccs_is_among(algorithm, group))
            continue;
        for (size_t j = 0; j < G_N_ELEMENTS(counts); j++) {
            n_held += try_formula(algorithm, counts[j], 1) ? 1 : 0;
            if (!algorithm->is_pipelined)
                continue;
            n_tried++;
            n_held_deep += try_formula(algorithm, counts[j], 8) ? 1 : 0;
        }
        ck_assert_int_eq(algorithm->formula != NULL, algorithm->terms != NULL);
        if (algorithm->terms != NULL) /* what does not always hold says so */
            ck_assert_int_eq(algorithm->holds_for != NULL, n_held + n_held_deep < n_tried);
        ck_assert_msg(n_held >= 6 || algorithm->terms == NULL, "%s: %u", algorithm->name, n_held);
    }
}

void ccs_try_explanations(const CcsCollectives *group)
{
    for (size_t i = 0; ccs_algorithms[i] != NULL; i++) {
        const CcsAlgorithm *algorithm = ccs_algorithms[i];
        if (!ccs_is_among(algorithm, group))
            continue;
        ck_assert_ptr_nonnull(algorithm->idea);
        ck_assert_ptr_nonnull(algorithm->when);
        ck_assert_ptr_nonnull(algorithm->assumption);
    }
}
