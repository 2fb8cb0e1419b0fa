/* Refusals: what, why, what to do, in one line, and the ids at fault. */
#include "refuse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void start(struct visd_refusal *why, enum visd_err err, uint64_t item)
{
    why->err = err;
    why->item = item;
    why->id_count = 0;
}

enum visd_err refuse(struct visd_refusal *why, enum visd_err err, uint64_t item, const char *format, ...)
{
    va_list args;
    if (!why)
        return err;
    start(why, err, item);
    va_start(args, format);
    vsnprintf(why->text, sizeof(why->text), format, args);
    va_end(args);
    return err;
}

enum visd_err refuse_id(struct visd_refusal *why, enum visd_err err, uint64_t item, uint64_t id, const char *format, ...)
{
    va_list args;
    if (!why)
        return err;
    start(why, err, item);
    why->ids[0] = id;
    why->id_count = 1;
    va_start(args, format);
    vsnprintf(why->text, sizeof(why->text), format, args);
    va_end(args);
    return err;
}

enum visd_err refuse_memory(struct visd_refusal *why)
{
    return refuse(why, VISD_ERR_NO_MEMORY, UINT64_MAX, "the daemon is out of memory; nothing was changed, try again with less");
}

void blame_note(struct blame *b, uint64_t id)
{
    if (b->count < VISD_REFUSAL_IDS)
        b->ids[b->count] = id;
    b->count++;
}

enum visd_err blame_refuse(const struct blame *b, struct visd_refusal *why, uint64_t item, const char *one, const char *many,
    const char *reason)
{
    if (!why)
        return VISD_ERR_BAD_VALUE;
    start(why, VISD_ERR_BAD_VALUE, item);
    why->id_count = b->count;
    size_t listed = b->count < VISD_REFUSAL_IDS ? (size_t)b->count : VISD_REFUSAL_IDS;
    memcpy(why->ids, b->ids, listed * sizeof(*why->ids));
    if (b->count == 1) {
        snprintf(why->text, sizeof(why->text), "%s %" PRIu64 " %s", one, b->ids[0], reason);
        return VISD_ERR_BAD_VALUE;
    }
    int at = snprintf(why->text, sizeof(why->text), "%" PRIu64 " %s (", b->count, many);
    for (size_t i = 0; i < listed; i++)
        at += snprintf(why->text + at, sizeof(why->text) - (size_t)at, "%s%" PRIu64, i ? ", " : "", b->ids[i]);
    snprintf(why->text + at, sizeof(why->text) - (size_t)at, "%s) %s", b->count > listed ? ", ..." : "", reason);
    return VISD_ERR_BAD_VALUE;
}
