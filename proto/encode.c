/* Structs to bytes, in the order of the schema, through msgpack-c's packer. The same code counts bytes without writing them. */
#include <msgpack/pack.h>

#include "codec.h"
#include "schema.h"
#include "shape.h"

struct encoder {
    msgpack_packer pack;
    struct visd_buf *buf; /* NULL: only count */
    size_t bytes, values;
    bool failed;          /* no memory */
    bool check;
    struct visd_refused *why;
    struct visd_path path;
};

static int sink(void *data, const char *bytes, size_t size)
{
    struct encoder *e = data;
    e->bytes += size;
    if (e->buf && visd_buf_append(e->buf, bytes, size) != VISD_ERR_OK) e->failed = true;
    return e->failed ? -1 : 0;
}

static void begin(struct encoder *e, struct visd_buf *buf, struct visd_refused *why)
{
    *e = (struct encoder){.buf = buf, .check = buf != NULL, .why = why};
    msgpack_packer_init(&e->pack, e, sink);
}

/* Each of these is one msgpack value. */
static void put_map(struct encoder *e, size_t n) { e->values++; msgpack_pack_map(&e->pack, n); }
static void put_array(struct encoder *e, size_t n) { e->values++; msgpack_pack_array(&e->pack, n); }
static void put_uint(struct encoder *e, uint64_t v) { e->values++; msgpack_pack_uint64(&e->pack, v); }
static void put_str(struct encoder *e, const char *at, size_t size)
{
    e->values++;
    msgpack_pack_str(&e->pack, size);
    if (size) msgpack_pack_str_body(&e->pack, at, size);
}
static void put_text(struct encoder *e, const char *text) { put_str(e, text, strlen(text)); }
static void put_bin(struct encoder *e, const void *at, size_t size)
{
    e->values++;
    msgpack_pack_bin(&e->pack, size);
    if (size) msgpack_pack_bin_body(&e->pack, at, size);
}

static enum visd_err encode_fields(struct encoder *e, const struct visd_struct *type, const void *object);

static size_t present(const struct visd_struct *type, const void *object)
{
    size_t n = 0;
    for (uint32_t i = 0; i < type->count; i++) n += visd_is_there(&type->fields[i], object);
    return n;
}

static enum visd_err encode_item(struct encoder *e, const struct visd_item *item)
{
    const struct visd_struct *type;
    if ((unsigned)item->kind >= VISD_ITEM_COUNT) return visd_refuse(e->why, &e->path, "k", VISD_ERR_BAD_VALUE, "no such kind of item");
    type = visd_items[item->kind];
    put_map(e, 1 + present(type, &item->mesh_put));
    put_text(e, "k");
    put_text(e, type->name);
    return encode_fields(e, type, &item->mesh_put);
}

static enum visd_err encode_map(struct encoder *e, const struct visd_struct *type, const void *object)
{
    put_map(e, present(type, object));
    return encode_fields(e, type, object);
}

static enum visd_err encode_list(struct encoder *e, const struct visd_field *f, const void *object)
{
    uint32_t count = *(const uint32_t *)(const void *)((const char *)object + f->count);
    const char *list;
    memcpy(&list, (const char *)object + f->offset, sizeof(list));
    put_array(e, count);
    for (uint32_t i = 0; i < count; i++) {
        enum visd_err err = VISD_ERR_OK;
        visd_path_push(&e->path, f->name, i);
        if (f->kind == VISD_KIND_STRS) {
            const struct visd_str *s = (const struct visd_str *)(const void *)list + i;
            put_str(e, s->at, s->size);
        } else if (f->kind == VISD_KIND_ITEMS) {
            err = encode_item(e, (const struct visd_item *)(const void *)list + i);
        } else {
            err = encode_map(e, f->sub, list + (size_t)i * f->sub->size);
        }
        if (err != VISD_ERR_OK) return err;
        visd_path_pop(&e->path);
    }
    return VISD_ERR_OK;
}

static enum visd_err encode_field(struct encoder *e, const struct visd_field *f, const void *object)
{
    const void *at = (const char *)object + f->offset;
    enum visd_err err = VISD_ERR_OK;
    put_text(e, f->name);
    switch (f->kind) {
    case VISD_KIND_U32:
    case VISD_KIND_ENUM:
    case VISD_KIND_BITS: put_uint(e, *(const uint32_t *)at); break;
    case VISD_KIND_U64: put_uint(e, *(const uint64_t *)at); break;
    case VISD_KIND_F64: e->values++; msgpack_pack_double(&e->pack, *(const double *)at); break;
    case VISD_KIND_BOOL:
        e->values++;
        if (*(const bool *)at) msgpack_pack_true(&e->pack);
        else msgpack_pack_false(&e->pack);
        break;
    case VISD_KIND_STR: put_str(e, ((const struct visd_str *)at)->at, ((const struct visd_str *)at)->size); break;
    case VISD_KIND_VEC:
    case VISD_KIND_CLIENT: put_bin(e, at, visd_row_size(f)); break;
    case VISD_KIND_MAP:
        visd_path_push(&e->path, f->name, -1);
        if ((err = encode_map(e, f->sub, at)) != VISD_ERR_OK) return err;
        visd_path_pop(&e->path);
        break;
    case VISD_KIND_STRS:
    case VISD_KIND_LIST:
    case VISD_KIND_ITEMS: return encode_list(e, f, object);
    default: put_bin(e, ((const struct visd_bin *)at)->at, ((const struct visd_bin *)at)->rows * visd_row_size(f)); break;
    }
    return err;
}

