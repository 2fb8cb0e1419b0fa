/* Which numbered batches have been committed, and what they were answered. Internal to daemon/scene. */
#ifndef VISD_SCENE_REPLIES_H
#define VISD_SCENE_REPLIES_H

#include <stddef.h>
#include <stdint.h>

#include "scene.h"

struct replies_client {
    uint8_t client[16];
    uint64_t number;                          /* the last one committed */
    uint64_t revision[VISD_SCENE_REPLIES];    /* of number n: at n % VISD_SCENE_REPLIES */
    uint64_t used;                            /* the scene's revision when it was last here */
};

struct replies {
    struct replies_client *client;
    size_t count, room;
};

void replies_finish(struct replies *r);
enum visd_err replies_check(const struct replies *r, const uint8_t client[16], uint64_t number, struct visd_commit_reply *reply,
    struct visd_refusal *why);
/* Makes room, so that the put that follows a success cannot fail. */
bool replies_reserve(struct replies *r, const uint8_t client[16]);
void replies_put(struct replies *r, const uint8_t client[16], uint64_t number, uint64_t revision);

#endif
