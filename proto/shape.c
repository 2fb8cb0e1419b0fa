/* Checks that every struct of the schema has to pass, and the texts of those that it does not; see shape.h. */
#include "shape.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void visd_path_push(struct visd_path *path, const char *name, int64_t index)
{
    if (path->depth < sizeof(path->step) / sizeof(path->step[0])) {
        path->step[path->depth].name = name;
        path->step[path->depth].index = index;
    }
    path->depth++;
}

void visd_path_pop(struct visd_path *path)
{
    path->depth--;
}

enum visd_err visd_refuse(struct visd_refused *why, const struct visd_path *path, const char *field, enum visd_err err,
                          const char *format, ...)
{
    size_t at = 0, room;
    va_list args;
    if (!why) return err;
    why->err = err;
    room = sizeof(why->text);
#define PUT(...)                                                          \
    do {                                                                  \
        int n_ = snprintf(why->text + at, room - at, __VA_ARGS__);        \
        if (n_ > 0) at += (size_t)n_;                                     \
        if (at >= room) at = room - 1;                                    \
    } while (0)
    for (unsigned i = 0; i < path->depth && i < sizeof(path->step) / sizeof(path->step[0]); i++) {
        PUT("%s%s", i ? "." : "", path->step[i].name);
        if (path->step[i].index >= 0) PUT("[%" PRId64 "]", path->step[i].index);
    }
    if (field) PUT("%s%s", path->depth ? "." : "", field);
    if (at) PUT(": ");
#undef PUT
    va_start(args, format);
    vsnprintf(why->text + at, room - at, format, args);
    va_end(args);
    return err;
}

bool visd_utf8_ok(const void *text, size_t size)
{
    const uint8_t *p = text, *end = p + size;
    while (p < end) {
        uint32_t c = *p, least;
        unsigned more;
        if (end - p >= 8) { /* eight bytes of plain ASCII without a zero, at a time */
            uint64_t w;
            memcpy(&w, p, sizeof(w));
            if (!((w | (w - 0x0101010101010101u)) & 0x8080808080808080u)) {
                p += 8;
                continue;
            }
        }
        p++;
        if (c == 0) return false;
        if (c < 0x80) continue;
        if (c >= 0xc2 && c < 0xe0) more = 1, least = 0x80, c &= 0x1f;
        else if (c >= 0xe0 && c < 0xf0) more = 2, least = 0x800, c &= 0x0f;
        else if (c >= 0xf0 && c < 0xf5) more = 3, least = 0x10000, c &= 0x07;
        else return false;
        if ((size_t)(end - p) < more) return false;
        while (more--) {
            if ((*p & 0xc0) != 0x80) return false;
            c = c << 6 | (*p++ & 0x3f);
        }
        if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return false;
    }
    return true;
}

static enum visd_err check_str(const struct visd_field *f, const struct visd_str *s, const struct visd_path *path, struct visd_refused *why)
{
    size_t max = f->kind == VISD_KIND_STRS ? VISD_MAX_NAME_BYTES : f->max;
    if (s->size > max) return visd_refuse(why, path, f->name, VISD_ERR_TOO_BIG, "%zu bytes of text, at most %zu are allowed", s->size, max);
    if (!visd_utf8_ok(s->at, s->size))
        return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "the text is not UTF-8, or has a zero byte in it");
    return VISD_ERR_OK;
}

static enum visd_err check_named(const struct visd_field *f, uint32_t number, const struct visd_path *path, struct visd_refused *why)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < f->names->count; i++) {
        if (f->kind == VISD_KIND_ENUM && f->names->values[i].number == number) return VISD_ERR_OK;
        bits |= f->names->values[i].number;
    }
    if (f->kind == VISD_KIND_BITS && !(number & ~bits)) return VISD_ERR_OK;
    return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "%" PRIu32 " is no %s", number, f->names->name);
}

