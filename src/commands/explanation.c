#include "commands/explanation.h"

#include <stdio.h>

#include "commands/effects.h"
#include "commands/explain_parts.h"
#include "report/terms.h"

CcsExplanation *ccs_explanation_new(const CcsCase *asked, const CcsSetting *setting, GError **error)
{
    const CcsMachine *machine = setting->machine;
    g_autoptr(GError) refusal = NULL;
    g_autoptr(CcsExplanation) explanation = g_new0(CcsExplanation, 1);

    explanation->asked = *asked;
    explanation->schedule = ccs_case_schedule(asked, machine, &refusal);
    if (explanation->schedule == NULL) {
        if (asked->is_optional)
            ccs_note("'%s' is left out: %s", asked->algorithm->name, refusal->message);
        else
            g_propagate_error(error, g_steal_pointer(&refusal));
        return NULL;
    }
    explanation->simulation =
        ccs_simulation_new(explanation->schedule, &machine->transport, machine->model, NULL, error);
    if (explanation->simulation == NULL ||
        !ccs_simulation_run(explanation->simulation, setting->size, &explanation->outcome, error))
        return NULL;
    explanation->bound =
        ccs_bounds_of(machine->bounds, asked->algorithm->collective, asked->root, setting->size,
                      ccs_schedule_n_channels(explanation->schedule), &machine->transport);
    if (asked->weights != NULL)
        ccs_bounds_raise_by_weights(machine->bounds, asked->weights, setting->size,
                                    &machine->transport, &explanation->bound);
    return g_steal_pointer(&explanation);
}

void ccs_explanation_free(CcsExplanation *explanation)
{
    if (explanation == NULL)
        return;
    ccs_simulation_free(explanation->simulation);
    ccs_schedule_free(explanation->schedule);
    g_free(explanation);
}

G_GNUC_PRINTF(3, 4)
static void add_fact(CcsRows *rows, const char *what, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_autofree char *value = g_strdup_vprintf(format, args);
    va_end(args);
    const CcsCell cells[] = {{CCS_CELL_TEXT, what}, {CCS_CELL_TEXT, value}};
    ccs_rows_add(rows, cells);
}

/* "14", or "0 to 7" */
static char *range_text(CcsRange range)
{
    if (range.least == range.most)
        return g_strdup_printf("%" G_GUINT64_FORMAT, range.most);
    return g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, range.least, range.most);
}

static void add_traffic(CcsRows *rows, const CcsExplanation *explanation, bool is_sent)
{
    CcsTraffic traffic = ccs_explanation_traffic(explanation, is_sent);
    g_autofree char *messages = range_text(traffic.messages);
    g_autofree char *bytes = range_text(traffic.bytes);

    add_fact(rows, is_sent ? "each rank sends" : "each rank receives", "%s message%s, %s B",
             messages, ccs_plural(traffic.messages.most), bytes);
}

static void add_numbers(CcsRows *rows, const CcsExplanation *explanation, const CcsTerms *terms,
                        const CcsSetting *setting)
{
    const CcsTransport *transport = &setting->machine->transport;
    const char *doubt = ccs_explanation_doubt(explanation, setting);

    if (doubt != NULL) {
        add_fact(rows, "in numbers", "not here: %s", doubt);
        return;
    }
    g_autofree char *numbers =
        ccs_terms_in_numbers(terms, &setting->flat, transport, setting->size);
    add_fact(rows, "in numbers", "%s = %.3f us", numbers,
             ccs_terms_time_us(terms, &setting->flat, transport, setting->size));
}

/* "with n = 8, K = 64" */
static char *arguments_text(const CcsExplanation *explanation, const CcsSetting *setting)
{
    if (!explanation->asked.algorithm->is_pipelined)
        return g_strdup_printf("with n = %u", setting->n_ranks);
    return g_strdup_printf("with n = %u, K = %u", setting->n_ranks,
                           ccs_schedule_pipeline(explanation->schedule));
}

static void add_formula(CcsRows *rows, const CcsExplanation *explanation, const CcsSetting *setting)
{
    const CcsAlgorithm *algorithm = explanation->asked.algorithm;
    CcsTerms terms = {0};
    g_autofree char *refusal = ccs_explanation_terms(explanation, &terms);
    g_autofree char *with = arguments_text(explanation, setting);

    add_fact(rows, "formula", "%s",
             algorithm->formula == NULL ? "none: there is no closed form" : algorithm->formula);
    if (algorithm->formula == NULL)
        return;
    if (refusal != NULL) {
        add_fact(rows, with, "%s", refusal);
        return;
    }
    if (setting->n_ranks == 1) {
        add_fact(rows, with, "0.000 us: there is nobody to send to");
        return;
    }
    g_autofree char *letters = ccs_terms_in_letters(&terms);
    add_fact(rows, with, "%s", letters);
    add_numbers(rows, explanation, &terms, setting);
}

static bool print_costs(const CcsExplanation *explanation, const CcsSetting *setting,
                        CcsFormat format, GError **error)
{
    const CcsColumn columns[] = {{"cost", CCS_ALIGN_LEFT}, {"", CCS_ALIGN_LEFT}};
    uint32_t n_channels = ccs_schedule_n_channels(explanation->schedule);
    g_autofree char *description = ccs_setting_describe(setting);
    g_autoptr(CcsRows) rows = ccs_rows_new(stdout, format, columns, G_N_ELEMENTS(columns));

    ccs_print_heading(format, 2, "What it costs");
    ccs_print_text(description);
    printf("\n");
    add_traffic(rows, explanation, true);
    add_traffic(rows, explanation, false);
    add_formula(rows, explanation, setting);
    add_fact(rows, "simulated", "%.3f us, with %u channel%s",
             ccs_time_us(explanation->outcome.time), n_channels, n_channels == 1 ? "" : "s");
    if (setting->machine->model->shares_links)
        add_fact(rows, "lower bound", "%.3f us (%s): %.1f %% of the time",
                 ccs_time_us(explanation->bound.time), explanation->bound.name,
                 100 * ccs_explanation_efficiency(explanation));
    return ccs_rows_end(rows, error);
}

static void print_assumption(const CcsAlgorithm *algorithm)
{
    if (algorithm->formula == NULL)
        return;
    g_autofree char *text =
        g_strdup_printf("The formula takes one flat switch and one channel for granted.%s%s",
                        algorithm->assumption == NULL ? "" : " ",
                        algorithm->assumption == NULL ? "" : algorithm->assumption);
    printf("\n");
    ccs_print_text(text);
}

bool ccs_explanation_print(const CcsExplanation *explanation, const CcsSetting *setting,
                           CcsFormat format, GError **error)
{
    const CcsAlgorithm *algorithm = explanation->asked.algorithm;
    g_autofree char *title =
        g_strdup_printf("%s %s: %s", ccs_collective_info(algorithm->collective)->name,
                        algorithm->name, algorithm->summary);

    ccs_print_heading(format, 1, title);
    if (algorithm->idea != NULL) {
        ccs_print_text(algorithm->idea);
        printf("\n");
    }
    if ((setting->n_ranks > 1 &&
         !ccs_explain_steps(&explanation->asked, setting->machine, format, error)) ||
        !print_costs(explanation, setting, format, error))
        return false;
    print_assumption(algorithm);
    if (algorithm->when != NULL) {
        printf("\n");
        ccs_print_heading(format, 2, "When to choose it");
        ccs_print_text(algorithm->when);
    }
    return true;
}
