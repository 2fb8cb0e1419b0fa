/* The stream to visctl (stream.h), written record by record. One thread.
 *
 * A stream ends with tell_end or with tell_fail; neither returns, and both leave the process without running what libraries would still do: the
 * answer is complete, and a crash in a destructor would only spoil it. Whoever reads being gone ends the process, too. */
#ifndef VISD_IMPORTER_TELL_H
#define VISD_IMPORTER_TELL_H

#include <stdint.h>

#include "client/visctl/model/sink.h"
#include "stream.h"

struct tell {
    struct visd_stream_end totals;
    unsigned char *buffer;
    uint32_t used;
};

void tell_begin(struct tell *t); /* writes the head */
void tell_mesh(struct tell *t, const struct visd_model_mesh *mesh);
/* name: any bytes; what is too long is cut. Returns its number. */
uint32_t tell_group(struct tell *t, const struct visd_stream_group *group, const char *name);
void tell_object(struct tell *t, const struct visd_stream_object *object, const char *name);
void tell_note(struct tell *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void tell_fail(struct tell *t, enum visd_err err, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void tell_end(struct tell *t);

#endif
