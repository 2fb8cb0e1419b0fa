/* What follows from the items: groups below changed groups, users of replaced meshes, and the records of all of these.
 *
 * A changed group may lie below another changed one. Each walk therefore starts at the topmost changed group above, so
 * that every group is derived once, however many of its ancestors a batch moves. */
#include <inttypes.h>
#include <string.h>

#include "commit.h"
#include "derive.h"
#include "grow.h"
#include "refuse.h"

static uint32_t topmost_dirty(const struct groups *gs, uint32_t slot)
{
    uint32_t top = slot;
    for (uint32_t p = gs->group[slot].parent; p != NO_SLOT; p = gs->group[p].parent)
        if (gs->group[p].dirty)
            top = p;
    return top;
}

static bool mark_objects(struct commit *c, uint32_t group)
{
    uint32_t slot = c->scene->groups.group[group].first_object;
    for (; slot != NO_SLOT; slot = objects_at(&c->scene->objects, slot)->in_group.next)
        if (!commit_mark(c, slot))
            return false;
    return true;
}

static enum visd_err resolve_group(struct commit *c, uint32_t slot, bool mark)
{
    struct groups *gs = &c->scene->groups;
    struct group *g = &gs->group[slot];
    double world[12];
    uint32_t effective = g->effective;
    memcpy(world, g->world, sizeof(world));
    bool right = groups_derive(gs, slot);
    g->dirty = false;
    if (!mark)
        return VISD_ERR_OK;
    if (!right)
        return refuse_id(c->why, VISD_ERR_BAD_VALUE, UINT64_MAX, g->id,
            "group %" PRIu64 ": its transform, with those above it, is not finite or beyond 1e30; bring it nearer or scale it down", g->id);
    if (g->depth > VISD_SCENE_MAX_DEPTH)
        return refuse_id(c->why, VISD_ERR_TOO_BIG, UINT64_MAX, g->id, "group %" PRIu64 " would lie more than %d groups deep", g->id, VISD_SCENE_MAX_DEPTH);
    if ((memcmp(world, g->world, sizeof(world)) != 0 || effective != g->effective) && !mark_objects(c, slot))
        return refuse_memory(c->why);
    return VISD_ERR_OK;
}

enum visd_err resolve_groups(struct commit *c, bool mark)
{
    struct groups *gs = &c->scene->groups;
    for (size_t i = 0; i < c->moved.count; i++) {
        uint32_t slot = c->moved.at[i];
        if (!gs->group[slot].live || !gs->group[slot].dirty)
            continue;
        uint32_t top = topmost_dirty(gs, slot);
        for (uint32_t at = top; at != NO_SLOT; at = groups_walk(gs, top, at)) {
            enum visd_err err = resolve_group(c, at, mark);
            if (err != VISD_ERR_OK)
                return err;
        }
    }
    return VISD_ERR_OK;
}

enum visd_err commit_resolve(struct commit *c)
{
    for (size_t i = 0; i < c->put.count; i++) {
        uint32_t slot = c->scene->meshes.mesh[c->put.at[i]].first_user;
        for (; slot != NO_SLOT; slot = objects_at(&c->scene->objects, slot)->in_mesh.next)
            if (!commit_mark(c, slot))
                return refuse_memory(c->why);
    }
    return resolve_groups(c, true);
}

/* ---- staging ---- */

static void note_bounds(struct chunk *chunk, const struct object *ob, const struct derived *d)
{
    if (!(ob->flags & OBJECT_FRESH)) { /* where it was before is forgotten by now */
        chunk->loose = true;
        return;
    }
    if (!d->counts)
        return;
    for (int k = 0; k < 3; k++) {
        chunk->min[k] = chunk->bounded && chunk->min[k] < d->min[k] ? chunk->min[k] : d->min[k];
        chunk->max[k] = chunk->bounded && chunk->max[k] > d->max[k] ? chunk->max[k] : d->max[k];
    }
    chunk->bounded = true;
}

static enum visd_err too_large(struct commit *c, const struct object *ob)
{
    return refuse_id(c->why, VISD_ERR_BAD_VALUE, UINT64_MAX, ob->id,
        "object %" PRIu64 ": its transform, with its groups', takes it or its box beyond 1e30; bring it nearer, scale it down or send it unbounded", ob->id);
}

enum visd_err commit_stage(struct commit *c, bool send)
{
    struct visd_scene *s = c->scene;
    struct visd_object_change *change = NULL;
    struct derived d;
    for (size_t i = 0; i < c->dirty.count; i++) {
        uint32_t slot = c->dirty.at[i];
        const struct object *ob = objects_at(&s->objects, slot);
        if (send && i % VISD_SCENE_SLICE == 0) {
            size_t count = c->dirty.count - i < VISD_SCENE_SLICE ? c->dirty.count - i : VISD_SCENE_SLICE;
            struct stage stage = { .count = (uint32_t)count };
            if (!list_room(c->stages, 1) || visd_segment_alloc(s->segment, count * sizeof(*change), &stage.block) != VISD_ERR_OK)
                return refuse_memory(c->why);
            c->stages.at[c->stages.count++] = stage;
            change = visd_segment_at(s->segment, stage.block);
        }
        if (!derive(s, slot, &d))
            return too_large(c, ob);
        note_bounds(objects_chunk(&s->objects, slot), ob, &d);
        if (send)
            *change++ = d.change;
    }
    return VISD_ERR_OK;
}
