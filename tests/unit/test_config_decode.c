#include <string.h>

#include "base/error.h"
#include "config/config.h"
#include "tests/support/check_main.h"

typedef struct {
    uint32_t kind;
    CcsRate bandwidth;
    CcsTime latency;
} Wire;

typedef struct {
    const char *name;
    CcsTime latency;
} Port;

typedef struct {
    const char *name;
    uint32_t count;
    uint64_t ratio;
    double load;
    CcsBytes size;
    bool is_on;
    const Wire *wire;
    uint32_t n_ports;
    CcsList ports;   /* Port */
    CcsList served;  /* CcsList of uint32_t */
    CcsList sizes;   /* CcsBytes */
    CcsList aliases; /* const char * */
} Box;

static const char *const wire_kinds[] = {"none", "copper", "glass", NULL};
static const CcsField wire_fields[] = {
    {.name = "kind",
     .kind = CCS_FIELD_ENUM,
     .offset = offsetof(Wire, kind),
     .is_required = true,
     .choices = wire_kinds},
    {.name = "bandwidth",
     .kind = CCS_FIELD_RATE,
     .offset = offsetof(Wire, bandwidth),
     .is_required = true,
     .only_kinds = 2 | 4},
    {.name = "latency",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(Wire, latency),
     .default_text = "1 us",
     .only_kinds = 2 | 4},
};
static const CcsFieldTable wire_table = {
    .size = sizeof(Wire), .fields = wire_fields, .n_fields = G_N_ELEMENTS(wire_fields)};

static const CcsField port_fields[] = {
    {.name = "name", .kind = CCS_FIELD_NAME, .offset = offsetof(Port, name), .is_required = true},
    {.name = "latency",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(Port, latency),
     .default_text = "2 us"},
};
static const CcsFieldTable port_table = {
    .size = sizeof(Port), .fields = port_fields, .n_fields = G_N_ELEMENTS(port_fields)};

static const CcsField box_fields[] = {
    {.name = "name", .kind = CCS_FIELD_NAME, .offset = offsetof(Box, name)},
    {.name = "count",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(Box, count),
     .default_text = "3",
     .min = 1,
     .max = 8},
    {.name = "ratio",
     .kind = CCS_FIELD_DECIMAL,
     .offset = offsetof(Box, ratio),
     .min = 0.001,
     .max = 100},
    {.name = "load", .kind = CCS_FIELD_NUMBER, .offset = offsetof(Box, load), .min = -1, .max = 1},
    {.name = "size", .kind = CCS_FIELD_SIZE, .offset = offsetof(Box, size)},
    {.name = "is_on", .kind = CCS_FIELD_BOOL, .offset = offsetof(Box, is_on)},
    {.name = "wire",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(Box, wire),
     .table = &wire_table},
    {.name = "ports", .kind = CCS_FIELD_COUNT, .offset = offsetof(Box, n_ports)},
    {.name = "ports",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(Box, ports),
     .list_depth = 1,
     .table = &port_table},
    {.name = "served", .kind = CCS_FIELD_COUNT, .offset = offsetof(Box, served), .list_depth = 2},
    {.name = "sizes", .kind = CCS_FIELD_SIZE, .offset = offsetof(Box, sizes), .list_depth = 1},
    {.name = "aliases", .kind = CCS_FIELD_TEXT, .offset = offsetof(Box, aliases), .list_depth = 1},
};
static const CcsFieldTable box_table = {
    .size = sizeof(Box), .fields = box_fields, .n_fields = G_N_ELEMENTS(box_fields)};

static CcsConfig *config;
static Box box;

static void tear_down(void)
{
    g_clear_pointer(&config, ccs_config_free);
}

static void open_text(const char *text)
{
    g_autoptr(GError) error = NULL;

    config = ccs_config_new("f.yaml", text, strlen(text), &error);
    ck_assert_msg(config != NULL, "%s", error ? error->message : "");
}

static void decode(void)
{
    g_autoptr(GError) error = NULL;

    ccs_config_decode(config, &box_table, &box);
    ck_assert_msg(ccs_config_check(config, &error), "%s", error ? error->message : "");
}

