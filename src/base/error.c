#include "base/error.h"

#include <string.h>

G_DEFINE_QUARK(ccs - error, ccs_error)

/* Optimal string alignment distance: an edit inserts, drops, changes or swaps characters and
 * counts EDIT; to change only the case counts less. */
#define EDIT      ((size_t)2)
#define CASE_EDIT ((size_t)1)

static size_t change_cost(char a, char b)
{
    if (a == b)
        return 0;
    return g_ascii_tolower(a) == g_ascii_tolower(b) ? CASE_EDIT : EDIT;
}

static size_t edit_distance(const char *a, const char *b)
{
    size_t n_a = strlen(a);
    size_t n_b = strlen(b);
    size_t width = n_b + 1;
    g_autofree size_t *cost = g_new(size_t, (n_a + 1) * width);

    for (size_t i = 0; i <= n_a; i++) {
        for (size_t j = 0; j <= n_b; j++) {
            size_t *here = &cost[i * width + j];
            if (i == 0 || j == 0) {
                *here = (i + j) * EDIT;
                continue;
            }
            *here = cost[(i - 1) * width + j - 1] + change_cost(a[i - 1], b[j - 1]);
            *here = MIN(*here, cost[(i - 1) * width + j] + EDIT);
            *here = MIN(*here, cost[i * width + j - 1] + EDIT);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                *here = MIN(*here, cost[(i - 2) * width + j - 2] + EDIT);
        }
    }
    return cost[n_a * width + n_b];
}

char *ccs_did_you_mean(const char *word, const char *const *candidates)
{
    const char *best = NULL;
    size_t best_distance = G_MAXSIZE;
    size_t length = strlen(word);

    if (length == 0 || length > 64)
        return g_strdup("");
    for (size_t i = 0; candidates[i] != NULL; i++) {
        size_t distance = edit_distance(word, candidates[i]);
        if (distance < best_distance) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    if (best == NULL || best_distance > EDIT * ((length + 2) / 3))
        return g_strdup("");
    return g_strdup_printf(" (did you mean '%s'?)", best);
}
