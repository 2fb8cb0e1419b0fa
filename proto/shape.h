/* What a struct of the schema must be like beyond its types: texts, counts, named numbers, finite floats, rows that agree. Decoder and
 * encoder hold every struct against it, so that neither side can say what the other refuses. Inside proto/ only. */
#ifndef VISD_PROTO_SHAPE_H
#define VISD_PROTO_SHAPE_H

#include "codec.h"
#include "schema.h"

/* Where in a message we are, for texts: "batch.items[3].flags". */
struct visd_path {
    unsigned depth;
    struct {
        const char *name;
        int64_t index; /* -1: none */
    } step[VISD_MAX_DEPTH + 2];
};
void visd_path_push(struct visd_path *path, const char *name, int64_t index);
void visd_path_pop(struct visd_path *path);

/* Writes "path.field: text" into why (may be NULL) and returns err. field may be NULL. */
enum visd_err visd_refuse(struct visd_refused *why, const struct visd_path *path, const char *field, enum visd_err err,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

/* One struct, without what is in its maps and lists. */
enum visd_err visd_shape_check(const struct visd_struct *type, const void *object, const struct visd_path *path, struct visd_refused *why);

/* Valid UTF-8 without NUL. */
bool visd_utf8_ok(const void *text, size_t size);

#endif
