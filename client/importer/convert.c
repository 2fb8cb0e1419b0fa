/* The library's tree of nodes as groups, meshes and objects.
 *
 * A node that has something below it becomes a group, one that shows meshes an object, named as it is: the library keeps a mesh for each material, and
 * together they are what the file calls one thing. Nodes that show the same meshes share one. As everywhere, only vertices that
 * something draws are kept; points and lines give a box and no triangles; and a polygon of which it is not sure what lies inside it hides nothing. */
#include <assimp/material.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/visctl/model/transform.h"
#include "importer.h"
#include "polygon.h"
#include "proto/limits.h"

#define THIN_MARGIN 1.0f /* pixels: points and lines are drawn about this wide */
#define FINE 1e-3        /* metres: what is rounded off more coarsely is told */
#define LOOKS 4u         /* ways in which a triangle may hide what is behind it: sides known or not, see-through or not */
#define DEEPEST (VISD_MAX_GROUP_DEPTH + 8)

struct shape { /* what became of a list of the library's meshes */
    const unsigned *meshes;
    uint32_t count, mesh; /* mesh: of the stream */
    uint32_t next;        /* another that begins with the same mesh, or VISD_STREAM_NONE */
    double min[3], max[3];
    bool drawn, thin, see_through, moves;
};

struct corners { /* a list that grows */
    uint32_t *at;
    uint64_t count, room;
};

struct walk {
    struct import *im;
    const struct aiScene *scene;
    uint32_t *first; /* of the shapes that begin with each mesh */
    struct shape *shapes;
    uint32_t shape_count, shape_room;
    unsigned char *looks; /* of each material */
    struct polygon_room room;
    uint64_t unsure;
    double largest; /* coordinate */
};

/* ---- materials ---- */

static bool is_see_through(const struct aiMaterial *m)
{
    float value;
    struct aiColor4D colour;
    if (aiGetMaterialFloat(m, AI_MATKEY_OPACITY, &value) == aiReturn_SUCCESS && !(value >= 1)) return true;
    /* Of a colour that is not given: programs disagree on what that is. */
    if (aiGetMaterialFloat(m, AI_MATKEY_TRANSPARENCYFACTOR, &value) == aiReturn_SUCCESS && value > 0 && value < 1) return true;
    if (aiGetMaterialFloat(m, AI_MATKEY_TRANSMISSION_FACTOR, &value) == aiReturn_SUCCESS && value > 0) return true;
    if (aiGetMaterialColor(m, AI_MATKEY_COLOR_DIFFUSE, &colour) == aiReturn_SUCCESS && !(colour.a >= 1)) return true;
    if (aiGetMaterialColor(m, AI_MATKEY_BASE_COLOR, &colour) == aiReturn_SUCCESS && !(colour.a >= 1)) return true;
    return aiGetMaterialTextureCount(m, aiTextureType_OPACITY) > 0;
}

/* Bit 0: see-through; bit 1: both sides are drawn. */
static void look_at_materials(struct walk *w)
{
    w->looks = claim(w->im, w->scene->mNumMaterials + 1);
    for (unsigned i = 0; i < w->scene->mNumMaterials; i++) {
        int two_sided = 0;
        aiGetMaterialInteger(w->scene->mMaterials[i], AI_MATKEY_TWOSIDED, &two_sided);
        w->looks[i] = (unsigned char)((w->im->see_through || is_see_through(w->scene->mMaterials[i]) ? 1 : 0) | (two_sided ? 2 : 0));
    }
}

/* Some vertex has a colour that lets light through. */
static bool has_clear_vertices(const struct aiMesh *mesh)
{
    for (unsigned v = 0; mesh->mColors[0] && v < mesh->mNumVertices; v++)
        if (!(mesh->mColors[0][v].a >= 1)) return true;
    return false;
}

/* ---- meshes ---- */

static uint32_t *more(struct walk *w, struct corners *list, uint64_t count)
{
    if (list->count + count > list->room) {
        uint64_t room = list->room * 2 > list->count + count ? list->room * 2 : list->count + count;
        list->at = resize(w->im, list->at, room * sizeof(*list->at));
        list->room = room;
    }
    list->count += count;
    return list->at + list->count - count;
}

struct build {
    struct visd_model_mesh mesh;
    uint64_t vertex_room;
    struct corners looks[LOOKS];
};

