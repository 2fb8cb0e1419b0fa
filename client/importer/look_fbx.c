/* FBX: the file is asked what its models show, and how they take over what their parents do; then every model must have come, with every corner. Its
 * unit and axes are known to the library, and not used by it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "fbx_nodes.h"
#include "formats.h"
#include "importer.h"

#define HIGHEST 256u /* parents that a model may have above each other */

struct thing { /* a geometry or a model */
    int64_t id, parent;
    uint64_t corners; /* of a geometry */
    double scale[3];
    int inherits; /* how it takes over its parent's scale, as FBX numbers it */
    bool model, mesh, turned;
    bool geometric; /* its mesh is placed apart from itself */
    char name[64];
};

struct link {
    int64_t child, parent;
};

struct fbx {
    struct import *im;
    struct thing *things;
    struct link *links;
    uint64_t thing_count, thing_room, link_count, link_room;
    bool in_objects, in_connections;
    struct thing *at; /* the one whose nodes are coming */
};

static void *grown(struct fbx *f, void *rows, uint64_t count, uint64_t *room, size_t row)
{
    if (count < *room) return rows;
    *room = *room ? *room * 2 : 256;
    return resize(f->im, rows, *room * row);
}

static bool text_is(const struct fbx_property *p, const char *text)
{
    return p->kind == FBX_TEXT && fbx_is(p->text, p->length, text);
}

static void add_thing(struct fbx *f, const struct fbx_node *node)
{
    bool model = fbx_is(node->name, node->name_length, "Model"), geometry = fbx_is(node->name, node->name_length, "Geometry");
    f->at = NULL;
    if ((!model && !geometry) || text_is(&node->properties[2], "Shape")) return; /* shapes are what a mesh may become */
    f->things = grown(f, f->things, f->thing_count, &f->thing_room, sizeof(*f->things));
    f->at = &f->things[f->thing_count++];
    *f->at = (struct thing){.id = node->properties[0].whole, .model = model, .scale = {1, 1, 1}};
    f->at->mesh = text_is(&node->properties[2], "Mesh");
    const char *name = node->properties[1].text;
    size_t length = node->properties[1].length < sizeof(f->at->name) - 1 ? node->properties[1].length : sizeof(f->at->name) - 1;
    if (name && length > 7 && memcmp(name, "Model::", 7) == 0) name += 7, length -= 7; /* in text files */
    if (name) memcpy(f->at->name, name, length);
}

static void add_property(struct thing *t, const struct fbx_node *node)
{
    const struct fbx_property *p = node->properties;
    if (text_is(&p[0], "InheritType")) t->inherits = (int)p[4].number;
    for (int k = 0; k < 3 && text_is(&p[0], "Lcl Scaling"); k++) t->scale[k] = p[4 + k].number;
    for (int k = 0; k < 3 && (text_is(&p[0], "Lcl Rotation") || text_is(&p[0], "PreRotation")); k++) t->turned |= p[4 + k].number != 0;
    for (int k = 0; k < 3 && (text_is(&p[0], "GeometricTranslation") || text_is(&p[0], "GeometricRotation")); k++) t->geometric |= p[4 + k].number != 0;
    for (int k = 0; k < 3 && text_is(&p[0], "GeometricScaling"); k++) t->geometric |= p[4 + k].number != 1;
}

static void seen(void *context, const struct fbx_node *node)
{
    struct fbx *f = context;
    if (node->depth == 0) {
        f->in_objects = fbx_is(node->name, node->name_length, "Objects");
        f->in_connections = fbx_is(node->name, node->name_length, "Connections");
        f->at = NULL;
    } else if (node->depth == 1 && f->in_objects) {
        add_thing(f, node);
    } else if (node->depth == 1 && f->in_connections && text_is(&node->properties[0], "OO")) {
        f->links = grown(f, f->links, f->link_count, &f->link_room, sizeof(*f->links));
        f->links[f->link_count++] = (struct link){node->properties[1].whole, node->properties[2].whole};
    } else if (f->at && node->depth == 2 && fbx_is(node->name, node->name_length, "PolygonVertexIndex")) {
        f->at->corners = node->properties[0].count;
    } else if (f->at && node->depth == 3 && fbx_is(node->name, node->name_length, "P")) {
        add_property(f->at, node);
    }
}

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct thing *)a)->id, y = ((const struct thing *)b)->id;
    return x < y ? -1 : x > y;
}

static struct thing *thing_of(const struct fbx *f, int64_t id)
{
    struct thing key = {.id = id};
    return f->thing_count ? bsearch(&key, f->things, f->thing_count, sizeof(key), by_id) : NULL;
}

