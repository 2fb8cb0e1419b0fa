/* The messages as C structs, made from schema.def. Plain data.
 *
 * struct visd_message is one message: a type, the request's number n, and a union with one member for each type, named as on the
 * wire: m.frames.frames[i].camera.width. Field by field:
 *   optional fields     bool has_<field> says whether it is there; a decoded message holds zeros where it is not
 *   STR                 struct visd_str; not NUL-terminated
 *   BIN, COL, OFFSETS   struct visd_bin: a pointer and a number of rows. In a decoded message it points into the received bytes, at any
 *                       alignment: read through the visd_bin_* helpers or memcpy
 *   LIST, STRS, ITEMS   a pointer and <field>_count
 * Whoever encodes owns what the pointers point to. What a decoded message points to lives as long as its bytes and its arena (codec.h).
 * A zeroed struct is an empty message. Field meanings: docs/protocol.md, or schema.def. */
#ifndef VISD_PROTO_MESSAGES_H
#define VISD_PROTO_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "limits.h"

#define VISD_CLIENT_ID_SIZE 16u
#define VISD_NONE64 UINT64_MAX /* "all ones: none" in columns of ids */

struct visd_str {
    const char *at;
    size_t size;
};

struct visd_bin {
    const void *at;
    size_t rows;
};

/* Numbers with names: enum visd_wire_method { VISD_WIRE_METHOD_FRUSTUM = 0, ... }. */
#define VISD_ENUM(name, NAME, doc) enum visd_wire_##name {
#define VISD_VALUE(name, NAME, VALUE, wire, number, doc) VISD_WIRE_##NAME##_##VALUE = number,
#define VISD_ENUM_END(name, NAME) };
#include "schema.def"

/* The C type of each kind. */
#define VISD_C_U32(field, arg) uint32_t field;
#define VISD_C_U64(field, arg) uint64_t field;
#define VISD_C_F64(field, arg) double field;
#define VISD_C_BOOL(field, arg) bool field;
#define VISD_C_STR(field, arg) struct visd_str field;
#define VISD_C_STRS(field, arg) struct visd_str *field; uint32_t field##_count;
#define VISD_C_CLIENT(field, arg) uint8_t field[VISD_CLIENT_ID_SIZE];
#define VISD_C_ENUM(field, arg) uint32_t field; /* enum visd_wire_<arg> */
#define VISD_C_BITS(field, arg) uint32_t field; /* enum visd_wire_<arg> */
#define VISD_C_VEC(field, arg) double field[arg];
#define VISD_C_MAP(field, arg) struct visd_msg_##arg field;
#define VISD_C_LIST(field, arg) struct visd_msg_##arg *field; uint32_t field##_count;
#define VISD_C_ITEMS(field, arg) struct visd_item *field; uint32_t field##_count;
#define VISD_C_BIN_U8(field, arg) struct visd_bin field;
#define VISD_C_BIN_U32(field, arg) struct visd_bin field;
#define VISD_C_BIN_U64(field, arg) struct visd_bin field;
#define VISD_C_BIN_F32(field, arg) struct visd_bin field;
#define VISD_C_BIN_F64(field, arg) struct visd_bin field;
#define VISD_C_COL_U8(field, arg) struct visd_bin field;
#define VISD_C_COL_U32(field, arg) struct visd_bin field;
#define VISD_C_COL_U64(field, arg) struct visd_bin field;
#define VISD_C_COL_F32(field, arg) struct visd_bin field;
#define VISD_C_COL_F64(field, arg) struct visd_bin field;
#define VISD_C_OFFSETS(field, arg) struct visd_bin field;
#define VISD_HAS_REQ(field)
#define VISD_HAS_OPT(field) bool has_##field;

#define VISD_BEGIN(class, name, NAME, answers, doc) struct visd_msg_##name {
#define VISD_F(owner, presence, kind, field, arg, max, doc) VISD_HAS_##presence(field) VISD_C_##kind(field, arg)
#define VISD_END(class, name, NAME) uint8_t zero; };
struct visd_item;
#include "schema.def"

/* One item of a batch. */
enum visd_item_kind {
#define VISD_ITEM_PART(NAME)
#define VISD_ITEM_REQUEST(NAME)
#define VISD_ITEM_REPLY(NAME)
#define VISD_ITEM_EVENT(NAME)
#define VISD_ITEM_ITEM(NAME) VISD_ITEM_##NAME,
#define VISD_BEGIN(class, name, NAME, answers, doc) VISD_ITEM_##class(NAME)
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"
    VISD_ITEM_COUNT
};

