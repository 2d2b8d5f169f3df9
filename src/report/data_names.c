#include "report/data_names.h"

#include <string.h>

/* Longer lists are only counted. */
#define LIST_WIDTH 16U

CcsDataNaming ccs_data_naming(const CcsSchedule *schedule)
{
    switch (ccs_schedule_collective(schedule)) {
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
        return CCS_NAMED_BY_PAIR;
    case CCS_ALLGATHER:
    case CCS_REDUCESCATTER:
    case CCS_GATHER:
    case CCS_SCATTER:
        return ccs_schedule_n_chunks(schedule) == ccs_schedule_n_ranks(schedule)
                   ? CCS_NAMED_BY_OWNER
                   : CCS_NAMED_BY_CHUNK;
    case CCS_ALLREDUCE:
    case CCS_BROADCAST:
    case CCS_REDUCE:
    case CCS_SENDRECV:
    case CCS_BARRIER:
    case CCS_PROGRAM:
        break;
    }
    return CCS_NAMED_BY_CHUNK;
}

/* "0-3,5": those of @n numbers that are in the set. Returns: (transfer full). */
static char *ranges_of(const bool *is_in, uint32_t n)
{
    GString *text = g_string_new(NULL);

    for (uint32_t first = 0; first < n; first++) {
        uint32_t last = first;
        if (!is_in[first])
            continue;
        while (last + 1 < n && is_in[last + 1])
            last++;
        g_string_append_printf(text, "%s%u", text->len > 0 ? "," : "", first);
        if (last > first)
            g_string_append_printf(text, "-%u", last);
        first = last;
    }
    return g_string_free(text, false);
}

static uint32_t count(const bool *is_in, uint32_t n)
{
    uint32_t n_in = 0;

    for (uint32_t i = 0; i < n; i++)
        n_in += is_in[i] ? 1 : 0;
    return n_in;
}

/* A list, or how much there is of @what if it is too long. Takes @text. */
static char *list_or_count(char *text, uint32_t n, const char *what)
{
    if (strlen(text) <= LIST_WIDTH)
        return text;
    g_free(text);
    return g_strdup_printf("%u %s", n, what);
}

static char *list_chunks(const CcsSchedule *schedule, uint32_t channel, const CcsOrigin *data,
                         uint32_t n)
{
    uint32_t n_chunks = ccs_schedule_n_chunks(schedule);
    bool is_by_owner = ccs_data_naming(schedule) == CCS_NAMED_BY_OWNER;
    g_autofree bool *is_in = g_new0(bool, n_chunks);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t chunk = data[i].chunk;
        if (chunk != CCS_NO_CHUNK)
            is_in[is_by_owner ? ccs_schedule_owner(schedule, channel, chunk) : chunk] = true;
    }
    uint32_t n_in = count(is_in, n_chunks);
    if (n_in == n_chunks)
        return g_strdup("all");
    return list_or_count(ranges_of(is_in, n_chunks), n_in, "chunks");
}

/* Which blocks there are, by source, then by target. Returns: (transfer full). */
static bool *pairs_of(const CcsSchedule *schedule, uint32_t channel, const CcsOrigin *data,
                      uint32_t n)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(schedule);
    bool *is_in = g_new0(bool, (size_t)n_ranks *n_ranks);

    for (uint32_t i = 0; i < n; i++) {
        if (data[i].chunk == CCS_NO_CHUNK)
            continue;
        CcsRank target = ccs_schedule_owner(schedule, channel, data[i].chunk);
        is_in[(size_t)data[i].rank * n_ranks + target] = true;
    }
    return is_in;
}

/* Sources with the same targets stand together: "0-1:4", or "0:1,3;2:0". */
static char *list_pairs(const bool *is_in, uint32_t n_ranks)
{
    GString *text = g_string_new(NULL);
    g_autofree bool *is_told = g_new0(bool, n_ranks);
    g_autofree bool *is_alike = g_new(bool, n_ranks);

    for (CcsRank source = 0; source < n_ranks; source++) {
        const bool *targets = &is_in[(size_t)source * n_ranks];
        if (is_told[source] || count(targets, n_ranks) == 0)
            continue;
        for (CcsRank other = 0; other < n_ranks; other++) {
            is_alike[other] =
                memcmp(&is_in[(size_t)other * n_ranks], targets, n_ranks * sizeof(bool)) == 0;
            is_told[other] = is_told[other] || is_alike[other];
        }
        g_autofree char *from = ranges_of(is_alike, n_ranks);
        g_autofree char *to = ranges_of(targets, n_ranks);
        g_string_append_printf(text, "%s%s:%s", text->len > 0 ? ";" : "", from, to);
    }
    return g_string_free(text, false);
}

char *ccs_data_list(const CcsSchedule *schedule, uint32_t channel, const CcsOrigin *data,
                    uint32_t n)
{
    uint32_t n_ranks = ccs_schedule_n_ranks(schedule);

    if (ccs_data_naming(schedule) != CCS_NAMED_BY_PAIR)
        return list_chunks(schedule, channel, data, n);
    g_autofree bool *is_in = pairs_of(schedule, channel, data, n);
    return list_or_count(list_pairs(is_in, n_ranks), count(is_in, n_ranks * n_ranks), "blocks");
}
