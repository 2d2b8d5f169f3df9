#include "commands/explanation.h"

#include <stdio.h>

#include "commands/effects.h"
#include "commands/explain_parts.h"
#include "report/schedule_steps.h"
#include "report/terms.h"

/* What a table of steps may take. */
#define DRAWN_RANKS_MAX 16U
#define DRAWN_RANKS     8U /* where there are more than that */
#define DRAWN_CHUNKS    4U
#define DRAWN_ROWS      48U

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

/* The communicator that is drawn: a small part, with as many nodes as fit. */
static CcsCommunicator *drawn_communicator(const CcsMachine *machine, GError **error)
{
    uint32_t n_nodes = ccs_communicator_n_nodes(machine->communicator);
    uint32_t per_node = MAX(1, DRAWN_RANKS / n_nodes);
    uint32_t n_ranks = 0;

    for (uint32_t node = 0; node < n_nodes; node++)
        n_ranks += MIN(per_node, ccs_communicator_n_local(machine->communicator, node));
    return ccs_communicator_new(machine->topology, MIN(n_ranks, DRAWN_RANKS), per_node, error);
}

static bool is_reducing(const CcsSchedule *schedule)
{
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        if (ccs_schedule_lane(schedule, id)->n_reduced > 0)
            return true;
    }
    return false;
}

static void print_legend(const CcsSchedule *schedule, bool is_pipelined)
{
    uint32_t n_chunks = ccs_schedule_n_chunks(schedule);
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_printf(text, "On %u ranks", ccs_schedule_n_ranks(schedule));
    if (is_pipelined)
        g_string_append_printf(text, " with K = %u", ccs_schedule_pipeline(schedule));
    if (n_chunks > 1)
        g_string_append_printf(text,
                               "; the buffer is cut into %u chunks, and '1->2' is chunk 1, "
                               "sent to rank 2",
                               n_chunks);
    if (is_reducing(schedule))
        g_string_append(text, "; with a '+' behind it the receiver adds, else it copies");
    g_string_append(text, ". What stands in one step goes on at once.");
    ccs_print_text(text->str);
    printf("\n");
}

static bool draw(const CcsSchedule *schedule, bool is_pipelined, CcsFormat format, GError **error)
{
    uint32_t n_steps = 0;
    uint32_t n_shown = 0;

    ccs_print_heading(format, 2, "Who sends what to whom");
    print_legend(schedule, is_pipelined);
    if (!ccs_schedule_steps_print(schedule, DRAWN_ROWS, format, stdout, &n_steps, &n_shown, error))
        return false;
    if (n_shown < n_steps)
        printf("\nThese are the first %u of %u steps.\n", n_shown, n_steps);
    printf("\n");
    return true;
}

/* With few ranks, one channel, and few chunks unless the user wants so many. */
static bool print_steps(const CcsCase *asked, const CcsMachine *machine, CcsFormat format,
                        GError **error)
{
    bool is_whole = ccs_communicator_n_ranks(machine->communicator) <= DRAWN_RANKS_MAX;
    g_autoptr(CcsCommunicator) part = is_whole ? NULL : drawn_communicator(machine, error);
    CcsMachine small = *machine;
    CcsCase drawn = *asked;

    if (!is_whole && part == NULL)
        return false;
    if (!is_whole)
        small.communicator = part;
    drawn.n_channels = 1;
    drawn.n_chunks = asked->n_chunks == 0 ? DRAWN_CHUNKS : asked->n_chunks;
    drawn.root = asked->root < ccs_communicator_n_ranks(small.communicator) ? asked->root : 0;
    g_autoptr(CcsSchedule) schedule = ccs_case_schedule(&drawn, &small, error);
    return schedule != NULL && draw(schedule, asked->algorithm->is_pipelined, format, error);
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

    add_fact(rows, is_sent ? "each rank sends" : "each rank receives", "%s messages, %s B",
             messages, bytes);
}

static void add_numbers(CcsRows *rows, const CcsTerms *terms, const CcsSetting *setting)
{
    const CcsTransport *transport = &setting->machine->transport;

    if (!setting->is_flat) {
        add_fact(rows, "in numbers", "not here: %s",
                 transport->is_synchronous ? "formulas know nothing of synchronous sends"
                                           : "these ranks are not around one switch");
        return;
    }
    g_autofree char *numbers =
        ccs_terms_in_numbers(terms, &setting->flat, transport, setting->size);
    add_fact(rows, "in numbers", "%s = %.3f us", numbers,
             ccs_terms_time_us(terms, &setting->flat, transport, setting->size));
}

static void add_formula(CcsRows *rows, const CcsExplanation *explanation, const CcsSetting *setting)
{
    const CcsAlgorithm *algorithm = explanation->asked.algorithm;
    CcsTerms terms = {0};

    add_fact(rows, "formula", "%s",
             algorithm->formula == NULL ? "none: there is no closed form" : algorithm->formula);
    if (algorithm->terms == NULL)
        return;
    g_autofree char *with = algorithm->is_pipelined
                                ? g_strdup_printf("with n = %u, K = %u", setting->n_ranks,
                                                  ccs_schedule_pipeline(explanation->schedule))
                                : g_strdup_printf("with n = %u", setting->n_ranks);
    if (!ccs_explanation_terms(explanation, &terms)) {
        add_fact(rows, with, "it does not hold");
        return;
    }
    g_autofree char *letters = ccs_terms_in_letters(&terms);
    add_fact(rows, with, "%s", letters);
    add_numbers(rows, &terms, setting);
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
         !print_steps(&explanation->asked, setting->machine, format, error)) ||
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
