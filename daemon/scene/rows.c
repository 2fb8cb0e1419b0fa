/* Reading a scene row by row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive.h"
#include "store.h"

uint32_t visd_scene_next_object(const struct visd_scene *s, uint32_t slot)
{
    return slots_next(&s->objects.slots, slot);
}

uint32_t visd_scene_next_group(const struct visd_scene *s, uint32_t slot)
{
    return slots_next(&s->groups.slots, slot);
}

uint32_t visd_scene_next_mesh(const struct visd_scene *s, uint32_t slot)
{
    return slots_next(&s->meshes.slots, slot);
}

uint32_t visd_scene_find_object(const struct visd_scene *s, uint64_t id)
{
    return ids_find(&s->objects.ids, id);
}

uint32_t visd_scene_find_group(const struct visd_scene *s, uint64_t id)
{
    return ids_find(&s->groups.ids, id);
}

uint32_t visd_scene_find_mesh(const struct visd_scene *s, uint64_t id)
{
    return ids_find(&s->meshes.ids, id);
}

static void local_box(const struct visd_scene *s, const struct object *ob, struct visd_object_row *out)
{
    const struct version *mesh = ob->mesh == NO_SLOT ? NULL : &s->meshes.mesh[ob->mesh].version;
    bool given = ob->flags & (OBJECT_HAS_BOX | OBJECT_HUGE_BOX), meshed = mesh && mesh->vertices;
    out->has_box = given || meshed;
    for (int k = 0; k < 3; k++) {
        double lo = given ? ob->box[k] : INFINITY, hi = given ? ob->box[3 + k] : -INFINITY;
        out->box[k] = !out->has_box ? 0 : meshed && mesh->min[k] < lo ? (double)mesh->min[k] : lo;
        out->box[3 + k] = !out->has_box ? 0 : meshed && mesh->max[k] > hi ? (double)mesh->max[k] : hi;
    }
}

void visd_scene_object_row(const struct visd_scene *s, uint32_t slot, struct visd_object_row *out)
{
    const struct object *ob = objects_at(&s->objects, slot);
    const struct extras *extras = objects_extras(&s->objects, slot);
    const uint64_t *name = objects_name(&s->objects, slot);
    struct derived d;
    memset(out, 0, sizeof(*out));
    derive(s, slot, &d);
    memcpy(out->min, d.min, sizeof(out->min));
    memcpy(out->max, d.max, sizeof(out->max));
    uint32_t concluded = d.change.bounds.flags & (VISD_OBJECT_UNBOUNDED | VISD_OBJECT_MIRRORED);
    out->id = ob->id;
    local_box(s, ob, out);
    if (ob->flags & OBJECT_HAS_TRANSFORM)
        memcpy(out->transform, objects_transform(&s->objects, slot), sizeof(out->transform));
    else
        out->transform[0] = out->transform[5] = out->transform[10] = 1;
    out->flags = (ob->flags & VISD_OBJECT_WIRE_MASK) | concluded;
    out->effective = d.change.bounds.flags & (VISD_OBJECT_WIRE_MASK | VISD_OBJECT_MIRRORED);
    out->layers = ob->layers;
    out->margin = ob->margin;
    out->generation = ob->generation;
    out->mesh = ob->mesh == NO_SLOT ? VISD_ID_NONE : s->meshes.mesh[ob->mesh].id;
    out->group = ob->group == NO_SLOT ? VISD_ID_NONE : s->groups.group[ob->group].id;
    out->triangles = ob->mesh == NO_SLOT ? 0 : s->meshes.mesh[ob->mesh].version.triangles;
    out->cost = ob->flags & OBJECT_HAS_COST ? extras->cost : (double)out->triangles;
    out->batch_key = extras ? extras->batch_key : 0;
    out->gave_box = ob->flags & (OBJECT_HAS_BOX | OBJECT_HUGE_BOX);
    out->gave_cost = ob->flags & OBJECT_HAS_COST;
    out->gave_unbounded = ob->flags & VISD_OBJECT_UNBOUNDED;
    out->has_draw = ob->flags & OBJECT_HAS_DRAW;
    if (out->has_draw)
        memcpy(out->draw, extras->draw, sizeof(out->draw));
    out->name = names_get(&s->names, name ? *name : NAME_NONE, &out->name_bytes);
}

void visd_scene_group_row(const struct visd_scene *s, uint32_t slot, struct visd_group_row *out)
{
    const struct group *g = &s->groups.group[slot];
    memset(out, 0, sizeof(*out));
    out->id = g->id;
    out->parent = g->parent == NO_SLOT ? VISD_ID_NONE : s->groups.group[g->parent].id;
    memcpy(out->transform, g->local, sizeof(out->transform));
    out->flags = g->flags;
    out->name = names_get(&s->names, g->name, &out->name_bytes);
}

/* The block stays as long as its version does: a new worker is given it, too. */
void visd_scene_mesh_row(const struct visd_scene *s, uint32_t slot, struct visd_mesh_row *out)
{
    const struct mesh *m = &s->meshes.mesh[slot];
    const struct visd_mesh_block *head = visd_segment_at(s->segment, m->version.block);
    memset(out, 0, sizeof(*out));
    out->id = m->id;
    out->vertices = head->vertices;
    out->triangles = head->indices / 3;
    out->parts = head->parts;
    out->objects = m->users;
    out->deviation = (double)head->deviation;
    out->positions = (const float *)(head + 1);
    out->indices = (const uint32_t *)(out->positions + (size_t)3 * head->vertices);
    out->part = (const struct visd_mesh_part *)(out->indices + head->indices);
}

void visd_scene_object_change(const struct visd_scene *s, uint32_t slot, struct visd_object_change *out)
{
    struct derived d;
    memset(&d, 0, sizeof(d));
    if (slot >> CHUNK_SHIFT < s->objects.chunks)
        derive(s, slot, &d);
    *out = d.change;
}

uint64_t visd_scene_backlog(const struct visd_scene *s)
{
    return s->outbox.bytes;
}

void scene_squeeze_names(struct visd_scene *s)
{
    struct names fresh = { .pieces = 0 };
    const struct slots *objects = &s->objects.slots, *groups = &s->groups.slots;
    uint32_t slot, length;
    uint64_t *moved = calloc((size_t)objects->top + groups->top + 1, sizeof(*moved));
    if (!moved)
        return;
    uint64_t *of_group = moved + objects->top;
    for (slot = slots_next(objects, 0); slot != NO_SLOT; slot = slots_next(objects, slot + 1)) {
        const uint64_t *name = objects_name(&s->objects, slot);
        const char *bytes = names_get(&s->names, name ? *name : NAME_NONE, &length);
        if (!names_put(&fresh, bytes, length, &moved[slot]))
            goto error;
    }
    for (slot = slots_next(groups, 0); slot != NO_SLOT; slot = slots_next(groups, slot + 1)) {
        const char *bytes = names_get(&s->names, s->groups.group[slot].name, &length);
        if (!names_put(&fresh, bytes, length, &of_group[slot]))
            goto error;
    }
    for (slot = slots_next(objects, 0); slot != NO_SLOT; slot = slots_next(objects, slot + 1)) {
        uint64_t *name = objects_name(&s->objects, slot);
        if (name)
            *name = moved[slot];
    }
    for (slot = slots_next(groups, 0); slot != NO_SLOT; slot = slots_next(groups, slot + 1))
        s->groups.group[slot].name = of_group[slot];
    names_finish(&s->names);
    s->names = fresh;
    free(moved);
    return;
error:
    names_finish(&fresh);
    free(moved);
}
