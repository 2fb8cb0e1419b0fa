/* IFC: the library fills holes, loses faces and drops parts of a shape, and seldom says so. What it is known to read rightly is a short list; a product
 * whose shape is made of anything else, or from which openings are cut, is unsure: it is listed always and hides nothing. And every product that has a
 * shape must have come.
 *
 * Held against another reader's work on a real building: all boxes agree, and of the sure products all areas. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats.h"
#include "importer.h"

#define DEEPEST 256u /* entities that refer to each other */
#define GUID_BYTES 22u

enum state { UNKNOWN, ASKED, SURE, UNSURE };

struct entity {
    uint64_t id;
    const char *type, *arguments; /* up to the closing bracket */
    uint32_t type_length, state;
    size_t argument_length;
};

struct product {
    char guid[GUID_BYTES + 1];
    uint64_t id;
    bool unsure, came;
};

struct ifc {
    struct entity *entities;
    struct product *products; /* that have a shape to be seen */
    uint64_t entity_count, entity_room, product_count;
    double metres; /* that the library's unit is: it knows SI's, and takes all others for a metre */
};

/* Entities that make up what is read rightly, and those that say nothing of a shape. */
static const char *const sure[] = {
    "IFCPRODUCTDEFINITIONSHAPE", "IFCSHAPEREPRESENTATION", "IFCEXTRUDEDAREASOLID", "IFCRECTANGLEPROFILEDEF", "IFCARBITRARYCLOSEDPROFILEDEF",
    "IFCPOLYLINE", "IFCFACETEDBREP", "IFCCLOSEDSHELL", "IFCOPENSHELL", "IFCCONNECTEDFACESET", "IFCFACEBASEDSURFACEMODEL",
    "IFCSHELLBASEDSURFACEMODEL", "IFCFACE", "IFCFACEOUTERBOUND", "IFCPOLYLOOP", "IFCMAPPEDITEM", "IFCREPRESENTATIONMAP",
    "IFCCARTESIANTRANSFORMATIONOPERATOR3D", "IFCAXIS2PLACEMENT2D", "IFCAXIS2PLACEMENT3D", "IFCCARTESIANPOINT", "IFCDIRECTION",
    "IFCGEOMETRICREPRESENTATIONCONTEXT", "IFCGEOMETRICREPRESENTATIONSUBCONTEXT",
};
/* Representations that are no body, and products that nobody draws. */
static const char *const plans[] = {"'Axis'", "'FootPrint'", "'Plan'", "'Annotation'", "'Box'", "'Reference'", "'Clearance'", "'Profile'", "'CoG'"};
static const char *const undrawn[] = {"IFCSPACE", "IFCOPENINGELEMENT", "IFCVIRTUALELEMENT", "IFCANNOTATION", "IFCGRID"};

static bool is_one_of(const char *text, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == length && memcmp(list[i], text, length) == 0) return true;
    return false;
}
#define IS_ONE_OF(text, length, list) is_one_of(text, length, list, sizeof(list) / sizeof(*(list)))

static bool is_type(const struct entity *e, const char *type)
{
    return e->type_length == strlen(type) && memcmp(e->type, type, e->type_length) == 0;
}

/* Past a text in quotes that begins at at. */
static const char *pass_text(const char *at, const char *end)
{
    for (at++; at < end; at++)
        if (*at == '\'') {
            if (at + 1 == end || at[1] != '\'') return at + 1;
            at++;
        }
    return end;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct entity *)a)->id, y = ((const struct entity *)b)->id;
    return x < y ? -1 : x > y;
}

static struct entity *entity_of(const struct ifc *f, uint64_t id)
{
    struct entity key = {.id = id};
    return f->entity_count ? bsearch(&key, f->entities, f->entity_count, sizeof(key), by_id) : NULL;
}

