#include "base/units.h"

#include <string.h>

#include "base/error.h"
#include "tests/support/check_main.h"

typedef struct {
    CcsQuantity quantity;
    const char *text;
    uint64_t value;
} Reading;

#define GBPS (1000000000U * CCS_RATE_PER_BYTE)

static const Reading readings[] = {
    {CCS_QUANTITY_TIME, "2.5 us", 2500000},
    {CCS_QUANTITY_TIME, "0 us", 0},
    {CCS_QUANTITY_TIME, "1.5ns", 1500},
    {CCS_QUANTITY_TIME, "0.0015 ms", 1500000},
    {CCS_QUANTITY_TIME, "3 \xc2\xb5s", 3000000},
    {CCS_QUANTITY_RATE, "450 GB/s", 450 * GBPS},
    {CCS_QUANTITY_RATE, "400 Gb/s", 50 * GBPS},
    {CCS_QUANTITY_RATE, "400 Gbit/s", 50 * GBPS},
    {CCS_QUANTITY_RATE, "1 GiB/s", 1073741824U * CCS_RATE_PER_BYTE},
    {CCS_QUANTITY_RATE, "1 B/s", CCS_RATE_PER_BYTE},
    {CCS_QUANTITY_SIZE, "4 MiB", 4194304},
    {CCS_QUANTITY_SIZE, "8K", 8192},
    {CCS_QUANTITY_SIZE, "8G", 8589934592},
    {CCS_QUANTITY_SIZE, "0.5 KiB", 512},
    {CCS_QUANTITY_SIZE, "1 TiB", (uint64_t)1 << 40},
    {CCS_QUANTITY_SIZE, "1000000000 B", 1000000000},
};

START_TEST(a_quantity_is_read_exactly)
{
    const Reading *reading = &readings[_i];
    uint64_t value = 0;

    ck_assert(ccs_quantity_parse(reading->quantity, reading->text, &value, NULL));
    ck_assert_uint_eq(value, reading->value);
}
END_TEST

START_TEST(a_formatted_quantity_reads_back_as_itself)
{
    const Reading *reading = &readings[_i];
    uint64_t value = 0;

    if (reading->quantity == CCS_QUANTITY_RATE && reading->value == 0)
        return;
    g_autofree char *text = ccs_quantity_format(reading->quantity, reading->value);
    ck_assert_msg(ccs_quantity_parse(reading->quantity, text, &value, NULL), "%s", text);
    ck_assert_uint_eq(value, reading->value);
}
END_TEST

START_TEST(a_rate_that_no_unit_says_exactly_is_rounded)
{
    static const CcsRate rates[] = {1, 3, 70001, 393216006553, 50 * GBPS / 3, CCS_RATE_MAX - 1};
    CcsRate rate = rates[_i];
    uint64_t value = 0;

    g_autofree char *text = ccs_quantity_format(CCS_QUANTITY_RATE, rate);
    ck_assert_msg(ccs_quantity_parse(CCS_QUANTITY_RATE, text, &value, NULL), "%s", text);
    ck_assert_double_eq_tol((double)value, (double)rate, 1e-11 * (double)rate);
}
END_TEST

typedef struct {
    CcsQuantity quantity;
    const char *text;
    const char *part; /* of the message */
} Refusal;

