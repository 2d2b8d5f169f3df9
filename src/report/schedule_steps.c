#include "report/schedule_steps.h"

#include <string.h>

#include "base/error.h"
#include "collectives/origins.h"
#include "collectives/progress.h"
#include "report/data_names.h"

typedef struct {
    CcsLaneId lane;
    uint32_t message;
    CcsOrigin *data; /* owned: what it carries, by the chunks of its box */
} Sending;

typedef struct {
    const CcsSchedule *schedule;
    CcsProgress *progress;
    CcsOrigins *origins;
    GArray *sendings;  /* of Sending: those of this step */
    GPtrArray **cells; /* by rank: owned texts of what it sends in this step */
    bool has_phases;   /* there is more than one, so they are shown */
    CcsRows *rows;
    uint32_t n_rows_left;
    uint32_t n_steps;
    uint32_t n_shown; /* of them */
} Table;

static void clear_sending(gpointer data)
{
    g_free(((Sending *)data)->data);
}

static void table_clear(Table *table)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(table->schedule);

    ccs_progress_free(table->progress);
    ccs_origins_free(table->origins);
    g_array_unref(table->sendings);
    for (CcsRank rank = 0; rank < n_ranks; rank++)
        g_ptr_array_unref(table->cells[rank]);
    g_free(table->cells);
    ccs_rows_free(table->rows);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Table, table_clear)

static CcsRows *make_rows(const Table *table, CcsFormat format, FILE *out)
{
    g_autoptr(GArray) columns = g_array_new(false, false, sizeof(CcsColumn));
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

    g_array_append_vals(columns, &(CcsColumn){"step", CCS_ALIGN_RIGHT}, 1);
    for (CcsRank rank = 0; rank < ccs_schedule_n_ranks(table->schedule); rank++) {
        char *name = g_strdup_printf("rank %u", rank);
        g_ptr_array_add(names, name);
        g_array_append_vals(columns, &(CcsColumn){name, CCS_ALIGN_LEFT}, 1);
    }
    if (table->has_phases)
        g_array_append_vals(columns, &(CcsColumn){"phase", CCS_ALIGN_LEFT}, 1);
    return ccs_rows_new(out, format, (const CcsColumn *)(const void *)columns->data, columns->len);
}

static void table_init(Table *table, const CcsSchedule *schedule, uint32_t max_rows,
                       CcsFormat format, FILE *out)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(schedule);

    *table = (Table){
        .schedule = schedule,
        .progress = ccs_progress_new(schedule),
        .origins = ccs_origins_new(schedule),
        .sendings = g_array_new(false, false, sizeof(Sending)),
        .cells = g_new(GPtrArray *, n_ranks),
        .has_phases = ccs_schedule_n_phases(schedule) > 1,
        .n_rows_left = max_rows,
    };
    g_array_set_clear_func(table->sendings, clear_sending);
    for (CcsRank rank = 0; rank < n_ranks; rank++)
        table->cells[rank] = g_ptr_array_new_with_free_func(g_free);
    table->rows = make_rows(table, format, out);
}

/* The next message of a lane that may start. */
static Sending start(Table *table, CcsLaneId id)
{
    const CcsLane *lane = ccs_schedule_lane(table->schedule, id);
    Sending sending = {.lane = id,
                       .message = ccs_progress_start(table->progress, id),
                       .data = g_new(CcsOrigin, ccs_box_n_chunks(&lane->from))};

    ccs_origins_read(table->origins, lane, sending.message, sending.data);
    return sending;
}

static void deliver(Table *table, const Sending *sending)
{
    const CcsLane *lane = ccs_schedule_lane(table->schedule, sending->lane);

    ccs_origins_write(table->origins, lane, sending->message, sending->data);
    ccs_progress_sent(table->progress, sending->lane);
    ccs_progress_arrived(table->progress, sending->lane, sending->message);
}

/* Local work takes no step: it is done as soon as it may be. */
static void do_local_work(Table *table)
{
    bool is_changed = true;

    while (is_changed) {
        is_changed = false;
        for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(table->schedule); id++) {
            if (!ccs_lane_is_local(ccs_schedule_lane(table->schedule, id)) ||
                !ccs_progress_may_start(table->progress, id))
                continue;
            Sending work = start(table, id);
            deliver(table, &work);
            clear_sending(&work);
            is_changed = true;
        }
    }
}

