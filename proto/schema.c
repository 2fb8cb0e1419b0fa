/* schema.def made into tables. */
#include "schema.h"

/* ---- names of numbers ---- */
#define VISD_ENUM(name, NAME, doc) static const struct visd_name names_##name[] = {
#define VISD_VALUE(name, NAME, VALUE, wire, number, doc) {wire, doc, number},
#define VISD_ENUM_END(name, NAME) };
#include "schema.def"

#define VISD_ENUM(name, NAME, doc) \
    static const struct visd_names enum_##name = {#name, doc, names_##name, sizeof(names_##name) / sizeof(names_##name[0])};
#define VISD_VALUE(name, NAME, VALUE, wire, number, doc)
#define VISD_ENUM_END(name, NAME)
#include "schema.def"

const struct visd_names *const visd_enums[] = {
#define VISD_ENUM(name, NAME, doc) &enum_##name,
#define VISD_VALUE(name, NAME, VALUE, wire, number, doc)
#define VISD_ENUM_END(name, NAME)
#include "schema.def"
    NULL,
};

static const char *name_of(const struct visd_names *names, uint32_t number)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names->values[i].number == number) return names->values[i].text;
    return NULL;
}

static bool number_of(const struct visd_names *names, const char *text, size_t size, uint32_t *out)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (visd_str_is((struct visd_str){text, size}, names->values[i].text)) {
            *out = names->values[i].number;
            return true;
        }
    }
    return false;
}

#define VISD_ENUM(name, NAME, doc)                                                            \
    const char *visd_wire_##name##_name(uint32_t number) { return name_of(&enum_##name, number); } \
    bool visd_wire_##name##_number(const char *text, size_t size, uint32_t *out) { return number_of(&enum_##name, text, size, out); }
#define VISD_VALUE(name, NAME, VALUE, wire, number, doc)
#define VISD_ENUM_END(name, NAME)
#include "schema.def"

/* ---- fields ---- */
#define KIND_U32 VISD_KIND_U32, VISD_ELEMENT_NONE
#define KIND_U64 VISD_KIND_U64, VISD_ELEMENT_NONE
#define KIND_F64 VISD_KIND_F64, VISD_ELEMENT_NONE
#define KIND_BOOL VISD_KIND_BOOL, VISD_ELEMENT_NONE
#define KIND_STR VISD_KIND_STR, VISD_ELEMENT_NONE
#define KIND_STRS VISD_KIND_STRS, VISD_ELEMENT_NONE
#define KIND_CLIENT VISD_KIND_CLIENT, VISD_ELEMENT_U8
#define KIND_ENUM VISD_KIND_ENUM, VISD_ELEMENT_NONE
#define KIND_BITS VISD_KIND_BITS, VISD_ELEMENT_NONE
#define KIND_VEC VISD_KIND_VEC, VISD_ELEMENT_F64
#define KIND_MAP VISD_KIND_MAP, VISD_ELEMENT_NONE
#define KIND_LIST VISD_KIND_LIST, VISD_ELEMENT_NONE
#define KIND_ITEMS VISD_KIND_ITEMS, VISD_ELEMENT_NONE
#define KIND_BIN_U8 VISD_KIND_BIN, VISD_ELEMENT_U8
#define KIND_BIN_U32 VISD_KIND_BIN, VISD_ELEMENT_U32
#define KIND_BIN_U64 VISD_KIND_BIN, VISD_ELEMENT_U64
#define KIND_BIN_F32 VISD_KIND_BIN, VISD_ELEMENT_F32
#define KIND_BIN_F64 VISD_KIND_BIN, VISD_ELEMENT_F64
#define KIND_COL_U8 VISD_KIND_COL, VISD_ELEMENT_U8
#define KIND_COL_U32 VISD_KIND_COL, VISD_ELEMENT_U32
#define KIND_COL_U64 VISD_KIND_COL, VISD_ELEMENT_U64
#define KIND_COL_F32 VISD_KIND_COL, VISD_ELEMENT_F32
#define KIND_COL_F64 VISD_KIND_COL, VISD_ELEMENT_F64
#define KIND_OFFSETS VISD_KIND_OFFSETS, VISD_ELEMENT_U32

