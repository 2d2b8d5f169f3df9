#include "report/bar.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FIRST_US    G_USEC_PER_SEC
#define INTERVAL_US (G_USEC_PER_SEC / 10)
#define MAX_WIDTH   40U /* of the bar itself */

#define GREEN "\033[32m"
#define PLAIN "\033[0m"
#define CLEAR "\r\033[K"

struct CcsBar {
    FILE *out;
    bool has_color;
    bool is_drawn;
    int64_t begun_us;
    int64_t next_us; /* not drawn before */
    uint32_t n_parts;
    uint32_t n_begun;
    uint64_t n_steps; /* of the part at hand */
};

static bool can_be_drawn_on(FILE *out)
{
    const char *terminal = g_getenv("TERM");

    return isatty(fileno(out)) && terminal != NULL && terminal[0] != '\0' &&
           strcmp(terminal, "dumb") != 0;
}

CcsBar *ccs_bar_new(FILE *out, uint32_t n_parts)
{
    const char *no_color = g_getenv("NO_COLOR");

    if (!can_be_drawn_on(out))
        return NULL;
    CcsBar *bar = g_new0(CcsBar, 1);
    bar->out = out;
    bar->has_color = no_color == NULL || no_color[0] == '\0';
    bar->begun_us = g_get_monotonic_time();
    bar->next_us = bar->begun_us + FIRST_US;
    bar->n_parts = n_parts;
    return bar;
}

void ccs_bar_free(CcsBar *bar)
{
    ccs_bar_clear(bar);
    g_free(bar);
}

void ccs_bar_begin_part(CcsBar *bar, uint64_t n_steps)
{
    if (bar == NULL)
        return;
    bar->n_begun++;
    bar->n_steps = n_steps;
}

/* "12.3 s", "4:05" in minutes, "2:00:07" in hours; cut, not rounded. */
static char *duration_text(double seconds)
{
    uint64_t whole = (uint64_t)seconds;

    if (whole < 60)
        return g_strdup_printf("%" G_GUINT64_FORMAT ".%d s", whole,
                               (int)(10 * (seconds - (double)whole)));
    if (whole < 3600)
        return g_strdup_printf("%" G_GUINT64_FORMAT ":%02d", whole / 60, (int)(whole % 60));
    return g_strdup_printf("%" G_GUINT64_FORMAT ":%02d:%02d", whole / 3600, (int)(whole / 60 % 60),
                           (int)(whole % 60));
}

static char *numbers_text(double share, double elapsed_s)
{
    g_autofree char *elapsed = duration_text(elapsed_s);
    double left_s = share > 0 ? elapsed_s * (1 - share) / share : 0;

    if (!(share > 0) || left_s >= 1e9)
        return g_strdup_printf("%3d%%  %s", (int)(100 * share), elapsed);
    g_autofree char *left = duration_text(left_s);
    return g_strdup_printf("%3d%%  %s, about %s left", (int)(100 * share), elapsed, left);
}

char *ccs_bar_text(double share, double elapsed_s, uint32_t n_columns, bool has_color)
{
    g_autofree char *numbers = numbers_text(CLAMP(share, 0, 1), elapsed_s);
    uint32_t n_taken = (uint32_t)strlen(numbers) + 4; /* the brackets, a blank and the cursor */

    if (n_columns < n_taken + 4)
        return g_strndup(numbers, MAX(n_columns, 1) - 1);
    uint32_t width = MIN(n_columns - n_taken, MAX_WIDTH);
    uint32_t n_full = (uint32_t)(CLAMP(share, 0, 1) * width);
    g_autofree char *full = g_strnfill(n_full, '#');
    g_autofree char *rest = g_strnfill(width - n_full, '-');
    return g_strconcat("[", has_color ? GREEN : "", full, has_color ? PLAIN : "", rest, "] ",
                       numbers, NULL);
}

static uint32_t columns_of(FILE *out)
{
    struct winsize size = {0};

    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void ccs_bar_set(CcsBar *bar, uint64_t n_done)
{
    int64_t now_us = bar == NULL ? 0 : g_get_monotonic_time();

    if (bar == NULL || now_us < bar->next_us)
        return;
    double part = (double)n_done / (double)MAX(bar->n_steps, 1);
    double share = ((double)MAX(bar->n_begun, 1) - 1 + part) / MAX(bar->n_parts, 1);
    g_autofree char *text =
        ccs_bar_text(share, (double)(now_us - bar->begun_us) / (double)G_USEC_PER_SEC,
                     columns_of(bar->out), bar->has_color);
    fprintf(bar->out, CLEAR "%s", text);
    fflush(bar->out);
    bar->is_drawn = true;
    bar->next_us = now_us + INTERVAL_US;
}

void ccs_bar_clear(CcsBar *bar)
{
    if (bar == NULL || !bar->is_drawn)
        return;
    fputs(CLEAR, bar->out);
    fflush(bar->out);
    bar->is_drawn = false;
}
