/* See daemon_sink.h. Rows are gathered into columns, which is how the wire carries them. */
#include "daemon_sink.h"

#include <stdlib.h>
#include <string.h>

#include "../model/grow.h"

#define ROWS 4096u
#define GROUP_ROWS 512u

_Static_assert((int)VISD_MODEL_SEE_THROUGH == (int)VISD_FLAG_SEE_THROUGH && (int)VISD_MODEL_UNBOUNDED == (int)VISD_FLAG_UNBOUNDED, "flags");
_Static_assert((int)VISD_MODEL_SIDES_SINGLE == (int)VISD_SIDES_ONE && (int)VISD_MODEL_SIDES_DOUBLE == (int)VISD_SIDES_TWO, "sides");
_Static_assert(sizeof(struct visd_model_part) == sizeof(struct visd_client_part), "parts");

struct daemon_sink {
    struct visd_sink sink;
    struct visd_client *client;
    struct fill *fill;
    struct visd_client_batch *batch;
    uint64_t id_base;
    struct daemon_sink_totals totals;
    uint32_t *mesh_triangles, mesh_room;

    uint32_t rows, group_rows, groups;
    bool boxed; /* some row has no mesh to take its box from */
    uint64_t ids[ROWS], meshes[ROWS], group_of[ROWS];
    double boxes[ROWS * 6], transforms[ROWS * 12];
    uint32_t flags[ROWS];
    float margins[ROWS];
    char *names[ROWS];
    uint64_t group_ids[GROUP_ROWS], parents[GROUP_ROWS];
    double group_transforms[GROUP_ROWS * 12];
    char *group_names[GROUP_ROWS];
};

static enum visd_err refused(struct daemon_sink *s, enum visd_err err, struct visd_why *why)
{
    return visd_why(why, err, "%s", visd_client_why(s->client)->text);
}

static void drop_names(char **names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) free(names[i]);
}

static enum visd_err flush_groups(struct daemon_sink *s, struct visd_why *why)
{
    if (!s->group_rows) return VISD_ERR_OK;
    enum visd_err err = visd_client_batch_group_put(s->batch, &(struct visd_client_groups){
        .count = s->group_rows, .ids = s->group_ids, .parents = s->parents, .transforms = s->group_transforms, .names = (const char *const *)s->group_names});
    drop_names(s->group_names, s->group_rows);
    s->group_rows = 0;
    return err == VISD_ERR_OK ? err : refused(s, err, why);
}

static enum visd_err flush_objects(struct daemon_sink *s, struct visd_why *why)
{
    enum visd_err err = flush_groups(s, why);
    if (err != VISD_ERR_OK || !s->rows) return err;
    err = visd_client_batch_object_add(s->batch, &(struct visd_client_objects){
        .count = s->rows, .ids = s->ids, .boxes = s->boxed ? s->boxes : NULL, .transforms = s->transforms, .flags = s->flags, .margins = s->margins,
        .meshes = s->meshes, .groups = s->group_of, .names = (const char *const *)s->names});
    drop_names(s->names, s->rows);
    s->rows = 0;
    s->boxed = false;
    return err == VISD_ERR_OK ? err : refused(s, err, why);
}

static enum visd_err put_mesh(struct visd_sink *sink, const struct visd_model_mesh *mesh, struct visd_why *why)
{
    struct daemon_sink *s = (struct daemon_sink *)sink;
    uint32_t *triangles = visd_grown(s->mesh_triangles, (uint32_t)s->totals.meshes, &s->mesh_room, sizeof(*triangles));
    if (!triangles) return visd_why_memory(why, "meshes");
    s->mesh_triangles = triangles;
    enum visd_err err = visd_client_batch_mesh_put(s->batch, &(struct visd_client_mesh){
        .id = s->id_base + s->totals.meshes, .vertices = mesh->vertices, .triangles = mesh->index_count / 3, .positions = mesh->positions,
        .indices = mesh->indices, .parts = mesh->part_count, .part = (const struct visd_client_part *)mesh->parts});
    triangles[s->totals.meshes++] = mesh->index_count / 3;
    return err == VISD_ERR_OK ? err : refused(s, err, why);
}

