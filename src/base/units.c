#include "base/units.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

typedef struct {
    const char *name;
    uint64_t times; /* one unit is times / per of what the integer counts */
    uint64_t per;
} Unit;

#define KIBI ((uint64_t)1024)
#define MEBI (KIBI * 1024)
#define GIBI (MEBI * 1024)
#define TEBI (GIBI * 1024)
#define BYTE CCS_RATE_PER_BYTE
#define BIT  (CCS_RATE_PER_BYTE / 8)

/* The first unit of each table that divides a value is the one it is printed in. */
static const Unit time_units[] = {
    {"s", 1000000000000U, 1},
    {"ms", 1000000000U, 1},
    {"us", 1000000U, 1},
    {"\xc2\xb5s", 1000000U, 1},
    {"ns", 1000U, 1},
    {"ps", 1, 1},
    {NULL, 0, 0},
};
static const Unit rate_units[] = {
    {"GB/s", 1000000000U * BYTE, 1},
    {"MB/s", 1000000U * BYTE, 1},
    {"kB/s", 1000U * BYTE, 1},
    {"KB/s", 1000U * BYTE, 1},
    {"B/s", BYTE, 1},
    {"TB/s", 1000000000000U * BYTE, 1},
    {"Tb/s", 1000000000000U * BIT, 1},
    {"Gb/s", 1000000000U * BIT, 1},
    {"Mb/s", 1000000U * BIT, 1},
    {"kb/s", 1000U * BIT, 1},
    {"Kb/s", 1000U * BIT, 1},
    {"b/s", BIT, 1},
    {"Tbit/s", 1000000000000U * BIT, 1},
    {"Gbit/s", 1000000000U * BIT, 1},
    {"Mbit/s", 1000000U * BIT, 1},
    {"kbit/s", 1000U * BIT, 1},
    {"bit/s", BIT, 1},
    {"Tbps", 1000000000000U * BIT, 1},
    {"Gbps", 1000000000U * BIT, 1},
    {"Mbps", 1000000U * BIT, 1},
    {"TiB/s", TEBI *BYTE, 1},
    {"GiB/s", GIBI *BYTE, 1},
    {"MiB/s", MEBI *BYTE, 1},
    {"KiB/s", KIBI *BYTE, 1},
    {NULL, 0, 0},
};
static const Unit size_units[] = {
    {"TiB", TEBI, 1}, {"GiB", GIBI, 1}, {"MiB", MEBI, 1}, {"KiB", KIBI, 1}, {"B", 1, 1},
    {"T", TEBI, 1},   {"G", GIBI, 1},   {"M", MEBI, 1},   {"K", KIBI, 1},   {"k", KIBI, 1},
    {"t", TEBI, 1},   {"g", GIBI, 1},   {"m", MEBI, 1},   {NULL, 0, 0},
};

typedef struct {
    const Unit *units;
    const char *what; /* "a time such as 2.5 us" */
    uint64_t most;
    const char *most_text;
} QuantityKind;

static const QuantityKind kinds[] = {
    [CCS_QUANTITY_TIME] = {time_units, "a time such as 2.5 us", (uint64_t)CCS_PS_PER_S * 1000000U,
                           "1000000 s"},
    [CCS_QUANTITY_RATE] = {rate_units, "a bandwidth such as 450 GB/s or 400 Gb/s", CCS_RATE_MAX,
                           "50 TB/s"},
    [CCS_QUANTITY_SIZE] = {size_units, "a size such as 4 MiB", CCS_BYTES_MAX, "1024 TiB"},
};

CcsTime ccs_work_time(CcsWork work, CcsRate rate)
{
    CcsWork time = (work + rate - 1) / rate; /* no work is so large that this runs over */

    return time > (CcsWork)CCS_TIME_MAX ? CCS_TIME_MAX : (CcsTime)time;
}

CcsTime ccs_time_to_move(CcsBytes bytes, CcsRate rate)
{
    return ccs_work_time((CcsWork)bytes * CCS_WORK_PER_BYTE, rate);
}

#define MAX_DECIMALS 18
#define MAX_DIGITS   19 /* any so many digits fit */

/* A decimal number as an integer and a power of ten: 2.50 is 250 / 10^2. */
typedef struct {
    uint64_t digits;
    uint32_t n_decimals;
    const char *rest; /* what follows the number */
} Decimal;

