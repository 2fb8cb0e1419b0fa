/* A pull reader over msgpack bytes: one value at a time, no memory, no recursion.
 *
 * Meant for bytes that walker.h has passed; it still never reads past the end, and answers false instead. */
#ifndef VISD_PROTO_READER_H
#define VISD_PROTO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum visd_value_kind { VISD_NIL, VISD_BOOL, VISD_UINT, VISD_NEGATIVE, VISD_FLOAT, VISD_STR, VISD_BIN, VISD_ARRAY, VISD_MAP };

struct visd_value {
    enum visd_value_kind kind;
    uint64_t u;        /* BOOL, UINT; STR, BIN: bytes; ARRAY: entries; MAP: pairs */
    double f;          /* FLOAT, NEGATIVE */
    const uint8_t *at; /* STR, BIN */
};

struct visd_reader {
    const uint8_t *at, *end;
};

/* The next value; str and bin are stepped over, the entries of arrays and maps come next. */
bool visd_read(struct visd_reader *reader, struct visd_value *out);
/* Steps over the next value with all that is in it. */
bool visd_skip(struct visd_reader *reader);
/* "a map", for messages to people. */
const char *visd_value_kind_name(enum visd_value_kind kind);

#endif
