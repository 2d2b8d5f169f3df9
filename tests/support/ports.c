#include "tests/support/ports.h"

#include <math.h>

#include <check.h>

/* Two moments that differ by less are one. */
#define MOMENT_PS 1e-3

typedef enum { WAITING, STARTING, LEAVING, TRAVELLING, THERE } State;

typedef struct {
    State state;
    double until;  /* STARTING, TRAVELLING: when that ends */
    double n_left; /* LEAVING: bytes */
    double rate;
    bool is_fixed; /* the rate */
} Progress;

typedef struct {
    CcsPortMessage *messages;
    Progress *progress;
    uint32_t n;
    uint32_t n_ranks;
    const CcsPortCosts *costs;
    double now;
} Player;

static bool may_start(const Player *player, uint32_t i)
{
    const CcsPortMessage *message = &player->messages[i];

    if (player->progress[i].state != WAITING ||
        (message->behind != CCS_NO_MESSAGE && player->progress[message->behind].state < TRAVELLING))
        return false;
    for (uint32_t w = 0; w < message->n_waits; w++) {
        if (player->progress[message->waits[w]].state != THERE)
            return false;
    }
    return true;
}

static void leave(Player *player, uint32_t i)
{
    CcsPortMessage *message = &player->messages[i];
    double there = player->now + player->costs->latency_ps;

    message->left_ps = player->now;
    if (message->is_reduced) {
        double reduced =
            message->behind == CCS_NO_MESSAGE ? 0 : player->messages[message->behind].arrived_ps;
        there = MAX(there, reduced) + message->bytes / player->costs->reduced_per_ps;
    }
    message->arrived_ps = there;
    player->progress[i].state = TRAVELLING;
    player->progress[i].until = there;
}

/* All that happens at this moment. Returns: whether something did. */
static bool step(Player *player)
{
    bool is_changed = false;

    for (uint32_t i = 0; i < player->n; i++) {
        Progress *progress = &player->progress[i];
        State before = progress->state;
        bool is_over = progress->until <= player->now + MOMENT_PS;
        if (may_start(player, i)) {
            progress->state = STARTING;
            progress->until = player->now + player->costs->cost_ps;
        } else if (before == STARTING && is_over) {
            progress->state = LEAVING;
            progress->n_left = player->messages[i].bytes;
        } else if (before == LEAVING && progress->n_left <= MOMENT_PS * progress->rate) {
            leave(player, i);
        } else if (before == TRAVELLING && is_over) {
            progress->state = THERE;
        }
        is_changed = is_changed || progress->state != before;
    }
    return is_changed;
}

/* The rate up to which all messages of a port can rise whose rate is not fixed; INFINITY if
 * there are none. */
static double level(const Player *player, uint32_t rank, bool is_out)
{
    double rest = player->costs->bytes_per_ps;
    double n_open = 0;

    for (uint32_t i = 0; i < player->n; i++) {
        const Progress *progress = &player->progress[i];
        const CcsPortMessage *message = &player->messages[i];
        if (progress->state != LEAVING || (is_out ? message->source : message->peer) != rank)
            continue;
        rest -= progress->is_fixed ? progress->rate : 0;
        n_open += progress->is_fixed ? 0 : 1;
    }
    return n_open == 0 ? INFINITY : rest / n_open;
}

static void fix(Player *player, uint32_t rank, bool is_out, double rate)
{
    for (uint32_t i = 0; i < player->n; i++) {
        Progress *progress = &player->progress[i];
        const CcsPortMessage *message = &player->messages[i];
        if (progress->state != LEAVING || progress->is_fixed ||
            (is_out ? message->source : message->peer) != rank)
            continue;
        progress->is_fixed = true;
        progress->rate = rate;
    }
}

static void share(Player *player)
{
    for (uint32_t i = 0; i < player->n; i++)
        player->progress[i].is_fixed = false;
    while (true) {
        double least = INFINITY;
        uint32_t port = 0;
        for (uint32_t p = 0; p < 2 * player->n_ranks; p++) {
            double here = level(player, p / 2, p % 2 == 0);
            if (here < least) {
                least = here;
                port = p;
            }
        }
        if (least == INFINITY)
            return;
        fix(player, port / 2, port % 2 == 0, least);
    }
}

/* Goes on to the next moment. Returns: false if there is none. */
static bool go_on(Player *player)
{
    double next = INFINITY;

    for (uint32_t i = 0; i < player->n; i++) {
        const Progress *progress = &player->progress[i];
        if (progress->state == STARTING || progress->state == TRAVELLING)
            next = MIN(next, progress->until);
        else if (progress->state == LEAVING)
            next = MIN(next, player->now + progress->n_left / progress->rate);
    }
    if (next == INFINITY)
        return false;
    for (uint32_t i = 0; i < player->n; i++) {
        Progress *progress = &player->progress[i];
        if (progress->state == LEAVING)
            progress->n_left -= (next - player->now) * progress->rate;
    }
    player->now = next;
    return true;
}

double ccs_ports_play(GArray *messages, uint32_t n_ranks, const CcsPortCosts *costs)
{
    g_autofree Progress *progress = g_new0(Progress, messages->len);
    Player player = {.messages = (CcsPortMessage *)(void *)messages->data,
                     .progress = progress,
                     .n = messages->len,
                     .n_ranks = n_ranks,
                     .costs = costs};

    do {
        while (step(&player))
            continue;
        share(&player);
    } while (go_on(&player));
    for (uint32_t i = 0; i < messages->len; i++)
        ck_assert_msg(progress[i].state == THERE, "message %u waits for ever", i);
    return player.now;
}
