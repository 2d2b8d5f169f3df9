/* The table of steps that `explain` prints, played by someone who knows nothing but the table:
 * each rank sends only what it holds by the rows so far, and in the end holds what the collective
 * promises. */
#include <stdio.h>
#include <string.h>

#include "report/data_names.h"
#include "report/schedule_steps.h"
#include "tests/support/catalogue.h"
#include "tests/support/check_main.h"

#define MOST 32U /* ranks, and chunks */

static const CcsCollectives all[] = {CCS_ALLREDUCE, CCS_ALLGATHER, CCS_REDUCESCATTER, CCS_ALLTOALL,
                                     CCS_ALLTOALLV, CCS_BROADCAST, CCS_REDUCE,        CCS_GATHER,
                                     CCS_SCATTER,   CCS_SENDRECV,  CCS_N_COLLECTIVES};

/* Whose contributions a rank holds, as bits: by rank, and by chunk, or by source and target of a
 * block. */
typedef struct {
    uint32_t of[MOST][MOST][MOST];
} Holdings;

typedef struct {
    const CcsAsked *asked;
    CcsCollective collective;
    CcsDataNaming naming;
    uint32_t n_ranks;
    uint32_t n_chunks;
    CcsRank root;
    Holdings now;
    Holdings before; /* the step */
    bool is_told;    /* no list was too long to be printed */
} Reader;

/* What @rank holds of chunk @chunk, or of the block from @chunk for @target, before anything. */
static uint32_t held_at_start(const Reader *reader, CcsRank rank, uint32_t chunk)
{
    switch (reader->collective) {
    case CCS_ALLGATHER:
    case CCS_GATHER:
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
        return chunk == rank ? 1U << rank : 0;
    case CCS_BROADCAST:
    case CCS_SCATTER:
        return rank == reader->root ? 1U << rank : 0;
    default:
        return 1U << rank;
    }
}

static void begin(Reader *reader)
{
    uint32_t n_targets = reader->naming == CCS_NAMED_BY_PAIR ? reader->n_ranks : 1;

    for (CcsRank rank = 0; rank < reader->n_ranks; rank++) {
        for (uint32_t chunk = 0; chunk < reader->n_chunks; chunk++) {
            for (CcsRank target = 0; target < n_targets; target++)
                reader->now.of[rank][chunk][target] = held_at_start(reader, rank, chunk);
        }
    }
}

/* Reads "0-2,5" at @text into a set. Returns: what is behind it. */
static const char *read_set(const char *text, uint32_t n, bool *set)
{
    if (g_str_has_prefix(text, "all")) {
        memset(set, 1, n * sizeof *set);
        return text + 3;
    }
    for (;;) {
        char *end = NULL;
        guint64 first = g_ascii_strtoull(text, &end, 10);
        guint64 last =
            *end == '-' && g_ascii_isdigit(end[1]) ? g_ascii_strtoull(end + 1, &end, 10) : first;
        ck_assert_msg(end != text && first <= last && last < n, "cannot read '%s'", text);
        for (guint64 i = first; i <= last; i++)
            set[i] = true;
        if (*end != ',')
            return end;
        text = end + 1;
    }
}

static void move(Reader *reader, CcsRank from, CcsRank to, uint32_t chunk, CcsRank target,
                 bool is_added, const char *cell)
{
    uint32_t sent = reader->before.of[from][chunk][target];
    uint32_t *at_peer = &reader->now.of[to][chunk][target];

    ck_assert_msg(sent != 0, "%s %s of %u ranks: rank %u sends %s and does not hold it",
                  reader->asked->collective, reader->asked->algorithm, reader->n_ranks, from, cell);
    ck_assert_msg(!is_added || (*at_peer != 0 && (*at_peer & sent) == 0),
                  "%s %s of %u ranks: rank %u cannot add %s of rank %u", reader->asked->collective,
                  reader->asked->algorithm, reader->n_ranks, to, cell, from);
    *at_peer = is_added ? *at_peer | sent : sent;
}

/* "0-1:4", one of the parts between semicolons, or "0-3". Returns: what is behind it. */
static const char *read_part(Reader *reader, CcsRank from, const char *text, const char *cell)
{
    const char *arrow = strstr(cell, "->") + 2;
    CcsRank to = (CcsRank)g_ascii_strtoull(arrow, NULL, 10);
    bool chunks[MOST] = {false};
    bool targets[MOST] = {false};
    const char *end = read_set(text, reader->n_chunks, chunks);

    if (reader->naming == CCS_NAMED_BY_PAIR) {
        ck_assert_msg(*end == ':', "cannot read '%s'", cell);
        end = read_set(end + 1, reader->n_ranks, targets);
    } else {
        targets[0] = true;
    }
    for (uint32_t chunk = 0; chunk < reader->n_chunks; chunk++) {
        for (CcsRank target = 0; target < reader->n_ranks; target++) {
            if (chunks[chunk] && targets[target])
                move(reader, from, to, chunk, target, strchr(arrow, '+') != NULL, cell);
        }
    }
    return end;
}

static void read_cell(Reader *reader, CcsRank from, const char *cell)
{
    const char *at = cell;

    if (*cell == '\0' || !reader->is_told)
        return;
    reader->is_told = strchr(cell, ' ') == NULL; /* "9 chunks->1" */
    while (reader->is_told && (at = read_part(reader, from, at, cell), *at == ';'))
        at++;
}

