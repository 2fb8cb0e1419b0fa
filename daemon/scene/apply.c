/* Applying a batch's items to the store, in order, noting each step. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "affine.h"
#include "commit.h"
#include "grow.h"
#include "refuse.h"

bool commit_note_room(struct commit *c)
{
    return list_room(c->noted, 1);
}

void commit_note(struct commit *c, enum step step, uint32_t slot)
{
    c->noted.at[c->noted.count++] = (struct noted){ .step = step, .slot = slot };
}

bool commit_mark(struct commit *c, uint32_t slot)
{
    struct object *ob = objects_at(&c->scene->objects, slot);
    if (ob->flags & OBJECT_DIRTY)
        return true;
    if (!list_room(c->dirty, 1))
        return false;
    ob->flags |= OBJECT_DIRTY;
    c->dirty.at[c->dirty.count++] = slot;
    return true;
}

bool commit_mark_group(struct commit *c, uint32_t slot)
{
    struct group *g = &c->scene->groups.group[slot];
    if (!g->listed) {
        if (!list_room(c->moved, 1))
            return false;
        c->moved.at[c->moved.count++] = slot;
    }
    g->listed = g->dirty = true;
    return true;
}

static bool drop_name(struct commit *c, uint64_t ref)
{
    if (ref == NAME_NONE)
        return true;
    if (!list_room(c->dropped, 1))
        return false;
    c->dropped.at[c->dropped.count++] = ref;
    return true;
}

/* Puts the item's name i in *ref, the former is dropped at finish. */
static bool put_name(struct commit *c, const struct item *it, uint64_t i, uint64_t *ref)
{
    uint64_t former = *ref, now;
    uint32_t at = it->name_offsets[i], length = it->name_offsets[i + 1] - at;
    if (!drop_name(c, former) || !names_put(&c->scene->names, it->names + at, length, &now))
        return false;
    *ref = now;
    return true;
}

/* ---- objects ---- */

static bool is_identity(const double t[12])
{
    double identity[12];
    affine_identity(identity);
    return memcmp(t, identity, sizeof(identity)) == 0;
}

static void set_box(struct object *ob, const double box[6])
{
    bool huge = false;
    for (int k = 0; k < 6; k++)
        huge |= fabs(box[k]) >= VISD_SCENE_UNBOUNDED;
    memcpy(ob->box, box, sizeof(ob->box));
    ob->flags &= ~(uint32_t)(OBJECT_HAS_BOX | OBJECT_HUGE_BOX);
    ob->flags |= huge ? OBJECT_HUGE_BOX : OBJECT_HAS_BOX;
}

static bool set_extras(struct commit *c, struct object *ob, uint32_t slot, const struct item *it, uint64_t i)
{
    if (!it->costs && !it->batch_keys && !it->draws)
        return true;
    struct extras *x = objects_extras_make(&c->scene->objects, slot);
    if (!x)
        return false;
    if (it->costs) {
        x->cost = it->costs[i];
        ob->flags |= OBJECT_HAS_COST;
    }
    if (it->batch_keys)
        x->batch_key = it->batch_keys[i];
    if (it->draws) {
        memcpy(x->draw, it->draws[i], sizeof(x->draw));
        ob->flags |= OBJECT_HAS_DRAW;
    }
    return true;
}

static enum visd_err set_links(struct commit *c, uint32_t slot, const struct item *it, uint64_t i)
{
    struct visd_scene *s = c->scene;
    if (it->meshes) {
        uint32_t mesh = it->meshes[i] == VISD_ID_NONE ? NO_SLOT : ids_find(&s->meshes.ids, it->meshes[i]);
        if (mesh == NO_SLOT && it->meshes[i] != VISD_ID_NONE)
            return refuse_id(c->why, VISD_ERR_NOT_FOUND, c->item, it->ids[i], "object %" PRIu64 ": there is no mesh %" PRIu64 "; put it first",
                it->ids[i], it->meshes[i]);
        object_link_mesh(s, slot, mesh);
    }
    if (it->groups) {
        uint32_t group = it->groups[i] == VISD_ID_NONE ? NO_SLOT : ids_find(&s->groups.ids, it->groups[i]);
        if (group == NO_SLOT && it->groups[i] != VISD_ID_NONE)
            return refuse_id(c->why, VISD_ERR_NOT_FOUND, c->item, it->ids[i], "object %" PRIu64 ": there is no group %" PRIu64 "; put it first",
                it->ids[i], it->groups[i]);
        object_link_group(s, slot, group);
    }
    return VISD_ERR_OK;
}

