/* Messages with made-up contents, from the schema's descriptors: every type, every field, the same for the same seed. For tests. */
#ifndef VISD_TESTS_PROTO_RANDOM_H
#define VISD_TESTS_PROTO_RANDOM_H

#include <stdlib.h>

#include "proto/codec.h"
#include "proto/schema.h"

struct proto_random {
    uint64_t state;
    bool full; /* every optional field is there, and lists are not empty */
    struct visd_arena arena;
};

static inline uint64_t proto_next(struct proto_random *r)
{
    return visd_digest_of(r->state++);
}

static inline uint64_t proto_below(struct proto_random *r, uint64_t n)
{
    return proto_next(r) % n;
}

static inline uint64_t proto_integer(struct proto_random *r)
{
    uint64_t bits = proto_next(r);
    return bits >> proto_below(r, 64); /* of all lengths */
}

static inline double proto_float(struct proto_random *r)
{
    int64_t bits = (int64_t)proto_next(r);
    return (double)bits / (double)(1 + proto_below(r, 1000000));
}

static inline void *proto_take(struct proto_random *r, size_t count, size_t size)
{
    void *at = visd_arena_take(&r->arena, count, size);
    if (!at) abort();
    return at;
}

static inline struct visd_str proto_str(struct proto_random *r, size_t max)
{
    static const char *const pieces[] = {"a", "Rad", " ", "\xc3\xa9", "\xe6\xa4\x85", "\xf0\x9f\xaa\x91", "\\\"/"};
    size_t pieces_max = max / 4 < 12 ? max / 4 : 12, n = proto_below(r, pieces_max + 1), size = 0;
    char *at = proto_take(r, 64, 1);
    while (n--) {
        const char *piece = pieces[proto_below(r, sizeof(pieces) / sizeof(pieces[0]))];
        memcpy(at + size, piece, strlen(piece));
        size += strlen(piece);
    }
    return (struct visd_str){at, size};
}

static inline void proto_fill(struct proto_random *r, const struct visd_struct *type, void *out);

static inline uint32_t proto_named(struct proto_random *r, const struct visd_field *f)
{
    uint32_t bits = 0;
    if (f->kind == VISD_KIND_ENUM) return f->names->values[proto_below(r, f->names->count)].number;
    for (uint32_t i = 0; i < f->names->count; i++)
        if (proto_next(r) & 1) bits |= f->names->values[i].number;
    return bits;
}

static inline void proto_fill_list(struct proto_random *r, const struct visd_field *f, void *out)
{
    uint32_t count = (uint32_t)proto_below(r, 3) + r->full;
    size_t size = f->kind == VISD_KIND_STRS    ? sizeof(struct visd_str)
                  : f->kind == VISD_KIND_ITEMS ? sizeof(struct visd_item)
                                               : f->sub->size;
    char *list;
    if (f->kind == VISD_KIND_ITEMS && r->full) count = VISD_ITEM_COUNT; /* one of each kind */
    list = proto_take(r, count, size);
    for (uint32_t i = 0; i < count; i++) {
        void *at = list + i * size;
        if (f->kind == VISD_KIND_STRS) {
            *(struct visd_str *)at = proto_str(r, VISD_MAX_NAME_BYTES);
        } else if (f->kind == VISD_KIND_ITEMS) {
            struct visd_item *item = at;
            item->kind = r->full ? (enum visd_item_kind)i : (enum visd_item_kind)proto_below(r, VISD_ITEM_COUNT);
            proto_fill(r, visd_items[item->kind], &item->mesh_put);
        } else {
            proto_fill(r, f->sub, at);
        }
    }
    memcpy((char *)out + f->offset, &list, sizeof(list));
    *(uint32_t *)(void *)((char *)out + f->count) = count;
}

/* Bytes that mean something whatever they are; text where offsets will cut it into characters of one byte. */
static inline struct visd_bin proto_bin(struct proto_random *r, const struct visd_field *f, size_t rows)
{
    size_t bytes = rows * visd_row_size(f);
    uint8_t *at = (uint8_t *)proto_take(r, bytes + 1, 1) + 1; /* odd addresses on purpose */
    bool text = f[1].name && f[1].kind == VISD_KIND_OFFSETS && f->element == VISD_ELEMENT_U8;
    for (size_t i = 0; i < bytes; i++) at[i] = text ? (uint8_t)('a' + proto_below(r, 26)) : (uint8_t)proto_next(r);
    return visd_bin_of(at, rows);
}

static inline struct visd_bin proto_offsets(struct proto_random *r, size_t rows, size_t end)
{
    uint32_t *at = proto_take(r, rows + 1, sizeof(*at));
    for (size_t i = 1; i < rows; i++) at[i] = at[i - 1] + (uint32_t)proto_below(r, end - at[i - 1] + 1);
    if (rows) at[rows] = (uint32_t)end;
    return visd_bin_of(at, rows + 1);
}

static inline void proto_fill(struct proto_random *r, const struct visd_struct *type, void *out)
{
    size_t rows = 1 + proto_below(r, 5);
    for (const struct visd_field *f = type->fields; f->name; f++) {
        void *at = (char *)out + f->offset;
        if (f->optional) {
            bool with_text = f->kind == VISD_KIND_OFFSETS; /* there if its text is */
            bool there = with_text ? *(bool *)(void *)((char *)out + f[-1].has) : r->full || (proto_next(r) & 1);
            *(bool *)(void *)((char *)out + f->has) = there;
            if (!there) continue;
        }
        switch (f->kind) {
        case VISD_KIND_U32: *(uint32_t *)at = (uint32_t)proto_integer(r); break;
        case VISD_KIND_U64: *(uint64_t *)at = proto_integer(r); break;
        case VISD_KIND_F64: *(double *)at = proto_float(r); break;
        case VISD_KIND_BOOL: *(bool *)at = proto_next(r) & 1; break;
        case VISD_KIND_STR: *(struct visd_str *)at = proto_str(r, f->max); break;
        case VISD_KIND_ENUM:
        case VISD_KIND_BITS: *(uint32_t *)at = proto_named(r, f); break;
        case VISD_KIND_VEC:
            for (unsigned i = 0; i < f->columns; i++) ((double *)at)[i] = proto_float(r);
            break;
        case VISD_KIND_CLIENT:
            for (unsigned i = 0; i < f->columns; i++) ((uint8_t *)at)[i] = (uint8_t)proto_next(r);
            break;
        case VISD_KIND_MAP: proto_fill(r, f->sub, at); break;
        case VISD_KIND_STRS:
        case VISD_KIND_LIST:
        case VISD_KIND_ITEMS: proto_fill_list(r, f, out); break;
        case VISD_KIND_BIN:
        case VISD_KIND_COL: *(struct visd_bin *)at = proto_bin(r, f, rows); break;
        case VISD_KIND_OFFSETS:
            *(struct visd_bin *)at = proto_offsets(r, rows, ((struct visd_bin *)(void *)((char *)out + f[-1].offset))->rows);
            break;
        }
    }
}

static inline void proto_message(struct proto_random *r, enum visd_msg_type type, struct visd_message *out)
{
    memset(out, 0, sizeof(*out));
    visd_arena_reset(&r->arena);
    out->type = type;
    out->n = proto_integer(r);
    out->has_epoch = r->full && visd_msg_class(type) == VISD_CLASS_REQUEST;
    out->epoch = out->has_epoch ? proto_integer(r) : 0;
    proto_fill(r, visd_types[type], &out->hello);
}

#endif
