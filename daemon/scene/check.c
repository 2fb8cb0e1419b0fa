/* The invariants of a scene, looked at one by one. Slow: for tests and assert. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affine.h"
#include "derive.h"
#include "store.h"

#define HOLDS(condition) do { if (!(condition)) broken(#condition, __LINE__); } while (0)

static _Noreturn void broken(const char *what, int line)
{
    fprintf(stderr, "visd: scene: invariant broken: %s (daemon/scene/check.c:%d)\n", what, line);
    abort();
}

static void check_slots(const struct slots *s)
{
    uint32_t count = 0, last = 0;
    for (uint32_t slot = slots_next(s, 0); slot != NO_SLOT; slot = slots_next(s, slot + 1)) {
        count++;
        last = slot + 1;
    }
    HOLDS(count == s->count && last == s->top);
    for (uint32_t w = 0; w < s->room / 64; w++) {
        bool roomy = s->roomy[w / 64] >> (w % 64) & 1;
        HOLDS(roomy == (s->used[w] != UINT64_MAX));
        HOLDS(!roomy || w / 64 >= s->first);
    }
}

static void check_objects(const struct visd_scene *s)
{
    const struct objects *o = &s->objects;
    check_slots(&o->slots);
    HOLDS(o->ids.count == o->slots.count);
    for (uint32_t slot = slots_next(&o->slots, 0); slot != NO_SLOT; slot = slots_next(&o->slots, slot + 1)) {
        const struct object *ob = objects_at(o, slot);
        HOLDS(ob->flags & OBJECT_LIVE);
        HOLDS(!(ob->flags & (OBJECT_DIRTY | OBJECT_FRESH)));
        HOLDS(!(ob->flags & OBJECT_HAS_BOX) || !(ob->flags & OBJECT_HUGE_BOX));
        HOLDS(ob->generation != 0);
        HOLDS(ids_find(&o->ids, ob->id) == slot);
        HOLDS(!s->ids32 || ob->id <= UINT32_MAX);
        HOLDS(ob->mesh == NO_SLOT || s->meshes.mesh[ob->mesh].live);
        HOLDS(ob->group == NO_SLOT || s->groups.group[ob->group].live);
        HOLDS(ob->in_mesh.next == NO_SLOT || objects_at(o, ob->in_mesh.next)->in_mesh.prev == slot);
        HOLDS(ob->in_group.next == NO_SLOT || objects_at(o, ob->in_group.next)->in_group.prev == slot);
    }
}

static void check_meshes(const struct visd_scene *s)
{
    const struct meshes *m = &s->meshes;
    uint64_t triangles = 0, placed = 0, bytes = 0;
    check_slots(&m->slots);
    check_slots(&m->device);
    HOLDS(m->ids.count == m->slots.count);
    for (uint32_t slot = slots_next(&m->slots, 0); slot != NO_SLOT; slot = slots_next(&m->slots, slot + 1)) {
        const struct mesh *mesh = &m->mesh[slot];
        uint32_t users = 0;
        HOLDS(mesh->live && !mesh->listed && mesh->version.block != 0);
        HOLDS(ids_find(&m->ids, mesh->id) == slot);
        HOLDS(slots_has(&m->device, mesh->version.device));
        for (uint32_t at = mesh->first_user; at != NO_SLOT; at = objects_at(&s->objects, at)->in_mesh.next) {
            HOLDS(objects_at(&s->objects, at)->mesh == slot);
            users++;
        }
        HOLDS(users == mesh->users);
        triangles += mesh->version.triangles;
        placed += mesh->version.triangles * users;
        bytes += mesh->version.bytes;
    }
    HOLDS(triangles == m->triangles && placed == m->placed && bytes == m->bytes);
}

static void check_groups(const struct visd_scene *s)
{
    const struct groups *gs = &s->groups;
    check_slots(&gs->slots);
    HOLDS(gs->ids.count == gs->slots.count);
    for (uint32_t slot = slots_next(&gs->slots, 0); slot != NO_SLOT; slot = slots_next(&gs->slots, slot + 1)) {
        const struct group *g = &gs->group[slot];
        double world[12];
        HOLDS(g->live && !g->dirty && !g->listed);
        HOLDS(ids_find(&gs->ids, g->id) == slot);
        HOLDS(g->depth <= VISD_SCENE_MAX_DEPTH);
        if (g->parent == NO_SLOT) {
            HOLDS(g->depth == 1 && g->effective == g->flags && memcmp(g->world, g->local, sizeof(world)) == 0);
        } else {
            const struct group *parent = &gs->group[g->parent];
            affine_multiply(world, parent->world, g->local);
            HOLDS(parent->live && g->depth == parent->depth + 1 && g->effective == (parent->effective | g->flags));
            HOLDS(memcmp(g->world, world, sizeof(world)) == 0);
        }
        HOLDS(g->next == NO_SLOT || gs->group[g->next].prev == slot);
        for (uint32_t at = g->first_child; at != NO_SLOT; at = gs->group[at].next)
            HOLDS(gs->group[at].parent == slot);
        for (uint32_t at = g->first_object; at != NO_SLOT; at = objects_at(&s->objects, at)->in_group.next)
            HOLDS(objects_at(&s->objects, at)->group == slot);
    }
}

static void check_bounds(const struct visd_scene *s)
{
    for (uint32_t slot = slots_next(&s->objects.slots, 0); slot != NO_SLOT; slot = slots_next(&s->objects.slots, slot + 1)) {
        const struct chunk *chunk = objects_chunk(&s->objects, slot);
        struct derived d;
        HOLDS(derive(s, slot, &d));
        if (chunk->loose || !d.counts)
            continue;
        HOLDS(chunk->bounded);
        for (int k = 0; k < 3; k++)
            HOLDS(chunk->min[k] <= d.min[k] && chunk->max[k] >= d.max[k]);
    }
}

static void check_names(const struct visd_scene *s)
{
    uint64_t live = 0;
    uint32_t length;
    for (uint32_t slot = slots_next(&s->objects.slots, 0); slot != NO_SLOT; slot = slots_next(&s->objects.slots, slot + 1)) {
        const uint64_t *name = objects_name(&s->objects, slot);
        names_get(&s->names, name ? *name : NAME_NONE, &length);
        live += length;
    }
    for (uint32_t slot = slots_next(&s->groups.slots, 0); slot != NO_SLOT; slot = slots_next(&s->groups.slots, slot + 1)) {
        names_get(&s->names, s->groups.group[slot].name, &length);
        live += length;
    }
    HOLDS(live == s->names.live);
}

static void check_outbox(const struct visd_scene *s)
{
    const struct outbox *b = &s->outbox;
    uint64_t bytes = 0;
    HOLDS(b->sent <= b->count && b->first + b->count <= b->room);
    for (size_t i = 0; i < b->count; i++) {
        const struct out *o = &b->row[b->first + i];
        HOLDS(!o->done || i < b->sent);
        if (!o->done && (o->kind == VISD_JOB_STAGE || o->kind == VISD_JOB_MESH_REMOVE))
            bytes += o->bytes;
    }
    HOLDS(bytes == b->bytes);
    HOLDS(b->load != LOAD_OPEN || b->count == 0);
    HOLDS(b->applied <= s->revision);
}

bool visd_scene_check(struct visd_scene *s)
{
    check_objects(s);
    check_meshes(s);
    check_groups(s);
    check_bounds(s);
    check_names(s);
    check_outbox(s);
    return true;
}
