/* The sentence that a failure leaves behind: what was refused, why, and what to do.
 *
 * Functions that read or write models return enum visd_err; when that is not OK, the text says the rest. It is filled
 * once, by the function that noticed the fault: whoever calls passes it on unchanged. A caller owns its text; no threads share one. */
#ifndef VISD_VISCTL_MODEL_WHY_H
#define VISD_VISCTL_MODEL_WHY_H

#include "proto/err.h"

struct visd_why {
    char text[512];
};

/* Writes the sentence and returns err, so that a refusal is one statement: return visd_why(why, VISD_ERR_BAD_VALUE, "..."). */
enum visd_err visd_why(struct visd_why *why, enum visd_err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum visd_err visd_why_memory(struct visd_why *why, const char *what);

#endif
