/* Bytes to structs.
 *
 * Three steps: the walker proves that the bytes are one msgpack value within limits; the tags are looked up ("t", "n" and "e"
 * of a message, "k" of an item), since keys may come in any order; then each pair is matched with its field and written
 * through the field's offset. A mask of seen fields finds duplicates and what is missing. Nesting is that of the schema, so
 * recursion is bounded by it, not by the sender. */
#include <inttypes.h>

#include "codec.h"
#include "reader.h"
#include "schema.h"
#include "shape.h"
#include "walker.h"

#define SHOWN_KEY 32 /* bytes of an unknown key or type that are repeated in the refusal */

struct decoder {
    struct visd_arena *arena;
    struct visd_refused *why;
    struct visd_path path;
};

#define REFUSE(d, field, err, ...) visd_refuse((d)->why, &(d)->path, field, err, __VA_ARGS__)

static enum visd_err decode_struct(struct decoder *d, const struct visd_struct *type, struct visd_reader *r, uint64_t pairs,
                                   const char *tags, void *out);

static bool is_key(const struct visd_value *key, const char *text)
{
    return key->kind == VISD_STR && visd_str_is((struct visd_str){(const char *)key->at, key->u}, text);
}

/* Whether a text of the peer's may be repeated in a refusal: short, and printable. */
static bool showable(const struct visd_value *text)
{
    bool shown = text->u <= SHOWN_KEY;
    for (uint64_t c = 0; shown && c < text->u; c++) shown = text->at[c] >= 0x20 && text->at[c] < 0x7f;
    return shown;
}

/* Keys of a tag are single letters; tags is "tne", "k" or "". */
static bool is_tag(const struct visd_value *key, const char *tags)
{
    return key->kind == VISD_STR && key->u == 1 && key->at[0] && strchr(tags, key->at[0]);
}

/* Finds one tag's value in a map whose first pair is next; the reader stays where it is. */
static enum visd_err find_tag(struct decoder *d, struct visd_reader r, uint64_t pairs, const char *tag, bool optional, bool *found_out,
                              struct visd_value *out)
{
    bool found = false;
    while (pairs--) {
        struct visd_value key;
        if (!visd_read(&r, &key)) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "it ends too early");
        if (key.kind != VISD_STR) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "a key is %s; keys are str", visd_value_kind_name(key.kind));
        if (!is_key(&key, tag)) {
            if (!visd_skip(&r)) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "it ends too early");
            continue;
        }
        if (found) return REFUSE(d, tag, VISD_ERR_BAD_MESSAGE, "it is there twice");
        found = true;
        if (!visd_read(&r, out)) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "it ends too early");
        if (out->kind == VISD_ARRAY || out->kind == VISD_MAP)
            return REFUSE(d, tag, VISD_ERR_BAD_MESSAGE, "it is %s", visd_value_kind_name(out->kind));
    }
    if (found_out) *found_out = found;
    return found || optional ? VISD_ERR_OK : REFUSE(d, tag, VISD_ERR_BAD_MESSAGE, "it is missing");
}

static enum visd_err expect(struct decoder *d, const struct visd_field *f, const struct visd_value *v, enum visd_value_kind kind)
{
    if (v->kind == kind) return VISD_ERR_OK;
    return REFUSE(d, f->name, VISD_ERR_BAD_MESSAGE, "%s where %s is right", visd_value_kind_name(v->kind), visd_value_kind_name(kind));
}

static enum visd_err decode_item(struct decoder *d, struct visd_reader *r, uint64_t pairs, struct visd_item *out)
{
    struct visd_value kind;
    enum visd_err err = find_tag(d, *r, pairs, "k", false, NULL, &kind);
    if (err != VISD_ERR_OK) return err;
    if (kind.kind != VISD_STR) return REFUSE(d, "k", VISD_ERR_BAD_MESSAGE, "%s where a str is right", visd_value_kind_name(kind.kind));
    for (unsigned i = 0; i < VISD_ITEM_COUNT; i++) {
        if (!is_key(&kind, visd_items[i]->name)) continue;
        out->kind = (enum visd_item_kind)i;
        return decode_struct(d, visd_items[i], r, pairs, "k", &out->mesh_put);
    }
    return REFUSE(d, "k", VISD_ERR_BAD_MESSAGE, "no such kind of item");
}