static const Refusal refusals[] = {
    {CCS_QUANTITY_TIME, "1", "a number alone has no unit"},
    {CCS_QUANTITY_TIME, "-1 us", "cannot be negative"},
    {CCS_QUANTITY_TIME, "nan", "must be a time such as 2.5 us, not 'nan'"},
    {CCS_QUANTITY_TIME, "inf us", "must be a time"},
    {CCS_QUANTITY_TIME, "1e-6 s", "exponents such as 1e9 are not taken: write the number out"},
    {CCS_QUANTITY_RATE, "4.5E+11B/s", "exponents such as 1e9 are not taken"},
    {CCS_QUANTITY_SIZE, "1e9B", "exponents such as 1e9 are not taken"},
    {CCS_QUANTITY_SIZE, "1e9", "exponents such as 1e9 are not taken"},
    {CCS_QUANTITY_TIME, "", "must be a time"},
    {CCS_QUANTITY_TIME, "1 usec", "did you mean 'us'?"},
    {CCS_QUANTITY_TIME, "0.1 ps", "too small"},
    {CCS_QUANTITY_TIME, "99999999999999999999999 s", "must be a time"},
    {CCS_QUANTITY_TIME, "2000000 s", "at most"},
    {CCS_QUANTITY_RATE, "0 GB/s", "above 0"},
    {CCS_QUANTITY_RATE, "50 GB", "per second: 50 GB/s"},
    {CCS_QUANTITY_RATE, "16 GT/s", "width"},
    {CCS_QUANTITY_RATE, "450 Gb/S", "did you mean 'Gb/s'?"},
    {CCS_QUANTITY_SIZE, "4 MB", "1000^2 or 1024^2 bytes: write 4 MiB"},
    {CCS_QUANTITY_SIZE, "4 GB", "1000^3 or 1024^3 bytes: write 4 GiB"},
    {CCS_QUANTITY_SIZE, "4", "no unit"},
    {CCS_QUANTITY_SIZE, "9999999 TiB", "at most"},
    {CCS_QUANTITY_SIZE, "1e9 B", "must be a size"},
    {CCS_QUANTITY_SIZE, "0.5 B", "not a whole number of bytes"},
    {CCS_QUANTITY_SIZE, "0.1 KiB", "not a whole number of bytes"},
};

START_TEST(a_wrong_quantity_is_refused_with_a_hint)
{
    const Refusal *refusal = &refusals[_i];
    g_autoptr(GError) error = NULL;
    uint64_t value = 0;

    ck_assert(!ccs_quantity_parse(refusal->quantity, refusal->text, &value, &error));
    ck_assert(g_error_matches(error, CCS_ERROR, CCS_ERROR_INPUT));
    ck_assert_msg(strstr(error->message, refusal->part) != NULL, "%s", error->message);
}
END_TEST

START_TEST(a_time_to_move_is_rounded_up)
{
    ck_assert_int_eq(ccs_time_to_move(1000000000, 300 * GBPS), 3333333334);
    ck_assert_int_eq(ccs_time_to_move(0, GBPS), 0);
    ck_assert_int_eq(ccs_time_to_move((CcsBytes)1 << 40, 50 * GBPS), 21990232555520);
    ck_assert_int_eq(ccs_time_to_move(CCS_BYTES_MAX, 1), CCS_TIME_MAX);
}
END_TEST

START_TEST(a_number_alone_is_bytes_on_the_command_line)
{
    CcsBytes bytes = 0;

    ck_assert(ccs_size_parse_option("1000000000", &bytes, NULL));
    ck_assert_uint_eq(bytes, 1000000000);
    ck_assert(ccs_size_parse_option("8G", &bytes, NULL));
    ck_assert_uint_eq(bytes, 8589934592);
    ck_assert(!ccs_size_parse_option("0.5", &bytes, NULL));
}
END_TEST

Suite *ccs_test_suite(void)
{
    Suite *suite = suite_create("units");
    TCase *tcase = tcase_create("units");

    tcase_add_loop_test(tcase, a_quantity_is_read_exactly, 0, G_N_ELEMENTS(readings));
    tcase_add_loop_test(tcase, a_formatted_quantity_reads_back_as_itself, 0,
                        G_N_ELEMENTS(readings));
    tcase_add_loop_test(tcase, a_rate_that_no_unit_says_exactly_is_rounded, 0, 6);
    tcase_add_loop_test(tcase, a_wrong_quantity_is_refused_with_a_hint, 0, G_N_ELEMENTS(refusals));
    tcase_add_test(tcase, a_time_to_move_is_rounded_up);
    tcase_add_test(tcase, a_number_alone_is_bytes_on_the_command_line);
    suite_add_tcase(suite, tcase);
    return suite;
}
