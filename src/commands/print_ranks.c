#include "commands/print_ranks.h"

#define MAX_TEXT 32

/* Short, for the eye; and complete, for programs. */
static const CcsColumn short_columns[] = {
    {"rank", CCS_ALIGN_RIGHT},         {"sent (B)", CCS_ALIGN_RIGHT},
    {"received (B)", CCS_ALIGN_RIGHT}, {"computing (us)", CCS_ALIGN_RIGHT},
    {"sending (us)", CCS_ALIGN_RIGHT}, {"communicating (us)", CCS_ALIGN_RIGHT},
    {"hidden (us)", CCS_ALIGN_RIGHT},  {"hidden %", CCS_ALIGN_RIGHT},
    {"idle (us)", CCS_ALIGN_RIGHT},    {"finished (us)", CCS_ALIGN_RIGHT},
};
static const CcsColumn complete_columns[] = {
    {"rank", CCS_ALIGN_RIGHT},           {"bytes_sent", CCS_ALIGN_RIGHT},
    {"bytes_received", CCS_ALIGN_RIGHT}, {"computing_us", CCS_ALIGN_RIGHT},
    {"sending_us", CCS_ALIGN_RIGHT},     {"communicating_us", CCS_ALIGN_RIGHT},
    {"hidden_us", CCS_ALIGN_RIGHT},      {"hidden_share", CCS_ALIGN_RIGHT},
    {"idle_us", CCS_ALIGN_RIGHT},        {"finished_us", CCS_ALIGN_RIGHT},
};

#define N_COLUMNS G_N_ELEMENTS(short_columns)

static void add_rank(CcsRows *rows, uint32_t rank, const CcsOverlap *of, CcsTime time,
                     bool is_short)
{
    CcsTime busy = of->computing + of->communicating - of->hidden;
    double share = (double)of->hidden / (double)MAX(of->communicating, 1);
    const CcsTime times[] = {of->computing, of->sending, of->communicating, of->hidden};
    char texts[N_COLUMNS][MAX_TEXT];
    CcsCell cells[N_COLUMNS];
    int n_decimals = is_short ? 3 : 6;

    g_snprintf(texts[0], MAX_TEXT, "%u", rank);
    g_snprintf(texts[1], MAX_TEXT, "%" G_GUINT64_FORMAT, of->bytes_sent);
    g_snprintf(texts[2], MAX_TEXT, "%" G_GUINT64_FORMAT, of->bytes_received);
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        g_snprintf(texts[3 + i], MAX_TEXT, "%.*f", n_decimals, ccs_time_us(times[i]));
    g_snprintf(texts[7], MAX_TEXT, "%.*f", is_short ? 1 : 6, is_short ? 100 * share : share);
    g_snprintf(texts[8], MAX_TEXT, "%.*f", n_decimals, ccs_time_us(time - busy));
    g_snprintf(texts[9], MAX_TEXT, "%.*f", n_decimals, ccs_time_us(of->finished));
    for (size_t i = 0; i < N_COLUMNS; i++)
        cells[i] = (CcsCell){CCS_CELL_NUMBER, texts[i]};
    if (of->communicating == 0)
        cells[7].type = CCS_CELL_NULL;
    ccs_rows_add(rows, cells);
}

bool ccs_print_ranks(CcsOverlaps *overlaps, CcsTime time, CcsFormat format, FILE *out,
                     GError **error)
{
    bool is_short = format == CCS_FORMAT_TABLE || format == CCS_FORMAT_MD;
    g_autoptr(CcsRows) rows =
        ccs_rows_new(out, format, is_short ? short_columns : complete_columns, N_COLUMNS);

    for (uint32_t rank = 0; rank < ccs_overlaps_n_ranks(overlaps); rank++) {
        CcsOverlap of = ccs_overlaps_of(overlaps, rank);
        if (of.does_something)
            add_rank(rows, rank, &of, time, is_short);
    }
    return ccs_rows_end(rows, error);
}
