/* Scenes, the listing of what is in them, and meshes read back. */
#include <stdlib.h>

#include "internal.h"

static void row_out(const struct visd_msg_scene_row *r, struct visd_client_scene *out)
{
    *out = (struct visd_client_scene){.scene = r->scene, .revision = r->revision, .metres_per_unit = r->metres_per_unit, .objects = r->objects,
        .groups = r->groups, .meshes = r->meshes, .portals = r->portals, .triangles = r->triangles, .bytes_host = r->bytes_host,
        .bytes_device = r->bytes_device, .has_bounds = r->has_min && r->has_max, .ids32 = r->ids32};
    text_copy(out->name, sizeof(out->name), r->name);
    memcpy(out->min, r->min, sizeof(out->min));
    memcpy(out->max, r->max, sizeof(out->max));
}

static enum visd_err call_scene(struct visd_client *c, struct visd_message *m, int once, struct visd_client_scene *out)
{
    struct reply r;
    enum visd_err err = call(c, m, once, VISD_MSG_SCENE, &r);
    if (err != VISD_ERR_OK) return err;
    if (out) row_out(&r.m.scene.row, out);
    reply_finish(&r);
    return VISD_ERR_OK;
}

enum visd_err visd_client_scene_create(struct visd_client *c, const char *name, double metres_per_unit, bool or_open,
                                       struct visd_client_scene *out)
{
    struct visd_message m = {.type = VISD_MSG_SCENE_CREATE};
    m.scene_create.name = visd_str_of(name);
    m.scene_create.has_metres_per_unit = metres_per_unit != 0;
    m.scene_create.metres_per_unit = metres_per_unit;
    m.scene_create.has_or_open = or_open;
    m.scene_create.or_open = or_open;
    return call_scene(c, &m, or_open ? LINK_RESEND : LINK_ONCE, out);
}

static enum visd_err remove_scene(struct visd_client *c, uint32_t scene, const uint64_t *if_revision)
{
    struct visd_message m = {.type = VISD_MSG_SCENE_REMOVE, .has_epoch = true, .epoch = c->epoch};
    struct reply r;
    enum visd_err err = client_check_epoch(c, c->epoch);
    m.scene_remove.scene = scene;
    m.scene_remove.has_if_revision = if_revision != NULL;
    if (if_revision) m.scene_remove.if_revision = *if_revision;
    if (err == VISD_ERR_OK) err = call(c, &m, LINK_ONCE, VISD_MSG_OK, &r);
    if (err == VISD_ERR_OK) reply_finish(&r);
    return err;
}

enum visd_err visd_client_scene_remove(struct visd_client *c, uint32_t scene) { return remove_scene(c, scene, NULL); }

enum visd_err visd_client_scene_remove_at(struct visd_client *c, uint32_t scene, uint64_t revision) { return remove_scene(c, scene, &revision); }

enum visd_err visd_client_scene_find(struct visd_client *c, const char *name, struct visd_client_scene *out)
{
    struct visd_message m = {.type = VISD_MSG_SCENE_INFO};
    m.scene_info.has_name = true;
    m.scene_info.name = visd_str_of(name);
    return call_scene(c, &m, LINK_RESEND, out);
}

enum visd_err visd_client_scene_info(struct visd_client *c, uint32_t scene, struct visd_client_scene *out)
{
    struct visd_message m = {.type = VISD_MSG_SCENE_INFO, .has_epoch = true, .epoch = c->epoch};
    enum visd_err err = client_check_epoch(c, c->epoch);
    m.scene_info.has_scene = true;
    m.scene_info.scene = scene;
    return err == VISD_ERR_OK ? call_scene(c, &m, LINK_RESEND, out) : err;
}

enum visd_err visd_client_scene_list(struct visd_client *c, struct visd_client_scene **out, size_t *count)
{
    struct visd_message m = {.type = VISD_MSG_SCENE_LIST};
    struct reply r;
    enum visd_err err = call(c, &m, LINK_RESEND, VISD_MSG_SCENES, &r);
    *out = NULL;
    *count = 0;
    if (err != VISD_ERR_OK) return err;
    *out = calloc(r.m.scenes.rows_count + 1u, sizeof(**out));
    if (!*out) err = client_fail(c, VISD_ERR_NO_MEMORY, "no memory for %u scenes", r.m.scenes.rows_count);
    for (uint32_t i = 0; *out && i < r.m.scenes.rows_count; i++) row_out(&r.m.scenes.rows[i], &(*out)[i]);
    *count = *out ? r.m.scenes.rows_count : 0;
    reply_finish(&r);
    return err;
}