static uint32_t add_vertex(struct walk *w, struct build *b, const struct aiMesh *from, unsigned vertex)
{
    const struct aiVector3D *p = &from->mVertices[vertex];
    if (!isfinite(p->x) || !isfinite(p->y) || !isfinite(p->z))
        refuse(w->im, "mesh \"%.80s\": the position of vertex %u is not finite", from->mName.data, vertex);
    if (b->mesh.vertices == b->vertex_room) {
        b->vertex_room = b->vertex_room ? b->vertex_room * 2 : 256;
        b->mesh.positions = resize(w->im, b->mesh.positions, b->vertex_room * 3 * sizeof(*b->mesh.positions));
    }
    if (b->mesh.vertices == VISD_MAX_MESH_VERTICES)
        tell_fail(&w->im->tell, VISD_ERR_TOO_BIG, "%s: mesh \"%.80s\" has more than %d vertices; split it", w->im->source.path, from->mName.data,
                  VISD_MAX_MESH_VERTICES);
    float *to = b->mesh.positions + b->mesh.vertices * 3ull;
    to[0] = p->x, to[1] = p->y, to[2] = p->z;
    return b->mesh.vertices++;
}

static void add_polygon(struct walk *w, struct build *b, const struct aiFace *face, uint32_t *corners, uint32_t look)
{
    uint32_t triangles = face->mNumIndices - 2;
    uint32_t *cut = claim(w->im, triangles * 3ull * sizeof(*cut));
    bool sure = polygon_cut(&w->room, b->mesh.positions, corners, face->mNumIndices, cut);
    if (!sure) w->unsure++;
    uint32_t *to = more(w, &b->looks[sure ? look : look | 1], triangles * 3ull);
    for (uint32_t i = 0; i < triangles * 3; i++) to[i] = corners[cut[i]];
    free(cut);
}

static void add_mesh(struct walk *w, struct build *b, const struct aiMesh *from, struct shape *shape)
{
    if (from->mMaterialIndex >= w->scene->mNumMaterials && w->scene->mNumMaterials)
        refuse(w->im, "mesh \"%.80s\" has a material that is none", from->mName.data);
    uint32_t look = w->scene->mNumMaterials ? w->looks[from->mMaterialIndex] : w->im->see_through ? 1 : 0;
    uint32_t *numbers = claim(w->im, from->mNumVertices * sizeof(*numbers));
    struct corners corners = {0};
    memset(numbers, 0xff, from->mNumVertices * sizeof(*numbers));
    if (has_clear_vertices(from)) look |= 1;
    shape->moves |= from->mNumBones > 0 || from->mNumAnimMeshes > 0;
    for (unsigned f = 0; f < from->mNumFaces; f++) {
        const struct aiFace *face = &from->mFaces[f];
        corners.count = 0;
        uint32_t *at = more(w, &corners, face->mNumIndices);
        for (unsigned i = 0; i < face->mNumIndices; i++) {
            unsigned vertex = face->mIndices[i];
            if (vertex >= from->mNumVertices)
                refuse(w->im, "mesh \"%.80s\": face %u names vertex %u of %u", from->mName.data, f, vertex, from->mNumVertices);
            if (numbers[vertex] == UINT32_MAX) numbers[vertex] = add_vertex(w, b, from, vertex);
            at[i] = numbers[vertex];
        }
        if (face->mNumIndices == 3)
            memcpy(more(w, &b->looks[look], 3), at, 3 * sizeof(*at));
        else if (face->mNumIndices > 3)
            add_polygon(w, b, face, at, look);
        else
            shape->thin |= face->mNumIndices > 0;
    }
    /* Vertices alone are a cloud of points. */
    for (unsigned v = 0; v < from->mNumVertices && !from->mNumFaces; v++) add_vertex(w, b, from, v);
    shape->thin |= from->mNumVertices > 0 && !from->mNumFaces;
    free(corners.at);
    free(numbers);
}

