#include "commands/rank_list.h"

#include <stdbool.h>

#include "base/error.h"

/* Reads a number at @text. Returns: what follows it; NULL if there is none, or one that is not
 * from 1 to @most. */
static const char *read_number(const char *text, uint32_t most, uint32_t *ret_number)
{
    char *end = NULL;

    if (!g_ascii_isdigit(*text))
        return NULL;
    uint64_t number = g_ascii_strtoull(text, &end, 10);
    if (number < 1 || number > most)
        return NULL;
    *ret_number = (uint32_t)number;
    return end;
}

static bool is_there(const GArray *numbers, uint32_t number)
{
    for (guint i = 0; i < numbers->len; i++) {
        if (g_array_index(numbers, uint32_t, i) == number)
            return true;
    }
    return false;
}

/* Appends the numbers of one part, "5" or "5-9", that are not there yet. */
static bool read_part(const char *part, uint32_t most, GArray *numbers)
{
    uint32_t first = 0;
    const char *rest = read_number(part, most, &first);
    uint32_t last = first;

    if (rest != NULL && *rest == '-')
        rest = read_number(rest + 1, most, &last);
    if (rest == NULL || *rest != '\0' || last < first)
        return false;
    for (uint32_t number = first; number <= last; number++) {
        if (!is_there(numbers, number))
            g_array_append_val(numbers, number);
    }
    return true;
}

GArray *ccs_rank_list_parse(const char *text, uint32_t most, GError **error)
{
    g_autoptr(GArray) numbers = g_array_new(false, false, sizeof(uint32_t));
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);

    for (size_t i = 0; parts[i] != NULL; i++) {
        if (read_part(g_strstrip(parts[i]), most, numbers))
            continue;
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "--ranks must be numbers and ranges from 1 to %u such as 1-17,24, not '%s'",
                    most, parts[i]);
        return NULL;
    }
    if (numbers->len > 0)
        return g_steal_pointer(&numbers);
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE, "--ranks names no number of ranks");
    return NULL;
}
