/* An order of all moments in which each comes after those that it needs, or the circle of calls
 * that stands in the way of one. */
#include "base/error.h"
#include "workloads/program_private.h"

#define MAX_SHOWN 16U

static uint32_t call_of(uint32_t moment)
{
    return moment / 2;
}

static bool is_reached(uint32_t moment)
{
    return moment % 2 == 0;
}

/* When the call after @call may be reached. */
static uint32_t returned(const CcsProgram *program, uint32_t call)
{
    CcsCallKind kind = ccs_program_call(program, call)->kind;
    bool is_at_once = kind == CCS_CALL_ISEND || kind == CCS_CALL_IRECV;

    return is_at_once ? ccs_call_reached(call) : ccs_call_done(call);
}

/* What keeps a call from being done once it is reached. */
static uint32_t need_of_done(const CcsProgram *program, const CcsCall *call, uint32_t index)
{
    if (index < call->n_awaited)
        return ccs_call_done(g_array_index(program->awaited, uint32_t, call->awaited + index));
    if (index > 0)
        return CCS_NO_CALL;
    if (ccs_call_receives(call->kind))
        return ccs_call_done(call->match);
    if (ccs_call_sends(call->kind) && !ccs_program_is_eager(program, call))
        return ccs_call_reached(call->match);
    return CCS_NO_CALL;
}

uint32_t ccs_program_moment_needs(const CcsProgram *program, uint32_t moment, uint32_t index)
{
    const CcsCall *call = ccs_program_call(program, call_of(moment));

    if (!is_reached(moment))
        return index == 0 ? moment - 1 : need_of_done(program, call, index - 1);
    if (index > 0 || call->before == CCS_NO_CALL)
        return CCS_NO_CALL;
    return returned(program, call->before);
}

/* A moment whose needs are being looked at. */
typedef struct {
    uint32_t moment;
    uint32_t n_needs; /* that have been looked at */
} Visit;

typedef enum { UNSEEN, OPEN, SETTLED } Mark;

/* A part of the visits that is a circle: each moment needs the next, and the last the first. */
typedef struct {
    const GArray *visits;
    guint first;
    guint length;
} Circle;

static uint32_t moment_at(const Circle *circle, guint index)
{
    return g_array_index(circle->visits, Visit, circle->first + index % circle->length).moment;
}

/* Whether a call waits for another one there. That it stands behind one in its stream needs no
 * word. */
static bool is_wait(const Circle *circle, guint index)
{
    uint32_t moment = moment_at(circle, index);
    return !is_reached(moment) && call_of(moment) != call_of(moment_at(circle, index + 1));
}

/* Where the circle is entered does not matter, so it begins with the first call in the file that
 * does not return. */
static guint begin_of(const CcsProgram *program, const Circle *circle)
{
    guint begin = circle->length;

    for (guint i = 0; i < circle->length; i++) {
        uint32_t moment = moment_at(circle, i);
        if (is_wait(circle, i) && returned(program, call_of(moment)) == moment &&
            (begin == circle->length || moment < moment_at(circle, begin)))
            begin = i;
    }
    return begin % circle->length;
}

static void describe_wait(const CcsProgram *program, const Circle *circle, guint index,
                          GString *text)
{
    uint32_t waiting = call_of(moment_at(circle, index));
    uint32_t awaited = call_of(moment_at(circle, index + 1));
    g_autofree char *own = ccs_call_describe(program, waiting);
    g_autofree char *other = ccs_call_describe(program, awaited);

    g_string_append_printf(text, "\n  rank %u: %s waits for rank %u: %s",
                           ccs_program_call(program, waiting)->rank, own,
                           ccs_program_call(program, awaited)->rank, other);
}

static void fail(const CcsProgram *program, const Circle *circle, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    guint begin = begin_of(program, circle);
    uint32_t n = 0;

    for (guint i = begin; i < begin + circle->length; i++) {
        if (is_wait(circle, i) && n++ < MAX_SHOWN)
            describe_wait(program, circle, i, text);
    }
    if (n > MAX_SHOWN)
        g_string_append_printf(text, "\n  and %u more", n - MAX_SHOWN);
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK,
                "deadlock: %u calls wait for each other, and none can go on%s", n, text->str);
}

/* The visits from the one of @moment on are a circle. */
static void fail_at(const CcsProgram *program, const GArray *visits, uint32_t moment,
                    GError **error)
{
    guint first = 0;

    while (g_array_index(visits, Visit, first).moment != moment)
        first++;
    fail(program, &(Circle){visits, first, visits->len - first}, error);
}

/* Settles @moment after all that it needs, without recursion: programs are long. */
static bool settle(const CcsProgram *program, uint32_t moment, uint8_t *marks, GArray *visits,
                   GArray *order, GError **error)
{
    g_array_append_vals(visits, &(Visit){moment, 0}, 1);
    marks[moment] = OPEN;
    while (visits->len > 0) {
        Visit *visit = &g_array_index(visits, Visit, visits->len - 1);
        uint32_t need = ccs_program_moment_needs(program, visit->moment, visit->n_needs++);
        if (need == CCS_NO_CALL) {
            marks[visit->moment] = SETTLED;
            g_array_append_val(order, visit->moment);
            g_array_set_size(visits, visits->len - 1);
        } else if (marks[need] == OPEN) {
            fail_at(program, visits, need, error);
            return false;
        } else if (marks[need] == UNSEEN) {
            marks[need] = OPEN;
            g_array_append_vals(visits, &(Visit){need, 0}, 1);
        }
    }
    return true;
}

GArray *ccs_program_order(const CcsProgram *program, GError **error)
{
    uint32_t n_moments = 2 * program->calls->len;
    g_autoptr(GArray) order = g_array_sized_new(false, false, sizeof(uint32_t), n_moments);
    g_autoptr(GArray) visits = g_array_new(false, false, sizeof(Visit));
    g_autofree uint8_t *marks = g_new0(uint8_t, n_moments + 1);

    for (uint32_t moment = 0; moment < n_moments; moment++) {
        if (marks[moment] == UNSEEN && !settle(program, moment, marks, visits, order, error))
            return NULL;
    }
    return g_steal_pointer(&order);
}
