/* What a run leaves in the database: what each trace level writes, sums that agree, views that
 * answer, and the same rows for the same input. */
#include "tests/cli/cli.h"
#include "tests/support/check_main.h"

static CcsFolder *folder;
static char *db;

static void set_up(void)
{
    folder = ccs_folder_new();
    db = g_build_filename(folder, "ccsim.db", NULL);
}

static void tear_down(void)
{
    g_clear_pointer(&db, g_free);
    g_clear_pointer(&folder, ccs_folder_remove);
}

static void run(const char *line)
{
    g_auto(CcsProgramRun) done = ccs_program_run_line(folder, line);
    assert_status(&done, 0);
}

/* What "ccsim sql" answers, without the head. */
static char *ask(const char *query)
{
    g_auto(CcsProgramRun) done = ccs_program_run(&(CcsProgramCall){
        .args = (const char *const[]){"sql", "--format", "csv", query, NULL}, .folder = folder});
    assert_done(&done);
    return g_strdup(strchr(done.output, '\n') + 1);
}

/* No row is wrong: @query counts those that are. */
static void assert_no_row(const char *query)
{
    ck_assert_msg(ccs_query_number(db, query) == 0, "%s", query);
}

static const struct {
    const char *table;
    int first_level; /* that fills it: 0 none ... 3 flows */
} tables[] = {
    {"run", 0},           {"topology", 0}, {"vertex", 0},       {"link", 0},
    {"param", 0},         {"result", 0},   {"rank_summary", 1}, {"link_summary", 1},
    {"critical_path", 1}, {"phase", 2},    {"step", 2},         {"flow_any", 3},
};
static const char *const levels[] = {"none", "summary", "steps", "flows"};

START_TEST(a_level_fills_its_tables_and_no_others)
{
    g_autofree char *line =
        g_strdup_printf("bench allreduce -T cluster32 -A all -b 1M -e 1M --trace %s", levels[_i]);
    run(line);
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        g_autofree char *query = g_strdup_printf("SELECT count(*) FROM %s", tables[i].table);
        bool is_filled = ccs_query_number(db, query) > 0;
        ck_assert_msg(is_filled == (_i >= tables[i].first_level), "%s at level %s", tables[i].table,
                      levels[_i]);
    }
}
END_TEST

START_TEST(a_level_changes_no_result)
{
    for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
        g_autofree char *line = g_strdup_printf(
            "bench broadcast -T dgx-h100 --nodes 2 -A all -b 1K -e 1G -f 1024 --trace %s",
            levels[i]);
        run(line);
    }
    assert_no_row("SELECT count(*) - count(DISTINCT algorithm || size_bytes) * 4 FROM result");
    assert_no_row("SELECT count(*) FROM (SELECT 1 FROM result GROUP BY algorithm, size_bytes"
                  " HAVING count(DISTINCT time_ps) > 1 OR count(DISTINCT flows) > 1)");
}
END_TEST

/* All algorithms, on a machine with latencies, costs and two nodes of three ranks. */
static void run_everything(void)
{
    static const char *const collectives[] = {"allreduce", "allgather", "reducescatter",
                                              "alltoall",  "broadcast", "sendrecv"};

    for (size_t i = 0; i < G_N_ELEMENTS(collectives); i++) {
        g_autofree char *line = g_strdup_printf(
            "bench %s -T dgx-h100 --nodes 2 --ranks-per-node 3 -A all -b 0 -e 10M -i 5000001"
            " --chunks 5 --trace flows --set transport.message_cost='3 us'"
            " --set transport.launch='2 us' --set transport.reduce_rate='700 GB/s'",
            collectives[i]);
        run(line);
    }
}