static bool scan_decimal(const char *text, Decimal *ret_number)
{
    Decimal number = {0, 0, text};
    bool has_digit = false;
    bool has_point = false;

    for (; g_ascii_isdigit(*number.rest) || (*number.rest == '.' && !has_point); number.rest++) {
        if (*number.rest == '.') {
            has_point = true;
            continue;
        }
        if (number.digits > (UINT64_MAX - 9) / 10 || number.n_decimals == MAX_DECIMALS)
            return false;
        has_digit = true;
        number.digits = number.digits * 10 + (uint64_t)(*number.rest - '0');
        number.n_decimals += has_point ? 1 : 0;
    }
    if (!has_digit)
        return false;
    *ret_number = number;
    return true;
}

static const Unit *find_unit(const Unit *units, const char *name)
{
    for (const Unit *unit = units; unit->name != NULL; unit++) {
        if (strcmp(unit->name, name) == 0)
            return unit;
    }
    return NULL;
}

static bool fail(GError **error, const QuantityKind *kind, const char *text, const char *hint)
{
    g_autofree char *shown = g_strndup(text, 60);
    for (char *c = shown; *c != '\0'; c++) {
        if (g_ascii_iscntrl(*c))
            *c = '?';
    }
    g_autofree char *valid = g_utf8_make_valid(shown, -1);
    g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "must be %s, not '%s'%s", kind->what, valid,
                hint);
    return false;
}

char **ccs_quantity_units(CcsQuantity quantity)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();

    for (const Unit *unit = kinds[quantity].units; unit->name != NULL; unit++)
        g_strv_builder_add(names, unit->name);
    return g_strv_builder_end(names);
}

/* "e9" and "E-6s", which follow a number, are no units. */
static bool is_exponent(const char *text)
{
    const char *digits = text + (text[0] == '\0' ? 0 : 1);

    if (*digits == '+' || *digits == '-')
        digits++;
    return g_ascii_tolower(text[0]) == 'e' && g_ascii_isdigit(*digits);
}

/* What to say of a unit that the table does not hold. */
static char *unit_hint(CcsQuantity quantity, const char *number, const char *unit)
{
    static const char *const decimal_sizes[] = {"kB", "KB", "MB", "GB", "TB"};

    if (is_exponent(unit))
        return g_strdup(" (exponents such as 1e9 are not taken: write the number out, or choose"
                        " another unit)");
    if (quantity == CCS_QUANTITY_SIZE) {
        for (size_t i = 0; i < G_N_ELEMENTS(decimal_sizes); i++) {
            if (strcmp(unit, decimal_sizes[i]) != 0)
                continue;
            uint32_t power = i < 2 ? 1 : (uint32_t)i;
            return g_strdup_printf(
                " (%s can mean 1000^%u or 1024^%u bytes: write %s %ciB for 1024^%u,"
                " or the number of bytes for 1000^%u)",
                unit, power, power, number, g_ascii_toupper(unit[0]), power, power);
        }
    }
    if (quantity == CCS_QUANTITY_RATE && strcmp(unit, "GT/s") == 0)
        return g_strdup(" (transfers per second need the width and the coding of the bus:"
                        " write the bandwidth, such as 63 GB/s for PCIe 5.0 x16)");
    g_autofree char *per_second = g_strconcat(unit, "/s", NULL);
    if (quantity == CCS_QUANTITY_RATE && find_unit(rate_units, per_second) != NULL)
        return g_strdup_printf(" (a bandwidth is per second: %s %s)", number, per_second);

    g_auto(GStrv) names = ccs_quantity_units(quantity);
    return ccs_did_you_mean(unit, (const char *const *)names);
}

