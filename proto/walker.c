/* A loop over headers that counts what is left to come, so that depth costs no stack; see walker.h. */
#include "walker.h"

#include <stdbool.h>

struct head {
    uint64_t bytes;    /* that belong to this value after its header */
    uint64_t children; /* values that follow inside it */
    unsigned length;   /* bytes of a length or count field */
    bool is_map, is_array, is_bytes;
};

/* What a first byte means; false: not allowed. */
static bool classify(uint8_t b, struct head *out)
{
    *out = (struct head){0};
    if (b < 0x80 || b >= 0xe0) return true;
    if (b < 0x90) {
        out->is_map = true;
        out->children = 2u * (b & 15);
        return true;
    }
    if (b < 0xa0) {
        out->is_array = true;
        out->children = b & 15;
        return true;
    }
    if (b < 0xc0) {
        out->is_bytes = true;
        out->bytes = b & 31;
        return true;
    }
    switch (b) {
    case 0xc0: case 0xc2: case 0xc3: return true;
    case 0xc4: case 0xc5: case 0xc6: out->is_bytes = true; out->length = 1u << (b - 0xc4); return true;
    case 0xca: out->bytes = 4; return true;
    case 0xcb: out->bytes = 8; return true;
    case 0xcc: case 0xcd: case 0xce: case 0xcf: out->bytes = 1u << (b - 0xcc); return true;
    case 0xd0: case 0xd1: case 0xd2: case 0xd3: out->bytes = 1u << (b - 0xd0); return true;
    case 0xd9: case 0xda: case 0xdb: out->is_bytes = true; out->length = 1u << (b - 0xd9); return true;
    case 0xdc: case 0xdd: out->is_array = true; out->length = 2u << (b - 0xdc); return true;
    case 0xde: case 0xdf: out->is_map = true; out->length = 2u << (b - 0xde); return true;
    default: return false;
    }
}

static enum visd_err refuse(enum visd_err err, const char *text, const char **why, size_t here, size_t *at)
{
    if (why) *why = text;
    if (at) *at = here;
    return err;
}

enum visd_err visd_walk(const void *bytes, size_t size, const struct visd_walk_limits *limits, const char **why, size_t *at)
{
    const uint8_t *begin = bytes, *p = begin, *end = begin + size;
    uint64_t left[VISD_WALK_DEPTH]; /* values still missing at each open level */
    unsigned depth = 0, max_depth = limits->depth < VISD_WALK_DEPTH ? limits->depth : VISD_WALK_DEPTH;
    size_t values = 0;

    for (;;) {
        struct head h;
        size_t here = (size_t)(p - begin);
        if (p == end) return refuse(VISD_ERR_BAD_MESSAGE, "it ends too early", why, here, at);
        if (++values > limits->values) return refuse(VISD_ERR_TOO_BIG, "it has too many values (limit values)", why, here, at);
        if (!classify(*p++, &h)) return refuse(VISD_ERR_BAD_MESSAGE, "ext types and the byte c1 are not allowed", why, here, at);
        if (h.length) {
            uint64_t n = 0;
            if ((size_t)(end - p) < h.length) return refuse(VISD_ERR_BAD_MESSAGE, "it ends too early", why, here, at);
            for (unsigned i = 0; i < h.length; i++) n = n << 8 | *p++;
            if (h.is_bytes) h.bytes = n;
            if (h.is_array) h.children = n;
            if (h.is_map) h.children = 2 * n;
        }
        if (h.bytes > (uint64_t)(end - p)) return refuse(VISD_ERR_BAD_MESSAGE, "a length goes past its end", why, here, at);
        p += h.bytes;
        if (h.children) {
            if (h.children > (uint64_t)(end - p)) return refuse(VISD_ERR_BAD_MESSAGE, "a count goes past its end", why, here, at);
            if (depth == max_depth) return refuse(VISD_ERR_TOO_BIG, "it is nested too deeply (limit depth)", why, here, at);
            left[depth++] = h.children;
            continue;
        }
        while (depth && --left[depth - 1] == 0) depth--;
        if (depth == 0) break;
    }
    if (p != end) return refuse(VISD_ERR_BAD_MESSAGE, "bytes follow after its end", why, (size_t)(p - begin), at);
    return VISD_ERR_OK;
}
