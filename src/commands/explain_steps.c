/* explain_steps.c - who sends what to whom, on so few ranks that a table can show it */
#include <stdio.h>

#include "commands/explain_parts.h"
#include "report/data_names.h"
#include "report/schedule_steps.h"

/* What a table of steps may take. */
#define DRAWN_RANKS_MAX 16U
#define DRAWN_RANKS     8U /* where there are more than that */
#define DRAWN_CHUNKS    4U
#define DRAWN_ROWS      48U

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

/* On a part of the machine, what was asked for may not fit. */
static CcsCase drawn_case(const CcsCase *asked, uint32_t n_ranks, bool is_whole)
{
    CcsCase drawn = *asked;

    drawn.n_channels = 1;
    drawn.n_chunks = asked->n_chunks == 0 ? DRAWN_CHUNKS : asked->n_chunks;
    if (is_whole)
        return drawn;
    drawn.root = asked->root < n_ranks ? asked->root : 0;
    drawn.distance = asked->distance % n_ranks == 0 ? 1 : asked->distance;
    drawn.weights = NULL;
    return drawn;
}

/* ", ranks 0-1, 2-3 and 4 in one node each"; nothing where that says nothing. */
static void add_nodes(GString *text, const CcsCommunicator *communicator)
{
    uint32_t n_nodes = ccs_communicator_n_nodes(communicator);

    if (n_nodes == ccs_communicator_n_ranks(communicator))
        return;
    if (n_nodes == 1) {
        g_string_append(text, " of one node");
        return;
    }
    g_string_append_printf(text, " in %u nodes (ranks ", n_nodes);
    for (uint32_t node = 0; node < n_nodes; node++) {
        CcsRank first = ccs_communicator_first(communicator, node);
        uint32_t n_local = ccs_communicator_n_local(communicator, node);
        g_string_append_printf(text, "%s%u", node == 0 ? "" : ", ", first);
        if (n_local > 1)
            g_string_append_printf(text, "-%u", first + n_local - 1);
    }
    g_string_append(text, ")");
}

/* How the cells of the table are to be read. */
static void add_naming(GString *text, const CcsSchedule *schedule)
{
    CcsDataNaming naming = ccs_data_naming(schedule);
    uint32_t n_chunks = ccs_schedule_n_chunks(schedule);

    if (ccs_schedule_collective(schedule) == CCS_BARRIER)
        g_string_append(text, "; '->2' is a message to rank 2, which has no data");
    else if (naming == CCS_NAMED_BY_PAIR)
        g_string_append(text, "; '0:1->2' is the block from rank 0 for rank 1, sent to rank 2, and "
                              "'0,3:1->2' those from ranks 0 and 3");
    else if (naming == CCS_NAMED_BY_OWNER)
        g_string_append_printf(text,
                               "; the buffer is cut into %u chunks, of which chunk r is the block "
                               "of rank r, and '1->2' is chunk 1, sent to rank 2",
                               n_chunks);
    else if (n_chunks > 1)
        g_string_append_printf(text,
                               "; the buffer is cut into %u chunks, and '1->2' is chunk 1, sent to "
                               "rank 2",
                               n_chunks);
}

static bool is_reducing(const CcsSchedule *schedule)
{
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(schedule); id++) {
        const CcsLane *lane = ccs_schedule_lane(schedule, id);
        if (lane->n_reduced > 0 && !lane->has_fixed_bytes)
            return true;
    }
    return false;
}

static void print_legend(const CcsSchedule *schedule, bool is_pipelined)
{
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_printf(text, "On %u ranks", ccs_schedule_n_ranks(schedule));
    add_nodes(text, ccs_schedule_communicator(schedule));
    if (is_pipelined)
        g_string_append_printf(text, " with K = %u", ccs_schedule_pipeline(schedule));
    if (ccs_schedule_collective(schedule) == CCS_SENDRECV)
        g_string_append_printf(text, " with D = %u", ccs_schedule_distance(schedule));
    add_naming(text, schedule);
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

bool ccs_explain_steps(const CcsCase *asked, const CcsMachine *machine, CcsFormat format,
                       GError **error)
{
    bool is_whole = ccs_communicator_n_ranks(machine->communicator) <= DRAWN_RANKS_MAX;
    g_autoptr(CcsCommunicator) part = is_whole ? NULL : drawn_communicator(machine, error);
    CcsMachine small = *machine;

    if (!is_whole && part == NULL)
        return false;
    if (!is_whole)
        small.communicator = part;
    CcsCase drawn = drawn_case(asked, ccs_communicator_n_ranks(small.communicator), is_whole);
    g_autoptr(CcsSchedule) schedule = ccs_case_schedule(&drawn, &small, error);
    return schedule != NULL && draw(schedule, asked->algorithm->is_pipelined, format, error);
}
