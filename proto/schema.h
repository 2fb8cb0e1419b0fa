/* The descriptors that schema.def becomes: what decode.c, encode.c and protodoc.c go by. Inside proto/ only. */
#ifndef VISD_PROTO_SCHEMA_H
#define VISD_PROTO_SCHEMA_H

#include "messages.h"

enum visd_kind {
    VISD_KIND_U32, VISD_KIND_U64, VISD_KIND_F64, VISD_KIND_BOOL, VISD_KIND_STR, VISD_KIND_STRS, VISD_KIND_CLIENT, VISD_KIND_ENUM,
    VISD_KIND_BITS, VISD_KIND_VEC, VISD_KIND_MAP, VISD_KIND_LIST, VISD_KIND_ITEMS,
    /* bulk from here on: BIN stands alone, COL has the rows of the map's first bulk field, OFFSETS one more */
    VISD_KIND_BIN, VISD_KIND_COL, VISD_KIND_OFFSETS,
};

enum visd_element { VISD_ELEMENT_NONE, VISD_ELEMENT_U8, VISD_ELEMENT_U32, VISD_ELEMENT_U64, VISD_ELEMENT_F32, VISD_ELEMENT_F64 };

struct visd_name {
    const char *text, *doc;
    uint32_t number;
};

struct visd_names {
    const char *name, *doc;
    const struct visd_name *values;
    uint32_t count;
};

struct visd_field {
    const char *name, *doc;
    enum visd_kind kind;
    enum visd_element element;
    bool optional;
    uint16_t columns;                /* bulk, VEC: numbers a row */
    uint32_t offset, has, count;     /* in the struct: the field, its has_ flag, its _count */
    uint32_t max;
    const struct visd_struct *sub;   /* MAP, LIST */
    const struct visd_names *names;  /* ENUM, BITS */
};

struct visd_struct {
    const char *name, *answers, *doc;
    enum visd_msg_class class;
    const struct visd_field *fields;
    uint32_t count;
    uint32_t size;
};

#define VISD_BEGIN(class, name, NAME, answers, doc) extern const struct visd_struct visd_struct_##name;
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"

extern const struct visd_struct *const visd_types[VISD_MSG_COUNT];  /* by enum visd_msg_type */
extern const struct visd_struct *const visd_items[VISD_ITEM_COUNT]; /* by enum visd_item_kind */
extern const struct visd_struct *const visd_parts[];                /* NULL at the end */
extern const struct visd_names *const visd_enums[];                 /* NULL at the end */

size_t visd_element_size(enum visd_element element);
const char *visd_element_name(enum visd_element element); /* "f64" */
/* The first bulk field, whose rows the COL fields share; NULL if there is none. */
const struct visd_field *visd_rows_field(const struct visd_struct *type);

static inline size_t visd_row_size(const struct visd_field *field) { return field->columns * visd_element_size(field->element); }
static inline bool visd_is_bulk(const struct visd_field *field) { return field->kind >= VISD_KIND_BIN; }
static inline bool visd_is_there(const struct visd_field *field, const void *object)
{
    return !field->optional || *(const bool *)((const char *)object + field->has);
}

#endif