static char *decode_badly(void)
{
    g_autoptr(GError) error = NULL;

    ccs_config_decode(config, &box_table, &box);
    ck_assert(!ccs_config_check(config, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    return g_strdup(error->message);
}

START_TEST(each_kind_of_field_is_decoded)
{
    open_text("name: big.box-1\ncount: 8\nratio: 1.5\nload: -0.25\nsize: 4 MiB\nis_on: true\n"
              "wire: {kind: glass, bandwidth: 400 Gb/s}\n"
              "served: [[0, 1], [], [7]]\nsizes: [1 KiB, 2 KiB]\naliases: [a b, c]\n");
    decode();

    ck_assert_str_eq(box.name, "big.box-1");
    ck_assert_uint_eq(box.count, 8);
    ck_assert_uint_eq(box.ratio, 1500000);
    ck_assert_double_eq(box.load, -0.25);
    ck_assert_uint_eq(box.size, 4194304);
    ck_assert(box.is_on);
    ck_assert_uint_eq(box.wire->kind, 2);
    ck_assert_uint_eq(box.wire->bandwidth, 50000000000U * CCS_RATE_PER_BYTE);
    ck_assert_int_eq(box.wire->latency, 1000000);
    const CcsList *served = box.served.items;
    ck_assert_uint_eq(box.served.n_items, 3);
    ck_assert_uint_eq(served[0].n_items, 2);
    ck_assert_uint_eq(((const uint32_t *)served[0].items)[1], 1);
    ck_assert_uint_eq(served[1].n_items, 0);
    ck_assert_uint_eq(((const uint32_t *)served[2].items)[0], 7);
    ck_assert_uint_eq(((const CcsBytes *)box.sizes.items)[1], 2048);
    ck_assert_str_eq(((const char *const *)box.aliases.items)[0], "a b");
}
END_TEST

START_TEST(what_is_absent_is_its_default_or_zero)
{
    open_text("{}\n");
    decode();

    ck_assert_uint_eq(box.count, 3);
    ck_assert_uint_eq(box.ratio, 0);
    ck_assert_ptr_null(box.name);
    ck_assert_ptr_null(box.wire);
    ck_assert_uint_eq(box.ports.n_items, 0);
}
END_TEST

START_TEST(a_key_may_have_two_forms)
{
    open_text("ports: 4\n");
    decode();
    ck_assert_uint_eq(box.n_ports, 4);
    ck_assert_uint_eq(box.ports.n_items, 0);
    tear_down();

    open_text("ports: [{name: a}, {name: b, latency: 5 us}]\n");
    decode();
    const Port *ports = box.ports.items;
    ck_assert_uint_eq(box.n_ports, 0);
    ck_assert_uint_eq(box.ports.n_items, 2);
    ck_assert_int_eq(ports[0].latency, 2000000);
    ck_assert_str_eq(ports[1].name, "b");
    ck_assert_int_eq(ports[1].latency, 5000000);
}
END_TEST

START_TEST(an_alias_decodes_as_what_it_names)
{
    open_text("ports:\n- &a {name: a, latency: 7 us}\n- *a\n");
    decode();

    ck_assert_int_eq(((const Port *)box.ports.items)[1].latency, 7000000);
}
END_TEST

typedef struct {
    const char *text;
    const char *message; /* how it begins */
} Refusal;

static const Refusal refusals[] = {
    {"- 1\n", "f.yaml:1:1: error: the file must be a mapping"},
    {"coutn: 3\n", "f.yaml:1:1: error: unknown key 'coutn' (did you mean 'count'?)\n coutn: 3\n ^"},
    {"count: 3\ncount: 4\n", "f.yaml:2:1: error: repeated key 'count' (it stands on line 1"},
    {"count: 9\n", "f.yaml:1:8: error: 'count' must be a whole number from 1 to 8, not '9'"},
    {"count: 0\n", "f.yaml:1:8: error: 'count' must be a whole number from 1 to 8, not '0'"},
    {"count: -1\n", "f.yaml:1:8: error: 'count' must be a whole number from 1 to 8, not '-1'"},
    {"count: 1.5\n", "f.yaml:1:8: error: 'count' must be a whole number"},
    {"count: 99999999999999999999\n", "f.yaml:1:8: error: 'count' must be a whole number"},
    {"count: [1]\n", "f.yaml:1:8: error: 'count' must be a whole number from 1 to 8, not a list"},
    {"count:\n", "f.yaml:1:7: error: 'count' has no value: it must be a whole number"},
    {"count: ~\n", "f.yaml:1:8: error: 'count' has no value"},
    {"ratio: 0\n", "f.yaml:1:8: error: 'ratio' must be a number from 0.001 to 100, not '0'"},
    {"ratio: 1.0000001\n", "f.yaml:1:8: error: 'ratio' must be a number from 0.001 to 100, not "
                           "'1.0000001' (at most 6 decimals)"},
    {"ratio: nan\n", "f.yaml:1:8: error: 'ratio' must be a number"},
    {"load: nan\n", "f.yaml:1:7: error: 'load' must be a number from -1 to 1, not 'nan'"},
    {"load: inf\n", "f.yaml:1:7: error: 'load' must be a number"},
    {"load: 1e999\n", "f.yaml:1:7: error: 'load' must be a number"},
    {"load: 2\n", "f.yaml:1:7: error: 'load' must be a number from -1 to 1, not '2'"},
    {"size: 4 MB\n", "f.yaml:1:7: error: 'size' must be a size such as 4 MiB, not '4 MB'"},
    {"is_on: yes\n", "f.yaml:1:8: error: 'is_on' must be true or false, not 'yes'"},
    {"name: a b\n", "f.yaml:1:7: error: 'name' must be a name, not 'a b'"},
    {"name: \"a\\e[31mb\"\n", "f.yaml:1:7: error: 'name' must be a name, not 'a?[31mb'"},
    {"wire: 4\n", "f.yaml:1:7: error: 'wire' must be a mapping (keys with values), not a single"},
    {"wire: {}\n", "f.yaml:1:7: error: 'kind' is missing in 'wire': it must be none, copper or"},
    {"wire: {kind: coper}\n", "f.yaml:1:14: error: 'kind' must be none, copper or glass, not "
                              "'coper' (did you mean 'copper'?)"},
    {"wire: {kind: glass}\n", "f.yaml:1:7: error: 'bandwidth' is missing in 'wire': it must be a "
                              "bandwidth such as 450 GB/s or 400 Gb/s"},
    {"wire: {kind: none, latency: 1 us}\n", "f.yaml:1:29: error: 'latency' has no effect with "
                                            "kind 'none'"},
    {"a: 1\nwire: {kind: glass, bandwidth: 1 GB/s, latency: 1}\n", "f.yaml:1:1: error: unknown"},
    {"wire:\n  kind: glass\n  bandwidth: 1 GB/s\n  latency: 1\n",
     "f.yaml:4:12: error: 'latency' must be a time such as 2.5 us, not '1' (a number alone has no "
     "unit)\n   latency: 1\n            ^"},
    {"ports: {}\n", "f.yaml:1:8: error: 'ports' must be a whole number, or a list of mappings\n"},
    {"ports: [1]\n", "f.yaml:1:9: error: 'ports[0]' must be a mapping"},
    {"ports: [{name: a}, {}]\n", "f.yaml:1:20: error: 'name' is missing in 'ports[1]'"},
    {"served: 4\n", "f.yaml:1:9: error: 'served' must be a list of lists of whole numbers, not a"},
    {"served: [4]\n", "f.yaml:1:10: error: 'served[0]' must be a list of whole numbers, not a"},
    {"served: [[1], [x]]\n", "f.yaml:1:16: error: 'served[1][0]' must be a whole number, not 'x'"},
    {"served: [[[1]]]\n", "f.yaml:1:11: error: 'served[0][0]' must be a whole number, not a list"},
    {"size: {value: 1 KiB, sorce: x}\n", "f.yaml:1:22: error: unknown key 'sorce' (did you mean "
                                         "'source'?)"},
    {"size: {value: 1 KiB, kind: wild}\n", "f.yaml:1:28: error: 'kind' must be datasheet, "
                                           "measured, fitted or guessed, not 'wild'"},
    {"size: {value: 1, source: x}\n", "f.yaml:1:15: error: 'size' must be a size"},
    {"size: {source: x}\n", "f.yaml:1:7: error: 'size' must be a size such as 4 MiB, not a "
                            "mapping"},
};

START_TEST(a_wrong_value_is_refused_at_its_place)
{
    open_text(refusals[_i].text);

    g_autofree char *message = decode_badly();
    ck_assert_msg(g_str_has_prefix(message, refusals[_i].message), "%s", message);
}
END_TEST

START_TEST(all_errors_are_told_in_the_order_of_the_file)
{
    open_text("size: 1\nname: a b\nfoo: 1\ncount: x\n");

    g_autofree char *message = decode_badly();
    const char *at = message;
    for (int line = 1; line <= 4; line++) {
        g_autofree char *place = g_strdup_printf("f.yaml:%d:", line);
        at = strstr(at, place);
        ck_assert_msg(at != NULL, "%s", message);
    }
}
END_TEST

START_TEST(no_more_than_20_errors_are_told)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < 30; i++)
        g_string_append_printf(text, "k%d: 1\n", i);
    open_text(text->str);

    g_autofree char *message = decode_badly();
    ck_assert_ptr_nonnull(strstr(message, "f.yaml:20:1"));
    ck_assert_ptr_null(strstr(message, "f.yaml:21:1"));
    ck_assert(g_str_has_suffix(message, "\nand 10 more errors"));
}
END_TEST