static enum visd_err put_group(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why)
{
    struct daemon_sink *s = (struct daemon_sink *)sink;
    if (s->group_rows == GROUP_ROWS) {
        enum visd_err err = flush_groups(s, why);
        if (err != VISD_ERR_OK) return err;
    }
    uint32_t i = s->group_rows;
    s->group_ids[i] = s->id_base + s->groups;
    s->parents[i] = group->parent == VISD_MODEL_NONE ? VISD_NO_ID : s->id_base + group->parent;
    memcpy(s->group_transforms + i * 12, group->transform, sizeof(group->transform));
    s->group_names[i] = strdup(group->path);
    if (!s->group_names[i]) return visd_why_memory(why, "names");
    s->groups++;
    s->group_rows++;
    return VISD_ERR_OK;
}

static enum visd_err put_object(struct visd_sink *sink, const struct visd_model_object *object, struct visd_why *why)
{
    struct daemon_sink *s = (struct daemon_sink *)sink;
    uint32_t i = s->rows;
    s->ids[i] = object->id;
    s->meshes[i] = object->mesh == VISD_MODEL_NONE ? VISD_NO_ID : s->id_base + object->mesh;
    s->group_of[i] = object->group == VISD_MODEL_NONE ? VISD_NO_ID : s->id_base + object->group;
    memcpy(s->boxes + i * 6, object->min, sizeof(object->min));
    memcpy(s->boxes + i * 6 + 3, object->max, sizeof(object->max));
    memcpy(s->transforms + i * 12, object->transform, sizeof(object->transform));
    s->flags[i] = object->flags;
    s->margins[i] = object->margin;
    s->names[i] = strdup(object->path);
    if (!s->names[i]) return visd_why_memory(why, "names");
    s->boxed |= object->mesh == VISD_MODEL_NONE;
    s->rows++;
    s->totals.objects++;
    if (object->mesh != VISD_MODEL_NONE) s->totals.triangles += s->mesh_triangles[object->mesh];
    return s->rows == ROWS ? flush_objects(s, why) : VISD_ERR_OK;
}

static enum visd_err finish(struct visd_sink *sink, struct visd_why *why)
{
    struct daemon_sink *s = (struct daemon_sink *)sink;
    enum visd_err err = flush_objects(s, why);
    if (err != VISD_ERR_OK) return err;
    err = fill_commit(s->fill, s->batch, &s->totals.committed);
    return err == VISD_ERR_OK ? err : refused(s, err, why);
}

static const struct visd_sink_ops ops = {put_mesh, put_group, put_object, finish};

enum visd_err daemon_sink_create(struct visd_sink **out, struct visd_client *client, struct fill *fill, uint64_t id_base, struct visd_why *why)
{
    struct daemon_sink *s = calloc(1, sizeof(*s));
    *out = NULL;
    if (!s) return visd_why_memory(why, "a batch");
    s->sink.ops = &ops;
    s->client = client;
    s->fill = fill;
    s->id_base = id_base;
    enum visd_err err = fill_batch(client, fill, &s->batch);
    if (err != VISD_ERR_OK) {
        err = refused(s, err, why);
        free(s);
        return err;
    }
    *out = &s->sink;
    return VISD_ERR_OK;
}

void daemon_sink_destroy(struct visd_sink *sink)
{
    struct daemon_sink *s = (struct daemon_sink *)sink;
    if (!s) return;
    visd_client_batch_destroy(s->batch);
    drop_names(s->names, s->rows);
    drop_names(s->group_names, s->group_rows);
    free(s->mesh_triangles);
    free(s);
}

struct daemon_sink_totals daemon_sink_totals(const struct visd_sink *sink)
{
    return ((const struct daemon_sink *)sink)->totals;
}
