/* The node tree: one depth-first walk gives groups, objects and their ids.
 *
 * First the tree is proven to be one (every node has one parent at most, none is its own ancestor), then the chosen scene
 * is walked with a stack of our own, so depth costs no recursion. A node becomes a group if something below it is
 * drawn; a node with a mesh becomes an object, once an instance. Objects of skinned and morphing
 * meshes have no shape that the file alone decides: they are listed always and hide nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/path.h"
#include "../model/transform.h"
#include "gltf_document.h"
#include "proto/limits.h"

#define THIN_MARGIN 1.0f /* pixels: points and lines are drawn about this wide */

struct node {
    uint32_t parent, mesh, skin;
    uint32_t group;  /* of the model, once walked; VISD_MODEL_NONE: no group of its own */
    uint32_t depth;  /* groups above, itself included */
    bool draws;      /* it or something below carries a mesh */
    bool draws_below;
};

struct walk {
    struct gltf_document *d;
    struct node *nodes;
    uint32_t *order, ordered; /* the scene's nodes, parents before children */
    struct gltf_mesh *meshes;
    uint64_t charged;
};

static const json_t *children_of(const struct gltf_document *d, uint32_t node)
{
    return json_object_get(gltf_at(d, GLTF_NODES, node), "children");
}

/* ---- the tree ---- */

static enum visd_err read_links(struct walk *w)
{
    struct gltf_document *d = w->d;
    for (uint32_t i = 0; i < d->count[GLTF_NODES]; i++)
        w->nodes[i] = (struct node){.parent = VISD_MODEL_NONE, .mesh = VISD_MODEL_NONE, .skin = VISD_MODEL_NONE, .group = VISD_MODEL_NONE};
    for (uint32_t i = 0; i < d->count[GLTF_NODES]; i++) {
        const json_t *object = gltf_at(d, GLTF_NODES, i), *children;
        struct gltf_place place = gltf_place("nodes[%u]", i);
        enum visd_err err = gltf_get_index(d, place.text, object, "mesh", GLTF_MESHES, &w->nodes[i].mesh);
        if (err == VISD_ERR_OK) err = gltf_get_index(d, place.text, object, "skin", GLTF_SKINS, &w->nodes[i].skin);
        if (err == VISD_ERR_OK) err = gltf_get_array(d, place.text, object, "children", &children);
        if (err != VISD_ERR_OK) return err;
        for (size_t c = 0; c < json_array_size(children); c++) {
            const json_t *child = json_array_get(children, c);
            if (!json_is_integer(child) || json_integer_value(child) < 0 || json_integer_value(child) >= d->count[GLTF_NODES])
                return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "children[%zu] is not one of the file's %u nodes", c, d->count[GLTF_NODES]);
            struct node *below = &w->nodes[json_integer_value(child)];
            if (below->parent != VISD_MODEL_NONE)
                return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "children[%zu]: nodes[%u] has a parent already, nodes[%u]", c,
                                   (unsigned)json_integer_value(child), below->parent);
            below->parent = i;
        }
    }
    return VISD_ERR_OK;
}

/* With one parent at most for each node, a cycle is a chain of parents that never ends. depth counts as the mark here:
 * 0 not seen, else the number of the chain that saw it. */
static enum visd_err check_cycles(struct walk *w)
{
    enum visd_err err = VISD_ERR_OK;
    for (uint32_t i = 0; i < w->d->count[GLTF_NODES] && err == VISD_ERR_OK; i++) {
        uint32_t at = i;
        while (at != VISD_MODEL_NONE && w->nodes[at].depth == 0) {
            w->nodes[at].depth = i + 1;
            at = w->nodes[at].parent;
        }
        if (at != VISD_MODEL_NONE && w->nodes[at].depth == i + 1)
            err = gltf_refuse(w->d, VISD_ERR_BAD_VALUE, gltf_place("nodes[%u]", at).text, "is its own ancestor");
    }
    for (uint32_t i = 0; i < w->d->count[GLTF_NODES]; i++) w->nodes[i].depth = 0;
    return err;
}

