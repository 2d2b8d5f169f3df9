#include "base/interrupt.h"

#include <signal.h>
#include <string.h>

#include "base/error.h"

static volatile sig_atomic_t is_interrupted;

static void set_flag(G_GNUC_UNUSED int number)
{
    is_interrupted = true;
}

void ccs_interrupt_catch(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = set_flag;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

bool ccs_interrupt_check(GError **error)
{
    if (!is_interrupted)
        return true;
    g_set_error(error, CCS_ERROR, CCS_ERROR_INTERRUPTED, "interrupted");
    return false;
}
