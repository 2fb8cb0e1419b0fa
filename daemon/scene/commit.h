/* A commit in progress. Internal to daemon/scene.
 *
 *   apply    the items change the store, in order; every step is noted so that it can be undone
 *   resolve  what follows from them: groups below changed groups, users of replaced meshes
 *   stage    the records of all objects touched, into blocks of the segment
 *   finish   nothing can fail any more: jobs are queued, what was replaced is let go, the revision rises
 *
 * A refusal anywhere before finish undoes all steps, last first. What a step takes away is therefore kept until
 * finish: removed objects, meshes and groups stay in their slots, hidden; replaced names and mesh versions stay whole. */
#ifndef VISD_SCENE_COMMIT_H
#define VISD_SCENE_COMMIT_H

#include "batch.h"
#include "store.h"

enum step { STEP_OBJECT_ADD, STEP_OBJECT_SET, STEP_OBJECT_REMOVE, STEP_MESH_ADD, STEP_MESH_PUT, STEP_MESH_REMOVE,
    STEP_GROUP_ADD, STEP_GROUP_SET, STEP_GROUP_REMOVE };

struct noted {
    uint32_t step, slot;
};

struct saved_object {
    struct object row;
    double transform[12];
    struct extras extras;
    uint64_t name;
};

struct saved_group {
    double local[12];
    uint64_t name;
    uint32_t flags, parent;
};

struct stage {
    uint64_t block;
    uint32_t count;
};

#define LIST(type) struct { type *at; size_t count, room; }

struct commit {
    struct visd_scene *scene;
    struct visd_batch *batch;
    struct visd_refusal *why;
    size_t item;                          /* being applied */
    LIST(struct noted) noted;
    LIST(struct saved_object) objects;    /* a stack beside noted: one a STEP_OBJECT_SET */
    LIST(struct saved_group) groups;      /* one a STEP_GROUP_SET */
    LIST(struct version) versions;        /* one a STEP_MESH_PUT or _REMOVE: what was replaced */
    LIST(uint32_t) dirty;                 /* objects whose record is to be derived */
    LIST(uint32_t) moved;                 /* groups changed */
    LIST(uint32_t) put;                   /* meshes with a new version */
    LIST(uint64_t) dropped;               /* names replaced */
    LIST(struct stage) stages;
    size_t names_pieces, names_fill;      /* of the names when the commit began */
    uint64_t names_live;
    size_t meshes_removed;
    bool ids32;
};

#define list_room(list, more) grow(&(list).at, &(list).room, (list).count + (more), sizeof(*(list).at))

/* Each refuses through c->why. */
enum visd_err commit_apply(struct commit *c);
enum visd_err commit_resolve(struct commit *c);
enum visd_err commit_stage(struct commit *c, bool send); /* send: into blocks; else only looked at */
void commit_undo(struct commit *c);

/* Used by several of these. */
bool commit_note_room(struct commit *c);
void commit_note(struct commit *c, enum step step, uint32_t slot); /* room for it must have been made */
bool commit_mark(struct commit *c, uint32_t slot);        /* an object dirty */
bool commit_mark_group(struct commit *c, uint32_t slot);
void object_link_mesh(struct visd_scene *s, uint32_t slot, uint32_t mesh);   /* NO_SLOT: none; leaves the former's list */
void object_link_group(struct visd_scene *s, uint32_t slot, uint32_t group);
/* Derives the groups listed and all below them; refuses unless force. mark: objects are marked. */
enum visd_err resolve_groups(struct commit *c, bool mark);

#endif
