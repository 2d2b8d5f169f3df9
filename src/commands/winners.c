#include "commands/winners.h"

static char *question_of(const CcsStudyResult *of)
{
    const CcsResult *result = &of->result;

    return g_strdup_printf("%s %p %u %u %" G_GUINT64_FORMAT " %s %s %" G_GINT64_FORMAT,
                           result->collective, (const void *)of->communicator, of->asked.distance,
                           result->n_ranks, result->size, result->dtype, result->op, result->root);
}

bool *ccs_winners_mark(const CcsStudyResult *results, uint32_t n, bool *ret_is_contest)
{
    g_autoptr(GHashTable) best = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool *marks = g_new(bool, (size_t)n + 1);

    /* the values are indices of results, from 1 */
    for (uint32_t i = 0; i < n; i++) {
        char *question = question_of(&results[i]);
        uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(best, question));
        if (at == 0 || results[i].result.time < results[at - 1].result.time)
            g_hash_table_replace(best, question, GUINT_TO_POINTER(i + 1));
        else
            g_free(question);
    }
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *question = question_of(&results[i]);
        uint32_t at = GPOINTER_TO_UINT(g_hash_table_lookup(best, question));
        marks[i] = !ccs_time_is_faster(results[at - 1].result.time, results[i].result.time);
    }
    if (ret_is_contest != NULL)
        *ret_is_contest = g_hash_table_size(best) < n;
    return marks;
}