/* "| 1 | 0->1 | 1->2 |": a new step, or, without a number, more of the same. */
static void read_row(Reader *reader, const char *line)
{
    g_auto(GStrv) cells = g_strsplit(line, "|", -1);

    if (g_strv_length(cells) < reader->n_ranks + 2)
        return;
    g_strstrip(cells[1]);
    if (*cells[1] != '\0' && !g_ascii_isdigit(*cells[1])) /* the head */
        return;
    if (*cells[1] != '\0')
        reader->before = reader->now;
    for (CcsRank rank = 0; rank < reader->n_ranks; rank++)
        read_cell(reader, rank, g_strstrip(cells[rank + 2]));
}

static char *print_table(const CcsSchedule *schedule)
{
    g_autoptr(GError) error = NULL;
    char *text = NULL;
    size_t length = 0;
    uint32_t n_steps = 0;
    uint32_t n_shown = 0;
    FILE *out = open_memstream(&text, &length);

    ck_assert_msg(
        ccs_schedule_steps_print(schedule, 100000, CCS_FORMAT_MD, out, &n_steps, &n_shown, &error),
        "%s", error == NULL ? "" : error->message);
    ck_assert_uint_eq(n_steps, n_shown);
    fclose(out);
    return text;
}

/* What is promised of a chunk at @rank; 0: nothing. */
static uint32_t promised(const Reader *reader, CcsRank rank, uint32_t chunk, CcsRank target)
{
    uint32_t everyone = (1U << reader->n_ranks) - 1;

    switch (reader->collective) {
    case CCS_ALLREDUCE:
        return everyone;
    case CCS_REDUCESCATTER:
        return chunk == rank ? everyone : 0;
    case CCS_REDUCE:
        return rank == reader->root ? everyone : 0;
    case CCS_ALLGATHER:
        return 1U << chunk;
    case CCS_GATHER:
        return rank == reader->root ? 1U << chunk : 0;
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
        return rank == target ? 1U << chunk : 0;
    case CCS_BROADCAST:
        return 1U << reader->root;
    case CCS_SCATTER:
        return chunk == rank ? 1U << reader->root : 0;
    case CCS_SENDRECV:
        return 1U << ((rank + reader->n_ranks - 1) % reader->n_ranks);
    default:
        return 0;
    }
}

static void check_end(const Reader *reader)
{
    uint32_t n_targets = reader->naming == CCS_NAMED_BY_PAIR ? reader->n_ranks : 1;

    for (CcsRank rank = 0; rank < reader->n_ranks; rank++) {
        for (uint32_t chunk = 0; chunk < reader->n_chunks; chunk++) {
            for (CcsRank target = 0; target < n_targets; target++) {
                uint32_t wanted = promised(reader, rank, chunk, target);
                ck_assert_msg(
                    wanted == 0 || reader->now.of[rank][chunk][target] == wanted,
                    "%s %s of %u ranks: by the table rank %u ends with the wrong data in chunk %u",
                    reader->asked->collective, reader->asked->algorithm, reader->n_ranks, rank,
                    chunk);
            }
        }
    }
}

static void read_table(const CcsAsked *asked)
{
    g_auto(CcsAnswer) answer;
    g_autofree Reader *reader = g_new0(Reader, 1);

    if (!ccs_ask_schedule(asked, &answer))
        return;
    const CcsSchedule *schedule = answer.schedule;
    g_autofree char *table = print_table(schedule);
    g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
    reader->asked = asked;
    reader->collective = ccs_schedule_collective(schedule);
    reader->naming = ccs_data_naming(schedule);
    reader->n_ranks = ccs_schedule_n_ranks(schedule);
    reader->n_chunks =
        reader->naming == CCS_NAMED_BY_PAIR ? reader->n_ranks : ccs_schedule_n_chunks(schedule);
    reader->root = asked->root;
    reader->is_told = true;
    ck_assert_uint_le(MAX(reader->n_ranks, reader->n_chunks), MOST);
    begin(reader);
    for (size_t i = 0; lines[i] != NULL; i++)
        read_row(reader, lines[i]);
    ck_assert_msg(reader->is_told || reader->n_ranks > 8, "%s %s of %u ranks is not told",
                  asked->collective, asked->algorithm, reader->n_ranks);
    if (reader->is_told)
        check_end(reader);
}

START_TEST(every_rank_sends_only_what_it_holds_on_a_flat_switch)
{
    g_autofree char *machine = ccs_flat_switch((uint32_t)_i);

    ccs_try_all(all, (CcsAsked){.machine = machine, .n_chunks = 3}, (uint32_t)_i, read_table);
}
END_TEST

START_TEST(every_rank_sends_only_what_it_holds_on_uneven_nodes)
{
    ccs_try_all(all, (CcsAsked){.machine = ccs_uneven[_i].machine, .n_chunks = 3},
                ccs_uneven[_i].n_ranks, read_table);
}
END_TEST

START_TEST(every_rank_sends_only_what_it_holds_on_a_cluster)
{
    ccs_try_all(all, (CcsAsked){.machine = "cluster32", .n_ranks = 8, .ranks_per_node = 2}, 8,
                read_table);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("steps");
    TCase *tcase = tcase_create("steps");

    tcase_add_loop_test(tcase, every_rank_sends_only_what_it_holds_on_a_flat_switch, 2, 13);
    tcase_add_loop_test(tcase, every_rank_sends_only_what_it_holds_on_uneven_nodes, 0,
                        ccs_n_uneven);
    tcase_add_test(tcase, every_rank_sends_only_what_it_holds_on_a_cluster);
    suite_add_tcase(suite, tcase);
    return suite;
}
