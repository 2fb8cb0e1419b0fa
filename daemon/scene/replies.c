/* Batch numbers: each client counts from 1, and each number is committed once.
 *
 * The last few replies are kept a client, because a client may have several batches under way when its link breaks, and
 * then sends them all again. */
#include "replies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "refuse.h"

void replies_finish(struct replies *r)
{
    free(r->client);
    memset(r, 0, sizeof(*r));
}

static struct replies_client *find(const struct replies *r, const uint8_t client[16])
{
    for (size_t i = 0; i < r->count; i++)
        if (memcmp(r->client[i].client, client, sizeof(r->client[i].client)) == 0)
            return &r->client[i];
    return NULL;
}

enum visd_err replies_check(const struct replies *r, const uint8_t client[16], uint64_t number, struct visd_commit_reply *reply,
    struct visd_refusal *why)
{
    const struct replies_client *c = find(r, client);
    uint64_t last = c ? c->number : 0;
    if (number == last + 1)
        return VISD_ERR_OK;
    if (number > last || number == 0)
        return refuse(why, VISD_ERR_CONFLICT, UINT64_MAX, "batch number %" PRIu64 " is out of turn: the next number of this client is %" PRIu64,
            number, last + 1);
    if (last - number >= VISD_SCENE_REPLIES)
        return refuse(why, VISD_ERR_CONFLICT, UINT64_MAX,
            "batch number %" PRIu64 " was committed long ago and its reply is no longer kept: the next number of this client is %" PRIu64,
            number, last + 1);
    reply->number = number;
    reply->revision = c->revision[number % VISD_SCENE_REPLIES];
    reply->duplicate = true;
    return VISD_ERR_EXISTS;
}

bool replies_reserve(struct replies *r, const uint8_t client[16])
{
    return r->count >= VISD_SCENE_CLIENTS || find(r, client) || grow(&r->client, &r->room, r->count + 1, sizeof(*r->client));
}

void replies_put(struct replies *r, const uint8_t client[16], uint64_t number, uint64_t revision)
{
    struct replies_client *c = find(r, client);
    if (!c) {
        if (r->count < VISD_SCENE_CLIENTS) {
            c = &r->client[r->count++];
        } else {
            c = &r->client[0];
            for (size_t i = 1; i < r->count; i++)
                if (r->client[i].used < c->used)
                    c = &r->client[i];
        }
        memset(c, 0, sizeof(*c));
        memcpy(c->client, client, sizeof(c->client));
    }
    c->number = number;
    c->revision[number % VISD_SCENE_REPLIES] = revision;
    c->used = revision;
}
