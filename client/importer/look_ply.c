/* PLY: the whole file is read once here, since the library believes any count, and takes whatever bytes come next for the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "formats.h"
#include "importer.h"
#include "words.h"

#define MOST_ELEMENTS 16u
#define MOST_PROPERTIES 64u

enum type { I8, U8, I16, U16, I32, U32, F32, F64, TYPES };
static const struct {
    const char *name, *other;
    uint32_t bytes;
} types[TYPES] = {[I8] = {"char", "int8", 1},   [U8] = {"uchar", "uint8", 1}, [I16] = {"short", "int16", 2},   [U16] = {"ushort", "uint16", 2},
                  [I32] = {"int", "int32", 4},  [U32] = {"uint", "uint32", 4}, [F32] = {"float", "float32", 4}, [F64] = {"double", "float64", 8}};

struct property {
    char name[32];
    enum type type, length; /* length: of a list's count */
    bool list;
};

struct element {
    char name[32];
    uint64_t count;
    struct property properties[MOST_PROPERTIES];
    uint32_t property_count;
};

struct ply {
    struct import *im;
    struct declared declared;
    struct element elements[MOST_ELEMENTS];
    uint32_t element_count;
    bool text, big_endian;
    struct words w; /* at and end serve binary files, too */
    double *vertices;
    uint64_t vertex_count;
};

static void keep_word(const struct words *w, char out[32])
{
    size_t length = w->length < 31 ? w->length : 31;
    memcpy(out, w->word, length);
    out[length] = 0;
}

static enum type read_type(struct ply *p)
{
    if (words_next(&p->w, false))
        for (int i = 0; i < TYPES; i++)
            if (words_is(&p->w, types[i].name) || words_is(&p->w, types[i].other)) return (enum type)i;
    refuse(p->im, "line %llu: no type that PLY has", (unsigned long long)p->w.line);
}

static void read_property(struct ply *p)
{
    struct element *e = p->element_count ? &p->elements[p->element_count - 1] : NULL;
    if (!e || e->property_count == MOST_PROPERTIES) refuse(p->im, "line %llu: a property too many", (unsigned long long)p->w.line);
    struct property *to = &e->properties[e->property_count++];
    struct words before = p->w;
    to->list = words_next(&p->w, false) && words_is(&p->w, "list");
    if (!to->list) p->w = before;
    if (to->list) to->length = read_type(p);
    to->type = read_type(p);
    if (to->list && to->length >= F32) refuse(p->im, "line %llu: the length of a list is no whole number", (unsigned long long)p->w.line);
    if (!words_next(&p->w, false)) refuse(p->im, "line %llu: a property has no name", (unsigned long long)p->w.line);
    keep_word(&p->w, to->name);
}

static void read_element(struct ply *p)
{
    int64_t count;
    if (p->element_count == MOST_ELEMENTS) refuse(p->im, "line %llu: an element too many", (unsigned long long)p->w.line);
    struct element *e = &p->elements[p->element_count++];
    if (words_next(&p->w, false)) keep_word(&p->w, e->name);
    if (!words_next(&p->w, false) || !words_integer(p->w.word, p->w.word + p->w.length, &count) || count < 0)
        refuse(p->im, "line %llu: an element without a count", (unsigned long long)p->w.line);
    e->count = (uint64_t)count;
}

static void read_format(struct ply *p)
{
    bool any = words_next(&p->w, false);
    p->text = any && words_is(&p->w, "ascii");
    p->big_endian = any && words_is(&p->w, "binary_big_endian");
    if (!p->text && !p->big_endian && !(any && words_is(&p->w, "binary_little_endian")))
        refuse(p->im, "line %llu: no format that PLY has", (unsigned long long)p->w.line);
}

static void read_head(struct ply *p)
{
    if (!words_line(&p->w) || !words_next(&p->w, false) || !words_is(&p->w, "ply")) refuse(p->im, "it does not begin with \"ply\"");
    while (words_line(&p->w)) {
        if (!words_next(&p->w, false)) continue;
        if (words_is(&p->w, "format")) read_format(p);
        if (words_is(&p->w, "element")) read_element(p);
        if (words_is(&p->w, "property")) read_property(p);
        if (!words_is(&p->w, "end_header")) continue;
        while (p->w.at < p->w.end && (*p->w.at == ' ' || *p->w.at == '\t')) p->w.at++;
        if (p->w.at < p->w.end && *p->w.at == '\r') p->w.at++;
        if (p->w.at < p->w.end && *p->w.at == '\n') p->w.at++;
        return;
    }
    refuse(p->im, "its header has no end");
}

static double from_bytes(const unsigned char *b, enum type type)
{
    uint64_t bits = 0;
    for (uint32_t i = types[type].bytes; i-- > 0;) bits = bits << 8 | b[i];
    uint32_t low = (uint32_t)bits;
    float f;
    double d;
    memcpy(&f, &low, sizeof(f));
    memcpy(&d, &bits, sizeof(d));
    switch (type) {
    case I8: return (int8_t)bits;
    case I16: return (int16_t)bits;
    case I32: return (int32_t)low;
    case F32: return (double)f;
    case F64: return d;
    default: return (double)bits;
    }
}

