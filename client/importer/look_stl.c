/* STL, text or binary: triangles are counted, and the vertices of each are found. */
#include <math.h>
#include <string.h>

#include "declared.h"
#include "formats.h"
#include "importer.h"
#include "names.h"
#include "words.h"

#define HEAD_BYTES 84u
#define TRIANGLE_BYTES 50u

static uint32_t u32_at(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Exactly as long as its count says: then it is binary, even if it begins with "solid". */
static bool is_binary(const struct source *s)
{
    return s->size >= HEAD_BYTES && s->size - HEAD_BYTES == (uint64_t)u32_at(s->bytes + 80) * TRIANGLE_BYTES;
}

static void look_at_binary(const struct import *im, struct declared *d)
{
    d->polygons = u32_at(im->source.bytes + 80);
    d->corners = d->polygons * 3;
    for (uint64_t i = 0; i < d->corners; i++) {
        const unsigned char *at = im->source.bytes + HEAD_BYTES + i / 3 * TRIANGLE_BYTES + 12 + i % 3 * 12;
        double vertex[3];
        for (int k = 0; k < 3; k++) {
            uint32_t bits = u32_at(at + 4 * k);
            float value;
            memcpy(&value, &bits, sizeof(value));
            vertex[k] = (double)value;
        }
        declared_vertex(d, vertex);
    }
}

static void look_at_text(struct import *im, struct declared *d)
{
    struct words w = {.at = (const char *)im->source.bytes, .end = (const char *)im->source.bytes + im->source.size};
    uint64_t corners = 0;
    while (words_line(&w)) {
        if (!words_next(&w, false)) continue;
        if (words_is(&w, "solid")) {
            names_join(im, &w);
        } else if (words_is(&w, "outer")) {
            d->polygons++;
            corners = 0;
        } else if (words_is(&w, "endloop") && corners != 3) {
            refuse(im, "line %llu: a facet has %llu vertices; in STL all have 3", (unsigned long long)w.line, (unsigned long long)corners);
        } else if (words_is(&w, "vertex")) {
            double vertex[3];
            for (int k = 0; k < 3; k++)
                if (!words_next(&w, false) || !words_number(&w, &vertex[k]))
                    refuse(im, "line %llu: a vertex is three numbers", (unsigned long long)w.line);
            declared_vertex(d, vertex);
            corners++;
            d->corners++;
        }
    }
}

void look_stl(struct import *im)
{
    const struct source *s = &im->source;
    struct declared *d = im->own = claim(im, sizeof(*d));
    size_t from = 0;
    while (from < s->size && strchr(" \t\r\n", s->bytes[from]) && s->bytes[from]) from++;
    bool text = s->size - from >= 5 && memcmp(s->bytes + from, "solid", 5) == 0;
    if (is_binary(s)) look_at_binary(im, d);
    else if (text) look_at_text(im, d);
    else if (s->size < HEAD_BYTES) refuse(im, "it is neither a text that begins with \"solid\" nor long enough for binary STL");
    else
        refuse(im, "it says that it holds %u triangles, which take %llu bytes, and it has %zu", u32_at(s->bytes + 80),
               (unsigned long long)u32_at(s->bytes + 80) * TRIANGLE_BYTES + HEAD_BYTES, s->size);
    if (!d->polygons) refuse(im, "it holds no triangles");
}

void check_stl(struct import *im)
{
    declared_check(im, im->own);
    names_part(im->scene->mRootNode);
}