/* The columns that the item has, into a row. */
static enum visd_err set_row(struct commit *c, uint32_t slot, const struct item *it, uint64_t i)
{
    struct objects *o = &c->scene->objects;
    struct object *ob = objects_at(o, slot);
    if (it->boxes)
        set_box(ob, it->boxes[i]);
    if (it->transforms) {
        ob->flags &= ~(uint32_t)OBJECT_HAS_TRANSFORM;
        if (!is_identity(it->transforms[i])) {
            double *t = objects_transform_make(o, slot);
            if (!t)
                return refuse_memory(c->why);
            memcpy(t, it->transforms[i], 12 * sizeof(*t));
            ob->flags |= OBJECT_HAS_TRANSFORM;
        }
    }
    if (it->flags) {
        uint32_t meant = VISD_OBJECT_WIRE_MASK & (it->flag_masks ? it->flag_masks[i] : UINT32_MAX);
        uint32_t sides = VISD_OBJECT_SINGLE_SIDED | VISD_OBJECT_DOUBLE_SIDED;
        ob->flags = (ob->flags & ~meant) | (it->flags[i] & meant);
        if ((ob->flags & sides) == sides)
            return refuse_id(c->why, VISD_ERR_BAD_VALUE, c->item, it->ids[i], "object %" PRIu64 " would be single- and double-sided at once", it->ids[i]);
    }
    if (it->margins)
        ob->margin = it->margins[i];
    if (it->layers)
        ob->layers = it->layers[i];
    if (!set_extras(c, ob, slot, it, i))
        return refuse_memory(c->why);
    if (it->name_offsets && (it->name_offsets[i] != it->name_offsets[i + 1] || objects_name(o, slot))) {
        uint64_t *name = objects_name_make(o, slot);
        if (!name || !put_name(c, it, i, name))
            return refuse_memory(c->why);
    }
    return set_links(c, slot, it, i);
}

static enum visd_err object_add(struct commit *c, const struct item *it, uint64_t i)
{
    struct visd_scene *s = c->scene;
    uint64_t id = it->ids[i];
    if (ids_find(&s->objects.ids, id) != NO_SLOT)
        return refuse_id(c->why, VISD_ERR_EXISTS, c->item, id,
            "object %" PRIu64 " exists already, or is twice in the batch; set it or choose another id", id);
    if (s->objects.ids.count >= s->max_objects)
        return refuse_id(c->why, VISD_ERR_TOO_BIG, c->item, id, "the scene is full: it may hold %" PRIu64 " objects", s->max_objects);
    uint32_t slot = commit_note_room(c) ? objects_add(&s->objects, id) : NO_SLOT;
    if (slot == NO_SLOT)
        return refuse_memory(c->why);
    commit_note(c, STEP_OBJECT_ADD, slot);
    if (!commit_mark(c, slot))
        return refuse_memory(c->why);
    c->ids32 &= id <= UINT32_MAX;
    return set_row(c, slot, it, i);
}

static enum visd_err no_object(struct commit *c, uint64_t id)
{
    return refuse_id(c->why, VISD_ERR_NOT_FOUND, c->item, id, "there is no object %" PRIu64, id);
}

static enum visd_err object_set(struct commit *c, const struct item *it, uint64_t i)
{
    struct objects *o = &c->scene->objects;
    uint32_t slot = ids_find(&o->ids, it->ids[i]);
    if (slot == NO_SLOT)
        return no_object(c, it->ids[i]);
    if (!commit_note_room(c) || !list_room(c->objects, 1) || !commit_mark(c, slot))
        return refuse_memory(c->why);
    struct saved_object *saved = &c->objects.at[c->objects.count++];
    saved->row = *objects_at(o, slot);
    if (saved->row.flags & OBJECT_HAS_TRANSFORM)
        memcpy(saved->transform, objects_transform(o, slot), sizeof(saved->transform));
    const struct extras *extras = objects_extras(o, slot);
    saved->extras = extras ? *extras : (struct extras){ .cost = 0 };
    const uint64_t *name = objects_name(o, slot);
    saved->name = name ? *name : NAME_NONE;
    commit_note(c, STEP_OBJECT_SET, slot);
    return set_row(c, slot, it, i);
}