static enum visd_err choose_scene(struct gltf_document *d, const char *wanted, uint32_t *out)
{
    uint32_t number = 0;
    enum visd_err err = gltf_get_index(d, "", d->root, "scene", GLTF_SCENES, &number);
    if (err != VISD_ERR_OK) return err;
    if (wanted) {
        char *end;
        unsigned long long value = strtoull(wanted, &end, 10);
        number = *wanted >= '0' && *wanted <= '9' && !*end && value < d->count[GLTF_SCENES] ? (uint32_t)value : VISD_MODEL_NONE;
        for (uint32_t i = 0; number == VISD_MODEL_NONE && i < d->count[GLTF_SCENES]; i++) {
            const char *name = json_string_value(json_object_get(gltf_at(d, GLTF_SCENES, i), "name"));
            if (name && strcmp(name, wanted) == 0) number = i;
        }
        if (number == VISD_MODEL_NONE)
            return gltf_refuse(d, VISD_ERR_NOT_FOUND, "scenes", "none is \"%.80s\"; there are %u, numbered from 0", wanted, d->count[GLTF_SCENES]);
    }
    if (d->count[GLTF_SCENES] == 0) return gltf_refuse(d, VISD_ERR_BAD_VALUE, "scenes", "the file has none: nothing says what is shown");
    *out = number;
    return VISD_ERR_OK;
}

static enum visd_err order_nodes(struct walk *w, uint32_t scene)
{
    struct gltf_document *d = w->d;
    struct gltf_place place = gltf_place("scenes[%u]", scene);
    const json_t *roots;
    uint32_t *stack = NULL, height = 0;
    enum visd_err err = gltf_get_array(d, place.text, gltf_at(d, GLTF_SCENES, scene), "nodes", &roots);
    if (err != VISD_ERR_OK) return err;
    stack = malloc((d->count[GLTF_NODES] + 1) * sizeof(*stack));
    if (!stack) return visd_why_memory(d->why, "nodes");
    for (size_t r = json_array_size(roots); r-- > 0 && err == VISD_ERR_OK;) {
        const json_t *root = json_array_get(roots, r);
        if (!json_is_integer(root) || json_integer_value(root) < 0 || json_integer_value(root) >= d->count[GLTF_NODES]) {
            err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "nodes[%zu] is not one of the file's %u nodes", r, d->count[GLTF_NODES]);
            break;
        }
        uint32_t node = (uint32_t)json_integer_value(root);
        if (w->nodes[node].parent != VISD_MODEL_NONE)
            err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "nodes[%zu]: nodes[%u] is no root, its parent is nodes[%u]", r, node,
                              w->nodes[node].parent);
        else if (w->nodes[node].depth)
            err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "nodes[%zu]: nodes[%u] is named twice", r, node);
        else
            stack[height++] = node;
        w->nodes[node].depth = 1;
    }
    while (height && err == VISD_ERR_OK) {
        uint32_t node = stack[--height];
        w->order[w->ordered++] = node;
        const json_t *children = children_of(d, node);
        for (size_t c = json_array_size(children); c-- > 0;) stack[height++] = (uint32_t)json_integer_value(json_array_get(children, c));
    }
    free(stack);
    for (uint32_t i = w->ordered; i-- > 0 && err == VISD_ERR_OK;) {
        struct node *node = &w->nodes[w->order[i]];
        node->draws = node->draws_below || node->mesh != VISD_MODEL_NONE;
        if (node->draws && node->parent != VISD_MODEL_NONE) w->nodes[node->parent].draws_below = true;
    }
    return err;
}

/* ---- one node ---- */

