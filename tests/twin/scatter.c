/* Scatter: a commit's changes take their slots. */
#include <stdlib.h>
#include <string.h>

#include "twin.h"

void twin_scatter(struct twin_scene *scene, const struct visd_object_change *changes, uint32_t count, uint32_t slots)
{
    if (slots > scene->slot_capacity) {
        uint32_t capacity = slots + slots / 2;
        scene->bounds = realloc(scene->bounds, capacity * sizeof(*scene->bounds));
        scene->info = realloc(scene->info, capacity * sizeof(*scene->info));
        scene->fine = realloc(scene->fine, capacity * sizeof(*scene->fine));
        memset(scene->bounds + scene->slot_capacity, 0, (capacity - scene->slot_capacity) * sizeof(*scene->bounds));
        memset(scene->info + scene->slot_capacity, 0, (capacity - scene->slot_capacity) * sizeof(*scene->info));
        memset(scene->fine + scene->slot_capacity, 0, (capacity - scene->slot_capacity) * sizeof(*scene->fine));
        scene->slot_capacity = capacity;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&scene->bounds[changes[i].slot], &changes[i].bounds, sizeof(scene->bounds[0]));
        memcpy(&scene->info[changes[i].slot], &changes[i].info, sizeof(scene->info[0]));
        memcpy(&scene->fine[changes[i].slot], &changes[i].fine, sizeof(scene->fine[0]));
    }
    scene->slots = slots;
}