/* @unit_of_bare is the unit of a number that has none, or NULL if it must have one. */
static bool parse(CcsQuantity quantity, const char *text, const char *unit_of_bare,
                  uint64_t *ret_value, GError **error)
{
    const QuantityKind *kind = &kinds[quantity];
    g_autofree char *stripped = g_strstrip(g_strdup(text));
    Decimal number;

    if (stripped[0] == '-' && g_ascii_isdigit(stripped[1]))
        return fail(error, kind, text, " (it cannot be negative)");
    if (!scan_decimal(stripped, &number))
        return fail(error, kind, text, "");

    const char *unit_name = number.rest;
    while (g_ascii_isspace(*unit_name))
        unit_name++;
    if (*unit_name == '\0' && unit_of_bare != NULL)
        unit_name = unit_of_bare;
    if (*unit_name == '\0')
        return fail(error, kind, text, " (a number alone has no unit)");

    const Unit *unit = find_unit(kind->units, unit_name);
    if (unit == NULL) {
        g_autofree char *digits = g_strndup(stripped, (gsize)(number.rest - stripped));
        g_autofree char *hint = unit_hint(quantity, digits, unit_name);
        return fail(error, kind, text, hint);
    }
    CcsWork power = 1;
    for (uint32_t i = 0; i < number.n_decimals; i++)
        power *= 10;
    CcsWork value = ((CcsWork)number.digits * unit->times + power / 2) / power;
    if (value > kind->most) {
        g_autofree char *hint = g_strdup_printf(" (at most %s)", kind->most_text);
        return fail(error, kind, text, hint);
    }
    if (quantity == CCS_QUANTITY_SIZE && (CcsWork)number.digits * unit->times % power != 0)
        return fail(error, kind, text, " (it is not a whole number of bytes)");
    if (value == 0 && number.digits != 0)
        return fail(error, kind, text, " (too small to be told from 0)");
    if (quantity == CCS_QUANTITY_RATE && value == 0)
        return fail(error, kind, text, " (it must be above 0)");
    *ret_value = (uint64_t)value;
    return true;
}

bool ccs_quantity_parse(CcsQuantity quantity, const char *text, uint64_t *ret_value, GError **error)
{
    return parse(quantity, text, NULL, ret_value, error);
}

bool ccs_size_parse_option(const char *text, CcsBytes *ret_bytes, GError **error)
{
    return parse(CCS_QUANTITY_SIZE, text, "B", ret_bytes, error);
}

/* Text for @value in @unit with as few decimals as say it exactly, at most 12 and with no more
 * digits than scan_decimal() reads; NULL if none does. */
static char *format_in(const Unit *unit, uint64_t value)
{
    uint64_t whole = value / unit->times;
    uint64_t rest = value % unit->times;
    char decimals[16] = "";

    for (uint32_t n = 0; rest != 0; n++) {
        if (n == 12)
            return NULL;
        CcsWork shifted = (CcsWork)rest * 10;
        decimals[n] = (char)('0' + (int)(shifted / unit->times));
        decimals[n + 1] = '\0';
        rest = (uint64_t)(shifted % unit->times);
    }
    g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT, whole);
    if (strlen(digits) + strlen(decimals) > MAX_DIGITS)
        return NULL;
    return g_strconcat(digits, decimals[0] ? "." : "", decimals, " ", unit->name, NULL);
}

/* Text for a rate that no unit says exactly, in a unit in which %g needs no exponent. */
static char *format_rounded(CcsRate rate)
{
    static const char *const names[] = {"GB/s", "MB/s", "kB/s", "B/s", "b/s"};
    const Unit *unit = NULL;

    for (size_t i = 0; i < G_N_ELEMENTS(names) && (unit == NULL || rate < unit->times); i++)
        unit = find_unit(rate_units, names[i]);
    return g_strdup_printf("%.12g %s", (double)rate / (double)unit->times, unit->name);
}

char *ccs_quantity_format(CcsQuantity quantity, uint64_t value)
{
    const Unit *units = kinds[quantity].units;
    char *best = NULL;

    if (value == 0)
        return g_strdup(quantity == CCS_QUANTITY_TIME   ? "0 us"
                        : quantity == CCS_QUANTITY_RATE ? "0 GB/s"
                                                        : "0 B");
    for (const Unit *unit = units; unit->name != NULL; unit++) {
        bool is_short_form = quantity == CCS_QUANTITY_SIZE && unit > find_unit(units, "B");
        if (is_short_form || (quantity != CCS_QUANTITY_RATE && value < unit->times))
            continue;
        g_autofree char *text = format_in(unit, value);
        if (text != NULL && (best == NULL || strlen(text) < strlen(best))) {
            g_free(best);
            best = g_steal_pointer(&text);
        }
    }
    return best != NULL ? best : format_rounded(value);
}

const char *ccs_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

double ccs_time_us(CcsTime time)
{
    return (double)time / (double)CCS_PS_PER_US;
}

double ccs_rate_GBps(CcsRate rate)
{
    return (double)rate / (double)CCS_RATE_PER_BYTE / 1e9;
}

double ccs_bandwidth_GBps(double bytes, CcsTime time)
{
    return time <= 0 ? 0 : bytes / (double)time * 1e3;
}