static enum visd_err local_transform(struct gltf_document *d, const char *place, const json_t *object, double out[12])
{
    double matrix[16], t[3] = {0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    bool has_matrix, has_t = false, has_r = false, has_s = false;
    enum visd_err err = gltf_get_numbers(d, place, object, "matrix", 16, matrix, &has_matrix);
    if (err == VISD_ERR_OK) err = gltf_get_numbers(d, place, object, "translation", 3, t, &has_t);
    if (err == VISD_ERR_OK) err = gltf_get_numbers(d, place, object, "rotation", 4, r, &has_r);
    if (err == VISD_ERR_OK) err = gltf_get_numbers(d, place, object, "scale", 3, s, &has_s);
    if (err != VISD_ERR_OK) return err;
    if (has_matrix && (has_t || has_r || has_s))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "has both a matrix and translation, rotation or scale");
    if (has_matrix && !visd_transform_from_matrix(out, matrix))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "the last row of its matrix is not 0 0 0 1");
    if (!has_matrix && !visd_transform_from_trs(out, t, r, s)) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "its rotation has no direction");
    return VISD_ERR_OK;
}

static void path_of(const struct gltf_document *d, uint32_t node, const char *above, char out[VISD_MODEL_PATH_BYTES])
{
    const json_t *object = gltf_at(d, GLTF_NODES, node);
    const char *name = json_string_value(json_object_get(object, "name"));
    char spare[32];
    const json_t *mesh = json_object_get(object, "mesh");
    if ((!name || !*name) && mesh) name = json_string_value(json_object_get(gltf_at(d, GLTF_MESHES, (uint32_t)json_number_value(mesh)), "name"));
    if (!name || !*name) {
        snprintf(spare, sizeof(spare), "node %u", node);
        name = spare;
    }
    visd_model_path_join(out, above, name);
}

static enum visd_err add_object(struct walk *w, const char *place, struct visd_model_object *object)
{
    struct gltf_document *d = w->d;
    double world[12], min[3] = {0}, max[3] = {0};
    if (d->model->object_count >= VISD_MAX_OBJECTS)
        return gltf_refuse(d, VISD_ERR_TOO_BIG, place, "more than %d objects in one scene; split it", VISD_MAX_OBJECTS);
    visd_model_group_world(d->model, object->group, world);
    visd_transform_compose(world, world, object->transform);
    visd_transform_grow_box(min, max, world, object->min, object->max);
    if (!visd_transform_finite(world) || !isfinite(max[0] - min[0]) || !isfinite(max[1] - min[1]) || !isfinite(max[2] - min[2]))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "its place in the scene is not finite");
    enum visd_err err = gltf_charge(d, place, sizeof(*object));
    if (err != VISD_ERR_OK) return err;
    object->id = d->model->object_count;
    return visd_model_add_object(d->model, object, d->why);
}

static enum visd_err open_instances(struct gltf_document *d, const char *place, const json_t *attributes, const char *key, uint32_t components,
                                    struct gltf_accessor *a, uint32_t *count)
{
    uint32_t number = VISD_MODEL_NONE;
    enum visd_err err = gltf_get_index(d, place, attributes, key, GLTF_ACCESSORS, &number);
    if (err != VISD_ERR_OK || number == VISD_MODEL_NONE) return err;
    if ((err = gltf_accessor_open(d, a, number)) != VISD_ERR_OK) return err;
    bool is_float = a->component_type == 5126;
    if (a->components != components || !(is_float || (components == 4 && a->normalized)))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "%s (accessors[%u]) must be VEC%u of floats%s", key, number, components,
                           components == 4 ? " or of normalized numbers" : "");
    if (*count && *count != a->count)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "%s has %u instances, another attribute %u", key, a->count, *count);
    *count = a->count;
    return VISD_ERR_OK;
}

