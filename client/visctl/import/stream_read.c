/* See stream_read.h. One record at a time: its length is held against what its head says before memory is taken. */
#include "stream_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../importer/stream.h"
#include "../model/path.h"
#include "../model/transform.h"
#include "proto/limits.h"

#define MAX_BYTES (8ull << 30) /* of the model that a stream may make */

_Static_assert(VISD_STREAM_NONE == VISD_MODEL_NONE, "none");

struct reader {
    const struct visd_stream_source *source;
    struct visd_model *model;
    const char *name;
    struct visd_why *why;
    struct visd_stream_record record; /* the one being read; its bytes count down */
    uint64_t held, triangles, notes;
    uint32_t *depths, depth_room; /* of the groups */
};

static enum visd_err broken(struct reader *r, const char *what)
{
    return visd_why(r->why, VISD_ERR_BAD_MESSAGE, "%.200s: the importer's answer makes no sense: %s", r->name, what);
}

static enum visd_err too_big(struct reader *r, const char *what, int most)
{
    return visd_why(r->why, VISD_ERR_TOO_BIG, "%.200s: more than %d %s; split it", r->name, most, what);
}

static enum visd_err charge(struct reader *r, uint64_t bytes)
{
    if (bytes > MAX_BYTES - r->held)
        return visd_why(r->why, VISD_ERR_TOO_BIG, "%.200s: would take more than %llu MiB; split it", r->name, MAX_BYTES >> 20);
    r->held += bytes;
    return VISD_ERR_OK;
}

static enum visd_err take_bytes(struct reader *r, void *to, uint64_t size)
{
    if (size > r->record.bytes) return broken(r, "a record is shorter than its content");
    r->record.bytes -= size;
    return r->source->read(r->source->context, to, size) == size ? VISD_ERR_OK : broken(r, "it ends too early");
}

/* The rest of the record, as a text that ends with a zero. */
static enum visd_err take_text(struct reader *r, char *to, size_t most)
{
    size_t size = r->record.bytes;
    if (size > most) return broken(r, "a name or a text is too long");
    enum visd_err err = take_bytes(r, to, size);
    if (err == VISD_ERR_OK && memchr(to, 0, size)) err = broken(r, "a name or a text holds a zero");
    to[err == VISD_ERR_OK ? size : 0] = 0;
    return err;
}

static enum visd_err read_mesh_arrays(struct reader *r, struct visd_model_mesh *mesh)
{
    uint64_t positions = mesh->vertices * 12ull, indices = mesh->index_count * 4ull, parts = mesh->part_count * sizeof(*mesh->parts);
    if (r->record.bytes != positions + indices + parts) return broken(r, "a mesh is not as long as it says");
    enum visd_err err = charge(r, r->record.bytes);
    if (err != VISD_ERR_OK) return err;
    mesh->positions = malloc(positions);
    mesh->indices = malloc(indices);
    mesh->parts = malloc(parts);
    if (!mesh->positions || !mesh->indices || !mesh->parts) return visd_why_memory(r->why, "a mesh");
    if ((err = take_bytes(r, mesh->positions, positions)) != VISD_ERR_OK) return err;
    if ((err = take_bytes(r, mesh->indices, indices)) != VISD_ERR_OK) return err;
    if ((err = take_bytes(r, mesh->parts, parts)) != VISD_ERR_OK) return err;
    if (!visd_model_mesh_check(mesh)) return broken(r, "a mesh names vertices that it has not, or holds numbers that are none");
    visd_model_mesh_box(mesh);
    r->triangles += mesh->index_count / 3;
    return visd_model_take_mesh(r->model, mesh, r->why);
}

static enum visd_err read_mesh(struct reader *r)
{
    struct visd_stream_mesh head;
    enum visd_err err = take_bytes(r, &head, sizeof(head));
    if (err != VISD_ERR_OK) return err;
    if (r->model->mesh_count >= VISD_MAX_MESHES) return too_big(r, "meshes in one scene", VISD_MAX_MESHES);
    if (head.vertices > VISD_MAX_MESH_VERTICES) return too_big(r, "vertices in one mesh", VISD_MAX_MESH_VERTICES);
    if (head.index_count / 3 > VISD_MAX_MESH_TRIANGLES) return too_big(r, "triangles in one mesh", VISD_MAX_MESH_TRIANGLES);
    if (head.part_count > VISD_MAX_MESH_PARTS) return too_big(r, "parts in one mesh", VISD_MAX_MESH_PARTS);
    if (!head.vertices || !head.index_count || head.index_count % 3 || !head.part_count) return broken(r, "a mesh has no triangles");
    struct visd_model_mesh mesh = {.vertices = head.vertices, .index_count = head.index_count, .part_count = head.part_count};
    err = read_mesh_arrays(r, &mesh);
    visd_model_mesh_free(&mesh);
    return err;
}