#define EXTRA_NONE .columns = 0
#define EXTRA_U32(type, field, arg) EXTRA_NONE
#define EXTRA_U64(type, field, arg) EXTRA_NONE
#define EXTRA_F64(type, field, arg) EXTRA_NONE
#define EXTRA_BOOL(type, field, arg) EXTRA_NONE
#define EXTRA_STR(type, field, arg) EXTRA_NONE
#define EXTRA_STRS(type, field, arg) .count = offsetof(type, field##_count)
#define EXTRA_CLIENT(type, field, arg) .columns = VISD_CLIENT_ID_SIZE
#define EXTRA_ENUM(type, field, arg) .names = &enum_##arg
#define EXTRA_BITS(type, field, arg) .names = &enum_##arg
#define EXTRA_VEC(type, field, arg) .columns = arg
#define EXTRA_MAP(type, field, arg) .sub = &visd_struct_##arg
#define EXTRA_LIST(type, field, arg) .sub = &visd_struct_##arg, .count = offsetof(type, field##_count)
#define EXTRA_ITEMS(type, field, arg) .count = offsetof(type, field##_count)
#define EXTRA_BIN_U8(type, field, arg) .columns = arg
#define EXTRA_BIN_U32(type, field, arg) .columns = arg
#define EXTRA_BIN_U64(type, field, arg) .columns = arg
#define EXTRA_BIN_F32(type, field, arg) .columns = arg
#define EXTRA_BIN_F64(type, field, arg) .columns = arg
#define EXTRA_COL_U8(type, field, arg) .columns = arg
#define EXTRA_COL_U32(type, field, arg) .columns = arg
#define EXTRA_COL_U64(type, field, arg) .columns = arg
#define EXTRA_COL_F32(type, field, arg) .columns = arg
#define EXTRA_COL_F64(type, field, arg) .columns = arg
#define EXTRA_OFFSETS(type, field, arg) .columns = 1
#define HAS_REQ(type, field) .optional = false
#define HAS_OPT(type, field) .optional = true, .has = offsetof(type, has_##field)

/* The last row stands for nothing: C has no empty arrays. */
#define VISD_BEGIN(class, name_, NAME, answers, doc_) static const struct visd_field fields_##name_[] = {
#define VISD_F(owner, presence, kind_, field, arg, max_, doc_)                                                     \
    {#field, doc_, KIND_##kind_, HAS_##presence(struct visd_msg_##owner, field),                                   \
     .offset = offsetof(struct visd_msg_##owner, field), .max = (max_), EXTRA_##kind_(struct visd_msg_##owner, field, arg)},
#define VISD_END(class, name_, NAME) {.name = NULL}};
#include "schema.def"

#define VISD_BEGIN(class_, name_, NAME, answers_, doc_)                                                       \
    _Static_assert(sizeof(fields_##name_) / sizeof(fields_##name_[0]) <= 64, "the decoder's seen mask");      \
    const struct visd_struct visd_struct_##name_ = {#name_, answers_, doc_, VISD_CLASS_##class_, fields_##name_, \
        sizeof(fields_##name_) / sizeof(fields_##name_[0]) - 1, sizeof(struct visd_msg_##name_)};
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"

/* ---- lists of types ---- */
#define LIST_TYPE_PART(name, NAME)
#define LIST_TYPE_ITEM(name, NAME)
#define LIST_TYPE_REQUEST(name, NAME) [VISD_MSG_##NAME] = &visd_struct_##name,
#define LIST_TYPE_REPLY(name, NAME) [VISD_MSG_##NAME] = &visd_struct_##name,
#define LIST_TYPE_EVENT(name, NAME) [VISD_MSG_##NAME] = &visd_struct_##name,
const struct visd_struct *const visd_types[VISD_MSG_COUNT] = {
#define VISD_BEGIN(class, name, NAME, answers, doc) LIST_TYPE_##class(name, NAME)
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"
};

#define LIST_ITEM_PART(name, NAME)
#define LIST_ITEM_ITEM(name, NAME) [VISD_ITEM_##NAME] = &visd_struct_##name,
#define LIST_ITEM_REQUEST(name, NAME)
#define LIST_ITEM_REPLY(name, NAME)
#define LIST_ITEM_EVENT(name, NAME)
const struct visd_struct *const visd_items[VISD_ITEM_COUNT] = {
#define VISD_BEGIN(class, name, NAME, answers, doc) LIST_ITEM_##class(name, NAME)
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"
};

#define LIST_PART_PART(name, NAME) &visd_struct_##name,
#define LIST_PART_ITEM(name, NAME)
#define LIST_PART_REQUEST(name, NAME)
#define LIST_PART_REPLY(name, NAME)
#define LIST_PART_EVENT(name, NAME)
const struct visd_struct *const visd_parts[] = {
#define VISD_BEGIN(class, name, NAME, answers, doc) LIST_PART_##class(name, NAME)
#define VISD_F(owner, presence, kind, field, arg, max, doc)
#define VISD_END(class, name, NAME)
#include "schema.def"
    NULL,
};

const char *visd_msg_name(enum visd_msg_type type)
{
    return (unsigned)type < VISD_MSG_COUNT ? visd_types[type]->name : "unknown";
}

enum visd_msg_class visd_msg_class(enum visd_msg_type type)
{
    return (unsigned)type < VISD_MSG_COUNT ? visd_types[type]->class : VISD_CLASS_PART;
}

size_t visd_element_size(enum visd_element element)
{
    static const uint8_t sizes[] = {0, 1, 4, 8, 4, 8};
    return sizes[element];
}

const char *visd_element_name(enum visd_element element)
{
    static const char *const names[] = {"", "u8", "u32", "u64", "f32", "f64"};
    return names[element];
}

const struct visd_field *visd_rows_field(const struct visd_struct *type)
{
    for (uint32_t i = 0; i < type->count; i++)
        if (visd_is_bulk(&type->fields[i])) return &type->fields[i];
    return NULL;
}
