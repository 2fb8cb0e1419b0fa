/* Reads what visctl-import tells (client/importer/stream.h) into a model, and believes none of it.
 *
 * Every count, length, number and reference is checked before it is used, and memory is taken only for what limits allow. On failure the model is
 * left empty. Blocking as read is; any thread, one at a time for a model. */
#ifndef VISD_VISCTL_IMPORT_STREAM_READ_H
#define VISD_VISCTL_IMPORT_STREAM_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "../model/model.h"

struct visd_stream_source {
    size_t (*read)(void *context, void *to, size_t size); /* as many bytes as were asked for, or fewer: it has ended */
    void *context;
};

/* model must be initialised and empty; name is for texts. *told: the stream itself ended with a refusal, whose error and text these are; else an
 * error is BAD_MESSAGE (the stream breaks its own rules, or ends early), TOO_BIG (a limit) or NO_MEMORY. */
enum visd_err visd_stream_read(struct visd_model *model, const struct visd_stream_source *source, const char *name, bool *told, struct visd_why *why);

#endif