/* Each counts the rows that are wrong. */
static const char *const sums[] = {
    /* Messages and summaries. */
    "SELECT count(*) < 20 FROM result",
    "SELECT count(*) FROM result WHERE flows <>"
    " (SELECT count(*) FROM flow WHERE flow.result_id = result.result_id)",
    "SELECT count(*) FROM rank_summary AS r WHERE (bytes_sent, messages_sent) IS NOT"
    " (SELECT total(bytes), count(*) FROM flow WHERE result_id = r.result_id"
    "  AND src = r.rank)",
    "SELECT count(*) FROM rank_summary AS r WHERE (bytes_received, messages_received) IS NOT"
    " (SELECT total(bytes), count(*) FROM flow WHERE result_id = r.result_id"
    "  AND dst = r.rank)",
    "SELECT count(*) FROM result WHERE bytes_sent_max <>"
    " (SELECT max(bytes_sent) FROM rank_summary AS r"
    "  WHERE r.result_id = result.result_id)",
    "SELECT count(*) FROM step WHERE (messages, bytes) IS NOT"
    " (SELECT count(*), sum(bytes) FROM flow WHERE flow.result_id = step.result_id"
    "  AND flow.phase_id = step.phase_id AND flow.message = step.step)",
    /* Links and ranks: what a rank sends leaves its GPU, through which messages of others may pass
     * as well. */
    "SELECT count(*) FROM rank_summary AS r JOIN result USING (result_id)"
    " WHERE bytes_sent > (SELECT total(s.bytes) FROM link_summary AS s JOIN link"
    "  ON link.topology_id = result.topology_id AND link.link_id = s.link_id"
    "  WHERE s.result_id = r.result_id AND link.from_vertex = r.vertex_id)",
    "SELECT count(*) FROM link_summary WHERE utilisation > 1 + 1e-9",
    "SELECT count(*) FROM link_summary JOIN result USING (result_id)"
    " WHERE busy_ps > time_ps",
    "SELECT count(*) FROM link_summary AS s JOIN result USING (result_id) JOIN link"
    " ON link.topology_id = result.topology_id AND link.link_id = s.link_id"
    " WHERE s.peak_GBps > link.bandwidth_GBps * (1 + 1e-9)",
    /* Times. */
    "SELECT count(*) FROM result WHERE time_ps <>"
    " (SELECT sum(time_ps) FROM critical_path AS c"
    "  WHERE c.result_id = result.result_id)",
    "SELECT count(*) FROM result WHERE abs(1 -"
    " (SELECT sum(share) FROM critical_path AS c"
    "  WHERE c.result_id = result.result_id)) > 1e-9",
    "SELECT count(*) FROM result WHERE time_ps <>"
    " (SELECT max(arrived_ps) FROM flow WHERE flow.result_id = result.result_id)",
    "SELECT count(*) FROM result WHERE time_ps <>"
    " (SELECT max(finished_ps) FROM rank_summary AS r"
    "  WHERE r.result_id = result.result_id)",
    "SELECT count(*) FROM flow WHERE NOT (2000000 <= started_ps"
    " AND started_ps + 3000000 = entered_ps AND entered_ps <= injected_ps"
    " AND injected_ps <= arrived_ps)",
    "SELECT count(*) FROM result WHERE bound_ps > time_ps"
    " OR abs(efficiency - bound_ps * 1.0 / time_ps) > 1e-9",
};

START_TEST(sums_over_messages_links_ranks_and_causes_agree)
{
    run_everything();
    for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
        assert_no_row(sums[i]);
}
END_TEST

START_TEST(busiest_link_is_the_bottleneck_that_the_result_names)
{
    run("bench allreduce -T cluster32 -A all -b 1M -e 64M -f 8");
    assert_no_row("SELECT count(*) <> 3 * (SELECT count(DISTINCT algorithm) FROM result)"
                  " FROM busiest_link");
    assert_no_row("SELECT count(*) FROM busiest_link JOIN result USING (result_id)"
                  " WHERE abs(utilisation - bottleneck_utilisation) > 1e-9"
                  " OR class <> bottleneck_class OR link <> bottleneck_link");
}
END_TEST

START_TEST(best_algorithm_compare_and_crossover_answer)
{
    run("bench broadcast -T dgx-h100 --nodes 2 -A chain,binomial -b 1K -e 1G -f 16");
    run("bench broadcast -T dgx-h100 --nodes 2 -A chain,binomial -b 1K -e 1G -f 16");
    g_autofree char *small =
        ask("SELECT algorithm FROM best_algorithm ORDER BY size_bytes LIMIT 1");
    g_autofree char *large =
        ask("SELECT algorithm FROM best_algorithm ORDER BY size_bytes DESC LIMIT 1");
    g_autofree char *crossover = ask("SELECT algorithm_below, algorithm FROM crossover");

    ck_assert_str_eq(small, "binomial\n");
    ck_assert_str_eq(large, "chain\n");
    ck_assert_str_eq(crossover, "binomial,chain\n");
    assert_no_row("SELECT count(*) - 12 FROM compare");
    assert_no_row("SELECT count(*) FROM compare WHERE place = 1 AND ratio_to_best <> 1"
                  " OR place = 2 AND ratio_to_best < 1");
    assert_no_row("SELECT count(*) FROM compare WHERE result_id <= 12"); /* the newest count */
}
END_TEST

START_TEST(last_run_holds_the_newest_results)
{
    run("bench allreduce -T nvlink8 -b 1K -e 4K");
    run("bench alltoall -T nvlink8 -b 1K -e 1K");
    g_autofree char *last = ask("SELECT run_id, collective, topology, size_bytes FROM last_run");

    ck_assert_str_eq(last, "2,alltoall,nvlink8,1024\n");
}
END_TEST

START_TEST(parameters_say_where_they_come_from)
{
    run("bench allreduce -T dgx-h100 -b 8 -e 8 --set transport.launch='2 us'"
        " --set transport.synchronous=true --set node.gpus=4");
    g_autofree char *given =
        ask("SELECT path, value, kind, source FROM param WHERE source = '--set' ORDER BY path");
    g_autofree char *settings = ask("SELECT settings FROM result");

    ck_assert_str_eq(given, "node.gpus,4,given,--set\ntransport.launch,2 us,given,--set\n"
                            "transport.synchronous,true,given,--set\n");
    ck_assert_str_eq(settings, "transport.launch = 2 us; transport.synchronous = true\n");
    assert_no_row("SELECT count(*) = 0 FROM param WHERE kind = 'datasheet' AND source <> ''");
}
END_TEST