START_TEST(a_later_check_can_name_a_place)
{
    g_autoptr(GError) error = NULL;
    open_text("name: a\nports:\n- {name: a}\n- {name: {value: b, source: x}}\n");
    decode();

    ccs_config_error_at(config, "ports[1].name", "'%s' is taken", "b");
    ccs_config_error_at(config, "ports[0].latency", "is missing");
    ck_assert(!ccs_config_check(config, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "f.yaml:3:3: error: is missing"));
    ck_assert_ptr_nonnull(strstr(error->message, "f.yaml:4:18: error: 'b' is taken"));
}
END_TEST

static const CcsParam *find_param(const GPtrArray *params, const char *path)
{
    for (uint32_t i = 0; i < params->len; i++) {
        const CcsParam *param = params->pdata[i];
        if (strcmp(param->path, path) == 0)
            return param;
    }
    return NULL;
}

static void check_param(const GPtrArray *params, const char *path, const char *value,
                        const char *kind, const char *source)
{
    const CcsParam *param = find_param(params, path);

    ck_assert_msg(param != NULL, "%s", path);
    ck_assert_str_eq(param->value_text, value);
    ck_assert_str_eq(param->kind, kind);
    ck_assert_pstr_eq(param->source, source);
}

START_TEST(every_value_is_recorded_with_its_provenance)
{
    open_text("name: a\nserved: [[0], [1, 2]]\nsizes: {value: [1 KiB], source: memo}\n"
              "wire:\n  kind: copper\n"
              "  bandwidth: {value: 370 GB/s, source: \"nccl#1455\", kind: measured}\n"
              "ports: [{name: x, latency: {value: 1 us, kind: guessed}}, {name: y}]\n");
    ccs_config_override(config, "size=2 KiB");
    decode();

    g_autoptr(GPtrArray) params = ccs_config_take_params(config);
    check_param(params, "name", "a", "given", NULL);
    check_param(params, "count", "3", "default", NULL);
    check_param(params, "size", "2 KiB", "given", "--set");
    check_param(params, "served", "[[0], [1, 2]]", "given", NULL);
    check_param(params, "sizes", "[1 KiB]", "given", "memo");
    check_param(params, "wire.bandwidth", "370 GB/s", "measured", "nccl#1455");
    check_param(params, "wire.latency", "1 us", "default", NULL);
    check_param(params, "ports[0].latency", "1 us", "guessed", NULL);
    ck_assert_ptr_null(find_param(params, "ports[0].name"));
    ck_assert_ptr_null(find_param(params, "ports[1].latency"));
}
END_TEST

