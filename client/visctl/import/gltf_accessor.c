/* Accessors: typed elements in a buffer view, with sparse replacements.
 *
 * Elements are read where they lie, at any stride and alignment. An accessor that is sparse, or has no view and so is
 * all zeros, is written out once into memory of its own. */
#include <stdlib.h>
#include <string.h>

#include "gltf_document.h"

enum { GLTF_BYTE = 5120, GLTF_UBYTE = 5121, GLTF_SHORT = 5122, GLTF_USHORT = 5123, GLTF_UINT = 5125, GLTF_FLOAT = 5126 };

static size_t component_bytes(uint32_t type)
{
    switch (type) {
    case GLTF_BYTE:
    case GLTF_UBYTE: return 1;
    case GLTF_SHORT:
    case GLTF_USHORT: return 2;
    case GLTF_UINT:
    case GLTF_FLOAT: return 4;
    default: return 0;
    }
}

static bool unsigned_type(uint32_t type)
{
    return type == GLTF_UBYTE || type == GLTF_USHORT || type == GLTF_UINT;
}

/* count elements of so many bytes from an offset into a view. */
static enum visd_err elements(struct gltf_document *d, const char *place, uint32_t view, uint64_t offset, uint64_t count, size_t bytes,
                              const unsigned char **at, size_t *stride)
{
    size_t size;
    enum visd_err err = gltf_view(d, view, at, &size, stride);
    if (err != VISD_ERR_OK) return err;
    if (*stride == 0) *stride = bytes;
    if (*stride < bytes)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "byteStride %zu of bufferViews[%u] is less than an element's %zu bytes", *stride, view, bytes);
    if (offset > size || size - offset < bytes || (count - 1) > (size - offset - bytes) / *stride)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "count %llu from byte %llu does not fit bufferViews[%u], which has %zu bytes",
                           (unsigned long long)count, (unsigned long long)offset, view, size);
    *at += offset;
    return VISD_ERR_OK;
}

static enum visd_err replace_sparse(struct gltf_document *d, struct gltf_accessor *a, const json_t *sparse, size_t bytes)
{
    struct gltf_place place = gltf_place("accessors[%u].sparse", a->number);
    const json_t *indices, *values;
    uint64_t count = 0, index_type = 0, index_offset = 0, value_offset = 0;
    uint32_t index_view = VISD_MODEL_NONE, value_view = VISD_MODEL_NONE;
    enum visd_err err = gltf_get_uint(d, place.text, sparse, "count", a->count, &count);
    if (err == VISD_ERR_OK) err = gltf_get_object(d, place.text, sparse, "indices", &indices);
    if (err == VISD_ERR_OK) err = gltf_get_object(d, place.text, sparse, "values", &values);
    if (err == VISD_ERR_OK) err = gltf_get_index(d, place.text, indices, "bufferView", GLTF_VIEWS, &index_view);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place.text, indices, "byteOffset", UINT64_MAX, &index_offset);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place.text, indices, "componentType", UINT32_MAX, &index_type);
    if (err == VISD_ERR_OK) err = gltf_get_index(d, place.text, values, "bufferView", GLTF_VIEWS, &value_view);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place.text, values, "byteOffset", UINT64_MAX, &value_offset);
    if (err != VISD_ERR_OK) return err;
    if (!count || index_view == VISD_MODEL_NONE || value_view == VISD_MODEL_NONE || !unsigned_type((uint32_t)index_type))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "count, indices or values are missing or mistyped");

    const unsigned char *from;
    struct gltf_accessor places = {.number = a->number, .count = (uint32_t)count, .component_type = (uint32_t)index_type, .components = 1};
    size_t stride;
    err = elements(d, place.text, index_view, index_offset, count, component_bytes((uint32_t)index_type), &places.at, &places.stride);
    if (err == VISD_ERR_OK) err = elements(d, place.text, value_view, value_offset, count, bytes, &from, &stride);
    if (err != VISD_ERR_OK) return err;
    for (uint32_t i = 0, last = 0; i < count; i++) {
        uint32_t to = gltf_accessor_index(&places, i);
        if (to >= a->count || (i && to <= last))
            return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "indices[%u] is %u: it must rise, and stay below %u", i, to, a->count);
        memcpy(a->owned + (size_t)to * bytes, from + (size_t)i * stride, bytes);
        last = to;
    }
    return VISD_ERR_OK;
}