static enum visd_err encode_fields(struct encoder *e, const struct visd_struct *type, const void *object)
{
    enum visd_err err = e->check ? visd_shape_check(type, object, &e->path, e->why) : VISD_ERR_OK;
    for (uint32_t i = 0; i < type->count && err == VISD_ERR_OK && !e->failed; i++)
        if (visd_is_there(&type->fields[i], object)) err = encode_field(e, &type->fields[i], object);
    return err;
}

static enum visd_err encode_message(struct encoder *e, const struct visd_message *m)
{
    const struct visd_struct *type;
    if ((unsigned)m->type >= VISD_MSG_COUNT) return visd_refuse(e->why, &e->path, "t", VISD_ERR_BAD_VALUE, "no such type of message");
    type = visd_types[m->type];
    visd_path_push(&e->path, type->name, -1);
    put_map(e, 2u + m->has_epoch + present(type, &m->hello));
    put_text(e, "t");
    put_text(e, type->name);
    put_text(e, "n");
    put_uint(e, m->n);
    if (m->has_epoch) {
        put_text(e, "e");
        put_uint(e, m->epoch);
    }
    return encode_fields(e, type, &m->hello);
}

enum visd_err visd_encode(const struct visd_message *message, struct visd_buf *buf, struct visd_refused *why)
{
    size_t before = buf->size, bytes = visd_encoded_size(message);
    struct encoder e;
    enum visd_err err;
    begin(&e, buf, why);
    if (why) *why = (struct visd_refused){.n = message->n};
    err = visd_buf_reserve(buf, bytes);
    if (err == VISD_ERR_OK) err = encode_message(&e, message);
    else e.failed = true;
    if (e.failed) err = visd_refuse(why, &e.path, NULL, VISD_ERR_NO_MEMORY, "no memory for a message of %zu bytes", bytes);
    else if (err == VISD_ERR_OK && e.values > VISD_MAX_VALUES)
        err = visd_refuse(why, &e.path, NULL, VISD_ERR_TOO_BIG,
                          "%zu values in one message, at most %d are allowed (limit values)", e.values, VISD_MAX_VALUES);
    if (err != VISD_ERR_OK) buf->size = before;
    return err;
}

size_t visd_encoded_size(const struct visd_message *message)
{
    struct encoder e;
    begin(&e, NULL, NULL);
    encode_message(&e, message);
    return e.bytes;
}

enum visd_err visd_encode_item(const struct visd_item *item, struct visd_buf *buf, size_t *values, struct visd_refused *why)
{
    size_t before = buf->size;
    struct encoder e;
    enum visd_err err;
    begin(&e, NULL, NULL);
    encode_item(&e, item);
    err = visd_buf_reserve(buf, e.bytes);
    begin(&e, buf, why);
    if (why) *why = (struct visd_refused){0};
    if (err == VISD_ERR_OK) err = encode_item(&e, item);
    if (e.failed || err == VISD_ERR_NO_MEMORY) err = visd_refuse(why, &e.path, NULL, VISD_ERR_NO_MEMORY, "no memory for an item");
    if (err != VISD_ERR_OK) buf->size = before;
    else if (values) *values += e.values;
    return err;
}

/* Items are the last field of both messages, so an empty list is their last byte: it gives way to the real one. */
enum visd_err visd_encode_with_items(const struct visd_message *message, const struct visd_buf *items, uint32_t count, struct visd_buf *buf,
                                     struct visd_refused *why)
{
    size_t before = buf->size;
    enum visd_err err = visd_encode(message, buf, why);
    const uint8_t head[5] = {0xdd, (uint8_t)(count >> 24), (uint8_t)(count >> 16), (uint8_t)(count >> 8), (uint8_t)count};
    if (err != VISD_ERR_OK) return err;
    if ((message->type != VISD_MSG_BATCH && message->type != VISD_MSG_BATCH_APPEND) || buf->at[buf->size - 1] != 0x90) {
        buf->size = before;
        return visd_refuse(why, &(struct visd_path){0}, NULL, VISD_ERR_BAD_VALUE, "only a batch without items takes items");
    }
    buf->size--;
    err = visd_buf_reserve(buf, sizeof(head) + items->size);
    if (err == VISD_ERR_OK) {
        visd_buf_append(buf, head, sizeof(head));
        visd_buf_append(buf, items->at, items->size);
        return VISD_ERR_OK;
    }
    buf->size = before;
    return visd_refuse(why, &(struct visd_path){0}, NULL, err, "no memory for a message of %zu bytes", items->size);
}

enum visd_err visd_event_topic(struct visd_buf *buf, const char *topic)
{
    return visd_buf_append(buf, topic, strlen(topic) + 1);
}

enum visd_err visd_event_split(const void *bytes, size_t size, size_t *message)
{
    const void *zero = size ? memchr(bytes, 0, size) : NULL;
    if (!zero) return VISD_ERR_BAD_MESSAGE;
    *message = (size_t)((const char *)zero - (const char *)bytes) + 1;
    return VISD_ERR_OK;
}

void visd_error_reply(struct visd_message *out, uint64_t n, enum visd_err err, const char *text)
{
    memset(out, 0, sizeof(*out));
    out->type = VISD_MSG_ERROR;
    out->n = n;
    out->error.err = (uint32_t)err;
    out->error.name = visd_str_of(visd_err_name(err));
    out->error.text = visd_str_of(text ? text : visd_err_text(err));
}