/* The bulk field written just before says what the offsets go into: UTF-8 bytes, or rows of something else. */
static enum visd_err check_offsets(const struct visd_field *f, const void *object, size_t rows, const struct visd_path *path,
                                   struct visd_refused *why)
{
    const struct visd_field *into = f - 1;
    const struct visd_bin *bin = (const void *)((const char *)object + f->offset);
    const struct visd_bin *data = (const void *)((const char *)object + into->offset);
    uint32_t last = 0;
    if (!visd_is_there(into, object)) return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "it comes with %s only", into->name);
    if (bin->rows != rows + 1)
        return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "%zu rows where %zu are right, one more than there are rows",
                           bin->rows, rows + 1);
    for (size_t i = 0; i < bin->rows; i++) {
        uint32_t at = visd_bin_u32(bin, i);
        if (i == 0 ? at != 0 : at < last)
            return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "offsets begin with 0 and do not fall; see row %zu", i);
        if (at > data->rows) return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "row %zu is past the end of %s", i, into->name);
        if (into->element == VISD_ELEMENT_U8 && at < data->rows && (visd_bin_u8(data, at) & 0xc0) == 0x80)
            return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "row %zu cuts a character of %s in two", i, into->name);
        last = at;
    }
    if (last != data->rows) return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "the last one is not the end of %s", into->name);
    if (into->element == VISD_ELEMENT_U8 && !visd_utf8_ok(data->at, data->rows))
        return visd_refuse(why, path, into->name, VISD_ERR_BAD_VALUE, "the text is not UTF-8, or has a zero byte in it");
    return VISD_ERR_OK;
}

enum visd_err visd_shape_check(const struct visd_struct *type, const void *object, const struct visd_path *path, struct visd_refused *why)
{
    const struct visd_field *first = visd_rows_field(type);
    enum visd_err err;
    size_t rows = 0;
    if (first && visd_is_there(first, object)) rows = ((const struct visd_bin *)(const void *)((const char *)object + first->offset))->rows;
    for (const struct visd_field *f = type->fields; f->name; f++) {
        const char *at = (const char *)object + f->offset;
        const struct visd_bin *bin = (const void *)at;
        uint32_t count = f->count ? *(const uint32_t *)(const void *)((const char *)object + f->count) : 0;
        if (f[1].kind == VISD_KIND_OFFSETS && f[1].name && visd_is_there(f, object) && !visd_is_there(f + 1, object))
            return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "it comes with %s only", f[1].name);
        if (!visd_is_there(f, object)) continue;
        switch (f->kind) {
        case VISD_KIND_STR:
            if ((err = check_str(f, (const void *)at, path, why)) != VISD_ERR_OK) return err;
            break;
        case VISD_KIND_STRS:
        case VISD_KIND_LIST:
        case VISD_KIND_ITEMS:
            if (count > f->max)
                return visd_refuse(why, path, f->name, VISD_ERR_TOO_BIG, "%" PRIu32 " entries, at most %" PRIu32 " are allowed",
                                   count, f->max);
            if (f->kind != VISD_KIND_STRS) break;
            for (uint32_t i = 0; i < count; i++)
                if ((err = check_str(f, &(*(const struct visd_str *const *)(const void *)at)[i], path, why)) != VISD_ERR_OK) return err;
            break;
        case VISD_KIND_ENUM:
        case VISD_KIND_BITS:
            if ((err = check_named(f, *(const uint32_t *)(const void *)at, path, why)) != VISD_ERR_OK) return err;
            break;
        case VISD_KIND_F64:
        case VISD_KIND_VEC:
            for (unsigned i = 0; i < (f->columns ? f->columns : 1u); i++)
                if (!isfinite(((const double *)(const void *)at)[i]))
                    return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "it is not a finite number");
            break;
        case VISD_KIND_COL:
            if (bin->rows != rows)
                return visd_refuse(why, path, f->name, VISD_ERR_BAD_VALUE, "%zu rows, but %s has %zu", bin->rows, first->name,
                                   rows);
            break;
        case VISD_KIND_OFFSETS:
            if ((err = check_offsets(f, object, rows, path, why)) != VISD_ERR_OK) return err;
            break;
        default: break;
        }
        if (visd_is_bulk(f) && bin->rows > UINT32_MAX / visd_row_size(f))
            return visd_refuse(why, path, f->name, VISD_ERR_TOO_BIG, "%zu rows do not fit one field", bin->rows);
    }
    return VISD_ERR_OK;
}
