/* One msgpack value at a time, never past the end; see reader.h. */
#include "reader.h"

#include <string.h>

static bool take(struct visd_reader *r, unsigned size, uint64_t *out)
{
    uint64_t v = 0;
    if ((size_t)(r->end - r->at) < size) return false;
    for (unsigned i = 0; i < size; i++) v = v << 8 | *r->at++;
    *out = v;
    return true;
}

static bool take_bytes(struct visd_reader *r, struct visd_value *out)
{
    if (out->u > (size_t)(r->end - r->at)) return false;
    out->at = r->at;
    r->at += out->u;
    return true;
}

static bool take_signed(struct visd_reader *r, unsigned size, struct visd_value *out)
{
    uint64_t raw;
    int64_t v;
    if (!take(r, size, &raw)) return false;
    switch (size) {
    case 1: v = (int8_t)raw; break;
    case 2: v = (int16_t)raw; break;
    case 4: v = (int32_t)raw; break;
    default: v = (int64_t)raw; break;
    }
    if (v >= 0) {
        out->kind = VISD_UINT;
        out->u = (uint64_t)v;
    } else {
        out->kind = VISD_NEGATIVE;
        out->f = (double)v;
    }
    return true;
}

static bool take_float(struct visd_reader *r, unsigned size, struct visd_value *out)
{
    uint64_t raw;
    if (!take(r, size, &raw)) return false;
    out->kind = VISD_FLOAT;
    if (size == 4) {
        uint32_t bits = (uint32_t)raw;
        float f;
        memcpy(&f, &bits, sizeof(f));
        out->f = f;
    } else {
        memcpy(&out->f, &raw, sizeof(out->f));
    }
    return true;
}

bool visd_read(struct visd_reader *r, struct visd_value *out)
{
    uint8_t head;
    if (r->at == r->end) return false;
    head = *r->at++;
    memset(out, 0, sizeof(*out));
    if (head < 0x80) {
        out->kind = VISD_UINT;
        out->u = head;
        return true;
    }
    if (head >= 0xe0) {
        out->kind = VISD_NEGATIVE;
        out->f = (int8_t)head;
        return true;
    }
    if (head < 0x90) {
        out->kind = VISD_MAP;
        out->u = head & 15;
        return true;
    }
    if (head < 0xa0) {
        out->kind = VISD_ARRAY;
        out->u = head & 15;
        return true;
    }
    if (head < 0xc0) {
        out->kind = VISD_STR;
        out->u = head & 31;
        return take_bytes(r, out);
    }
    switch (head) {
    case 0xc0: out->kind = VISD_NIL; return true;
    case 0xc2:
    case 0xc3: out->kind = VISD_BOOL; out->u = head & 1; return true;
    case 0xc4:
    case 0xc5:
    case 0xc6: out->kind = VISD_BIN; return take(r, 1u << (head - 0xc4), &out->u) && take_bytes(r, out);
    case 0xca: return take_float(r, 4, out);
    case 0xcb: return take_float(r, 8, out);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: out->kind = VISD_UINT; return take(r, 1u << (head - 0xcc), &out->u);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return take_signed(r, 1u << (head - 0xd0), out);
    case 0xd9:
    case 0xda:
    case 0xdb: out->kind = VISD_STR; return take(r, 1u << (head - 0xd9), &out->u) && take_bytes(r, out);
    case 0xdc:
    case 0xdd: out->kind = VISD_ARRAY; return take(r, 2u << (head - 0xdc), &out->u);
    case 0xde:
    case 0xdf: out->kind = VISD_MAP; return take(r, 2u << (head - 0xde), &out->u);
    default: return false; /* ext, c1 */
    }
}

bool visd_skip(struct visd_reader *r)
{
    uint64_t left = 1;
    struct visd_value v;
    while (left) {
        if (!visd_read(r, &v)) return false;
        left--;
        if (v.kind == VISD_ARRAY) left += v.u;
        if (v.kind == VISD_MAP) left += 2 * v.u;
    }
    return true;
}

const char *visd_value_kind_name(enum visd_value_kind kind)
{
    static const char *const names[] = {"nil",   "a bool",   "an integer", "a negative integer", "a float", "a str",
                                        "a bin", "an array", "a map"};
    return names[kind];
}
