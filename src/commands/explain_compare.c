/* explain_compare.c - all algorithms of a collective side by side */
#include <stdio.h>

#include "commands/explain_parts.h"
#include "report/terms.h"

static const CcsExplanation *explanation_at(const GPtrArray *explanations, guint index)
{
    return g_ptr_array_index(explanations, index);
}

/* What the formula gives, or "-" where that cannot be said. Returns: (transfer full). */
static char *expected_us(const CcsExplanation *explanation, const CcsSetting *setting)
{
    CcsTerms terms = {0};
    g_autofree char *refusal = ccs_explanation_terms(explanation, &terms);

    if (refusal == NULL && setting->n_ranks == 1)
        return g_strdup("0.000");
    if (refusal != NULL || ccs_explanation_doubt(explanation, setting) != NULL)
        return g_strdup("-");
    return g_strdup_printf("%.3f", ccs_terms_time_us(&terms, &setting->flat,
                                                     &setting->machine->transport, setting->size));
}

static void add_row(CcsRows *rows, const CcsExplanation *explanation, const CcsSetting *setting,
                    bool is_winner)
{
    CcsTraffic traffic = ccs_explanation_traffic(explanation, true);
    const CcsAlgorithm *algorithm = explanation->asked.algorithm;
    g_autofree char *messages = g_strdup_printf("%" G_GUINT64_FORMAT, traffic.messages.most);
    g_autofree char *bytes = g_strdup_printf("%" G_GUINT64_FORMAT, traffic.bytes.most);
    g_autofree char *time = g_strdup_printf("%.3f", ccs_time_us(explanation->outcome.time));
    g_autofree char *of_bound =
        g_strdup_printf("%.1f", 100 * ccs_explanation_efficiency(explanation));
    g_autofree char *expected = expected_us(explanation, setting);
    const CcsCell cells[] = {
        {CCS_CELL_TEXT, algorithm->name},
        {CCS_CELL_TEXT, is_winner ? "*" : ""},
        {CCS_CELL_NUMBER, messages},
        {CCS_CELL_NUMBER, bytes},
        {CCS_CELL_NUMBER, time},
        {setting->machine->model->shares_links ? CCS_CELL_NUMBER : CCS_CELL_NULL, of_bound},
        {CCS_CELL_TEXT, expected},
        {CCS_CELL_TEXT, algorithm->formula == NULL ? "-" : algorithm->formula},
    };

    ccs_rows_add(rows, cells);
}

static bool print_table(const GPtrArray *explanations, const CcsSetting *setting, CcsFormat format,
                        GError **error)
{
    static const CcsColumn columns[] = {
        {"algorithm", CCS_ALIGN_LEFT},        {"winner", CCS_ALIGN_LEFT},
        {"messages/rank", CCS_ALIGN_RIGHT},   {"sent/rank (B)", CCS_ALIGN_RIGHT},
        {"time (us)", CCS_ALIGN_RIGHT},       {"of bound", CCS_ALIGN_RIGHT},
        {"by formula (us)", CCS_ALIGN_RIGHT}, {"formula", CCS_ALIGN_LEFT}};
    g_autoptr(CcsRows) rows = ccs_rows_new(stdout, format, columns, G_N_ELEMENTS(columns));
    CcsTime best = CCS_TIME_MAX;

    for (guint i = 0; i < explanations->len; i++)
        best = MIN(best, explanation_at(explanations, i)->outcome.time);
    for (guint i = 0; i < explanations->len; i++) {
        const CcsExplanation *explanation = explanation_at(explanations, i);
        add_row(rows, explanation, setting, !ccs_time_is_faster(best, explanation->outcome.time));
    }
    return ccs_rows_end(rows, error);
}

/* Why there is a "-" in the place of a time by formula. */
/* Why there is no time by formula for this algorithm. Returns: (transfer full), NULL if there is.
 */
static char *refusal_of(const CcsExplanation *explanation, const CcsSetting *setting)
{
    CcsTerms terms = {0};
    char *refusal = ccs_explanation_terms(explanation, &terms);

    return refusal != NULL || setting->n_ranks == 1
               ? refusal
               : g_strdup(ccs_explanation_doubt(explanation, setting));
}

static void print_refusals(const GPtrArray *explanations, const CcsSetting *setting)
{
    bool is_for_none = !setting->is_flat || !setting->machine->model->shares_links;
    bool is_first = true;

    if (is_for_none && setting->n_ranks > 1) {
        printf("\nNo times by formula: %s.\n",
               ccs_explanation_doubt(explanation_at(explanations, 0), setting));
        return;
    }
    for (guint i = 0; i < explanations->len; i++) {
        const CcsExplanation *explanation = explanation_at(explanations, i);
        g_autofree char *refusal = refusal_of(explanation, setting);
        if (refusal != NULL)
            printf("%sNo time by formula for %s: %s.\n", is_first ? "\n" : "",
                   explanation->asked.algorithm->name, refusal);
        is_first = is_first && refusal == NULL;
    }
}

/* When to choose which; of one that does not say, what it does. */
static void print_choices(const GPtrArray *explanations, CcsFormat format)
{
    for (guint i = 0; i < explanations->len; i++) {
        const CcsAlgorithm *algorithm = explanation_at(explanations, i)->asked.algorithm;
        g_autofree char *text =
            g_strdup_printf("%s%s: %s", format == CCS_FORMAT_MD ? "- " : "", algorithm->name,
                            algorithm->when == NULL ? algorithm->summary : algorithm->when);
        ccs_print_text(text);
    }
}

bool ccs_explanations_compare(const GPtrArray *explanations, const CcsSetting *setting,
                              CcsFormat format, GError **error)
{
    const CcsExplanation *first = explanation_at(explanations, 0);
    const CcsCollectiveInfo *info = ccs_collective_info(first->asked.algorithm->collective);
    g_autofree char *title = g_strdup_printf("%s: %s", info->name, info->summary);
    g_autofree char *description = ccs_setting_describe(setting);

    ccs_print_heading(format, 1, title);
    ccs_print_text(description);
    if (setting->machine->model->shares_links)
        printf("\nNo algorithm can take less than %.3f us (%s).\n", ccs_time_us(first->bound.time),
               first->bound.name);
    printf("\n");
    if (!print_table(explanations, setting, format, error))
        return false;
    print_refusals(explanations, setting);
    printf("\n");
    ccs_print_heading(format, 2, "When to choose which");
    print_choices(explanations, format);
    printf("\n'ccsim explain %s -A NAME' shows one of them step by step; -T NAME asks of another "
           "machine.\n",
           info->name);
    return true;
}