static void start_all(Table *table)
{
    g_array_set_size(table->sendings, 0);
    for (CcsLaneId id = 0; id < ccs_schedule_n_lanes(table->schedule); id++) {
        if (ccs_lane_is_local(ccs_schedule_lane(table->schedule, id)) ||
            !ccs_progress_may_start(table->progress, id))
            continue;
        Sending sending = start(table, id);
        g_array_append_val(table->sendings, sending);
    }
}

static void deliver_all(Table *table)
{
    for (guint i = 0; i < table->sendings->len; i++)
        deliver(table, &g_array_index(table->sendings, Sending, i));
}

/* "3->1+"; without data only "->1". Returns: (transfer full). */
static char *sending_text(const CcsSchedule *schedule, const Sending *sending)
{
    const CcsLane *lane = ccs_schedule_lane(schedule, sending->lane);
    CcsRank peer = ccs_lane_peer(lane, sending->message, ccs_schedule_n_ranks(schedule));

    if (lane->has_fixed_bytes)
        return g_strdup_printf("->%u", peer);
    g_autofree char *data =
        ccs_data_list(schedule, lane->channel, sending->data, ccs_box_n_chunks(&lane->from));
    return g_strdup_printf("%s->%u%s", data, peer, sending->message < lane->n_reduced ? "+" : "");
}

static void fill_cells(Table *table)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(table->schedule);

    for (CcsRank rank = 0; rank < n_ranks; rank++)
        g_ptr_array_set_size(table->cells[rank], 0);
    for (guint i = 0; i < table->sendings->len; i++) {
        const Sending *sending = &g_array_index(table->sendings, Sending, i);
        CcsRank source = ccs_schedule_lane(table->schedule, sending->lane)->source;
        g_ptr_array_add(table->cells[source], sending_text(table->schedule, sending));
    }
}

/* The names of the phases that the step belongs to. */
static char *phases_of(const Table *table)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    for (guint i = 0; i < table->sendings->len; i++) {
        Sending sending = g_array_index(table->sendings, Sending, i);
        uint32_t phase = ccs_schedule_lane(table->schedule, sending.lane)->phase;
        gpointer name = (gpointer)(guintptr)ccs_schedule_phases(table->schedule)[phase];
        if (!g_ptr_array_find(names, name, NULL))
            g_ptr_array_add(names, name);
    }
    g_ptr_array_add(names, NULL);
    return g_strjoinv("; ", (char **)names->pdata);
}

static void print_step(Table *table)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(table->schedule);
    g_autofree CcsCell *cells = g_new(CcsCell, (size_t)n_ranks + 2);
    g_autofree char *number = g_strdup_printf("%u", ++table->n_steps);
    g_autofree char *phases = phases_of(table);
    guint n_rows = 0;

    for (CcsRank rank = 0; rank < n_ranks; rank++)
        n_rows = MAX(n_rows, table->cells[rank]->len);
    if (n_rows > table->n_rows_left)
        table->n_rows_left = 0; /* no later one is shown, either */
    table->n_shown += table->n_rows_left > 0;
    for (guint row = 0; row < n_rows && table->n_rows_left > 0; row++) {
        CcsCellType type = row == 0 ? CCS_CELL_TEXT : CCS_CELL_NULL;
        cells[0] = (CcsCell){type, number};
        cells[n_ranks + 1] = (CcsCell){type, phases};
        for (CcsRank rank = 0; rank < n_ranks; rank++) {
            const GPtrArray *texts = table->cells[rank];
            cells[rank + 1] = row < texts->len ? (CcsCell){CCS_CELL_TEXT, texts->pdata[row]}
                                               : (CcsCell){CCS_CELL_NULL, NULL};
        }
        ccs_rows_add(table->rows, cells);
        table->n_rows_left--;
    }
}

bool ccs_schedule_steps_print(const CcsSchedule *schedule, uint32_t max_rows, CcsFormat format,
                              FILE *out, uint32_t *ret_n_steps, uint32_t *ret_n_shown,
                              GError **error)
{
    g_auto(Table) table;

    table_init(&table, schedule, max_rows, format, out);
    for (;;) {
        do_local_work(&table);
        start_all(&table);
        if (table.sendings->len == 0)
            break;
        fill_cells(&table);
        print_step(&table);
        deliver_all(&table);
    }
    if (!ccs_rows_end(table.rows, error))
        return false;
    *ret_n_steps = table.n_steps;
    *ret_n_shown = table.n_shown;
    if (ccs_progress_is_done(table.progress))
        return true;
    g_autofree char *wait = ccs_progress_describe_wait(table.progress);
    g_set_error(error, CCS_ERROR, CCS_ERROR_CHECK, "deadlock: %s", wait);
    return false;
}
