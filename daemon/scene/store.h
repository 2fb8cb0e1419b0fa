/* The whole of a scene, for the files of daemon/scene. */
#ifndef VISD_SCENE_STORE_H
#define VISD_SCENE_STORE_H

#include "groups.h"
#include "meshes.h"
#include "names.h"
#include "objects.h"
#include "outbox.h"
#include "replies.h"
#include "scene.h"

struct visd_scene {
    struct visd_segment *segment;
    uint32_t number;
    char name[VISD_SCENE_NAME_MAX + 1];
    double metres_per_unit;
    uint64_t max_objects, max_groups, max_meshes;
    uint64_t revision;
    bool ids32;             /* sticky: false once an id has needed more */
    struct objects objects;
    struct groups groups;
    struct meshes meshes;
    struct names names;
    struct outbox outbox;
    struct replies replies;
};

/* Copies the living names into fresh pieces. If memory is short the old ones stay: waste, not harm. */
void scene_squeeze_names(struct visd_scene *scene);

#endif
