/* See model.h. Names and TRS rows live in chunks that never move, so rows can point at them while the arrays grow. */
#include "model.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "transform.h"

#define CHUNK_BYTES (64u << 10)

struct visd_model_chunk {
    struct visd_model_chunk *next;
    size_t used, room;
    _Alignas(16) unsigned char bytes[];
};

static enum visd_err model_mesh(struct visd_sink *sink, const struct visd_model_mesh *mesh, struct visd_why *why);
static enum visd_err model_group(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why);
static enum visd_err model_object(struct visd_sink *sink, const struct visd_model_object *object, struct visd_why *why);
static enum visd_err model_finish(struct visd_sink *sink, struct visd_why *why);

static const struct visd_sink_ops model_ops = {model_mesh, model_group, model_object, model_finish};

void visd_model_init(struct visd_model *model)
{
    memset(model, 0, sizeof(*model));
    model->sink.ops = &model_ops;
}

void visd_model_mesh_free(struct visd_model_mesh *mesh)
{
    free(mesh->positions);
    free(mesh->indices);
    free(mesh->parts);
    memset(mesh, 0, sizeof(*mesh));
}

void visd_model_finish(struct visd_model *model)
{
    for (uint32_t i = 0; i < model->mesh_count; i++) visd_model_mesh_free(&model->meshes[i]);
    free(model->meshes);
    free(model->groups);
    free(model->objects);
    for (struct visd_model_chunk *chunk = model->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (uint32_t i = 0; i < model->warning_count; i++) free(model->warnings[i]);
    visd_model_init(model);
}

static void *keep(struct visd_model *model, const void *data, size_t bytes)
{
    size_t need = (bytes + 15) & ~(size_t)15;
    struct visd_model_chunk *chunk = model->chunks;
    if (!chunk || chunk->room - chunk->used < need) {
        size_t room = need > CHUNK_BYTES ? need : CHUNK_BYTES;
        chunk = malloc(sizeof(*chunk) + room);
        if (!chunk) return NULL;
        *chunk = (struct visd_model_chunk){.next = model->chunks, .room = room};
        model->chunks = chunk;
    }
    void *at = chunk->bytes + chunk->used;
    chunk->used += need;
    return memcpy(at, data, bytes);
}

enum visd_err visd_model_take_mesh(struct visd_model *model, struct visd_model_mesh *mesh, struct visd_why *why)
{
    assert(visd_model_mesh_check(mesh));
    struct visd_model_mesh *rows = visd_grown(model->meshes, model->mesh_count, &model->mesh_room, sizeof(*rows));
    if (!rows) {
        visd_model_mesh_free(mesh);
        return visd_why_memory(why, "meshes");
    }
    model->meshes = rows;
    rows[model->mesh_count++] = *mesh;
    memset(mesh, 0, sizeof(*mesh));
    return VISD_ERR_OK;
}

enum visd_err visd_model_add_group(struct visd_model *model, const struct visd_model_group *group, struct visd_why *why)
{
    assert(group->parent == VISD_MODEL_NONE || group->parent < model->group_count);
    struct visd_model_group *rows = visd_grown(model->groups, model->group_count, &model->group_room, sizeof(*rows));
    if (!rows) return visd_why_memory(why, "groups");
    model->groups = rows;
    struct visd_model_group *row = &rows[model->group_count];
    *row = *group;
    row->path = keep(model, group->path, strlen(group->path) + 1);
    if (!row->path) return visd_why_memory(why, "names");
    model->group_count++;
    return VISD_ERR_OK;
}

enum visd_err visd_model_add_object(struct visd_model *model, const struct visd_model_object *object, struct visd_why *why)
{
    assert(object->group == VISD_MODEL_NONE || object->group < model->group_count);
    assert(object->mesh == VISD_MODEL_NONE || object->mesh < model->mesh_count);
    struct visd_model_object *rows = visd_grown(model->objects, model->object_count, &model->object_room, sizeof(*rows));
    if (!rows) return visd_why_memory(why, "objects");
    model->objects = rows;
    struct visd_model_object *row = &rows[model->object_count];
    *row = *object;
    row->path = keep(model, object->path, strlen(object->path) + 1);
    if (!row->path) return visd_why_memory(why, "names");
    if (object->trs) {
        row->trs = keep(model, object->trs, sizeof(*object->trs));
        if (!row->trs) return visd_why_memory(why, "objects");
    }
    model->object_count++;
    return VISD_ERR_OK;
}

void visd_model_warn(struct visd_model *model, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (uint32_t i = 0; i < model->warning_count; i++)
        if (strcmp(model->warnings[i], text) == 0) return;
    char *copy = model->warning_count < VISD_MODEL_WARNINGS ? strdup(text) : NULL;
    if (copy)
        model->warnings[model->warning_count++] = copy;
    else
        model->warnings_dropped++;
}

/* ---- the model as a sink ---- */

static enum visd_err model_mesh(struct visd_sink *sink, const struct visd_model_mesh *mesh, struct visd_why *why)
{
    struct visd_model_mesh copy = *mesh;
    copy.positions = malloc(mesh->vertices * sizeof(float) * 3);
    copy.indices = malloc(mesh->index_count * sizeof(uint32_t));
    copy.parts = malloc(mesh->part_count * sizeof(*mesh->parts));
    if (!copy.positions || !copy.indices || !copy.parts) {
        visd_model_mesh_free(&copy);
        return visd_why_memory(why, "a mesh");
    }
    memcpy(copy.positions, mesh->positions, mesh->vertices * sizeof(float) * 3);
    memcpy(copy.indices, mesh->indices, mesh->index_count * sizeof(uint32_t));
    memcpy(copy.parts, mesh->parts, mesh->part_count * sizeof(*mesh->parts));
    return visd_model_take_mesh((struct visd_model *)sink, &copy, why);
}

static enum visd_err model_group(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why)
{
    return visd_model_add_group((struct visd_model *)sink, group, why);
}

static enum visd_err model_object(struct visd_sink *sink, const struct visd_model_object *object, struct visd_why *why)
{
    return visd_model_add_object((struct visd_model *)sink, object, why);
}

static enum visd_err model_finish(struct visd_sink *sink, struct visd_why *why)
{
    (void)sink;
    (void)why;
    return VISD_ERR_OK;
}

enum visd_err visd_model_send(const struct visd_model *model, struct visd_sink *sink, uint64_t id_base,
                              void (*progress)(void *context, uint64_t done, uint64_t all), void *context, struct visd_why *why)
{
    uint64_t all = (uint64_t)model->mesh_count + model->group_count + model->object_count, done = 0;
    enum visd_err err = VISD_ERR_OK;
    for (uint32_t i = 0; i < model->mesh_count && err == VISD_ERR_OK; i++, done++) {
        if (progress) progress(context, done, all);
        err = sink->ops->mesh(sink, &model->meshes[i], why);
    }
    /* Groups and objects come in one walk: a group is due before the first object that was added after it. */
    uint32_t group = 0;
    for (uint32_t i = 0; i < model->object_count && err == VISD_ERR_OK; i++, done++) {
        struct visd_model_object object = model->objects[i];
        for (; object.group != VISD_MODEL_NONE && group <= object.group && err == VISD_ERR_OK; group++, done++)
            err = sink->ops->group(sink, &model->groups[group], why);
        if (err != VISD_ERR_OK) break;
        object.id += id_base;
        err = sink->ops->object(sink, &object, why);
        if (progress && (i & 1023) == 0) progress(context, done, all);
    }
    for (; group < model->group_count && err == VISD_ERR_OK; group++) err = sink->ops->group(sink, &model->groups[group], why);
    if (err == VISD_ERR_OK) err = sink->ops->finish(sink, why);
    if (progress && err == VISD_ERR_OK) progress(context, all, all);
    return err;
}

/* ---- figures ---- */

void visd_model_group_world(const struct visd_model *model, uint32_t group, double out[12])
{
    visd_transform_identity(out);
    for (uint32_t g = group; g != VISD_MODEL_NONE; g = model->groups[g].parent)
        visd_transform_compose(out, model->groups[g].transform, out);
}

enum visd_err visd_model_figures(const struct visd_model *model, struct visd_model_figures *out, struct visd_why *why)
{
    *out = (struct visd_model_figures){.min = {INFINITY, INFINITY, INFINITY}, .max = {-INFINITY, -INFINITY, -INFINITY}};
    bool *used = calloc(model->mesh_count ? model->mesh_count : 1, sizeof(*used));
    if (!used) return visd_why_memory(why, "figures");
    for (uint32_t i = 0; i < model->object_count; i++) {
        const struct visd_model_object *object = &model->objects[i];
        double world[12];
        visd_model_group_world(model, object->group, world);
        visd_transform_compose(world, world, object->transform);
        visd_transform_grow_box(out->min, out->max, world, object->min, object->max);
        if (object->mesh == VISD_MODEL_NONE) continue;
        const struct visd_model_mesh *mesh = &model->meshes[object->mesh];
        out->triangles += mesh->index_count / 3;
        if (!used[object->mesh]) {
            used[object->mesh] = true;
            out->meshes_used++;
            out->triangles_unique += mesh->index_count / 3;
        }
    }
    free(used);
    return VISD_ERR_OK;
}

void visd_model_path_name(const char *path, char *out, size_t room)
{
    const char *name = path;
    for (const char *c = path; *c; c++) {
        if (*c == '\\' && c[1])
            c++;
        else if (*c == '/')
            name = c + 1;
    }
    size_t n = 0;
    for (const char *c = name; *c && n + 1 < room; c++) {
        if (*c == '\\' && c[1]) c++;
        out[n++] = *c;
    }
    out[n] = 0;
}

void visd_model_mesh_box(struct visd_model_mesh *mesh)
{
    for (int k = 0; k < 3; k++) {
        mesh->min[k] = INFINITY;
        mesh->max[k] = -INFINITY;
    }
    for (uint32_t v = 0; v < mesh->vertices; v++)
        for (int k = 0; k < 3; k++) {
            mesh->min[k] = fminf(mesh->min[k], mesh->positions[v * 3 + k]);
            mesh->max[k] = fmaxf(mesh->max[k], mesh->positions[v * 3 + k]);
        }
}

bool visd_model_mesh_check(const struct visd_model_mesh *mesh)
{
    if (!mesh->positions || !mesh->indices || !mesh->parts || !mesh->vertices || mesh->index_count < 3) return false;
    uint32_t next = 0;
    for (uint32_t i = 0; i < mesh->part_count; i++) {
        const struct visd_model_part *part = &mesh->parts[i];
        if (part->first != next || part->count % 3 || part->count > mesh->index_count - next) return false;
        if (part->sides > VISD_MODEL_SIDES_DOUBLE || part->see_through > 1) return false;
        next += part->count;
    }
    if (next != mesh->index_count) return false;
    for (uint32_t i = 0; i < mesh->index_count; i++)
        if (mesh->indices[i] >= mesh->vertices) return false;
    for (size_t i = 0; i < (size_t)mesh->vertices * 3; i++)
        if (!isfinite(mesh->positions[i])) return false;
    return true;
}
