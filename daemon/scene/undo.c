/* Undoing a commit's steps, last first. Nothing here can fail: whatever a step took away has been kept. */
#include <string.h>

#include "commit.h"
#include "grow.h"

static void undo_object_set(struct commit *c, uint32_t slot)
{
    struct visd_scene *s = c->scene;
    struct object *ob = objects_at(&s->objects, slot);
    const struct saved_object *saved = &c->objects.at[--c->objects.count];
    object_link_mesh(s, slot, saved->row.mesh);
    object_link_group(s, slot, saved->row.group);
    struct twins in_mesh = ob->in_mesh, in_group = ob->in_group;
    *ob = saved->row;
    ob->in_mesh = in_mesh;
    ob->in_group = in_group;
    if (ob->flags & OBJECT_HAS_TRANSFORM)
        memcpy(objects_transform(&s->objects, slot), saved->transform, sizeof(saved->transform));
    struct extras *extras = objects_extras(&s->objects, slot);
    if (extras)
        *extras = saved->extras;
    uint64_t *name = objects_name(&s->objects, slot);
    if (name)
        *name = saved->name;
}

static void undo_object_remove(struct commit *c, uint32_t slot)
{
    struct object *ob = objects_at(&c->scene->objects, slot);
    uint32_t mesh = ob->mesh, group = ob->group;
    ob->mesh = ob->group = NO_SLOT; /* it is in no list */
    objects_unhide(&c->scene->objects, slot);
    object_link_mesh(c->scene, slot, mesh);
    object_link_group(c->scene, slot, group);
}

static void undo_object_add(struct commit *c, uint32_t slot)
{
    object_link_mesh(c->scene, slot, NO_SLOT);
    object_link_group(c->scene, slot, NO_SLOT);
    objects_hide(&c->scene->objects, slot);
    objects_release(&c->scene->objects, slot);
}

static void undo_group_set(struct commit *c, uint32_t slot)
{
    struct group *g = &c->scene->groups.group[slot];
    const struct saved_group *saved = &c->groups.at[--c->groups.count];
    groups_set_parent(&c->scene->groups, slot, saved->parent);
    memcpy(g->local, saved->local, sizeof(g->local));
    g->flags = saved->flags;
    g->name = saved->name;
}

static void undo_step(struct commit *c, const struct noted *n)
{
    struct meshes *m = &c->scene->meshes;
    switch ((enum step)n->step) {
    case STEP_OBJECT_ADD:
        undo_object_add(c, n->slot);
        break;
    case STEP_OBJECT_SET:
        undo_object_set(c, n->slot);
        break;
    case STEP_OBJECT_REMOVE:
        undo_object_remove(c, n->slot);
        break;
    case STEP_MESH_ADD:
        meshes_hide(m, n->slot);
        meshes_release(m, n->slot);
        break;
    case STEP_MESH_PUT:
        slots_give(&m->device, meshes_swap(m, n->slot, c->versions.at[--c->versions.count]).device);
        break;
    case STEP_MESH_REMOVE:
        meshes_unhide(m, n->slot);
        break;
    case STEP_GROUP_ADD:
        groups_hide(&c->scene->groups, n->slot);
        groups_release(&c->scene->groups, n->slot);
        break;
    case STEP_GROUP_SET:
        undo_group_set(c, n->slot);
        break;
    case STEP_GROUP_REMOVE:
        groups_unhide(&c->scene->groups, n->slot);
        break;
    }
}

static void undo_names(struct commit *c)
{
    struct names *n = &c->scene->names;
    while (n->pieces > c->names_pieces)
        free(n->piece[--n->pieces]);
    n->fill = c->names_fill;
    n->live = c->names_live;
}

void commit_undo(struct commit *c)
{
    struct visd_scene *s = c->scene;
    for (size_t i = c->stages.count; i > 0; i--)
        visd_segment_free(s->segment, c->stages.at[i - 1].block);
    c->stages.count = 0;
    while (c->noted.count > 0)
        undo_step(c, &c->noted.at[--c->noted.count]);
    undo_names(c);
    for (size_t i = 0; i < c->moved.count; i++)
        s->groups.group[c->moved.at[i]].dirty = s->groups.group[c->moved.at[i]].live;
    resolve_groups(c, false); /* back to what they were */
    for (size_t i = 0; i < c->put.count; i++)
        s->meshes.mesh[c->put.at[i]].listed = false;
    for (size_t i = 0; i < c->moved.count; i++)
        s->groups.group[c->moved.at[i]].listed = s->groups.group[c->moved.at[i]].dirty = false;
    for (size_t i = 0; i < c->dirty.count; i++) {
        objects_at(&s->objects, c->dirty.at[i])->flags &= ~(uint32_t)(OBJECT_DIRTY | OBJECT_FRESH);
        objects_chunk(&s->objects, c->dirty.at[i])->loose = true; /* staging may have added to its bounds */
    }
}