static enum visd_err add_instances(struct walk *w, uint32_t number, const json_t *instancing, struct visd_model_object *object)
{
    struct gltf_document *d = w->d;
    struct gltf_place place = gltf_place("nodes[%u].extensions.EXT_mesh_gpu_instancing", number);
    struct gltf_accessor t = {0}, r = {0}, s = {0};
    const json_t *attributes;
    uint32_t count = 0;
    enum visd_err err = gltf_get_object(d, place.text, instancing, "attributes", &attributes);
    if (err == VISD_ERR_OK) err = open_instances(d, place.text, attributes, "TRANSLATION", 3, &t, &count);
    if (err == VISD_ERR_OK) err = open_instances(d, place.text, attributes, "ROTATION", 4, &r, &count);
    if (err == VISD_ERR_OK) err = open_instances(d, place.text, attributes, "SCALE", 3, &s, &count);
    if (err == VISD_ERR_OK && !count) err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "has none of TRANSLATION, ROTATION and SCALE");
    const char *path = object->path;
    double node[12], identity[12];
    memcpy(node, object->transform, sizeof(node));
    visd_transform_identity(identity);
    bool plain = memcmp(node, identity, sizeof(node)) == 0;
    for (uint32_t i = 0; i < count && err == VISD_ERR_OK; i++) {
        struct visd_model_trs trs = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        double tt[3], rr[4], ss[3];
        char name[VISD_MODEL_PATH_BYTES + 16];
        if (t.count) gltf_accessor_floats(&t, i, trs.translation);
        if (r.count) gltf_accessor_floats(&r, i, trs.rotation);
        if (s.count) gltf_accessor_floats(&s, i, trs.scale);
        for (int k = 0; k < 4; k++) rr[k] = trs.rotation[k];
        for (int k = 0; k < 3; k++) tt[k] = trs.translation[k], ss[k] = trs.scale[k];
        if (!visd_transform_from_trs(object->transform, tt, rr, ss) || !visd_transform_finite(object->transform)) {
            err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "instance %u has a number that is not finite, or a rotation without direction", i);
            break;
        }
        if (!plain) visd_transform_compose(object->transform, node, object->transform);
        snprintf(name, sizeof(name), "%s[%u]", path, i);
        object->path = name;
        object->trs = plain ? &trs : NULL;
        err = add_object(w, place.text, object);
    }
    gltf_accessor_close(d, &t);
    gltf_accessor_close(d, &r);
    gltf_accessor_close(d, &s);
    return err;
}

static enum visd_err visit(struct walk *w, uint32_t number)
{
    struct gltf_document *d = w->d;
    struct node *node = &w->nodes[number];
    const json_t *object = gltf_at(d, GLTF_NODES, number), *instancing = NULL;
    struct gltf_place place = gltf_place("nodes[%u]", number);
    const struct node *parent = node->parent == VISD_MODEL_NONE ? NULL : &w->nodes[node->parent];
    uint32_t above = parent ? parent->group : VISD_MODEL_NONE;
    double local[12];
    char path[VISD_MODEL_PATH_BYTES];
    enum visd_err err = local_transform(d, place.text, object, local);
    if (err == VISD_ERR_OK && node->mesh != VISD_MODEL_NONE)
        err = gltf_get_extension(d, place.text, object, "EXT_mesh_gpu_instancing", &instancing);
    if (err != VISD_ERR_OK) return err;
    path_of(d, number, above == VISD_MODEL_NONE ? "" : d->model->groups[above].path, path);

    if (node->draws_below) {
        struct visd_model_group group = {.parent = above, .path = path};
        memcpy(group.transform, local, sizeof(local));
        node->depth = (parent ? parent->depth : 0) + 1;
        if (node->depth > VISD_MAX_GROUP_DEPTH)
            return gltf_refuse(d, VISD_ERR_TOO_BIG, place.text, "is nested more than %d deep; flatten the tree", VISD_MAX_GROUP_DEPTH);
        node->group = above = d->model->group_count;
        if (above >= VISD_MAX_GROUPS) return gltf_refuse(d, VISD_ERR_TOO_BIG, place.text, "more than %d groups in one scene; split it", VISD_MAX_GROUPS);
        if ((err = gltf_charge(d, place.text, sizeof(group) + strlen(path))) != VISD_ERR_OK) return err;
        if ((err = visd_model_add_group(d->model, &group, d->why)) != VISD_ERR_OK) return err;
        visd_transform_identity(local);
    }
    if (node->mesh == VISD_MODEL_NONE) return VISD_ERR_OK;