/* A column copied to where it is aligned; NULL when it was not sent, or memory is short (*short is set). An empty one is not NULL. */
static const void *column(struct visd_arena *memory, bool there, const struct visd_bin *bin, size_t row_size, bool *is_short)
{
    void *at;
    if (!there) return NULL;
    at = visd_arena_take(memory, bin->rows + 1, row_size);
    if (!at) *is_short = true;
    else if (bin->rows) memcpy(at, bin->at, bin->rows * row_size);
    return at;
}

static enum visd_err page_end(struct visd_client *c, struct reply *r, struct visd_client_page *out, bool is_short)
{
    reply_finish(r);
    if (is_short) {
        visd_client_page_finish(out);
        return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for a page; ask for fewer rows");
    }
    return VISD_ERR_OK;
}

/* Asks for a page. Its columns are to be copied into what comes back, and page_end called; NULL: there is no page, and *err says why. */
static struct visd_arena *page_ask(struct visd_client *c, struct visd_message *m, enum visd_msg_type kind, struct reply *r,
                                   struct visd_client_page *out, enum visd_err *err)
{
    *out = (struct visd_client_page){0};
    m->has_epoch = true;
    m->epoch = c->epoch;
    *err = client_check_epoch(c, c->epoch);
    if (*err == VISD_ERR_OK) *err = call(c, m, LINK_RESEND, kind, r);
    if (*err != VISD_ERR_OK) return NULL;
    out->memory = calloc(1, sizeof(struct visd_arena));
    if (!out->memory) *err = page_end(c, r, out, true);
    return out->memory;
}

enum visd_err visd_client_object_page(struct visd_client *c, uint32_t scene, uint32_t first, uint32_t count, uint32_t columns,
                                      struct visd_client_page *out)
{
    struct visd_message m = {.type = VISD_MSG_OBJECTS};
    struct reply r;
    enum visd_err err;
    bool s = false;
    m.objects.scene = scene;
    m.objects.first = first;
    m.objects.count = count ? count : VISD_MAX_ROWS;
    m.objects.has_columns = true;
    m.objects.columns = columns;
    struct visd_arena *a = page_ask(c, &m, VISD_MSG_OBJECT_ROWS, &r, out, &err);
    if (!a) return err;
    const struct visd_msg_object_rows *o = &r.m.object_rows;
    out->revision = o->revision;
    out->next = o->next;
    out->count = o->ids.rows;
    out->ids = column(a, true, &o->ids, 8, &s);
    out->flags = column(a, true, &o->flags, 4, &s);
    out->meshes = column(a, true, &o->meshes, 8, &s);
    out->groups = column(a, true, &o->groups, 8, &s);
    out->triangles = column(a, true, &o->triangles, 4, &s);
    out->world_boxes = column(a, o->has_world_boxes, &o->world_boxes, 48, &s);
    out->boxes = column(a, o->has_boxes, &o->boxes, 48, &s);
    out->transforms = column(a, o->has_transforms, &o->transforms, 96, &s);
    out->margins = column(a, o->has_margins, &o->margins, 4, &s);
    out->layers = column(a, o->has_layers, &o->layers, 4, &s);
    out->costs = column(a, o->has_costs, &o->costs, 8, &s);
    out->batch_keys = column(a, o->has_batch_keys, &o->batch_keys, 4, &s);
    out->draws = column(a, o->has_draws, &o->draws, 20, &s);
    out->given = column(a, o->has_given, &o->given, 4, &s);
    out->names = column(a, o->has_names, &o->names, 1, &s);
    out->name_offsets = column(a, o->has_name_offsets, &o->name_offsets, 4, &s);
    return page_end(c, &r, out, s);
}