/* All rows of the database @name but what differs by nature: the run with its times of day, and
 * the text of the topology with its hash. */
static char *contents(const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GString) text = g_string_new(NULL);

    for (size_t i = 1; i < G_N_ELEMENTS(tables); i++) {
        const char *columns = strcmp(tables[i].table, "topology") == 0
                                  ? "topology_id, name, nodes, gpus, vertices, links"
                                  : "*";
        g_autofree char *query = g_strdup_printf("SELECT %s FROM %s", columns, tables[i].table);
        g_auto(CcsProgramRun) done = ccs_program_run(&(CcsProgramCall){
            .args = (const char *const[]){"sql", "--db", path, "--format", "csv", query, NULL}});
        assert_done(&done);
        g_string_append_printf(text, "%s\n%s", tables[i].table, done.output);
    }
    return g_string_free(g_steal_pointer(&text), false);
}

static void assert_same_contents(const char *one, const char *other)
{
    g_autofree char *first = contents(one);
    g_autofree char *second = contents(other);

    ck_assert_uint_gt(strlen(first), 10000);
    ck_assert_msg(strcmp(first, second) == 0, "%s and %s differ", one, other);
}

START_TEST(the_same_input_makes_the_same_database)
{
    run("bench allreduce -T dgx-h100 --nodes 2 -A all -b 1K -e 1M -f 32 --trace flows --db a.db");
    run("bench allreduce -T dgx-h100 --nodes 2 -A all -b 1K -e 1M -f 32 --trace flows --db b.db");
    assert_same_contents("a.db", "b.db");
}
END_TEST

START_TEST(the_order_of_keys_in_a_topology_does_not_matter)
{
    write_file(
        folder, "one.yaml",
        "name: t\nnodes: 2\nnode:\n  gpus: 4\n  nvlink: {bandwidth: 300 GB/s, latency: 1 us}\n"
        "  nics: {count: 4, bandwidth: 50 GB/s, latency: 2 us}\n"
        "fabric: {kind: leaf-spine, rail_optimized: false, spines: 2, ports_per_leaf: 4}\n");
    write_file(folder, "two.yaml",
               "fabric: {ports_per_leaf: 4, spines: 2, rail_optimized: false, kind: leaf-spine}\n"
               "node:\n  nics: {latency: 2 us, bandwidth: 50 GB/s, count: 4}\n"
               "  nvlink: {latency: 1 us, bandwidth: 300 GB/s}\n  gpus: 4\nnodes: 2\nname: t\n");
    run("bench alltoall -T one.yaml -b 1M -e 4M --trace flows --db a.db");
    run("bench alltoall -T two.yaml -b 1M -e 4M --trace flows --db b.db");

    assert_same_contents("a.db", "b.db");
}
END_TEST

START_TEST(the_order_of_links_changes_no_time)
{
    static const char *const links[] = {
        "  - {from: n0.gpu0, to: n0.gpu1, bandwidth: 10 GB/s, latency: 1 us, both_ways: true}\n",
        "  - {from: n0.gpu1, to: n0.gpu2, bandwidth: 20 GB/s, latency: 1 us, both_ways: true}\n",
        "  - {from: n0.gpu2, to: n0.gpu0, bandwidth: 30 GB/s, latency: 1 us, both_ways: true}\n"};
    g_autofree char *there =
        g_strdup_printf("name: t\nnode: {gpus: 3}\nlinks:\n%s%s%s", links[0], links[1], links[2]);
    g_autofree char *back =
        g_strdup_printf("name: t\nnode: {gpus: 3}\nlinks:\n%s%s%s", links[2], links[1], links[0]);
    write_file(folder, "one.yaml", there);
    write_file(folder, "two.yaml", back);
    run("bench allreduce -A ring,naive,tree -T one.yaml -b 1M -e 4M");
    run("bench allreduce -A ring,naive,tree -T two.yaml -b 1M -e 4M");

    assert_no_row("SELECT count(*) - 9 FROM result AS a JOIN result AS b USING (algorithm,"
                  " size_bytes, time_ps, bottleneck_utilisation)"
                  " WHERE a.run_id = 1 AND b.run_id = 2");
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("database");
    TCase *tcase = tcase_create("database");

    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_level_fills_its_tables_and_no_others, 0, G_N_ELEMENTS(levels));
    tcase_add_test(tcase, a_level_changes_no_result);
    tcase_add_test(tcase, sums_over_messages_links_ranks_and_causes_agree);
    tcase_add_test(tcase, busiest_link_is_the_bottleneck_that_the_result_names);
    tcase_add_test(tcase, best_algorithm_compare_and_crossover_answer);
    tcase_add_test(tcase, last_run_holds_the_newest_results);
    tcase_add_test(tcase, parameters_say_where_they_come_from);
    tcase_add_test(tcase, the_same_input_makes_the_same_database);
    tcase_add_test(tcase, the_order_of_keys_in_a_topology_does_not_matter);
    tcase_add_test(tcase, the_order_of_links_changes_no_time);
    suite_add_tcase(suite, tcase);
    return suite;
}