static enum visd_err decode_list(struct decoder *d, const struct visd_field *f, struct visd_reader *r, uint64_t count, void *object)
{
    size_t size = f->kind == VISD_KIND_STRS    ? sizeof(struct visd_str)
                  : f->kind == VISD_KIND_ITEMS ? sizeof(struct visd_item)
                                               : f->sub->size;
    char *list;
    if (count > f->max) return REFUSE(d, f->name, VISD_ERR_TOO_BIG, "%" PRIu64 " entries, at most %" PRIu32 " are allowed", count, f->max);
    list = visd_arena_take(d->arena, count, size);
    if (!list) return REFUSE(d, f->name, VISD_ERR_NO_MEMORY, "no memory for %" PRIu64 " entries", count);
    for (uint64_t i = 0; i < count; i++) {
        struct visd_value v;
        enum visd_err err;
        if (!visd_read(r, &v)) return REFUSE(d, f->name, VISD_ERR_BAD_MESSAGE, "it ends too early");
        visd_path_push(&d->path, f->name, (int64_t)i);
        if (f->kind == VISD_KIND_STRS) {
            if (v.kind != VISD_STR) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "%s where a str is right", visd_value_kind_name(v.kind));
            ((struct visd_str *)(void *)list)[i] = (struct visd_str){(const char *)v.at, v.u};
        } else {
            if (v.kind != VISD_MAP) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "%s where a map is right", visd_value_kind_name(v.kind));
            err = f->kind == VISD_KIND_ITEMS ? decode_item(d, r, v.u, (void *)(list + i * size))
                                             : decode_struct(d, f->sub, r, v.u, "", list + i * size);
            if (err != VISD_ERR_OK) return err;
        }
        visd_path_pop(&d->path);
    }
    memcpy((char *)object + f->offset, &list, sizeof(list));
    *(uint32_t *)(void *)((char *)object + f->count) = (uint32_t)count;
    return VISD_ERR_OK;
}

static enum visd_err decode_bulk(struct decoder *d, const struct visd_field *f, const struct visd_value *v, void *at)
{
    enum visd_err err = expect(d, f, v, VISD_BIN);
    size_t row = visd_row_size(f);
    if (err != VISD_ERR_OK) return err;
    if (f->kind == VISD_KIND_VEC || f->kind == VISD_KIND_CLIENT) {
        if (v->u != row) return REFUSE(d, f->name, VISD_ERR_BAD_VALUE, "%" PRIu64 " bytes where %zu are right", v->u, row);
        memcpy(at, v->at, row);
        return VISD_ERR_OK;
    }
    if (v->u % row) return REFUSE(d, f->name, VISD_ERR_BAD_VALUE, "%" PRIu64 " bytes are no whole number of rows of %zu", v->u, row);
    *(struct visd_bin *)at = (struct visd_bin){v->at, v->u / row};
    return VISD_ERR_OK;
}

static enum visd_err decode_field(struct decoder *d, const struct visd_field *f, struct visd_reader *r, void *object)
{
    void *at = (char *)object + f->offset;
    enum visd_err err = VISD_ERR_OK;
    struct visd_value v;
    if (!visd_read(r, &v)) return REFUSE(d, f->name, VISD_ERR_BAD_MESSAGE, "it ends too early");
    switch (f->kind) {
    case VISD_KIND_U32:
    case VISD_KIND_ENUM:
    case VISD_KIND_BITS:
        if ((err = expect(d, f, &v, VISD_UINT)) != VISD_ERR_OK) return err;
        if (v.u > UINT32_MAX) return REFUSE(d, f->name, VISD_ERR_BAD_VALUE, "%" PRIu64 " does not fit 32 bits", v.u);
        *(uint32_t *)at = (uint32_t)v.u;
        break;
    case VISD_KIND_U64:
        if ((err = expect(d, f, &v, VISD_UINT)) != VISD_ERR_OK) return err;
        *(uint64_t *)at = v.u;
        break;
    case VISD_KIND_F64: /* whole numbers too: many languages write 1.0 as 1 */
        if (v.kind == VISD_UINT) v.f = (double)v.u;
        else if (v.kind != VISD_NEGATIVE && (err = expect(d, f, &v, VISD_FLOAT)) != VISD_ERR_OK) return err;
        *(double *)at = v.f;
        break;
    case VISD_KIND_BOOL:
        if ((err = expect(d, f, &v, VISD_BOOL)) != VISD_ERR_OK) return err;
        *(bool *)at = v.u != 0;
        break;
    case VISD_KIND_STR:
        if ((err = expect(d, f, &v, VISD_STR)) != VISD_ERR_OK) return err;
        *(struct visd_str *)at = (struct visd_str){(const char *)v.at, v.u};
        break;
    case VISD_KIND_MAP:
        if ((err = expect(d, f, &v, VISD_MAP)) != VISD_ERR_OK) return err;
        visd_path_push(&d->path, f->name, -1);
        if ((err = decode_struct(d, f->sub, r, v.u, "", at)) != VISD_ERR_OK) return err;
        visd_path_pop(&d->path);
        break;
    case VISD_KIND_STRS:
    case VISD_KIND_LIST:
    case VISD_KIND_ITEMS:
        if ((err = expect(d, f, &v, VISD_ARRAY)) != VISD_ERR_OK) return err;
        err = decode_list(d, f, r, v.u, object);
        break;
    default: err = decode_bulk(d, f, &v, at); break;
    }
    if (err == VISD_ERR_OK && f->optional) *(bool *)(void *)((char *)object + f->has) = true;
    return err;
}