enum visd_err gltf_accessor_open(struct gltf_document *d, struct gltf_accessor *a, uint32_t number)
{
    static const struct {
        const char *name;
        uint32_t components;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT2", 0}, {"MAT3", 0}, {"MAT4", 0}};
    const json_t *object = gltf_at(d, GLTF_ACCESSORS, number), *sparse;
    struct gltf_place place = gltf_place("accessors[%u]", number);
    uint64_t count = 0, component_type = 0, offset = 0;
    uint32_t view = VISD_MODEL_NONE;
    const char *type = "";
    *a = (struct gltf_accessor){.number = number};
    enum visd_err err = gltf_get_uint(d, place.text, object, "count", UINT32_MAX - 1, &count);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place.text, object, "componentType", UINT32_MAX, &component_type);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place.text, object, "byteOffset", UINT64_MAX, &offset);
    if (err == VISD_ERR_OK) err = gltf_get_index(d, place.text, object, "bufferView", GLTF_VIEWS, &view);
    if (err == VISD_ERR_OK) err = gltf_get_string(d, place.text, object, "type", &type);
    if (err == VISD_ERR_OK) err = gltf_get_bool(d, place.text, object, "normalized", &a->normalized);
    if (err == VISD_ERR_OK) err = gltf_get_object(d, place.text, object, "sparse", &sparse);
    if (err != VISD_ERR_OK) return err;
    if (count == 0) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "count must be 1 or more");
    if (!component_bytes((uint32_t)component_type))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "componentType %llu is none of glTF's", (unsigned long long)component_type);
    size_t t = 0;
    while (t < sizeof(types) / sizeof(*types) && strcmp(type, types[t].name) != 0) t++;
    if (t == sizeof(types) / sizeof(*types)) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "type \"%.20s\" is none of glTF's", type);
    if (!types[t].components) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "type %s does not suit its use", type);
    a->count = (uint32_t)count;
    a->component_type = (uint32_t)component_type;
    a->components = types[t].components;
    size_t bytes = component_bytes(a->component_type) * a->components;

    if (view != VISD_MODEL_NONE) {
        err = elements(d, place.text, view, offset, count, bytes, &a->at, &a->stride);
        if (err != VISD_ERR_OK || !sparse) return err;
    }
    if ((err = gltf_charge(d, place.text, count * bytes)) != VISD_ERR_OK) return err;
    a->charged = count * bytes;
    a->owned = calloc(count, bytes);
    if (!a->owned) return visd_why_memory(d->why, "an accessor");
    for (uint32_t i = 0; a->at && i < a->count; i++) memcpy(a->owned + i * bytes, a->at + i * a->stride, bytes);
    a->at = a->owned;
    a->stride = bytes;
    return sparse ? replace_sparse(d, a, sparse, bytes) : VISD_ERR_OK;
}

void gltf_accessor_close(struct gltf_document *d, struct gltf_accessor *a)
{
    gltf_release(d, a->charged);
    free(a->owned);
    *a = (struct gltf_accessor){0};
}

void gltf_accessor_floats(const struct gltf_accessor *a, uint32_t element, float *out)
{
    const unsigned char *at = a->at + (size_t)element * a->stride;
    for (uint32_t i = 0; i < a->components; i++) {
        int8_t s8;
        int16_t s16;
        uint16_t u16;
        uint32_t u32;
        float whole = 1;
        switch (a->component_type) {
        case GLTF_BYTE: memcpy(&s8, at + i, 1); out[i] = s8; whole = 127; break;
        case GLTF_UBYTE: out[i] = at[i]; whole = 255; break;
        case GLTF_SHORT: memcpy(&s16, at + i * 2, 2); out[i] = s16; whole = 32767; break;
        case GLTF_USHORT: memcpy(&u16, at + i * 2, 2); out[i] = u16; whole = 65535; break;
        case GLTF_UINT: memcpy(&u32, at + i * 4, 4); out[i] = (float)u32; break;
        default: memcpy(&out[i], at + i * 4, 4); break;
        }
        if (a->normalized) out[i] = out[i] / whole < -1 ? -1 : out[i] / whole;
    }
}

uint32_t gltf_accessor_index(const struct gltf_accessor *a, uint32_t element)
{
    const unsigned char *at = a->at + (size_t)element * a->stride;
    uint32_t value = at[0];
    if (a->component_type != GLTF_UBYTE) value |= (uint32_t)at[1] << 8;
    if (a->component_type == GLTF_UINT) value |= (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return value;
}

bool gltf_accessor_is_index(const struct gltf_accessor *a)
{
    return a->components == 1 && unsigned_type(a->component_type) && !a->normalized;
}
