/* allreduce_recursive_doubling.c - in each of log2 n steps two ranks exchange all they have
 *
 * In step j rank r exchanges its sum with rank r XOR 2^j, so that the ranks summed up double.
 * A sum is being sent while the next one comes in, so the two live in two buffers that take
 * turns: step j reads buffer j and adds to buffer j + 1, which begins with a copy of what the
 * rank has itself. A message starts when its receiver has come that far: it has posted the
 * receive. */
#include "collectives/algorithm.h"
#include "collectives/single.h"

enum { FOLD, EXCHANGE, RETURN };

typedef struct {
    CcsSchedule *schedule;
    CcsFold fold;
    uint32_t n_steps;
    uint32_t channel;
    CcsLaneId *ready;   /* by core rank: two lanes that make its sum complete, or none */
    CcsLaneId *message; /* by core rank: its message of the step before, or none */
} Builder;

static CcsBox buffer_of(const Builder *builder, uint32_t step)
{
    bool is_output = (builder->n_steps - step) % 2 == 0;
    return (CcsBox){.buffer = is_output ? CCS_BUFFER_OUTPUT : CCS_BUFFER_INPUT};
}

static CcsLaneId add(const Builder *builder, uint32_t phase, CcsRank source, CcsRank peer,
                     bool is_reduced, CcsBox from, CcsBox to)
{
    return ccs_schedule_add_single(builder->schedule, &(CcsSingle){.source = source,
                                                                   .peer = peer,
                                                                   .channel = builder->channel,
                                                                   .phase = phase,
                                                                   .is_reduced = is_reduced,
                                                                   .from = from,
                                                                   .to = to});
}

/* @lane needs the sum of core rank @core to be complete. */
static void wait_for_sum(const Builder *builder, CcsLaneId lane, uint32_t core)
{
    ccs_schedule_gate_on(builder->schedule, lane, builder->ready[2 * core]);
    ccs_schedule_gate_on(builder->schedule, lane, builder->ready[2 * core + 1]);
}

static void add_fold(const Builder *builder)
{
    for (uint32_t core = 0; core < builder->fold.n_core; core++) {
        CcsRank partner = ccs_fold_partner(&builder->fold, core);
        CcsBox first = buffer_of(builder, 0);
        builder->ready[2 * core] =
            partner == CCS_NO_RANK ? CCS_NO_LANE
                                   : add(builder, FOLD, partner,
                                         ccs_fold_rank(&builder->fold, core), true, first, first);
        builder->ready[2 * core + 1] = CCS_NO_LANE;
        builder->message[core] = CCS_NO_LANE;
    }
}

static void add_step(const Builder *builder, uint32_t step)
{
    CcsSchedule *schedule = builder->schedule;
    uint32_t n = builder->fold.n_core;
    g_autofree CcsLaneId *copies = g_new(CcsLaneId, n);
    g_autofree CcsLaneId *messages = g_new(CcsLaneId, n);
    CcsBox now = buffer_of(builder, step);
    CcsBox next = buffer_of(builder, step + 1);

    for (uint32_t core = 0; core < n; core++) {
        CcsRank rank = ccs_fold_rank(&builder->fold, core);
        copies[core] = add(builder, EXCHANGE, rank, rank, false, now, next);
        wait_for_sum(builder, copies[core], core);
        if (builder->message[core] != CCS_NO_LANE) /* which reads what the copy overwrites */
            ccs_schedule_gate_sent(schedule, copies[core], builder->message[core]);
    }
    for (uint32_t core = 0; core < n; core++) {
        uint32_t partner = core ^ 1U << step;
        messages[core] = add(builder, EXCHANGE, ccs_fold_rank(&builder->fold, core),
                             ccs_fold_rank(&builder->fold, partner), true, now, next);
        wait_for_sum(builder, messages[core], core);
        ccs_schedule_gate(schedule, messages[core], copies[partner]);
    }
    for (uint32_t core = 0; core < n; core++) {
        builder->message[core] = messages[core];
        builder->ready[2 * core] = copies[core];
        builder->ready[2 * core + 1] = messages[core ^ 1U << step];
    }
}

static void add_return(const Builder *builder)
{
    CcsBox last = buffer_of(builder, builder->n_steps);

    for (uint32_t core = 0; core < builder->fold.n_folded; core++) {
        CcsLaneId lane = add(builder, RETURN, ccs_fold_rank(&builder->fold, core),
                             ccs_fold_partner(&builder->fold, core), false, last, last);
        wait_for_sum(builder, lane, core);
    }
}

static bool build(CcsSchedule *schedule, GError **error)
{
    CcsFold fold = ccs_fold(ccs_schedule_n_ranks(schedule));
    g_autofree CcsLaneId *ready = g_new(CcsLaneId, 2 * (size_t)fold.n_core);
    g_autofree CcsLaneId *message = g_new(CcsLaneId, fold.n_core);
    Builder builder = {.schedule = schedule,
                       .fold = fold,
                       .n_steps = ccs_log_of_two(fold.n_core),
                       .ready = ready,
                       .message = message};

    (void)error;
    ccs_schedule_add_phase(schedule, "fold to a power of two");
    ccs_schedule_add_phase(schedule, "exchange");
    ccs_schedule_add_phase(schedule, "return to the folded");
    for (; builder.channel < ccs_schedule_n_channels(schedule); builder.channel++) {
        add_fold(&builder);
        for (uint32_t step = 0; step < builder.n_steps; step++)
            add_step(&builder, step);
        add_return(&builder);
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    CcsFold fold = ccs_fold(n_ranks);
    double steps = ccs_log_of_two(fold.n_core);
    double extra = fold.n_folded > 0 ? 1 : 0;

    (void)n_chunks;
    *ret_terms = (CcsTerms){steps + 2 * extra, steps + 2 * extra, steps + 2 * extra, steps + extra};
    return true;
}

const CcsAlgorithm ccs_allreduce_recursive_doubling = {
    .collective = CCS_ALLREDUCE,
    .name = "recursive_doubling",
    .summary = "in each of log2 n steps two ranks exchange all they have",
    .idea = "In step j every rank exchanges its whole sum with the one whose number differs in bit "
            "j, so that after log2 n steps all have everything. Where n is no power of two, some "
            "ranks hand their data to a neighbour first and get the result back last.",
    .when = "For messages so small that the number of steps is all that counts.",
    .formula = "h (a + o + S/B + S/G), h = log2 n; where n is no power of two, with p the next one "
               "below, (log2 p + 2) (a + o + S/B) + (log2 p + 1) S/G",
    .assumption = "A message starts when its receiver has finished the step before (Thakur, "
                  "Rabenseifner and Gropp 2005).",
    .terms = terms,
    .build = build,
};
