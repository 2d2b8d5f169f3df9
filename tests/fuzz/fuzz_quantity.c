/* Any text is a quantity or is refused with a message; a quantity can be written and read
 * again. */
#include "tests/fuzz/fuzz.h"

#include <glib.h>

#include "base/error.h"
#include "base/units.h"

static void try_as(CcsQuantity quantity, const char *text)
{
    g_autoptr(GError) error = NULL;
    uint64_t value = 0;
    uint64_t again = 0;

    if (!ccs_quantity_parse(quantity, text, &value, &error)) {
        g_assert_error(error, CCS_ERROR, CCS_ERROR_INPUT);
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
        return;
    }
    g_assert_no_error(error);
    g_autofree char *written = ccs_quantity_format(quantity, value);
    g_assert_true(ccs_quantity_parse(quantity, written, &again, NULL));
    g_assert_true(again == value || quantity == CCS_QUANTITY_RATE); /* rates may be rounded */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    CcsBytes bytes = 0;

    try_as(CCS_QUANTITY_TIME, text);
    try_as(CCS_QUANTITY_RATE, text);
    try_as(CCS_QUANTITY_SIZE, text);
    if (ccs_size_parse_option(text, &bytes, NULL))
        g_assert_cmpuint(bytes, <=, CCS_BYTES_MAX);
    return 0;
}