/* The next #number from *at on, outside of texts; 0: there is none. */
static uint64_t next_reference(const char **at, const char *end)
{
    while (*at < end && *(*at) != '#') *at = *(*at) == '\'' ? pass_text(*at, end) : *at + 1;
    if (*at >= end) return 0;
    char *after;
    uint64_t id = strtoull(*at + 1, &after, 10);
    *at = after > *at + 1 ? after : *at + 1;
    return id;
}

/* The argument of a number, from 0. */
static bool argument(const struct entity *e, uint32_t number, const char **out, size_t *length)
{
    const char *at = e->arguments, *end = at + e->argument_length;
    uint32_t depth = 0;
    *out = at;
    for (; at < end; at++) {
        if (*at == '\'') at = pass_text(at, end) - 1;
        else if (*at == '(') depth++;
        else if (*at == ')' && depth-- == 0) break; /* of the entity itself */
        else if (*at == ',' && depth == 0) {
            if (number-- == 0) break;
            *out = at + 1;
        }
    }
    *length = (size_t)(at - *out);
    return number == 0 || number == UINT32_MAX;
}

static void read_entities(struct import *im, struct ifc *f)
{
    const char *at = (const char *)im->source.bytes, *end = at + im->source.size;
    while (at < end) {
        if (*at == '\'') {
            at = pass_text(at, end);
        } else if (*at == '/' && at[1] == '*') {
            const char *close = memmem(at, (size_t)(end - at), "*/", 2);
            at = close ? close + 2 : end;
        } else if (*at == '#') {
            char *after;
            struct entity e = {.id = strtoull(at + 1, &after, 10)};
            while (after < end && (*after == ' ' || *after == '=' || *after == '\n' || *after == '\r' || *after == '\t')) after++;
            e.type = after;
            while (after < end && ((*after >= 'A' && *after <= 'Z') || (*after >= '0' && *after <= '9'))) after++;
            e.type_length = (uint32_t)(after - e.type);
            while (after < end && (*after == ' ' || *after == '\n' || *after == '\r')) after++;
            if (after == end || *after != '(' || !e.type_length) refuse(im, "entity #%llu makes no sense", (unsigned long long)e.id);
            e.arguments = after + 1;
            for (at = after; at < end && *at != ';';) at = *at == '\'' ? pass_text(at, end) : at + 1;
            if (at == end) refuse(im, "it breaks off in entity #%llu", (unsigned long long)e.id);
            e.argument_length = (size_t)(at - e.arguments);
            if (f->entity_count == f->entity_room) {
                f->entity_room = f->entity_room ? f->entity_room * 2 : 4096;
                f->entities = resize(im, f->entities, f->entity_room * sizeof(*f->entities));
            }
            f->entities[f->entity_count++] = e;
        } else {
            at++;
        }
    }
    if (f->entity_count) qsort(f->entities, f->entity_count, sizeof(*f->entities), by_id);
}

static bool is_plan(const struct entity *e)
{
    const char *text;
    size_t length;
    return is_type(e, "IFCSHAPEREPRESENTATION") && argument(e, 1, &text, &length) && IS_ONE_OF(text, length, plans);
}

/* All that it is made of is on the list. */
static bool is_sure(const struct ifc *f, struct entity *e, uint32_t depth)
{
    if (e->state != UNKNOWN) return e->state == SURE;
    e->state = ASKED; /* what refers to itself is unsure */
    bool good = depth < DEEPEST && IS_ONE_OF(e->type, e->type_length, sure);
    const char *at = e->arguments, *end = at + e->argument_length;
    for (uint64_t id; good && (id = next_reference(&at, end)) != 0;) {
        struct entity *part = entity_of(f, id);
        good = part && (is_plan(part) || is_sure(f, part, depth + 1));
    }
    e->state = good ? SURE : UNSURE;
    return good;
}

