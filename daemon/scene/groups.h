/* The tree of groups. Internal to daemon/scene.
 *
 * Each group keeps its transform relative to its parent and, derived from that, its world transform and the flags that
 * hold for all below it. Commits change the former and then resolve: whatever lies below a changed group is derived
 * again, parents first. Invariants outside a commit: no cycles; depth at most VISD_SCENE_MAX_DEPTH; world and effective
 * flags are those of the tree as it is. */
#ifndef VISD_SCENE_GROUPS_H
#define VISD_SCENE_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ids.h"
#include "slots.h"

struct group {
    uint64_t id;
    double local[12], world[12];
    uint64_t name;               /* reference */
    uint32_t flags, effective;
    uint32_t parent;             /* slot, or NO_SLOT */
    uint32_t first_child, next, prev;
    uint32_t first_object;
    uint32_t depth;              /* 1: at the root */
    bool live;                   /* false: free, or removed by the commit in progress */
    bool dirty;                  /* changed by the commit in progress, not resolved yet */
    bool listed;                 /* in that commit's list */
};

struct groups {
    struct slots slots;
    struct ids ids;
    struct group *group;
    size_t room;
};

void groups_init(struct groups *g);
void groups_finish(struct groups *g);

/* A new group at the root with the identity. NO_SLOT: memory is short. */
uint32_t groups_add(struct groups *g, uint64_t id);
void groups_hide(struct groups *g, uint32_t slot);   /* also leaves its parent's list; must have nothing below */
void groups_unhide(struct groups *g, uint32_t slot);
void groups_release(struct groups *g, uint32_t slot);
void groups_set_parent(struct groups *g, uint32_t slot, uint32_t parent);

enum groups_above { GROUPS_CLEAR, GROUPS_CYCLE, GROUPS_DEEP };
/* Would this parent put the group below itself, or too deep? */
enum groups_above groups_look_above(const struct groups *g, uint32_t slot, uint32_t parent);

/* Derives one group from its parent, which must be derived. False: its world transform is not finite or too large. */
bool groups_derive(struct groups *g, uint32_t slot);
/* The next group in a walk of the tree below top, parents first; NO_SLOT at its end. */
uint32_t groups_walk(const struct groups *g, uint32_t top, uint32_t at);

size_t groups_bytes(const struct groups *g);

#endif