enum visd_err visd_client_group_page(struct visd_client *c, uint32_t scene, uint32_t first, uint32_t count, uint32_t columns,
                                     struct visd_client_page *out)
{
    struct visd_message m = {.type = VISD_MSG_GROUPS};
    struct reply r;
    enum visd_err err;
    bool s = false;
    m.groups.scene = scene;
    m.groups.first = first;
    m.groups.count = count ? count : VISD_MAX_ROWS;
    m.groups.has_columns = true;
    m.groups.columns = columns;
    struct visd_arena *a = page_ask(c, &m, VISD_MSG_GROUP_ROWS, &r, out, &err);
    if (!a) return err;
    const struct visd_msg_group_rows *o = &r.m.group_rows;
    out->revision = o->revision;
    out->next = o->next;
    out->count = o->groups.rows;
    out->ids = column(a, true, &o->groups, 8, &s);
    out->parents = column(a, true, &o->parents, 8, &s);
    out->flags = column(a, true, &o->flags, 4, &s);
    out->transforms = column(a, o->has_transforms, &o->transforms, 96, &s);
    out->names = column(a, o->has_names, &o->names, 1, &s);
    out->name_offsets = column(a, o->has_name_offsets, &o->name_offsets, 4, &s);
    return page_end(c, &r, out, s);
}

enum visd_err visd_client_mesh_page(struct visd_client *c, uint32_t scene, uint32_t first, uint32_t count, struct visd_client_page *out)
{
    struct visd_message m = {.type = VISD_MSG_MESHES};
    struct reply r;
    enum visd_err err;
    bool s = false;
    m.meshes.scene = scene;
    m.meshes.first = first;
    m.meshes.count = count ? count : VISD_MAX_ROWS;
    struct visd_arena *a = page_ask(c, &m, VISD_MSG_MESH_ROWS, &r, out, &err);
    if (!a) return err;
    const struct visd_msg_mesh_rows *o = &r.m.mesh_rows;
    out->revision = o->revision;
    out->next = o->next;
    out->count = o->meshes.rows;
    out->ids = column(a, true, &o->meshes, 8, &s);
    out->vertices = column(a, true, &o->vertices, 4, &s);
    out->triangles = column(a, true, &o->triangles, 4, &s);
    out->users = column(a, true, &o->objects, 4, &s);
    return page_end(c, &r, out, s);
}

void visd_client_page_finish(struct visd_client_page *page)
{
    if (page->memory) visd_arena_finish(page->memory);
    free(page->memory);
    *page = (struct visd_client_page){0};
}

enum visd_err visd_client_mesh_get(struct visd_client *c, uint32_t scene, uint64_t id, struct visd_client_mesh_copy *out)
{
    struct visd_message m = {.type = VISD_MSG_MESH_GET, .has_epoch = true, .epoch = c->epoch};
    struct reply r;
    struct visd_arena *a;
    enum visd_err err = client_check_epoch(c, c->epoch);
    bool is_short = false;
    *out = (struct visd_client_mesh_copy){0};
    m.mesh_get.scene = scene;
    m.mesh_get.mesh = id;
    if (err == VISD_ERR_OK) err = call(c, &m, LINK_RESEND, VISD_MSG_MESH_DATA, &r);
    if (err != VISD_ERR_OK) return err;
    out->memory = a = calloc(1, sizeof(*a));
    if (a) {
        const struct visd_msg_mesh_data *o = &r.m.mesh_data;
        out->mesh = (struct visd_client_mesh){.id = o->mesh, .vertices = o->positions.rows, .triangles = o->indices.rows, .parts = o->parts.rows,
            .deviation = o->deviation};
        out->mesh.positions = column(a, true, &o->positions, 12, &is_short);
        out->mesh.indices = column(a, true, &o->indices, 12, &is_short);
        out->mesh.part = column(a, true, &o->parts, sizeof(*out->mesh.part), &is_short);
    }
    reply_finish(&r);
    if (a && !is_short) return VISD_ERR_OK;
    visd_client_mesh_finish(out);
    return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for a mesh");
}

void visd_client_mesh_finish(struct visd_client_mesh_copy *copy)
{
    if (copy->memory) visd_arena_finish(copy->memory);
    free(copy->memory);
    *copy = (struct visd_client_mesh_copy){0};
}
