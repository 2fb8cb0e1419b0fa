/* Ctrl-C and SIGTERM, for commands that run long and have something to clean up: they look, and end early by the way of a failure. */
#ifndef VISD_VISCTL_COMMANDS_INTERRUPT_H
#define VISD_VISCTL_COMMANDS_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

struct interrupt {
    struct sigaction before[2];
};

/* From begin to end both signals are only noted. One at a time. */
void interrupt_begin(struct interrupt *interrupt);
void interrupt_end(const struct interrupt *interrupt);
bool interrupt_came(void);

#endif