/* What is handed down in a way that the library does not know. */
static void check_parents(struct fbx *f, const struct thing *t)
{
    const struct thing *above = t->model ? thing_of(f, t->parent) : NULL;
    if (above && above->model && above->geometric)
        cannot(f->im, "model \"%.60s\" is below \"%.60s\", which has a geometric transform (of its mesh alone); reset its pivot before exporting", t->name,
               above->name);
    for (uint32_t height = 0; t->inherits != 1 && above && above->model && height < HIGHEST; height++, above = thing_of(f, above->parent)) {
        const double *s = above->scale;
        bool plain = s[0] == 1 && s[1] == 1 && s[2] == 1, even = s[0] == s[1] && s[1] == s[2];
        if (t->inherits == 2 ? !plain : !even && t->turned)
            cannot(f->im, "model \"%.60s\" takes over the scale of \"%.60s\" in a way (InheritType %d) that is not read; apply scales before exporting",
                   t->name, above->name, t->inherits);
    }
}

void look_fbx(struct import *im)
{
    struct fbx *f = im->own = claim(im, sizeof(*f));
    f->im = im;
    if (!fbx_nodes(im->source.bytes, im->source.size, seen, f)) refuse(im, "it is not FBX, or breaks off");
    if (!f->thing_count) refuse(im, "it holds no models of FBX 7 (2011 or later)");
    qsort(f->things, f->thing_count, sizeof(*f->things), by_id);
    for (uint64_t i = 0; i < f->link_count; i++) {
        struct thing *child = thing_of(f, f->links[i].child);
        if (child && child->model && thing_of(f, f->links[i].parent)) child->parent = f->links[i].parent;
    }
    for (uint64_t i = 0; i < f->thing_count; i++) check_parents(f, &f->things[i]);
}

static bool read_axis(struct import *im, const char *name, int *out)
{
    const struct aiMetadata *meta = im->scene->mMetaData;
    for (unsigned i = 0; meta && i < meta->mNumProperties; i++)
        if (strcmp(meta->mKeys[i].data, name) == 0 && meta->mValues[i].mType == AI_INT32) {
            memcpy(out, meta->mValues[i].mData, sizeof(*out));
            return true;
        }
    return false;
}

static double read_centimetres(const struct import *im)
{
    const struct aiMetadata *meta = im->scene->mMetaData;
    for (unsigned i = 0; meta && i < meta->mNumProperties; i++) {
        if (strcmp(meta->mKeys[i].data, "UnitScaleFactor") != 0) continue;
        float f;
        double d;
        memcpy(&f, meta->mValues[i].mData, sizeof(f));
        if (meta->mValues[i].mType == AI_FLOAT) return (double)f;
        if (meta->mValues[i].mType != AI_DOUBLE) break;
        memcpy(&d, meta->mValues[i].mData, sizeof(d));
        return d;
    }
    return 1;
}

/* The axes that point right, up and to the front become X, Y and Z. */
static void place_axes(struct import *im)
{
    static const char *const names[3][2] = {{"CoordAxis", "CoordAxisSign"}, {"UpAxis", "UpAxisSign"}, {"FrontAxis", "FrontAxisSign"}};
    double metres = read_centimetres(im) / 100;
    unsigned used = 0;
    if (!(metres > 0) || !isfinite(metres)) refuse(im, "its unit is %g m", metres);
    memset(im->root, 0, sizeof(im->root));
    for (int k = 0; k < 3; k++) {
        int axis = -1, sign = 0;
        if (!read_axis(im, names[k][0], &axis) || !read_axis(im, names[k][1], &sign) || axis < 0 || axis > 2 || (sign != 1 && sign != -1) ||
            used & 1u << axis)
            refuse(im, "its %s makes no sense", names[k][0]);
        used |= 1u << axis;
        im->root[k * 4 + axis] = metres * sign;
    }
}

void check_fbx(struct import *im)
{
    struct fbx *f = im->own;
    uint64_t declared = 0, corners = 0, read = 0, read_corners = 0;
    for (uint64_t i = 0; i < f->link_count; i++) {
        const struct thing *geometry = thing_of(f, f->links[i].child), *model = thing_of(f, f->links[i].parent);
        if (!geometry || !model || geometry->model || !model->model) continue;
        if (!geometry->mesh) {
            lacks(im, "\"%.60s\" is shown as a curve, a patch or a NURBS, which are not read", model->name);
            continue;
        }
        declared += geometry->corners > 0;
        corners += geometry->corners;
    }
    declared_count_placed(im->scene, &read, &read_corners);
    if (declared != read || corners != read_corners)
        lacks(im, "it declares %llu objects with %llu corners of faces, and %llu with %llu were understood", (unsigned long long)declared,
              (unsigned long long)corners, (unsigned long long)read, (unsigned long long)read_corners);
    place_axes(im);
}
