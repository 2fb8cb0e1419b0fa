/* The tree of groups; see groups.h. */
#include "groups.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "affine.h"
#include "grow.h"
#include "objects.h"
#include "scene.h"

static uint64_t id_of(const void *owner, uint32_t slot)
{
    return ((const struct groups *)owner)->group[slot].id;
}

void groups_init(struct groups *g)
{
    memset(g, 0, sizeof(*g));
    ids_init(&g->ids, id_of, g);
}

void groups_finish(struct groups *g)
{
    free(g->group);
    slots_finish(&g->slots);
    ids_finish(&g->ids);
    memset(g, 0, sizeof(*g));
}

static void enter(struct groups *g, uint32_t slot)
{
    struct group *group = &g->group[slot];
    group->next = group->prev = NO_SLOT;
    if (group->parent == NO_SLOT)
        return; /* nobody walks the roots */
    struct group *parent = &g->group[group->parent];
    group->next = parent->first_child;
    if (group->next != NO_SLOT)
        g->group[group->next].prev = slot;
    parent->first_child = slot;
}

static void leave(struct groups *g, uint32_t slot)
{
    struct group *group = &g->group[slot];
    if (group->parent == NO_SLOT)
        return;
    if (group->prev != NO_SLOT)
        g->group[group->prev].next = group->next;
    else
        g->group[group->parent].first_child = group->next;
    if (group->next != NO_SLOT)
        g->group[group->next].prev = group->prev;
}

uint32_t groups_add(struct groups *g, uint64_t id)
{
    uint32_t slot = slots_take(&g->slots);
    if (slot == NO_SLOT)
        return NO_SLOT;
    if (!grow(&g->group, &g->room, (size_t)slot + 1, sizeof(*g->group)))
        goto error;
    g->group[slot] = (struct group){ .id = id, .parent = NO_SLOT, .first_child = NO_SLOT, .next = NO_SLOT, .prev = NO_SLOT,
        .first_object = NO_SLOT, .depth = 1, .live = true };
    affine_identity(g->group[slot].local);
    affine_identity(g->group[slot].world);
    if (!ids_insert(&g->ids, id, slot))
        goto error;
    return slot;
error:
    slots_give(&g->slots, slot);
    return NO_SLOT;
}

void groups_hide(struct groups *g, uint32_t slot)
{
    assert(g->group[slot].first_child == NO_SLOT && g->group[slot].first_object == NO_SLOT);
    leave(g, slot);
    ids_remove(&g->ids, g->group[slot].id);
    g->group[slot].live = false;
}

void groups_unhide(struct groups *g, uint32_t slot)
{
    bool in = ids_insert(&g->ids, g->group[slot].id, slot); /* was in before, so there is room */
    assert(in);
    (void)in;
    g->group[slot].live = true;
    enter(g, slot);
}

void groups_release(struct groups *g, uint32_t slot)
{
    slots_give(&g->slots, slot);
}

void groups_set_parent(struct groups *g, uint32_t slot, uint32_t parent)
{
    leave(g, slot);
    g->group[slot].parent = parent;
    enter(g, slot);
}

enum groups_above groups_look_above(const struct groups *g, uint32_t slot, uint32_t parent)
{
    unsigned steps = 1;
    for (uint32_t p = parent; p != NO_SLOT; p = g->group[p].parent) {
        if (p == slot)
            return GROUPS_CYCLE;
        if (++steps > VISD_SCENE_MAX_DEPTH)
            return GROUPS_DEEP;
    }
    return GROUPS_CLEAR;
}

bool groups_derive(struct groups *g, uint32_t slot)
{
    struct group *group = &g->group[slot];
    if (group->parent == NO_SLOT) {
        memcpy(group->world, group->local, sizeof(group->world));
        group->effective = group->flags;
        group->depth = 1;
    } else {
        const struct group *parent = &g->group[group->parent];
        affine_multiply(group->world, parent->world, group->local);
        group->effective = parent->effective | group->flags;
        group->depth = parent->depth + 1;
    }
    for (int i = 0; i < 12; i++)
        if (!(group->world[i] > -VISD_SCENE_UNBOUNDED && group->world[i] < VISD_SCENE_UNBOUNDED))
            return false;
    return true;
}

uint32_t groups_walk(const struct groups *g, uint32_t top, uint32_t at)
{
    if (g->group[at].first_child != NO_SLOT)
        return g->group[at].first_child;
    while (at != top) {
        if (g->group[at].next != NO_SLOT)
            return g->group[at].next;
        at = g->group[at].parent;
    }
    return NO_SLOT;
}

size_t groups_bytes(const struct groups *g)
{
    return g->room * sizeof(*g->group) + g->ids.room * sizeof(*g->ids.entry) + slots_bytes(&g->slots);
}