/* Tells the mesh, and says in shape what it is. */
static void end_mesh(struct walk *w, struct build *b, struct shape *shape)
{
    struct visd_model_part parts[LOOKS];
    struct corners all = {0};
    b->mesh.parts = parts;
    shape->see_through = true;
    for (uint32_t look = 0; look < LOOKS; look++) {
        const struct corners *from = &b->looks[look];
        if (!from->count) continue;
        if (all.count + from->count > 3ull * VISD_MAX_MESH_TRIANGLES)
            tell_fail(&w->im->tell, VISD_ERR_TOO_BIG, "%s: more than %d triangles in one mesh; split it", w->im->source.path, VISD_MAX_MESH_TRIANGLES);
        parts[b->mesh.part_count++] = (struct visd_model_part){
            (uint32_t)all.count, (uint32_t)from->count, look & 2 ? VISD_MODEL_SIDES_DOUBLE : VISD_MODEL_SIDES_UNKNOWN, look & 1};
        memcpy(more(w, &all, from->count), from->at, from->count * sizeof(*from->at));
        shape->see_through &= (look & 1) == 1;
    }
    b->mesh.indices = all.at;
    b->mesh.index_count = (uint32_t)all.count;
    shape->see_through &= all.count > 0;
    for (uint32_t v = 0; v < b->mesh.vertices; v++)
        for (int k = 0; k < 3; k++) {
            double at = b->mesh.positions[v * 3ull + (uint32_t)k];
            w->largest = fmax(w->largest, fabs(at));
            shape->min[k] = v ? fmin(shape->min[k], at) : at;
            shape->max[k] = v ? fmax(shape->max[k], at) : at;
        }
    shape->drawn = b->mesh.vertices > 0;
    if (all.count && !shape->moves) {
        shape->mesh = w->im->tell.totals.meshes;
        tell_mesh(&w->im->tell, &b->mesh);
    }
    free(b->mesh.positions);
    free(all.at);
    for (uint32_t look = 0; look < LOOKS; look++) free(b->looks[look].at);
}

static const struct shape *shape_of(struct walk *w, const struct aiNode *node)
{
    for (unsigned i = 0; i < node->mNumMeshes; i++)
        if (node->mMeshes[i] >= w->scene->mNumMeshes) refuse(w->im, "node \"%.80s\" shows a mesh that is none", node->mName.data);
    uint32_t *link = &w->first[node->mMeshes[0]];
    for (uint32_t s = *link; s != VISD_STREAM_NONE; s = w->shapes[s].next)
        if (w->shapes[s].count == node->mNumMeshes && memcmp(w->shapes[s].meshes, node->mMeshes, node->mNumMeshes * sizeof(*node->mMeshes)) == 0)
            return &w->shapes[s];
    if (w->shape_count == w->shape_room) {
        w->shape_room = w->shape_room ? w->shape_room * 2 : 256;
        w->shapes = resize(w->im, w->shapes, w->shape_room * sizeof(*w->shapes));
    }
    struct shape *shape = &w->shapes[w->shape_count];
    *shape = (struct shape){.meshes = node->mMeshes, .count = node->mNumMeshes, .mesh = VISD_STREAM_NONE, .next = *link};
    *link = w->shape_count++;
    struct build b = {0};
    for (unsigned i = 0; i < node->mNumMeshes; i++) add_mesh(w, &b, w->scene->mMeshes[node->mMeshes[i]], shape);
    end_mesh(w, &b, shape);
    return shape;
}

/* ---- nodes ---- */

static bool draws(const struct import *im, const struct aiNode *node, uint32_t depth)
{
    if (node->mNumMeshes) return true;
    for (unsigned i = 0; i < node->mNumChildren && depth < DEEPEST; i++)
        if (draws(im, node->mChildren[i], depth + 1)) return true;
    return false;
}

static bool draws_below(const struct import *im, const struct aiNode *node, uint32_t depth)
{
    for (unsigned i = 0; i < node->mNumChildren; i++)
        if (draws(im, node->mChildren[i], depth)) return true;
    return false;
}

static void transform_of(struct walk *w, const struct aiNode *node, double out[12])
{
    const struct aiMatrix4x4 *m = &node->mTransformation;
    const double rows[12] = {m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4, m->c1, m->c2, m->c3, m->c4};
    memcpy(out, rows, sizeof(rows));
    for (int k = 0; k < 3; k++) w->largest = fmax(w->largest, fabs(out[k * 4 + 3]));
    if (!visd_transform_finite(out)) refuse(w->im, "the place of \"%.80s\" is not finite", node->mName.data);
    if (m->d1 != 0 || m->d2 != 0 || m->d3 != 0 || m->d4 != 1) refuse(w->im, "the last row of the matrix of \"%.80s\" is not 0 0 0 1", node->mName.data);
}

