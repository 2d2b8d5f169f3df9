/* verify.h - plays a schedule on data and looks whether it does what the collective promises
 *
 * Each chunk holds a set of contributions (which ranks' data have been added into it) and
 * the chunk they come from. The schedule is played in several of the orders that its
 * dependencies allow; in each of them every rank must end with every contribution once, in
 * the right place, nothing may be sent that is not held, and nothing may wait for ever.
 * Besides, no two messages may race (races.h): what holds in these orders then holds in all. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"

/* Schedules that take more memory to play than this are refused. */
#define CCS_VERIFY_MEMORY ((uint64_t)4 << 30)

/* What playing a schedule takes. */
typedef struct {
    uint64_t n_moves; /* chunks that are moved, all messages together */
    uint64_t memory;  /* bytes, at the least */
} CcsVerifyCost;

CcsVerifyCost ccs_verify_cost(const CcsSchedule *schedule);

/* ccs_verify_fits: false with CCS_ERROR_INPUT if it takes more than CCS_VERIFY_MEMORY. */
bool ccs_verify_fits(const CcsSchedule *schedule, GError **error);

typedef enum {
    CCS_PLAY_DELIVER_FIRST, /* a message arrives before the next one starts */
    CCS_PLAY_DELIVER_LAST,  /* all that may start does, before anything arrives */
    CCS_PLAY_RANDOM,
} CcsPlayOrder;

/* ccs_verify_play:
 * @seed chooses the random order; the same seed plays the same one.
 *
 * Returns: false with CCS_ERROR_CHECK, whose message names the first wrong step; or as
 * ccs_verify_fits(), or with CCS_ERROR_INTERRUPTED. */
bool ccs_verify_play(const CcsSchedule *schedule, CcsPlayOrder order, uint32_t seed,
                     GError **error);

/* ccs_verify_orders: both extremes, @n_random random orders, and no race. */
bool ccs_verify_orders(const CcsSchedule *schedule, uint32_t n_random, GError **error);

/* ccs_verify: the same with one random order. */
bool ccs_verify(const CcsSchedule *schedule, GError **error);
