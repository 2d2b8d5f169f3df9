/* A program as a schedule: a lane for each message and each computation, and joins of them. */
#include "workloads/program_private.h"

/* When a moment comes: with an event of a lane, or at the very beginning. */
typedef struct {
    CcsLaneId lane; /* CCS_NO_LANE: at the beginning */
    CcsEvent event;
} Token;

typedef struct {
    const CcsProgram *program;
    CcsSchedule *schedule;
    Token *tokens;    /* by moment */
    uint32_t *phases; /* by site: its phase plus 1; 0 if it has none yet */
    GArray *needs;    /* of Token: those of the moment at hand */
} Builder;

static void depend(Builder *builder, CcsLaneId lane)
{
    for (guint i = 0; i < builder->needs->len; i++) {
        const Token *need = &g_array_index(builder->needs, Token, i);
        ccs_schedule_depend(builder->schedule, &(CcsDependency){.after = lane,
                                                                .before = need->lane,
                                                                .event = need->event,
                                                                .p_before = 1,
                                                                .p_after = 1});
    }
}

static uint32_t add_label(Builder *builder, uint32_t call)
{
    g_autofree char *label = ccs_call_describe(builder->program, call);
    return ccs_schedule_add_label(builder->schedule, label);
}

/* All messages of one call in the file are a phase. */
static uint32_t phase_of(Builder *builder, const CcsCall *call)
{
    if (builder->phases[call->site] == 0) {
        g_autofree char *name =
            g_strdup_printf("%s: %s", ccs_program_site(builder->program, call->site)->place,
                            ccs_call_names[call->kind]);
        builder->phases[call->site] = ccs_schedule_add_phase(builder->schedule, name) + 1;
    }
    return builder->phases[call->site] - 1;
}

static Token add_message(Builder *builder, uint32_t id)
{
    const CcsCall *call = ccs_program_call(builder->program, id);
    CcsLane lane = {.source = call->rank,
                    .peer = call->peer,
                    .phase = phase_of(builder, call),
                    .n_messages = 1,
                    .has_fixed_bytes = true,
                    .bytes = call->bytes,
                    .label = add_label(builder, id),
                    .path = ccs_schedule_path(builder->schedule, call->rank, call->peer, 0)};
    Token token = {ccs_schedule_add_lane(builder->schedule, &lane), CCS_SENT};

    depend(builder, token.lane);
    return token;
}

static Token add_local(Builder *builder, uint32_t id, CcsTime duration)
{
    CcsRank rank = ccs_program_call(builder->program, id)->rank;
    CcsLane lane = {.source = rank,
                    .peer = rank,
                    .n_messages = 1,
                    .has_fixed_bytes = true,
                    .duration = duration,
                    .label = add_label(builder, id)};
    Token token = {ccs_schedule_add_lane(builder->schedule, &lane), CCS_ARRIVED};

    depend(builder, token.lane);
    return token;
}

/* A message that waited for its receiver tells by its arrival that the receiver was ready. */
static bool is_implied(const Builder *builder, uint32_t moment, uint32_t index)
{
    const CcsCall *call = ccs_program_call(builder->program, moment / 2);

    return moment == ccs_call_done(moment / 2) && index == 0 && ccs_call_receives(call->kind) &&
           !ccs_program_is_eager(builder->program, call);
}

static void find_needs(Builder *builder, uint32_t moment)
{
    const CcsCall *call = ccs_program_call(builder->program, moment / 2);
    uint32_t need;

    g_array_set_size(builder->needs, 0);
    for (uint32_t i = 0;
         (need = ccs_program_moment_needs(builder->program, moment, i)) != CCS_NO_CALL; i++) {
        Token token = builder->tokens[need];
        bool is_message = ccs_call_receives(call->kind) && need == ccs_call_done(call->match);
        if (token.lane == CCS_NO_LANE || is_implied(builder, moment, i))
            continue;
        if (is_message)
            token.event = CCS_ARRIVED;
        g_array_append_val(builder->needs, token);
    }
}

static Token add_moment(Builder *builder, uint32_t moment)
{
    uint32_t id = moment / 2;
    const CcsCall *call = ccs_program_call(builder->program, id);
    bool is_done = moment == ccs_call_done(id);

    find_needs(builder, moment);
    if (is_done && ccs_call_sends(call->kind))
        return add_message(builder, id);
    if (is_done && call->kind == CCS_CALL_COMPUTE)
        return add_local(builder, id, ccs_program_site(builder->program, call->site)->duration);
    if (builder->needs->len > 1)
        return add_local(builder, id, 0);
    return builder->needs->len == 0 ? (Token){CCS_NO_LANE, CCS_ARRIVED}
                                    : g_array_index(builder->needs, Token, 0);
}

CcsSchedule *ccs_program_schedule(const CcsProgram *program, GError **error)
{
    g_autoptr(GArray) order = ccs_program_order(program, error);
    if (order == NULL)
        return NULL;

    g_autofree Token *tokens = g_new(Token, order->len + 1);
    g_autofree uint32_t *phases = g_new0(uint32_t, program->sites->len + 1);
    g_autoptr(GArray) needs = g_array_new(false, false, sizeof(Token));
    CcsSchedule *schedule = ccs_schedule_new(CCS_PROGRAM, program->world, 0, 1, 1);
    Builder builder = {program, schedule, tokens, phases, needs};

    for (guint i = 0; i < order->len; i++) {
        uint32_t moment = g_array_index(order, uint32_t, i);
        tokens[moment] = add_moment(&builder, moment);
    }
    return schedule;
}
