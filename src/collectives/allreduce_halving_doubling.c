/* allreduce_halving_doubling.c - Rabenseifner's: halve what is exchanged, then double it again
 *
 * Reduce-scatter: in step j rank r exchanges with rank r XOR 2^j half of the chunks that it
 * still sums up, and keeps those whose number agrees with its own in bit j. Then the way
 * back: all-gather, in which what is exchanged doubles. Near partners come first, so that of
 * a cluster's links those inside nodes carry the large halves.
 *
 * Of the chunks 0 ... p - 1, those that agree with r in their lowest j bits are r mod 2^j,
 * and so on in steps of 2^j. */
#include "collectives/algorithm.h"
#include "collectives/single.h"

enum { FOLD, HALVING, DOUBLING, RETURN };

typedef struct {
    CcsSchedule *schedule;
    CcsFold fold;
    uint32_t n_steps;
    uint32_t channel;
    CcsLaneId *inbound; /* by core rank: the lane that brought it what it has last, or none */
} Builder;

/* The chunks that agree with @core in their lowest @n_bits bits. */
static CcsBox agreeing(const Builder *builder, uint32_t core, uint32_t n_bits)
{
    uint32_t stride = 1U << n_bits;
    return (CcsBox){.buffer = CCS_BUFFER_OUTPUT,
                    .base = core % stride,
                    .n1 = builder->fold.n_core / stride,
                    .stride1 = stride};
}

static CcsLaneId add(const Builder *builder, uint32_t phase, CcsRank source, CcsRank peer,
                     bool is_reduced, CcsBox box)
{
    return ccs_schedule_add_single(builder->schedule, &(CcsSingle){.source = source,
                                                                   .peer = peer,
                                                                   .channel = builder->channel,
                                                                   .phase = phase,
                                                                   .is_reduced = is_reduced,
                                                                   .from = box,
                                                                   .to = box});
}

static void add_fold(const Builder *builder)
{
    for (uint32_t core = 0; core < builder->fold.n_core; core++) {
        CcsRank partner = ccs_fold_partner(&builder->fold, core);
        builder->inbound[core] = partner == CCS_NO_RANK ? CCS_NO_LANE
                                                        : add(builder, FOLD, partner,
                                                              ccs_fold_rank(&builder->fold, core),
                                                              true, agreeing(builder, 0, 0));
    }
}

/* All exchange across bit @bit. A message waits for what its sender has got before, and for
 * what its receiver has: the receive is posted only then. */
static void add_step(const Builder *builder, uint32_t bit, bool is_halving)
{
    uint32_t n = builder->fold.n_core;
    g_autofree CcsLaneId *lanes = g_new(CcsLaneId, n);

    for (uint32_t core = 0; core < n; core++) {
        uint32_t partner = core ^ 1U << bit;
        CcsBox box = agreeing(builder, is_halving ? partner : core, bit + 1);
        lanes[core] =
            add(builder, is_halving ? HALVING : DOUBLING, ccs_fold_rank(&builder->fold, core),
                ccs_fold_rank(&builder->fold, partner), is_halving, box);
        ccs_schedule_gate_on(builder->schedule, lanes[core], builder->inbound[core]);
        ccs_schedule_gate_on(builder->schedule, lanes[core], builder->inbound[partner]);
    }
    for (uint32_t core = 0; core < n; core++)
        builder->inbound[core] = lanes[core ^ 1U << bit];
}

static void add_return(const Builder *builder)
{
    for (uint32_t core = 0; core < builder->fold.n_folded; core++)
        ccs_schedule_gate_on(builder->schedule,
                             add(builder, RETURN, ccs_fold_rank(&builder->fold, core),
                                 ccs_fold_partner(&builder->fold, core), false,
                                 agreeing(builder, 0, 0)),
                             builder->inbound[core]);
}

static bool build(CcsSchedule *schedule, GError **error)
{
    CcsFold fold = ccs_fold(ccs_schedule_n_ranks(schedule));
    g_autofree CcsLaneId *inbound = g_new(CcsLaneId, fold.n_core);
    Builder builder = {.schedule = schedule,
                       .fold = fold,
                       .n_steps = ccs_log_of_two(fold.n_core),
                       .inbound = inbound};

    (void)error;
    ccs_schedule_add_phase(schedule, "fold to a power of two");
    ccs_schedule_add_phase(schedule, "reduce-scatter by halving");
    ccs_schedule_add_phase(schedule, "all-gather by doubling");
    ccs_schedule_add_phase(schedule, "return to the folded");
    ccs_schedule_set_n_chunks(schedule, fold.n_core);
    for (; builder.channel < ccs_schedule_n_channels(schedule); builder.channel++) {
        add_fold(&builder);
        for (uint32_t bit = 0; bit < builder.n_steps; bit++)
            add_step(&builder, bit, true);
        for (uint32_t bit = builder.n_steps; bit-- > 0;)
            add_step(&builder, bit, false);
        add_return(&builder);
    }
    return true;
}

static bool terms(uint32_t n_ranks, uint32_t n_chunks, CcsTerms *ret_terms)
{
    CcsFold fold = ccs_fold(n_ranks);
    double steps = 2.0 * ccs_log_of_two(fold.n_core);
    double part = (fold.n_core - 1.0) / fold.n_core;
    double extra = fold.n_folded > 0 ? 1 : 0;

    (void)n_chunks;
    *ret_terms =
        (CcsTerms){steps + 2 * extra, steps + 2 * extra, 2 * part + 2 * extra, part + extra};
    return true;
}

const CcsAlgorithm ccs_allreduce_halving_doubling = {
    .collective = CCS_ALLREDUCE,
    .name = "halving_doubling",
    .summary = "Rabenseifner's: halve what is exchanged, then double it again",
    .idea =
        "In log2 n steps partners exchange ever smaller halves and sum them up, until each rank "
        "has one complete chunk; in as many steps they exchange what is complete. Where n is "
        "no power of two, some ranks hand their data to a neighbour first.",
    .when = "For middle and large messages where latency still counts: it sends as little as the "
            "ring in far fewer steps.",
    .formula = "2 h (a + o) + 2 (p-1)/p S/B + (p-1)/p S/G, h = log2 p, p = n; where n is no power "
               "of two, p is the next one below, and 2 (a + o + S/B) + S/G are added",
    .assumption = "A message starts when its receiver has finished the step before (Rabenseifner "
                  "2004).",
    .terms = terms,
    .build = build,
};