static const char *name_of(const struct walk *w, const struct aiNode *node, char spare[32])
{
    if (node->mName.length) return node->mName.data;
    for (unsigned i = 0; i < node->mNumMeshes; i++)
        if (w->scene->mMeshes[node->mMeshes[i]]->mName.length) return w->scene->mMeshes[node->mMeshes[i]]->mName.data;
    if (!node->mParent || !node->mParent->mParent) return w->im->stem;
    snprintf(spare, 32, "object %u", w->im->tell.totals.objects);
    return spare;
}

static void add_object(struct walk *w, const struct aiNode *node, uint32_t group, const double transform[12])
{
    char spare[32];
    const struct shape *shape = shape_of(w, node);
    if (!shape->drawn) return; /* there is nothing to see of it */
    struct visd_stream_object row = {.mesh = shape->mesh, .group = group};
    memcpy(row.transform, transform, sizeof(row.transform));
    memcpy(row.min, shape->min, sizeof(row.min));
    memcpy(row.max, shape->max, sizeof(row.max));
    if (shape->see_through) row.flags |= VISD_MODEL_SEE_THROUGH;
    if (shape->thin) row.margin = THIN_MARGIN;
    if (w->im->unsure && w->im->unsure(w->im, node)) {
        row.flags |= VISD_MODEL_UNBOUNDED;
        row.mesh = VISD_STREAM_NONE;
    }
    if (shape->moves) {
        row.flags |= VISD_MODEL_UNBOUNDED;
        tell_note(&w->im->tell, "objects of skinned or morphing meshes are always listed and hide nothing: their pose is not known");
    }
    tell_object(&w->im->tell, &row, name_of(w, node, spare));
}

/* above: the transform that the node's own comes after; identity below a group. */
static void visit(struct walk *w, const struct aiNode *node, uint32_t group, const double above[12], uint32_t depth)
{
    double local[12], identity[12];
    char spare[32];
    if (depth >= DEEPEST)
        tell_fail(&w->im->tell, VISD_ERR_TOO_BIG, "%s: nodes are nested more than %d deep; flatten the tree", w->im->source.path, VISD_MAX_GROUP_DEPTH);
    transform_of(w, node, local);
    visd_transform_compose(local, above, local);
    visd_transform_identity(identity);
    /* The root stands for the file, and is no thing in it. */
    if (draws_below(w->im, node, depth + 1) && (node->mParent || node->mNumMeshes)) {
        struct visd_stream_group row = {.parent = group};
        memcpy(row.transform, local, sizeof(local));
        group = tell_group(&w->im->tell, &row, name_of(w, node, spare));
        memcpy(local, identity, sizeof(local));
    }
    if (node->mNumMeshes) add_object(w, node, group, local);
    for (unsigned i = 0; i < node->mNumChildren; i++)
        if (draws(w->im, node->mChildren[i], depth + 1)) visit(w, node->mChildren[i], group, local, depth + 1);
}

void convert(struct import *im)
{
    struct walk w = {.im = im, .scene = im->scene};
    w.first = claim(im, (im->scene->mNumMeshes + 1ull) * sizeof(*w.first));
    memset(w.first, 0xff, (im->scene->mNumMeshes + 1ull) * sizeof(*w.first));
    look_at_materials(&w);
    visit(&w, im->scene->mRootNode, VISD_STREAM_NONE, im->root, 0);
    if (!im->tell.totals.objects) refuse(im, "there is nothing to see in it");
    if (w.unsure)
        tell_note(&im->tell, "%llu polygons cross themselves or are not flat: what lies inside them is not sure, and they hide nothing",
                  (unsigned long long)w.unsure);
    /* The library keeps floats, and a file's doubles may be finer. */
    double step = w.largest * ldexp(1, -24) * cbrt(fabs(visd_transform_determinant(im->root)));
    if (step > FINE)
        tell_note(&im->tell, "coordinates of up to %g were kept to %.2g m only; move the model nearer to its origin before exporting", w.largest, step);
    if (im->scene->mNumAnimations) tell_note(&im->tell, "animated nodes are loaded where they rest");
}