static enum visd_err object_remove(struct commit *c, uint64_t id)
{
    struct objects *o = &c->scene->objects;
    uint32_t slot = ids_find(&o->ids, id);
    if (slot == NO_SLOT)
        return no_object(c, id);
    const uint64_t *name = objects_name(o, slot);
    if (!commit_note_room(c) || !commit_mark(c, slot) || !drop_name(c, name ? *name : NAME_NONE))
        return refuse_memory(c->why);
    commit_note(c, STEP_OBJECT_REMOVE, slot);
    /* Out of its lists, but the row goes on naming them, so that the step can be undone. */
    struct object *ob = objects_at(o, slot);
    uint32_t mesh = ob->mesh, group = ob->group;
    object_link_mesh(c->scene, slot, NO_SLOT);
    object_link_group(c->scene, slot, NO_SLOT);
    ob->mesh = mesh;
    ob->group = group;
    objects_hide(o, slot);
    return VISD_ERR_OK;
}

/* ---- meshes ---- */

static enum visd_err mesh_put(struct commit *c, const struct item *it)
{
    struct visd_scene *s = c->scene;
    struct meshes *m = &s->meshes;
    uint64_t id = it->ids[0];
    if (!list_room(c->noted, 2) || !list_room(c->versions, 1) || !list_room(c->put, 1))
        return refuse_memory(c->why);
    uint32_t slot = ids_find(&m->ids, id);
    if (slot != NO_SLOT && it->new_only)
        return refuse_id(c->why, VISD_ERR_EXISTS, c->item, id, "mesh %" PRIu64 " exists already, and was to be new; choose another id", id);
    if (slot == NO_SLOT) {
        if (m->ids.count >= s->max_meshes)
            return refuse_id(c->why, VISD_ERR_TOO_BIG, c->item, id, "the scene is full: it may hold %" PRIu64 " meshes", s->max_meshes);
        slot = meshes_add(m, id);
        if (slot == NO_SLOT)
            return refuse_memory(c->why);
        commit_note(c, STEP_MESH_ADD, slot);
    }
    struct version v = { .block = it->block, .bytes = it->bytes, .device = slots_take(&m->device) };
    if (v.device == NO_SLOT)
        return refuse_memory(c->why);
    const struct visd_mesh_block *head = visd_segment_at(s->segment, it->block);
    v.triangles = head->indices / 3;
    v.vertices = head->vertices;
    v.deviation = head->deviation;
    memcpy(v.min, head->min, sizeof(v.min));
    memcpy(v.max, head->max, sizeof(v.max));
    c->versions.at[c->versions.count++] = meshes_swap(m, slot, v);
    commit_note(c, STEP_MESH_PUT, slot);
    if (!m->mesh[slot].listed) {
        m->mesh[slot].listed = true;
        c->put.at[c->put.count++] = slot;
    }
    return VISD_ERR_OK;
}

static enum visd_err mesh_remove(struct commit *c, uint64_t id)
{
    struct meshes *m = &c->scene->meshes;
    uint32_t slot = id == VISD_ID_NONE ? NO_SLOT : ids_find(&m->ids, id);
    if (slot == NO_SLOT)
        return refuse_id(c->why, VISD_ERR_NOT_FOUND, c->item, id, "there is no mesh %" PRIu64, id);
    if (m->mesh[slot].users)
        return refuse_id(c->why, VISD_ERR_BUSY, c->item, id, "mesh %" PRIu64 " is used by %" PRIu32 " objects; take it from them first", id,
            m->mesh[slot].users);
    if (!commit_note_room(c))
        return refuse_memory(c->why);
    commit_note(c, STEP_MESH_REMOVE, slot);
    meshes_hide(m, slot);
    c->meshes_removed++;
    return VISD_ERR_OK;
}

/* ---- groups ---- */

static enum visd_err group_change(struct commit *c, const struct item *it, uint64_t i)
{
    struct groups *gs = &c->scene->groups;
    uint32_t slot = ids_find(&gs->ids, it->ids[i]);
    struct group *g = &gs->group[slot];
    if (!commit_note_room(c) || !list_room(c->groups, 1) || !commit_mark_group(c, slot))
        return refuse_memory(c->why);
    struct saved_group *saved = &c->groups.at[c->groups.count++];
    *saved = (struct saved_group){ .name = g->name, .flags = g->flags, .parent = g->parent };
    memcpy(saved->local, g->local, sizeof(saved->local));
    commit_note(c, STEP_GROUP_SET, slot);
    if (it->transforms)
        memcpy(g->local, it->transforms[i], sizeof(g->local));
    if (it->flags)
        g->flags = it->flags[i];
    if (it->name_offsets && !put_name(c, it, i, &g->name))
        return refuse_memory(c->why);
    if (!it->groups)
        return VISD_ERR_OK;
    uint64_t parent_id = it->groups[i];
    uint32_t parent = parent_id == VISD_ID_NONE ? NO_SLOT : ids_find(&gs->ids, parent_id);
    if (parent == NO_SLOT && parent_id != VISD_ID_NONE)
        return refuse_id(c->why, VISD_ERR_NOT_FOUND, c->item, g->id, "group %" PRIu64 ": there is no group %" PRIu64 " to be its parent", g->id, parent_id);
    switch (groups_look_above(gs, slot, parent)) {
    case GROUPS_CYCLE:
        return refuse_id(c->why, VISD_ERR_BAD_VALUE, c->item, g->id, "group %" PRIu64 " would lie below itself through parent %" PRIu64, g->id, parent_id);
    case GROUPS_DEEP:
        return refuse_id(c->why, VISD_ERR_TOO_BIG, c->item, g->id, "group %" PRIu64 " would lie more than %d groups deep", g->id, VISD_SCENE_MAX_DEPTH);
    case GROUPS_CLEAR:
        break;
    }
    groups_set_parent(gs, slot, parent);
    return VISD_ERR_OK;
}

