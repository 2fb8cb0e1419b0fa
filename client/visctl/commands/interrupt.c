/* See interrupt.h. */
#include "interrupt.h"

static const int signals[2] = {SIGINT, SIGTERM};
static volatile sig_atomic_t came; /* a signal handler has nothing else to write to */

static void note(int number)
{
    (void)number;
    came = 1;
}

void interrupt_begin(struct interrupt *interrupt)
{
    const struct sigaction action = {.sa_handler = note};
    came = 0;
    for (int i = 0; i < 2; i++) sigaction(signals[i], &action, &interrupt->before[i]);
}

void interrupt_end(const struct interrupt *interrupt)
{
    for (int i = 0; i < 2; i++) sigaction(signals[i], &interrupt->before[i], NULL);
}

bool interrupt_came(void) { return came != 0; }