static enum visd_err path_of(struct reader *r, uint32_t above, char out[VISD_MODEL_PATH_BYTES])
{
    char name[VISD_STREAM_NAME_BYTES + 1];
    enum visd_err err = take_text(r, name, VISD_STREAM_NAME_BYTES);
    if (err == VISD_ERR_OK) visd_model_path_join(out, above == VISD_MODEL_NONE ? "" : r->model->groups[above].path, name);
    return err;
}

static enum visd_err read_group(struct reader *r)
{
    struct visd_stream_group head;
    struct visd_model *model = r->model;
    char path[VISD_MODEL_PATH_BYTES];
    enum visd_err err = take_bytes(r, &head, sizeof(head));
    if (err != VISD_ERR_OK) return err;
    if (model->group_count >= VISD_MAX_GROUPS) return too_big(r, "groups in one scene", VISD_MAX_GROUPS);
    if (head.parent != VISD_MODEL_NONE && head.parent >= model->group_count) return broken(r, "a group lies in one that has not come yet");
    if (!visd_transform_finite(head.transform)) return broken(r, "the place of a group is not finite");
    if ((err = path_of(r, head.parent, path)) != VISD_ERR_OK) return err;
    uint32_t depth = 1 + (head.parent == VISD_MODEL_NONE ? 0 : r->depths[head.parent]);
    if (depth > VISD_MAX_GROUP_DEPTH) return too_big(r, "groups inside each other; flatten the tree, or", VISD_MAX_GROUP_DEPTH);
    if ((err = charge(r, sizeof(struct visd_model_group) + sizeof(depth) + strlen(path))) != VISD_ERR_OK) return err;
    if (model->group_count == r->depth_room) {
        uint32_t room = r->depth_room ? r->depth_room * 2 : 256;
        uint32_t *moved = realloc(r->depths, room * sizeof(*moved));
        if (!moved) return visd_why_memory(r->why, "groups");
        r->depths = moved;
        r->depth_room = room;
    }
    r->depths[model->group_count] = depth;
    struct visd_model_group group = {.parent = head.parent, .path = path};
    memcpy(group.transform, head.transform, sizeof(group.transform));
    return visd_model_add_group(model, &group, r->why);
}

/* Its box as the stream says, or as its mesh does; false if that is none. */
static bool box_of(const struct reader *r, const struct visd_stream_object *head, struct visd_model_object *object)
{
    if (head->mesh != VISD_MODEL_NONE) {
        for (int k = 0; k < 3; k++) object->min[k] = r->model->meshes[head->mesh].min[k], object->max[k] = r->model->meshes[head->mesh].max[k];
        return true;
    }
    for (int k = 0; k < 3; k++) {
        object->min[k] = head->min[k], object->max[k] = head->max[k];
        if (!isfinite(head->min[k]) || !isfinite(head->max[k]) || head->min[k] > head->max[k]) return false;
    }
    return true;
}

static bool placed_well(const struct visd_model *model, const struct visd_model_object *object)
{
    double world[12], min[3] = {0}, max[3] = {0};
    visd_model_group_world(model, object->group, world);
    visd_transform_compose(world, world, object->transform);
    visd_transform_grow_box(min, max, world, object->min, object->max);
    return visd_transform_finite(world) && isfinite(max[0] - min[0]) && isfinite(max[1] - min[1]) && isfinite(max[2] - min[2]);
}

