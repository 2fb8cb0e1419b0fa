/* Committing a batch: whole, or not at all. The phases are those of commit.h. */
#include "commit.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "refuse.h"

#define CHECKED_SLOTS 4096 /* a build with asserts looks at the whole of a scene up to this size after each commit, refused or not */

/* A version that nothing refers to any more: the worker lets go of it first, if it has ever heard of it. */
static void retire(struct visd_scene *s, const struct version *v)
{
    if (v->block == 0)
        return;
    if (v->sent) {
        outbox_put(&s->outbox, &(struct out){ .kind = VISD_JOB_MESH_REMOVE, .slot = v->device, .block = v->block, .bytes = v->bytes });
        return;
    }
    visd_segment_free(s->segment, v->block);
    slots_give(&s->meshes.device, v->device);
}

static void finish_puts(struct commit *c, bool send)
{
    struct visd_scene *s = c->scene;
    for (size_t i = 0; i < c->put.count; i++) {
        struct mesh *m = &s->meshes.mesh[c->put.at[i]];
        m->listed = false;
        if (!send || !m->live)
            continue;
        m->version.sent = true;
        outbox_put(&s->outbox, &(struct out){ .kind = VISD_JOB_MESH_ADD, .slot = m->version.device, .block = m->version.block, .bytes = m->version.bytes });
    }
    for (size_t i = 0; i < c->batch->count; i++)
        c->batch->item[i].block = 0; /* the scene's now */
}

static void finish_removals(struct commit *c)
{
    struct visd_scene *s = c->scene;
    for (size_t i = 0; i < c->versions.count; i++)
        retire(s, &c->versions.at[i]);
    for (size_t i = 0; i < c->noted.count; i++) {
        uint32_t slot = c->noted.at[i].slot;
        switch ((enum step)c->noted.at[i].step) {
        case STEP_OBJECT_REMOVE:
            objects_release(&s->objects, slot);
            break;
        case STEP_MESH_REMOVE:
            retire(s, &s->meshes.mesh[slot].version);
            meshes_release(&s->meshes, slot);
            break;
        case STEP_GROUP_REMOVE:
            groups_release(&s->groups, slot);
            break;
        default:
            break;
        }
    }
}

static void finish(struct commit *c, bool send)
{
    struct visd_scene *s = c->scene;
    s->revision++;
    s->ids32 = c->ids32;
    finish_puts(c, send);
    for (size_t i = 0; i < c->stages.count; i++)
        outbox_put(&s->outbox, &(struct out){ .kind = VISD_JOB_STAGE, .block = c->stages.at[i].block, .value = c->stages.at[i].count,
            .bytes = c->stages.at[i].count * sizeof(struct visd_object_change) });
    for (size_t i = 0; i < c->dirty.count; i++)
        objects_at(&s->objects, c->dirty.at[i])->flags &= ~(uint32_t)(OBJECT_DIRTY | OBJECT_FRESH);
    for (size_t i = 0; i < c->moved.count; i++)
        s->groups.group[c->moved.at[i]].listed = s->groups.group[c->moved.at[i]].dirty = false;
    uint32_t slots = s->objects.slots.top; /* with those that die now: their changes must find room */
    if (send)
        outbox_put(&s->outbox, &(struct out){ .kind = VISD_JOB_APPLY, .value = s->revision, .slots = slots });
    finish_removals(c);
    for (size_t i = 0; i < c->dropped.count; i++)
        names_drop(&s->names, c->dropped.at[i]);
    if (names_wasteful(&s->names))
        scene_squeeze_names(s);
    c->batch->spent = true;
}

static enum visd_err commit_run(struct commit *c)
{
    struct visd_scene *s = c->scene;
    bool send = s->outbox.load != LOAD_OPEN;
    enum visd_err err = commit_apply(c);
    if (err == VISD_ERR_OK)
        err = commit_resolve(c);
    if (err == VISD_ERR_OK)
        err = commit_stage(c, send);
    size_t jobs = c->put.count + c->stages.count + 1 + c->versions.count + c->meshes_removed;
    if (err == VISD_ERR_OK && send && !outbox_reserve(&s->outbox, jobs))
        err = refuse_memory(c->why);
    if (err != VISD_ERR_OK) {
        commit_undo(c);
        return err;
    }
    finish(c, send);
    return VISD_ERR_OK;
}

enum visd_err visd_scene_commit(struct visd_scene *s, struct visd_batch *batch, const struct visd_commit_params *params,
    struct visd_commit_reply *reply, struct visd_refusal *why)
{
    struct commit c = { .scene = s, .batch = batch, .why = why, .ids32 = s->ids32, .names_pieces = s->names.pieces,
        .names_fill = s->names.fill, .names_live = s->names.live };
    enum visd_err err = VISD_ERR_OK;
    memset(reply, 0, sizeof(*reply));
    if (s->outbox.closing)
        return refuse(why, VISD_ERR_NOT_FOUND, UINT64_MAX, "the scene has been removed");
    if (params->client)
        err = replies_check(&s->replies, params->client, params->number, reply, why);
    if (err != VISD_ERR_OK)
        return err == VISD_ERR_EXISTS ? VISD_ERR_OK : err;
    if (batch->spent)
        return refuse(why, VISD_ERR_CONFLICT, UINT64_MAX, "the batch has been committed already");
    if (params->has_if_revision && params->if_revision != s->revision)
        return refuse(why, VISD_ERR_CONFLICT, UINT64_MAX, "the batch is meant for revision %" PRIu64 ", but the scene is at revision %" PRIu64
            "; look again and send it anew", params->if_revision, s->revision);
    if ((params->client && !replies_reserve(&s->replies, params->client)) || !outbox_flush_load(s))
        return refuse_memory(why);

    err = commit_run(&c);
    if (err == VISD_ERR_OK) {
        reply->number = params->number;
        reply->revision = s->revision;
        if (params->client)
            replies_put(&s->replies, params->client, params->number, s->revision);
    }
    free(c.noted.at);
    free(c.objects.at);
    free(c.groups.at);
    free(c.versions.at);
    free(c.dirty.at);
    free(c.moved.at);
    free(c.put.at);
    free(c.dropped.at);
    free(c.stages.at);
    assert(s->objects.slots.top > CHECKED_SLOTS || visd_scene_check(s));
    return err;
}
