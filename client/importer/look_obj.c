/* OBJ: every statement that draws something is counted, and its vertices found, in two passes: an index may name a vertex that comes later. */
#include <string.h>

#include "declared.h"
#include "formats.h"
#include "importer.h"
#include "names.h"
#include "words.h"

struct obj {
    struct declared declared;
    double *vertices;
    uint64_t count;
};

/* Statements that show something which the library passes over. */
static const char *const dropped[] = {"surf", "curv", "curv2", "call", "csh", "bzp", "bsp", "cdc", "cdp", "res"};

static struct words all_of(const struct import *im)
{
    return (struct words){.at = (const char *)im->source.bytes, .end = (const char *)im->source.bytes + im->source.size};
}

/* v x y z, or with a weight that divides, or with a colour. */
static void read_vertex(struct import *im, struct words *w, double out[3])
{
    double number[8];
    int count = 0;
    while (count < 8 && words_next(w, true) && *w->word != '#') {
        if (!words_number(w, &number[count]))
            refuse(im, "line %llu: \"%.*s\" is no number", (unsigned long long)w->line, (int)(w->length > 40 ? 40 : w->length), w->word);
        count++;
    }
    if (count < 3) refuse(im, "line %llu: a vertex has three coordinates at least", (unsigned long long)w->line);
    if (count != 3 && count != 4 && count != 6)
        refuse(im, "line %llu: a vertex has 3 numbers, 4 with a weight, or 6 with a colour, not %d", (unsigned long long)w->line, count);
    if (count == 4 && !(number[3] > 0)) refuse(im, "line %llu: the weight of a vertex must be more than 0", (unsigned long long)w->line);
    for (int k = 0; k < 3; k++) out[k] = count == 4 ? number[k] / number[3] : number[k];
}

static void find_vertices(struct import *im, struct obj *o)
{
    uint64_t count = 0;
    for (struct words w = all_of(im); words_line(&w);) {
        if (!words_next(&w, true)) continue;
        count += words_is(&w, "v");
        for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
            if (words_is(&w, dropped[i]))
                lacks(im, "line %llu: \"%s\" (a free-form curve or surface, or another file) is not read", (unsigned long long)w.line,
                      dropped[i]);
        while (words_next(&w, true)) {}
    }
    o->vertices = claim(im, count * 3 * sizeof(*o->vertices));
    for (struct words w = all_of(im); words_line(&w);) {
        if (words_next(&w, true) && words_is(&w, "v")) read_vertex(im, &w, o->vertices + 3 * o->count++);
        while (words_next(&w, true)) {}
    }
}

/* f, l or p, and what it names. seen: vertices so far, which negative numbers count back from. */
static void read_element(struct import *im, struct obj *o, struct words *w, char kind, uint64_t seen)
{
    uint64_t count = 0;
    while (words_next(w, true) && *w->word != '#') {
        const char *slash = memchr(w->word, '/', w->length);
        int64_t number;
        bool good = words_integer(w->word, slash ? slash : w->word + w->length, &number);
        if (good && number < 0) number += (int64_t)seen + 1;
        if (!good || number < 1 || (uint64_t)number > o->count)
            refuse(im, "line %llu: \"%.*s\" names no vertex; there are %llu", (unsigned long long)w->line, (int)(w->length > 40 ? 40 : w->length), w->word,
                   (unsigned long long)o->count);
        declared_vertex(&o->declared, o->vertices + 3 * (number - 1));
        count++;
    }
    struct declared *d = &o->declared;
    if (kind == 'p' || count == 1) d->points += count;
    else if (kind == 'l' || count == 2) d->lines += count ? count - 1 : 0;
    else if (count) d->polygons++, d->corners += count;
}

void look_obj(struct import *im)
{
    struct obj *o = claim(im, sizeof(*o));
    uint64_t seen = 0;
    find_vertices(im, o);
    for (struct words w = all_of(im); words_line(&w);) {
        if (!words_next(&w, true)) continue;
        seen += words_is(&w, "v");
        if (words_is(&w, "o")) names_join(im, &w);
        if (words_is(&w, "fo")) cannot(im, "line %llu: \"fo\" is not read; write it as \"f\"", (unsigned long long)w.line);
        if (words_is(&w, "f") || words_is(&w, "l") || words_is(&w, "p")) read_element(im, o, &w, *w.word, seen);
        while (words_next(&w, true)) {}
    }
    if (!o->declared.boxed) { /* vertices alone: a cloud of points */
        for (uint64_t i = 0; i < o->count; i++) declared_vertex(&o->declared, o->vertices + 3 * i);
        o->declared.points = o->count;
    }
    if (!o->count) refuse(im, "it holds no vertices; is it a text in another encoding than ASCII or UTF-8?");
    im->own = o;
}

void check_obj(struct import *im)
{
    struct obj *o = im->own;
    if (strstr(im->log_error, "material"))
        tell_note(&im->tell, "some materials are not known, and what wears them is taken for opaque: %s", im->log_error);
    declared_check(im, &o->declared);
    names_part(im->scene->mRootNode);
}
