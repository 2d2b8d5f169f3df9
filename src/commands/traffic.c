#include "commands/traffic.h"

#include "base/error.h"
#include "commands/effects.h"

bool ccs_traffic_check_distance(uint32_t distance, uint32_t n_ranks, GError **error)
{
    if (n_ranks == 1 || distance % n_ranks != 0)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                "the distance must not be a multiple of the number of ranks, %u: every rank would"
                " send to itself",
                n_ranks);
    return false;
}

CcsWeights *ccs_traffic_weights(uint64_t skew, const char *matrix, uint32_t n_ranks, GError **error)
{
    if (skew != 0 && matrix != NULL) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_USAGE,
                    "a skew and a matrix exclude each other: both say what goes to whom");
        return NULL;
    }
    if (matrix != NULL)
        return ccs_weights_load(matrix, n_ranks, error);
    return ccs_weights_new_skewed(n_ranks, skew == 0 ? CCS_SKEW_ONE : skew, error);
}

void ccs_traffic_note(const char *where, const CcsWeights *weights)
{
    CcsRank busiest = 0;

    if (weights == NULL)
        return;
    double ratio = ccs_weights_load_ratio(weights, &busiest);
    if (ratio == 1)
        ccs_note("%severy rank receives as much as any other (max/mean load 1.000)", where);
    else
        ccs_note("%srank %u receives most, %.3f times the mean (max/mean load)", where, busiest,
                 ratio);
}