/* The product's shape has a body, not a plan only. */
static bool has_body(const struct ifc *f, const struct entity *shape)
{
    const char *at = shape->arguments, *end = at + shape->argument_length;
    for (uint64_t id; (id = next_reference(&at, end)) != 0;) {
        const struct entity *part = entity_of(f, id);
        if (part && is_type(part, "IFCSHAPEREPRESENTATION") && !is_plan(part)) return true;
    }
    return false;
}

static void read_products(struct import *im, struct ifc *f)
{
    f->products = claim(im, f->entity_count * sizeof(*f->products));
    for (uint64_t i = 0; i < f->entity_count; i++) {
        const struct entity *e = &f->entities[i];
        const char *guid, *text;
        size_t guid_length, length;
        if (IS_ONE_OF(e->type, e->type_length, undrawn) || !argument(e, 0, &guid, &guid_length) || guid_length != GUID_BYTES + 2 || *guid != '\'') continue;
        if (!argument(e, 6, &text, &length) || !length || *text != '#') continue;
        struct entity *shape = entity_of(f, strtoull(text + 1, NULL, 10));
        if (!shape || !is_type(shape, "IFCPRODUCTDEFINITIONSHAPE") || !has_body(f, shape)) continue;
        struct product *p = &f->products[f->product_count++];
        memcpy(p->guid, guid + 1, GUID_BYTES);
        p->id = e->id;
        p->unsure = !is_sure(f, shape, 0);
    }
    for (uint64_t i = 0; i < f->entity_count; i++) { /* ids rise in both */
        const char *text;
        size_t length;
        if (!is_type(&f->entities[i], "IFCRELVOIDSELEMENT") || !argument(&f->entities[i], 4, &text, &length) || !length || *text != '#') continue;
        uint64_t id = strtoull(text + 1, NULL, 10), low = 0, high = f->product_count;
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (f->products[middle].id < id) low = middle + 1;
            else high = middle;
        }
        if (low < f->product_count && f->products[low].id == id) f->products[low].unsure = true;
    }
}

/* ---- the unit ---- */

static bool is_argument(const struct entity *e, uint32_t number, const char *text)
{
    const char *at;
    size_t length;
    return argument(e, number, &at, &length) && length == strlen(text) && memcmp(at, text, length) == 0;
}

/* Metres of a length in SI; 0: it is none. */
static double si_metres(const struct entity *e)
{
    static const struct {
        const char *prefix;
        double metres;
    } prefixes[] = {{"$", 1}, {".MICRO.", 1e-6}, {".MILLI.", 1e-3}, {".CENTI.", 1e-2}, {".DECI.", 1e-1}, {".KILO.", 1e3}};
    if (!e || !is_type(e, "IFCSIUNIT") || !is_argument(e, 1, ".LENGTHUNIT.") || !is_argument(e, 3, ".METRE.")) return 0;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (is_argument(e, 2, prefixes[i].prefix)) return prefixes[i].metres;
    return 0;
}

/* The entity that an argument refers to. */
static struct entity *referred(const struct ifc *f, const struct entity *e, uint32_t number)
{
    const char *at;
    size_t length;
    return e && argument(e, number, &at, &length) && length > 1 && *at == '#' ? entity_of(f, strtoull(at + 1, NULL, 10)) : NULL;
}

/* Feet and inches: so many of another unit. */
static double converted_metres(const struct ifc *f, const struct entity *e)
{
    const struct entity *measure = referred(f, e, 3);
    const char *at, *open;
    size_t length;
    if (!measure || !is_type(measure, "IFCMEASUREWITHUNIT") || !argument(measure, 0, &at, &length)) return 0;
    open = memchr(at, '(', length);
    return open ? strtod(open + 1, NULL) * si_metres(referred(f, measure, 1)) : 0;
}