static enum visd_err read_object(struct reader *r)
{
    struct visd_stream_object head;
    struct visd_model *model = r->model;
    char path[VISD_MODEL_PATH_BYTES];
    enum visd_err err = take_bytes(r, &head, sizeof(head));
    if (err != VISD_ERR_OK) return err;
    if (model->object_count >= VISD_MAX_OBJECTS) return too_big(r, "objects in one scene", VISD_MAX_OBJECTS);
    if (head.mesh != VISD_MODEL_NONE && head.mesh >= model->mesh_count) return broken(r, "an object shows a mesh that has not come yet");
    if (head.group != VISD_MODEL_NONE && head.group >= model->group_count) return broken(r, "an object lies in a group that has not come yet");
    if (head.flags & ~(uint32_t)(VISD_MODEL_SEE_THROUGH | VISD_MODEL_UNBOUNDED)) return broken(r, "an object has flags that are none");
    if (!(head.margin >= 0) || !(head.margin <= 64)) return broken(r, "an object has a margin that is none");
    if ((err = path_of(r, head.group, path)) != VISD_ERR_OK) return err;
    struct visd_model_object object = {
        .id = model->object_count, .mesh = head.mesh, .group = head.group, .flags = head.flags, .margin = head.margin, .path = path};
    memcpy(object.transform, head.transform, sizeof(object.transform));
    if (!box_of(r, &head, &object)) return broken(r, "an object has a box that is none");
    if (!placed_well(model, &object))
        return visd_why(r->why, VISD_ERR_BAD_VALUE, "%.200s: the place of \"%.160s\" in the scene is not finite", r->name, path);
    if ((err = charge(r, sizeof(object) + strlen(path))) != VISD_ERR_OK) return err;
    return visd_model_add_object(model, &object, r->why);
}

static enum visd_err read_note(struct reader *r)
{
    char text[VISD_STREAM_TEXT_BYTES + 1];
    enum visd_err err = take_text(r, text, VISD_STREAM_TEXT_BYTES);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    if (err == VISD_ERR_OK) visd_model_warn(r->model, "%s", text);
    return err;
}

static enum visd_err read_fail(struct reader *r, bool *told)
{
    struct visd_stream_fail head;
    char text[VISD_STREAM_TEXT_BYTES + 1];
    enum visd_err err = take_bytes(r, &head, sizeof(head));
    if (err == VISD_ERR_OK) err = take_text(r, text, VISD_STREAM_TEXT_BYTES);
    if (err != VISD_ERR_OK) return err;
    if (head.err == VISD_ERR_OK || head.err > VISD_ERR_INTERNAL || !*text) return broken(r, "it refuses without an error");
    *told = true;
    return visd_why(r->why, (enum visd_err)head.err, "%s", text);
}

static enum visd_err read_end(struct reader *r)
{
    struct visd_stream_end head;
    enum visd_err err = take_bytes(r, &head, sizeof(head));
    if (err != VISD_ERR_OK) return err;
    if (head.meshes != r->model->mesh_count || head.groups != r->model->group_count || head.objects != r->model->object_count ||
        head.triangles != r->triangles)
        return broken(r, "its counts are not what came");
    return VISD_ERR_OK;
}

static enum visd_err read_records(struct reader *r, bool *told)
{
    static enum visd_err (*const read[])(struct reader *) = {
        [VISD_STREAM_MESH] = read_mesh, [VISD_STREAM_GROUP] = read_group, [VISD_STREAM_OBJECT] = read_object,
        [VISD_STREAM_NOTE] = read_note, [VISD_STREAM_FAIL] = NULL,        [VISD_STREAM_END] = read_end,
    };
    char magic[8], after;
    if (r->source->read(r->source->context, magic, sizeof(magic)) != sizeof(magic)) return broken(r, "it ends too early");
    if (memcmp(magic, VISD_STREAM_MAGIC, sizeof(magic)) != 0) return broken(r, "it is of another version; install visctl and visctl-import together");
    for (;;) {
        if (r->source->read(r->source->context, &r->record, sizeof(r->record)) != sizeof(r->record)) return broken(r, "it ends too early");
        uint32_t tag = r->record.tag;
        if (tag < VISD_STREAM_MESH || tag > VISD_STREAM_END || r->record.zero) return broken(r, "a record is of no kind");
        enum visd_err err = tag == VISD_STREAM_FAIL ? read_fail(r, told) : read[tag](r);
        if (err == VISD_ERR_OK && r->record.bytes) err = broken(r, "a record is longer than its content");
        if (err != VISD_ERR_OK) return err;
        if (tag == VISD_STREAM_END) break;
    }
    return r->source->read(r->source->context, &after, 1) ? broken(r, "something follows its end") : VISD_ERR_OK;
}

enum visd_err visd_stream_read(struct visd_model *model, const struct visd_stream_source *source, const char *name, bool *told, struct visd_why *why)
{
    struct reader r = {.source = source, .model = model, .name = name, .why = why};
    *told = false;
    enum visd_err err = read_records(&r, told);
    free(r.depths);
    if (err != VISD_ERR_OK) visd_model_finish(model);
    return err;
}
