#include "commands/explain_parts.h"

#include <stdio.h>
#include <string.h>

#define TEXT_WIDTH 92U

CcsSetting ccs_setting_of(const CcsMachine *machine, CcsBytes size)
{
    CcsSetting setting = {.machine = machine,
                          .n_ranks = ccs_communicator_n_ranks(machine->communicator),
                          .size = size};

    /* Formulas let the next message of a lane leave when this one has left. */
    setting.is_flat = ccs_communicator_is_flat(machine->communicator, &setting.flat) &&
                      !machine->transport.is_synchronous;
    return setting;
}

char *ccs_setting_describe(const CcsSetting *setting)
{
    const CcsMachine *machine = setting->machine;
    GString *text = g_string_new(NULL);
    g_autofree char *cost =
        ccs_quantity_format(CCS_QUANTITY_TIME, (uint64_t)machine->transport.message_cost);

    g_string_printf(text, "S = %" G_GUINT64_FORMAT " B on n = %u rank%s ", setting->size,
                    setting->n_ranks, ccs_plural(setting->n_ranks));
    if (setting->is_flat) {
        g_autofree char *rate = ccs_quantity_format(CCS_QUANTITY_RATE, setting->flat.bandwidth);
        g_autofree char *latency =
            ccs_quantity_format(CCS_QUANTITY_TIME, (uint64_t)setting->flat.latency);
        g_string_append_printf(text,
                               "around one switch: ports of B = %s in each direction, latency "
                               "a = %s from rank to rank, o = %s per message",
                               rate, latency, cost);
    } else {
        uint32_t n_nodes = ccs_communicator_n_nodes(machine->communicator);
        g_string_append_printf(text, "in %u node%s of %s, o = %s per message", n_nodes,
                               n_nodes == 1 ? "" : "s", ccs_topology_name(machine->topology), cost);
    }
    if (machine->transport.reduce_rate < CCS_RATE_UNLIMITED) {
        g_autofree char *rate =
            ccs_quantity_format(CCS_QUANTITY_RATE, machine->transport.reduce_rate);
        g_string_append_printf(text, ", reductions at G = %s", rate);
    }
    g_string_append_printf(text, "; network model %s", machine->model->name);
    if (machine->transport.is_synchronous)
        g_string_append(text, ", sends are synchronous");
    return g_string_free(text, false);
}

void ccs_print_text(const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    size_t column = 0;

    for (size_t i = 0; words[i] != NULL; i++) {
        size_t width = strlen(words[i]);
        bool is_full = column > 0 && column + 1 + width > TEXT_WIDTH;
        printf("%s%s", is_full ? "\n" : column > 0 ? " " : "", words[i]);
        column = is_full || column == 0 ? width : column + 1 + width;
    }
    printf("\n");
}

void ccs_print_heading(CcsFormat format, uint32_t level, const char *heading)
{
    for (uint32_t i = 0; format == CCS_FORMAT_MD && i <= level; i++)
        printf("%s", i < level ? "#" : " ");
    printf("%s\n\n", heading);
}

static void widen(CcsRange *range, uint64_t value)
{
    range->least = MIN(range->least, value);
    range->most = MAX(range->most, value);
}

CcsTraffic ccs_explanation_traffic(const CcsExplanation *explanation, bool is_sent)
{
    CcsTraffic traffic = {{UINT64_MAX, 0}, {UINT64_MAX, 0}};

    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(explanation->schedule); rank++) {
        const CcsRankTotal *total = &explanation->outcome.ranks[rank];
        widen(&traffic.messages, is_sent ? total->messages_sent : total->messages_received);
        widen(&traffic.bytes, is_sent ? total->bytes_sent : total->bytes_received);
    }
    return traffic;
}

char *ccs_explanation_terms(const CcsExplanation *explanation, CcsTerms *ret_terms)
{
    const CcsSchedule *schedule = explanation->schedule;
    const CcsAlgorithm *algorithm = explanation->asked.algorithm;
    const CcsWeights *weights = explanation->asked.weights;

    *ret_terms = (CcsTerms){0};
    if (algorithm->terms == NULL)
        return g_strdup("there is no closed form");
    if (ccs_schedule_n_ranks(schedule) == 1)
        return NULL;
    if (weights != NULL && !ccs_weights_are_even(weights))
        return g_strdup("it holds only for blocks of one size");
    if (!algorithm->terms(ccs_schedule_n_ranks(schedule), ccs_schedule_pipeline(schedule),
                          ret_terms))
        return g_strdup_printf("it holds only for %s", algorithm->holds_for);
    return NULL;
}

/* Whether adding a chunk takes longer than sending it, so that chunks wait to be added. */
static bool is_adding_slow(const CcsExplanation *explanation, const CcsSetting *setting)
{
    const CcsTransport *transport = &setting->machine->transport;
    uint32_t n_chunks = ccs_schedule_pipeline(explanation->schedule);
    CcsBytes chunk = (setting->size + n_chunks - 1) / n_chunks;

    return explanation->asked.algorithm->adds_in_passing && n_chunks > 1 &&
           transport->reduce_rate < CCS_RATE_UNLIMITED &&
           ccs_time_to_move(chunk, transport->reduce_rate) >
               transport->message_cost + ccs_time_to_move(chunk, setting->flat.bandwidth);
}

const char *ccs_explanation_doubt(const CcsExplanation *explanation, const CcsSetting *setting)
{
    if (!setting->machine->model->shares_links)
        return "messages share no links in this model";
    if (setting->machine->transport.is_synchronous)
        return "formulas know nothing of synchronous sends";
    if (!setting->is_flat)
        return CCS_NOT_FLAT;
    if (ccs_schedule_n_channels(explanation->schedule) > 1)
        return "there is more than one channel";
    if (is_adding_slow(explanation, setting))
        return "adding a chunk takes longer than sending it";
    return NULL;
}

double ccs_explanation_efficiency(const CcsExplanation *explanation)
{
    CcsTime time = explanation->outcome.time;
    return time == 0 ? 1 : (double)explanation->bound.time / (double)time;
}