START_TEST(the_order_of_keys_does_not_matter)
{
    open_text("size: 1 KiB\nname: a\n");
    decode();
    g_autoptr(GPtrArray) params = ccs_config_take_params(config);
    tear_down();
    open_text("name: a\nsize: 1 KiB\n");
    decode();

    g_autoptr(GPtrArray) others = ccs_config_take_params(config);
    ck_assert_uint_eq(params->len, others->len);
    for (uint32_t i = 0; i < params->len; i++)
        ck_assert_str_eq(((const CcsParam *)params->pdata[i])->path,
                         ((const CcsParam *)others->pdata[i])->path);
}
END_TEST

START_TEST(an_override_replaces_or_adds_a_value)
{
    open_text("count: 2\nwire: {kind: none}\nports: [{name: a}, {name: b}]\n");
    ccs_config_override(config, "count=5");
    ccs_config_override(config, "count = 6");
    ccs_config_override(config, "wire.kind=glass");
    ccs_config_override(config, "wire.bandwidth={value: 1 GB/s, source: x}");
    ccs_config_override(config, "ports[1].latency=9 us");
    ccs_config_override(config, "served=[[4]]");
    decode();

    ck_assert_uint_eq(box.count, 6);
    ck_assert_uint_eq(box.wire->bandwidth, 1000000000U * CCS_RATE_PER_BYTE);
    ck_assert_int_eq(((const Port *)box.ports.items)[1].latency, 9000000);
    ck_assert_uint_eq(box.served.n_items, 1);
}
END_TEST

