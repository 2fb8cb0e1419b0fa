/* 3MF: objects, what they are put together from and what is built of them are counted in the model part itself. The library knows neither its
 * unit nor the names of its objects, and passes over parts in other files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "declared.h"
#include "formats.h"
#include "importer.h"
#include "xml_tags.h"
#include "zip_part.h"

#define MOST_BYTES (4ull << 30)
#define DEEPEST 64u

struct thing { /* an object of the resources */
    uint64_t id, triangles, first, components; /* components: first and how many, of uses */
    char name[128];
};

struct three { /* the model part */
    struct import *im;
    struct zip_part part;
    uint32_t models;
    double metres;
    struct thing *things;
    uint64_t *uses; /* ids of the objects that components show, in order */
    uint64_t thing_count, use_count, objects, corners;
};

static void seen(void *context, const struct zip_part *part)
{
    struct three *t = context;
    if (part->name_length < 6 || memcmp(part->name + part->name_length - 6, ".model", 6) != 0) return;
    t->models++;
    t->part = *part;
}

static void read_unit(struct three *t, const struct xml_tags *x)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 1e-2}, {"inch", 0.0254}, {"foot", 0.3048}, {"meter", 1}};
    const char *text;
    size_t length;
    t->metres = 1e-3;
    if (!xml_attribute(x, "unit", &text, &length)) return;
    t->metres = 0;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, text, length) == 0) t->metres = units[i].metres;
    if (t->metres == 0) refuse(t->im, "its unit \"%.*s\" is none that 3MF has", (int)(length > 40 ? 40 : length), text);
}

static const struct thing *thing_of(const struct three *t, uint64_t id)
{
    for (uint64_t i = 0; i < t->thing_count; i++)
        if (t->things[i].id == id) return &t->things[i];
    return NULL;
}

/* Adds what an object shows. */
static void add_shown(struct three *t, uint64_t id, uint32_t depth)
{
    const struct thing *thing = thing_of(t, id);
    if (!thing) refuse(t->im, "object %llu is not there", (unsigned long long)id);
    if (depth == DEEPEST) refuse(t->im, "objects are put together more than %u deep", DEEPEST);
    t->objects += thing->triangles > 0;
    t->corners += thing->triangles * 3;
    if (t->objects > 16u << 20) refuse(t->im, "it shows more than 16 million objects");
    for (uint64_t i = 0; i < thing->components; i++) add_shown(t, t->uses[thing->first + i], depth + 1);
}

static void check_tag(struct three *t, const struct xml_tags *x)
{
    const char *text;
    size_t length;
    if (xml_is(x, "model") && xml_attribute(x, "requiredextensions", &text, &length))
        for (size_t i = 0; i < length; i++) {
            size_t n = 0;
            while (i + n < length && text[i + n] != ' ') n++;
            if (n && !(n == 1 && (text[i] == 'm' || text[i] == 'p')))
                lacks(t->im, "it needs the extension \"%.*s\", which is not read", (int)(n > 40 ? 40 : n), text + i);
            i += n;
        }
    if (xml_is(x, "beamlattice")) lacks(t->im, "beam lattices are not read");
    if ((xml_is(x, "item") || xml_is(x, "component")) && xml_attribute(x, "path", &text, &length))
        lacks(t->im, "it shows objects of \"%.*s\", another part of the archive, which is not read", (int)(length > 80 ? 80 : length), text);
    if ((xml_attribute(x, "displaycolor", &text, &length) || (xml_is(x, "color") && xml_attribute(x, "color", &text, &length))) && length == 9 &&
        strncasecmp(text + 7, "FF", 2) != 0)
        t->im->see_through = true;
}

static void read_object(struct three *t, const struct xml_tags *x)
{
    const char *name;
    size_t length;
    struct thing *thing = &t->things[t->thing_count++];
    thing->first = t->use_count;
    if (!xml_number(x, "id", &thing->id)) refuse(t->im, "an object has no id");
    if (xml_attribute(x, "name", &name, &length)) xml_text(name, length, thing->name, sizeof(thing->name));
}

static void read_model(struct three *t, const char *xml)
{
    const struct xml_tags begin = {.at = xml, .end = xml + t->part.size};
    uint64_t objects = 0, components = 0, id;
    for (struct xml_tags x = begin; xml_next(&x);) {
        objects += !x.closes && xml_is(&x, "object");
        components += !x.closes && xml_is(&x, "component");
        if (!x.closes && xml_is(&x, "model")) read_unit(t, &x);
        if (!x.closes) check_tag(t, &x);
    }
    t->things = claim(t->im, objects * sizeof(*t->things));
    t->uses = claim(t->im, components * sizeof(*t->uses));
    for (struct xml_tags x = begin; xml_next(&x);) {
        if (x.closes) continue;
        if (xml_is(&x, "object")) read_object(t, &x);
        if (t->thing_count && xml_is(&x, "triangle")) t->things[t->thing_count - 1].triangles++;
        if (t->thing_count && xml_is(&x, "component") && xml_number(&x, "objectid", &id)) {
            t->uses[t->use_count++] = id;
            t->things[t->thing_count - 1].components++;
        }
    }
    for (struct xml_tags x = begin; xml_next(&x);)
        if (!x.closes && xml_is(&x, "item")) {
            if (!xml_number(&x, "objectid", &id)) refuse(t->im, "an item has no object");
            add_shown(t, id, 0);
        }
}

void look_3mf(struct import *im)
{
    struct three *t = im->own = claim(im, sizeof(*t));
    t->im = im;
    if (!zip_parts(im->source.bytes, im->source.size, seen, t)) refuse(im, "it is no zip archive, or breaks off");
    if (!t->models) refuse(im, "there is no model in the archive");
    if (t->models > 1) lacks(im, "its %u models refer to each other, which is not read", t->models);
    char *xml = zip_unpack(im->source.bytes, im->source.size, &t->part, MOST_BYTES);
    if (!xml) refuse(im, "its model cannot be unpacked");
    if (t->models == 1) read_model(t, xml);
    free(xml);
}

/* "Object_7" as the object is called. */
static void name_nodes(const struct three *t, struct aiNode *node)
{
    unsigned long long id;
    const struct thing *thing = sscanf(node->mName.data, "Object_%llu", &id) == 1 ? thing_of(t, id) : NULL;
    if (thing && thing->name[0]) node->mName.length = (ai_uint32)snprintf(node->mName.data, sizeof(node->mName.data), "%s", thing->name);
    for (unsigned i = 0; i < node->mNumChildren; i++) name_nodes(t, node->mChildren[i]);
}

void check_3mf(struct import *im)
{
    struct three *t = im->own;
    uint64_t objects = 0, corners = 0;
    declared_count_placed(im->scene, &objects, &corners);
    if (t->models == 1 && (t->objects != objects || t->corners != corners))
        lacks(im, "it shows %llu objects with %llu triangles, and %llu with %llu were understood", (unsigned long long)t->objects,
              (unsigned long long)t->corners / 3, (unsigned long long)objects, (unsigned long long)corners / 3);
    name_nodes(t, im->scene->mRootNode);
    place(im, t->metres, 'z');
}