static void read_unit(struct import *im, struct ifc *f)
{
    const struct entity *units = NULL;
    for (uint64_t i = 0; i < f->entity_count && !units; i++)
        if (is_type(&f->entities[i], "IFCPROJECT")) units = referred(f, &f->entities[i], 8);
    const char *at = units ? units->arguments : NULL, *end = units ? at + units->argument_length : NULL;
    for (uint64_t id; units && (id = next_reference(&at, end)) != 0 && f->metres == 0;) {
        const struct entity *unit = entity_of(f, id);
        if (!unit || !is_argument(unit, 1, ".LENGTHUNIT.")) continue;
        bool si = is_type(unit, "IFCSIUNIT");
        double metres = si ? si_metres(unit) : is_type(unit, "IFCCONVERSIONBASEDUNIT") ? converted_metres(f, unit) : 0;
        if (!(metres > 0) || metres > 1e9) refuse(im, "its unit of length, #%llu, makes no sense", (unsigned long long)id);
        f->metres = si ? 1 : metres;
    }
    if (f->metres == 0) refuse(im, "its project has no unit of length");
}

static int by_guid(const void *a, const void *b)
{
    return strcmp(((const struct product *)a)->guid, ((const struct product *)b)->guid);
}

/* The product that a node, or the nearest one above, stands for: their names end with its guid. */
static struct product *product_of(const struct ifc *f, const struct aiNode *node)
{
    for (; node; node = node->mParent) {
        struct product key = {.id = 0}, *found;
        if (node->mName.length <= GUID_BYTES) continue;
        memcpy(key.guid, node->mName.data + node->mName.length - GUID_BYTES, GUID_BYTES);
        found = f->product_count ? bsearch(&key, f->products, f->product_count, sizeof(key), by_guid) : NULL;
        if (found) return found;
    }
    return NULL;
}

static bool is_unsure(const struct import *im, const struct aiNode *node)
{
    const struct product *p = product_of(im->own, node);
    return !p || p->unsure;
}

void look_ifc(struct import *im)
{
    struct ifc *f = im->own = claim(im, sizeof(*f));
    static const char schema[] = "FILE_SCHEMA";
    const char *head = memmem(im->source.bytes, im->source.size < 65536 ? im->source.size : 65536, schema, sizeof(schema) - 1);
    const char *text = head ? strchr(head, '\'') : NULL;
    size_t length = text ? strcspn(text + 1, "'") : 0;
    if (!text) refuse(im, "it says no FILE_SCHEMA: it is not IFC");
    if (length != 6 || strncasecmp(text + 1, "IFC2X3", 6) != 0)
        cannot(im, "its schema is %.*s, and only IFC2X3 is read; export it as that, or as glTF", (int)(length > 40 ? 40 : length), text + 1);
    read_entities(im, f);
    read_unit(im, f);
    read_products(im, f);
    if (!f->product_count) refuse(im, "it holds no products with a shape");
    qsort(f->products, f->product_count, sizeof(*f->products), by_guid);
}

static void see(struct ifc *f, const struct aiNode *node)
{
    struct product *p = node->mNumMeshes ? product_of(f, node) : NULL;
    if (p) p->came = true;
    for (unsigned i = 0; i < node->mNumChildren; i++) see(f, node->mChildren[i]);
}

void check_ifc(struct import *im)
{
    struct ifc *f = im->own;
    const struct product *missing = NULL;
    uint64_t count = 0, unsure = 0;
    see(f, im->scene->mRootNode);
    for (uint64_t i = 0; i < f->product_count; i++) {
        if (!f->products[i].came && !count++) missing = &f->products[i];
        unsure += f->products[i].came && f->products[i].unsure;
    }
    if (missing)
        lacks(im, "%llu of its %llu products have a shape that is not read, #%llu (%s) first", (unsigned long long)count,
              (unsigned long long)f->product_count, (unsigned long long)missing->id, missing->guid);
    if (unsure)
        tell_note(&im->tell, "%llu of %llu products have openings, or shapes that are not surely read: they are always listed and hide nothing",
                  (unsigned long long)unsure, (unsigned long long)f->product_count);
    im->unsure = is_unsure;
    place(im, f->metres, 'y'); /* the library has turned it already */
}