struct visd_item {
    enum visd_item_kind kind;
    union {
#define VISD_MEMBER_PART(name)
#define VISD_MEMBER_REQUEST(name)
#define VISD_MEMBER_REPLY(name)
#define VISD_MEMBER_EVENT(name)
#define VISD_MEMBER_ITEM(name) struct visd_msg_##name name;
#define VISD_BEGIN(class, name, NAME, answers, doc) VISD_MEMBER_##class(name)
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"
#undef VISD_MEMBER_REQUEST
#undef VISD_MEMBER_REPLY
#undef VISD_MEMBER_EVENT
#undef VISD_MEMBER_ITEM
    };
};

/* One message. */
enum visd_msg_type {
#define VISD_TYPE_PART(NAME)
#define VISD_TYPE_ITEM(NAME)
#define VISD_TYPE_REQUEST(NAME) VISD_MSG_##NAME,
#define VISD_TYPE_REPLY(NAME) VISD_MSG_##NAME,
#define VISD_TYPE_EVENT(NAME) VISD_MSG_##NAME,
#define VISD_BEGIN(class, name, NAME, answers, doc) VISD_TYPE_##class(NAME)
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"
    VISD_MSG_COUNT
};

enum visd_msg_class { VISD_CLASS_PART, VISD_CLASS_ITEM, VISD_CLASS_REQUEST, VISD_CLASS_REPLY, VISD_CLASS_EVENT };

struct visd_message {
    enum visd_msg_type type;
    uint64_t n; /* a reply carries its request's; an event the subscriber's sequence number */
    bool has_epoch; /* requests, where they name scenes, views or batches: the daemon of another epoch refuses with conflict, */
    uint64_t epoch; /* so that a request that is sent again after a restart never meets another thing of the same number */
    union {
#define VISD_MEMBER_REQUEST(name) struct visd_msg_##name name;
#define VISD_MEMBER_REPLY(name) struct visd_msg_##name name;
#define VISD_MEMBER_EVENT(name) struct visd_msg_##name name;
#define VISD_MEMBER_ITEM(name)
#define VISD_BEGIN(class, name, NAME, answers, doc) VISD_MEMBER_##class(name)
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"
    };
};

/* The wire name of a type, "frames"; and its class. */
const char *visd_msg_name(enum visd_msg_type type);
enum visd_msg_class visd_msg_class(enum visd_msg_type type);

/* Names of numbers: visd_wire_method_name(1) is "hiz"; NULL for a number that is none. The other way: false if no such name. */
#define VISD_ENUM(name, NAME, doc)                                            \
    const char *visd_wire_##name##_name(uint32_t number);                     \
    bool visd_wire_##name##_number(const char *text, size_t size, uint32_t *out);
#define VISD_VALUE(name, NAME, VALUE, wire, number, doc)
#define VISD_ENUM_END(name, NAME)
#include "schema.def"

/* Reading bulk fields in place; i counts numbers, not rows: in a column of 6 a row, row r begins at 6*r. No bounds check. */
static inline uint8_t visd_bin_u8(const struct visd_bin *bin, size_t i) { return ((const uint8_t *)bin->at)[i]; }
static inline uint32_t visd_bin_u32(const struct visd_bin *bin, size_t i)
{
    uint32_t v;
    memcpy(&v, (const char *)bin->at + i * sizeof(v), sizeof(v));
    return v;
}
static inline uint64_t visd_bin_u64(const struct visd_bin *bin, size_t i)
{
    uint64_t v;
    memcpy(&v, (const char *)bin->at + i * sizeof(v), sizeof(v));
    return v;
}
static inline float visd_bin_f32(const struct visd_bin *bin, size_t i)
{
    float v;
    memcpy(&v, (const char *)bin->at + i * sizeof(v), sizeof(v));
    return v;
}
static inline double visd_bin_f64(const struct visd_bin *bin, size_t i)
{
    double v;
    memcpy(&v, (const char *)bin->at + i * sizeof(v), sizeof(v));
    return v;
}

/* For encoding. */
static inline struct visd_bin visd_bin_of(const void *at, size_t rows) { return (struct visd_bin){at, rows}; }
static inline struct visd_str visd_str_of(const char *text) { return (struct visd_str){text, text ? strlen(text) : 0}; }
static inline bool visd_str_is(struct visd_str s, const char *text) { return s.size == strlen(text) && !memcmp(s.at, text, s.size); }

#endif
