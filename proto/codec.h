/* Messages to bytes and back.
 *
 * Decoding: visd_decode walks the bytes (walker.h), then reads them by the descriptors of schema.def. Bulk fields are not touched, only
 * pointed to; lists go to the caller's arena. What is not in the schema is refused by its path: "batch.items[3].flags: 2 rows, but ids
 * has 4". Encoding: visd_encode writes fields in the order of the schema, so encode, decode, encode gives the same bytes.
 * No globals, no I/O. Safe from any thread as long as each buffer and arena has one user at a time. */
#ifndef VISD_PROTO_CODEC_H
#define VISD_PROTO_CODEC_H

#include "err.h"
#include "messages.h"

/* Bytes that grow. Zeroed: empty. Append by visd_buf_append; take 'at' and 'size' freely, 'at' moves when it grows. */
struct visd_buf {
    uint8_t *at;
    size_t size, capacity;
};
enum visd_err visd_buf_reserve(struct visd_buf *buf, size_t more); /* NO_MEMORY, and the buffer is as it was */
enum visd_err visd_buf_append(struct visd_buf *buf, const void *bytes, size_t size);
void visd_buf_finish(struct visd_buf *buf); /* frees; the buffer is empty and usable again */

/* Memory for the lists of decoded messages. Zeroed: empty. One arena may serve many messages; reset keeps the memory for the next. */
struct visd_arena {
    struct visd_arena_block *block;
    size_t used;
};
void visd_arena_reset(struct visd_arena *arena);
void visd_arena_finish(struct visd_arena *arena);
void *visd_arena_take(struct visd_arena *arena, size_t count, size_t size); /* zeroed, aligned for anything; NULL: no memory */

/* Why bytes were refused. n is the request's number where it could be read, for the error reply; else 0. */
struct visd_refused {
    enum visd_err err; /* BAD_MESSAGE, BAD_VALUE, TOO_BIG or NO_MEMORY */
    uint64_t n;
    char text[256];
};

/* Exactly one message in exactly these bytes. OK, or the error and *why; then *out holds nothing of use. The size is held against
 * VISD_MAX_REPLY_BYTES here; smaller limits are the caller's. */
enum visd_err visd_decode(const void *bytes, size_t size, struct visd_arena *arena, struct visd_message *out, struct visd_refused *why);

/* Appends the message. NO_MEMORY; BAD_VALUE when the message itself breaks the schema (text too long, rows that differ...),
 * *why may be NULL. On failure the buffer is as it was. */
enum visd_err visd_encode(const struct visd_message *message, struct visd_buf *buf, struct visd_refused *why);

/* How many bytes visd_encode would append. Bulk is not read. */
size_t visd_encoded_size(const struct visd_message *message);

/* Batches that are built piece by piece: items are encoded one after the other into a buffer of their own, and later put whole
 * into a message of type batch or batch_append whose own list of items is empty. *values (may be NULL) is raised by the item's
 * msgpack values. */
enum visd_err visd_encode_item(const struct visd_item *item, struct visd_buf *buf, size_t *values, struct visd_refused *why);
enum visd_err visd_encode_with_items(const struct visd_message *message, const struct visd_buf *items, uint32_t count, struct visd_buf *buf,
                                     struct visd_refused *why);

/* Events: topic text, one zero byte (so that "scene/a" is not a prefix of "scene/ab"), message. visd_event_split gives the
 * message's offset. */
enum visd_err visd_event_topic(struct visd_buf *buf, const char *topic);
enum visd_err visd_event_split(const void *bytes, size_t size, size_t *message);

/* A reply of type error with err's name. text: what was refused, why, what to do; NULL: err's own text. Points to text. */
void visd_error_reply(struct visd_message *out, uint64_t n, enum visd_err err, const char *text);

/* The digest of a list: order-free, so that it can be kept up by adding and subtracting. */
static inline uint64_t visd_digest_of(uint64_t id)
{
    uint64_t z = id + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