static enum visd_err decode_struct(struct decoder *d, const struct visd_struct *type, struct visd_reader *r, uint64_t pairs,
                                   const char *tags, void *out)
{
    uint64_t seen = 0;
    uint32_t next = 0; /* where the next key is, if they come in the schema's order */
    while (pairs--) {
        struct visd_value key;
        enum visd_err err;
        uint32_t i, tried;
        if (!visd_read(r, &key)) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "it ends too early");
        if (key.kind != VISD_STR) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "a key is %s; keys are str", visd_value_kind_name(key.kind));
        if (is_tag(&key, tags)) {
            if (!visd_skip(r)) return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "it ends too early");
            continue;
        }
        for (i = next, tried = 0; tried < type->count; tried++, i = i + 1 < type->count ? i + 1 : 0)
            if (is_key(&key, type->fields[i].name)) break;
        if (tried == type->count) {
            bool shown = showable(&key);
            return REFUSE(d, NULL, VISD_ERR_BAD_MESSAGE, "%s has no field \"%.*s\"", type->name, shown ? (int)key.u : 3,
                          shown ? (const char *)key.at : "...");
        }
        if (seen >> i & 1) return REFUSE(d, type->fields[i].name, VISD_ERR_BAD_MESSAGE, "it is there twice");
        seen |= (uint64_t)1 << i;
        if ((err = decode_field(d, &type->fields[i], r, out)) != VISD_ERR_OK) return err;
        next = i + 1 < type->count ? i + 1 : 0;
    }
    for (uint32_t i = 0; i < type->count; i++)
        if (!type->fields[i].optional && !(seen >> i & 1)) return REFUSE(d, type->fields[i].name, VISD_ERR_BAD_MESSAGE, "it is missing");
    return visd_shape_check(type, out, &d->path, d->why);
}

enum visd_err visd_decode(const void *bytes, size_t size, struct visd_arena *arena, struct visd_message *out, struct visd_refused *why)
{
    static const struct visd_walk_limits limits = {VISD_MAX_DEPTH, VISD_MAX_VALUES};
    struct visd_reader r = {bytes, (const uint8_t *)bytes + size};
    struct decoder d = {.arena = arena, .why = why};
    struct visd_value map, type, n, epoch;
    const char *text;
    enum visd_err err;
    size_t at;

    *why = (struct visd_refused){0};
    memset(out, 0, sizeof(*out));
    if (size > VISD_MAX_REPLY_BYTES)
        return REFUSE(&d, NULL, VISD_ERR_TOO_BIG, "the message has %zu bytes, at most %d are allowed (limit reply_bytes)", size,
                      VISD_MAX_REPLY_BYTES);
    err = visd_walk(bytes, size, &limits, &text, &at);
    if (err != VISD_ERR_OK) return REFUSE(&d, NULL, err, "the message is refused at byte %zu: %s", at, text);
    if (!visd_read(&r, &map) || map.kind != VISD_MAP) return REFUSE(&d, NULL, VISD_ERR_BAD_MESSAGE, "the message is not a map");

    if ((err = find_tag(&d, r, map.u, "n", false, NULL, &n)) != VISD_ERR_OK) return err;
    if (n.kind != VISD_UINT) return REFUSE(&d, "n", VISD_ERR_BAD_MESSAGE, "%s where an integer is right", visd_value_kind_name(n.kind));
    out->n = why->n = n.u;
    if ((err = find_tag(&d, r, map.u, "e", true, &out->has_epoch, &epoch)) != VISD_ERR_OK) return err;
    if (out->has_epoch && epoch.kind != VISD_UINT)
        return REFUSE(&d, "e", VISD_ERR_BAD_MESSAGE, "%s where an integer is right", visd_value_kind_name(epoch.kind));
    out->epoch = out->has_epoch ? epoch.u : 0;
    if ((err = find_tag(&d, r, map.u, "t", false, NULL, &type)) != VISD_ERR_OK) return err;
    if (type.kind != VISD_STR) return REFUSE(&d, "t", VISD_ERR_BAD_MESSAGE, "%s where a str is right", visd_value_kind_name(type.kind));
    for (unsigned i = 0; i < VISD_MSG_COUNT; i++) {
        if (!is_key(&type, visd_types[i]->name)) continue;
        out->type = (enum visd_msg_type)i;
        visd_path_push(&d.path, visd_types[i]->name, -1);
        return decode_struct(&d, visd_types[i], &r, map.u, "tne", &out->hello);
    }
    bool shown = showable(&type);
    return REFUSE(&d, "t", VISD_ERR_BAD_MESSAGE, "no such type of message as \"%.*s\"; this side speaks version %d", shown ? (int)type.u : 3,
                  shown ? (const char *)type.at : "...", VISD_PROTO_VERSION);
}