static enum visd_err group_make(struct commit *c, uint64_t id, bool new_only)
{
    struct visd_scene *s = c->scene;
    if (ids_find(&s->groups.ids, id) != NO_SLOT)
        return !new_only ? VISD_ERR_OK
                         : refuse_id(c->why, VISD_ERR_EXISTS, c->item, id, "group %" PRIu64 " exists already, and was to be new; choose another id", id);
    if (s->groups.ids.count >= s->max_groups)
        return refuse_id(c->why, VISD_ERR_TOO_BIG, c->item, id, "the scene is full: it may hold %" PRIu64 " groups", s->max_groups);
    uint32_t slot = commit_note_room(c) ? groups_add(&s->groups, id) : NO_SLOT;
    if (slot == NO_SLOT)
        return refuse_memory(c->why);
    commit_note(c, STEP_GROUP_ADD, slot);
    return VISD_ERR_OK;
}

static enum visd_err group_remove(struct commit *c, uint64_t id)
{
    struct groups *gs = &c->scene->groups;
    uint32_t slot = ids_find(&gs->ids, id);
    if (slot == NO_SLOT)
        return refuse_id(c->why, VISD_ERR_NOT_FOUND, c->item, id, "there is no group %" PRIu64, id);
    const struct group *g = &gs->group[slot];
    if (g->first_child != NO_SLOT || g->first_object != NO_SLOT)
        return refuse_id(c->why, VISD_ERR_BUSY, c->item, id, "group %" PRIu64 " has %s below it; remove or move them first", id,
            g->first_child != NO_SLOT ? "groups" : "objects");
    if (!commit_note_room(c) || !drop_name(c, g->name))
        return refuse_memory(c->why);
    commit_note(c, STEP_GROUP_REMOVE, slot);
    groups_hide(gs, slot);
    return VISD_ERR_OK;
}

/* ---- all ---- */

static enum visd_err apply_item(struct commit *c, const struct item *it)
{
    enum visd_err err = VISD_ERR_OK;
    switch (it->kind) {
    case ITEM_MESH_PUT:
        return mesh_put(c, it);
    case ITEM_MESH_REMOVE:
        for (uint64_t i = 0; i < it->count && err == VISD_ERR_OK; i++)
            err = mesh_remove(c, it->ids[i]);
        return err;
    case ITEM_GROUP_PUT: /* first all that are new, so that parents may come after their children */
        for (uint64_t i = 0; i < it->count && err == VISD_ERR_OK; i++)
            err = group_make(c, it->ids[i], it->new_only);
        for (uint64_t i = 0; i < it->count && err == VISD_ERR_OK; i++)
            err = group_change(c, it, i);
        return err;
    case ITEM_GROUP_REMOVE:
        for (uint64_t i = 0; i < it->count && err == VISD_ERR_OK; i++)
            err = group_remove(c, it->ids[i]);
        return err;
    case ITEM_OBJECT_ADD:
        for (uint64_t i = 0; i < it->count && err == VISD_ERR_OK; i++)
            err = object_add(c, it, i);
        return err;
    case ITEM_OBJECT_SET:
        for (uint64_t i = 0; i < it->count && err == VISD_ERR_OK; i++)
            err = object_set(c, it, i);
        return err;
    case ITEM_OBJECT_REMOVE:
        for (uint64_t i = 0; i < it->count && err == VISD_ERR_OK; i++)
            err = object_remove(c, it->ids[i]);
        return err;
    }
    return VISD_ERR_INTERNAL;
}

enum visd_err commit_apply(struct commit *c)
{
    enum visd_err err = VISD_ERR_OK;
    for (c->item = 0; c->item < c->batch->count && err == VISD_ERR_OK; c->item++)
        err = apply_item(c, &c->batch->item[c->item]);
    return err;
}
