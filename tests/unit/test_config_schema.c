#include "config/schema.h"

#include <sqlite3.h>

#include "tests/support/check_main.h"

typedef struct {
    uint32_t kind;
    CcsRate bandwidth;
    uint32_t count;
    CcsList sizes;
} Wire;

static const char *const kinds[] = {"copper", "gl\"ass", NULL};
static const CcsField fields[] = {
    {.name = "kind",
     .kind = CCS_FIELD_ENUM,
     .offset = offsetof(Wire, kind),
     .is_required = true,
     .choices = kinds,
     .summary = "what it is \"made\" of\nand more"},
    {.name = "bandwidth",
     .kind = CCS_FIELD_RATE,
     .offset = offsetof(Wire, bandwidth),
     .default_text = "1 GB/s",
     .only_kinds = 1,
     .summary = "its bandwidth"},
    {.name = "count",
     .kind = CCS_FIELD_COUNT,
     .offset = offsetof(Wire, count),
     .min = 1,
     .max = 8,
     .summary = "how many"},
    {.name = "sizes",
     .kind = CCS_FIELD_SIZE,
     .offset = offsetof(Wire, sizes),
     .list_depth = 2,
     .summary = "sizes"},
};
static const CcsFieldTable table = {
    .summary = "a wire", .size = sizeof(Wire), .fields = fields, .n_fields = G_N_ELEMENTS(fields)};

/* What SQLite's JSON functions find at @path. Returns: (transfer full). */
static char *find(const char *json, const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT json_valid(?1), json_extract(?1, ?2)", -1, &statement, NULL);
    sqlite3_bind_text(statement, 1, json, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, path, -1, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int(statement, 0), 1);
    char *found = g_strdup((const char *)sqlite3_column_text(statement, 1));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return found;
}

typedef struct {
    const char *path;
    const char *value;
} Fact;

static const Fact facts[] = {
    {"$.$schema", "https://json-schema.org/draft/2020-12/schema"},
    {"$.title", "wire"},
    {"$.description", "a wire"},
    {"$.additionalProperties", "0"},
    {"$.required", "[\"kind\"]"},
    {"$.properties.kind.description", "what it is \"made\" of\nand more"},
    {"$.properties.kind.anyOf[0].enum[1]", "gl\"ass"},
    {"$.properties.bandwidth.default", "1 GB/s"},
    {"$.properties.bandwidth.description", "its bandwidth (only with kind copper)"},
    {"$.properties.bandwidth.anyOf[0].type", "string"},
    {"$.properties.bandwidth.anyOf[1].properties.kind.enum[0]", "datasheet"},
    {"$.properties.count.anyOf[0].maximum", "8"},
    {"$.properties.sizes.anyOf[0].items.items.type", "string"},
};

START_TEST(the_schema_says_what_the_table_says)
{
    g_autofree char *json = ccs_schema_json(&table, "wire");

    g_autofree char *found = find(json, facts[_i].path);
    ck_assert_pstr_eq(found, facts[_i].value);
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("config_schema");
    TCase *tcase = tcase_create("config_schema");

    tcase_add_loop_test(tcase, the_schema_says_what_the_table_says, 0, G_N_ELEMENTS(facts));
    suite_add_tcase(suite, tcase);
    return suite;
}