    struct gltf_mesh *mesh = &w->meshes[node->mesh];
    if (!mesh->read && (err = gltf_mesh_read(d, node->mesh, mesh)) != VISD_ERR_OK) return err;
    struct visd_model_object row = {.mesh = mesh->mesh, .group = above, .path = path};
    memcpy(row.transform, local, sizeof(local));
    memcpy(row.min, mesh->min, sizeof(row.min));
    memcpy(row.max, mesh->max, sizeof(row.max));
    if (mesh->see_through) row.flags |= VISD_MODEL_SEE_THROUGH;
    if (mesh->thin) row.margin = THIN_MARGIN;
    if (mesh->morphs || node->skin != VISD_MODEL_NONE) {
        row.flags |= VISD_MODEL_UNBOUNDED;
        row.mesh = VISD_MODEL_NONE;
        visd_model_warn(d->model, "objects of %s are always listed and hide nothing: their pose is not known",
                        mesh->morphs ? "morphing meshes" : "skinned meshes");
    }
    return instancing ? add_instances(w, number, instancing, &row) : add_object(w, place.text, &row);
}

static enum visd_err warn_of_animations(struct gltf_document *d)
{
    for (uint32_t i = 0; i < d->count[GLTF_ANIMATIONS]; i++) {
        const json_t *channels;
        struct gltf_place place = gltf_place("animations[%u]", i);
        enum visd_err err = gltf_get_array(d, place.text, gltf_at(d, GLTF_ANIMATIONS, i), "channels", &channels);
        if (err != VISD_ERR_OK) return err;
        for (size_t c = 0; c < json_array_size(channels); c++) {
            const char *path = json_string_value(json_object_get(json_object_get(json_array_get(channels, c), "target"), "path"));
            if (path && strcmp(path, "weights") != 0) visd_model_warn(d->model, "animated nodes are loaded where they rest");
        }
    }
    return VISD_ERR_OK;
}

enum visd_err gltf_scene_read(struct gltf_document *d, const char *wanted)
{
    struct walk w = {.d = d};
    uint32_t scene = 0;
    enum visd_err err = gltf_charge(d, "nodes", (d->count[GLTF_NODES] + 1ull) * (sizeof(*w.nodes) + 2 * sizeof(uint32_t)));
    if (err == VISD_ERR_OK) err = choose_scene(d, wanted, &scene);
    if (err != VISD_ERR_OK) return err;
    w.nodes = calloc(d->count[GLTF_NODES] + 1, sizeof(*w.nodes));
    w.order = calloc(d->count[GLTF_NODES] + 1, sizeof(*w.order));
    w.meshes = calloc(d->count[GLTF_MESHES] + 1, sizeof(*w.meshes));
    if (!w.nodes || !w.order || !w.meshes) err = visd_why_memory(d->why, "nodes");
    if (err == VISD_ERR_OK) err = read_links(&w);
    if (err == VISD_ERR_OK) err = check_cycles(&w);
    if (err == VISD_ERR_OK) err = order_nodes(&w, scene);
    for (uint32_t i = 0; i < w.ordered && err == VISD_ERR_OK; i++) w.nodes[w.order[i]].depth = 0;
    for (uint32_t i = 0; i < w.ordered && err == VISD_ERR_OK; i++)
        if (w.nodes[w.order[i]].draws) err = visit(&w, w.order[i]);
    if (err == VISD_ERR_OK) err = warn_of_animations(d);
    free(w.nodes);
    free(w.order);
    free(w.meshes);
    return err;
}