static double read_value(struct ply *p, const struct element *e, enum type type)
{
    double value = 0;
    if (p->text) {
        while (!words_next(&p->w, false))
            if (!words_line(&p->w)) refuse(p->im, "it ends before its %llu \"%s\" are told", (unsigned long long)e->count, e->name);
        if (!words_number(&p->w, &value)) refuse(p->im, "\"%.*s\" is no number", (int)(p->w.length > 40 ? 40 : p->w.length), p->w.word);
        return value;
    }
    unsigned char b[8];
    uint32_t bytes = types[type].bytes;
    if ((size_t)(p->w.end - p->w.at) < bytes) refuse(p->im, "it ends before its %llu \"%s\" are told", (unsigned long long)e->count, e->name);
    for (uint32_t i = 0; i < bytes; i++) b[i] = (unsigned char)p->w.at[p->big_endian ? bytes - 1 - i : i];
    p->w.at += bytes;
    return from_bytes(b, type);
}

static bool is_indices(const struct property *q)
{
    return q->list && (strcmp(q->name, "vertex_indices") == 0 || strcmp(q->name, "vertex_index") == 0);
}

static void read_face(struct ply *p, const struct element *e, const struct property *q, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        double at = read_value(p, e, q->type);
        if (!(at >= 0) || at >= (double)p->vertex_count || at != floor(at))
            refuse(p->im, "a face names vertex %g; there are %llu", at, (unsigned long long)p->vertex_count);
        declared_vertex(&p->declared, p->vertices + 3 * (uint64_t)at);
    }
    struct declared *d = &p->declared;
    if (count == 1) d->points++;
    else if (count == 2) d->lines++;
    else if (count) d->polygons++, d->corners += count;
}

static void read_rows(struct ply *p, const struct element *e)
{
    bool vertices = strcmp(e->name, "vertex") == 0, faces = strcmp(e->name, "face") == 0;
    for (uint64_t row = 0; row < e->count; row++)
        for (uint32_t i = 0; i < e->property_count; i++) {
            const struct property *q = &e->properties[i];
            if (!q->list) {
                double value = read_value(p, e, q->type);
                if (vertices && q->name[0] >= 'x' && q->name[0] <= 'z' && !q->name[1]) p->vertices[row * 3 + (uint64_t)(q->name[0] - 'x')] = value;
                continue;
            }
            double count = read_value(p, e, q->length);
            if (!(count >= 0) || count > 1e9 || count != floor(count)) refuse(p->im, "a list in \"%s\" has %g members", e->name, count);
            if (faces && is_indices(q)) read_face(p, e, q, (uint64_t)count);
            else
                for (uint64_t k = 0; k < (uint64_t)count; k++) read_value(p, e, q->type);
        }
}

/* What an element must have for the library to read it, and what it must not. */
static void check_element(struct ply *p, const struct element *e)
{
    struct import *im = p->im;
    bool vertices = strcmp(e->name, "vertex") == 0, faces = strcmp(e->name, "face") == 0, any = false;
    uint32_t axes = 0;
    for (uint32_t i = 0; i < e->property_count; i++) {
        const struct property *q = &e->properties[i];
        if (!q->list && q->name[0] >= 'x' && q->name[0] <= 'z' && !q->name[1]) axes |= 1u << (q->name[0] - 'x');
        any |= is_indices(q);
        if (vertices && q->list) cannot(im, "a list among the properties of its vertices is not read; export it without");
    }
    if (vertices && axes != 7) refuse(im, "its vertices have no x, y and z");
    if (faces && e->count && !any) cannot(im, "its faces have no list named vertex_indices or vertex_index; export it with one");
    if (strcmp(e->name, "tristrips") == 0 && e->count) cannot(im, "triangle strips (tristrips) are not read; export triangles");
    if (strcmp(e->name, "edge") == 0 && e->count) lacks(im, "its %llu edges are not read", (unsigned long long)e->count);
}

void look_ply(struct import *im)
{
    struct ply *p = im->own = claim(im, sizeof(*p));
    p->im = im;
    p->w = (struct words){.at = (const char *)im->source.bytes, .end = (const char *)im->source.bytes + im->source.size};
    read_head(p);
    for (uint32_t i = 0; i < p->element_count; i++) {
        const struct element *e = &p->elements[i];
        check_element(p, e);
        if (strcmp(e->name, "vertex") == 0) {
            if (p->vertices || e->count > im->source.size)
                refuse(im, "it says that it has %llu vertices, and is too short for them", (unsigned long long)e->count);
            p->vertices = claim(im, e->count * 3 * sizeof(*p->vertices));
            p->vertex_count = e->count;
        }
        if (e->property_count) read_rows(p, e);
    }
    if (!p->vertex_count) refuse(im, "it holds no vertices");
    if (p->declared.boxed) return;
    for (uint64_t i = 0; i < p->vertex_count; i++) declared_vertex(&p->declared, p->vertices + 3 * i);
    p->declared.points = p->vertex_count;
}

void check_ply(struct import *im)
{
    declared_check(im, &((struct ply *)im->own)->declared);
}