START_TEST(an_override_makes_the_mappings_on_its_way)
{
    open_text("{}\n");
    ccs_config_override(config, "wire.kind=none");
    decode();

    ck_assert_ptr_nonnull(box.wire);
}
END_TEST

static const Refusal bad_overrides[] = {
    {"count", "--set count: error: there is no '='"},
    {"count=", "--set count=: error: the value is missing"},
    {"=4", "--set =4: error: this is no path"},
    {"a..b=4", "--set a..b=4: error: this is no path"},
    {"ports[x]=4", "--set ports[x]=4: error: this is no path"},
    {"count=99", "--set count=99: error: 'count' must be a whole number from 1 to 8, not '99'"},
    {"wire.bandwith=1 GB/s", "--set wire.bandwith=1 GB/s: error: unknown key 'bandwith' (did you "
                             "mean 'bandwidth'?)"},
    {"wir.kind=none", "--set wir.kind=none: error: unknown key 'wir' (did you mean 'wire'?)"},
    {"ports[2].name=x", "--set ports[2].name=x: error: there is no item [2]: the list has 2"},
    {"ports[2]={name: x}", "--set ports[2]={name: x}: error: there is no item [2]"},
    {"name[0]=x", "--set name[0]=x: error: there is no item [0]: its owner is not a list"},
    {"name.first=x", "--set name.first=x: error: 'first' is no key here"},
    {"count=[", "--set count=[: error: not valid YAML"},
};

START_TEST(a_wrong_override_is_named)
{
    open_text("name: a\nwire: {kind: none}\nports: [{name: a}, {name: b}]\n");
    ccs_config_override(config, bad_overrides[_i].text);

    g_autofree char *message = decode_badly();
    ck_assert_msg(g_str_has_prefix(message, bad_overrides[_i].message), "%s", message);
}
END_TEST

START_TEST(items_inherit_what_they_do_not_say)
{
    open_text("wire: {name: w, latency: {value: 3 us, source: a}}\n"
              "ports: [{}, {name: b}, {latency: {value: 4 us}}]\n");
    ccs_config_inherit(config, "ports", "wire");
    decode();

    const Port *ports = box.ports.items;
    ck_assert_str_eq(ports[0].name, "w");
    ck_assert_int_eq(ports[0].latency, 3000000);
    ck_assert_str_eq(ports[1].name, "b");
    ck_assert_int_eq(ports[2].latency, 4000000);
    g_autoptr(GPtrArray) params = ccs_config_take_params(config);
    check_param(params, "ports[2].latency", "4 us", "given", NULL);
    ck_assert_ptr_null(box.wire);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("config_decode");
    TCase *tcase = tcase_create("config_decode");

    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, each_kind_of_field_is_decoded);
    tcase_add_test(tcase, what_is_absent_is_its_default_or_zero);
    tcase_add_test(tcase, a_key_may_have_two_forms);
    tcase_add_test(tcase, an_alias_decodes_as_what_it_names);
    tcase_add_loop_test(tcase, a_wrong_value_is_refused_at_its_place, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, all_errors_are_told_in_the_order_of_the_file);
    tcase_add_test(tcase, no_more_than_20_errors_are_told);
    tcase_add_test(tcase, a_later_check_can_name_a_place);
    tcase_add_test(tcase, every_value_is_recorded_with_its_provenance);
    tcase_add_test(tcase, the_order_of_keys_does_not_matter);
    tcase_add_test(tcase, an_override_replaces_or_adds_a_value);
    tcase_add_test(tcase, an_override_makes_the_mappings_on_its_way);
    tcase_add_loop_test(tcase, a_wrong_override_is_named, 0, G_N_ELEMENTS(bad_overrides));
    tcase_add_test(tcase, items_inherit_what_they_do_not_say);
    suite_add_tcase(suite, tcase);
    return suite;
}
