/* Committing: from a batch that was taken to a revision that everyone sees, and the answers about it.
 *
 * A commit is paid for before it is made. A writer that is far ahead of the worker waits for its answer: what is staged but not yet on the
 * device is memory too. Subscribers and the views that wait for a change hear of it at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

#define BACKLOG_BYTES (256u << 20) /* on their way to the worker; above that, answers to commits wait */

/* ---- answers ---- */

void batch_refuse_refusal(struct call *call, const struct visd_refusal *why, uint64_t first_item)
{
    struct visd_msg_error error = {.err = (uint32_t)why->err, .text = visd_str_of(why->text)};
    if (why->item != UINT64_MAX) {
        error.has_item = true;
        error.item = first_item + why->item;
    }
    if (why->id_count) {
        error.has_id = true;
        error.id = why->ids[0];
    }
    call_refuse_error(call, &error);
}

void batch_refuse_expected(struct call *call, uint64_t expected, const char *text)
{
    struct visd_msg_error error = {.err = VISD_ERR_CONFLICT, .text = visd_str_of(text), .has_expected = true, .expected = expected};
    call_refuse_error(call, &error);
}

static void committed(struct visd_message *out, uint64_t number, uint64_t revision)
{
    memset(out, 0, sizeof(*out));
    out->type = VISD_MSG_COMMITTED;
    out->committed.number = number;
    out->committed.revision = revision;
    out->committed.durable = false; /* scenes are held in memory only */
}

void batch_reply_committed(struct call *call, uint64_t number, uint64_t revision)
{
    struct visd_message out;
    committed(&out, number, revision);
    call_reply(call, &out);
}

/* ---- committing ---- */

/* Room in the user's share of scene memory; what a commit will take is bounded by what the batch holds. */
static bool take_bytes(struct call *call, struct scene_slot *slot, size_t bytes)
{
    struct visd_server *server = call->server;
    if (visd_charge_take(&slot->bytes, &server->users, slot->user, VISD_QUOTA_SCENE_BYTES, bytes) == VISD_ERR_OK)
        return true;
    struct visd_scene_info info; /* the sum of bounds is no longer good enough */
    visd_scene_info(slot->scene, &info);
    visd_charge_force(&slot->bytes, &server->users, slot->user, VISD_QUOTA_SCENE_BYTES, info.bytes_host + info.bytes_segment);
    if (visd_charge_take(&slot->bytes, &server->users, slot->user, VISD_QUOTA_SCENE_BYTES, bytes) == VISD_ERR_OK)
        return true;
    call_refuse(call, VISD_ERR_QUOTA, "scene '%s': user_scene_mib (%d) is used up by its user's scenes; remove something", slot->name,
                VISD_MAX_USER_SCENE_MIB);
    return false;
}

/* Whether so much is on its way to the worker that the writer should wait. */
static bool is_ahead(const struct visd_server *server, const struct scene_slot *slot)
{
    return server_has_worker(server) && slot->scene && !slot->closing && visd_scene_backlog(slot->scene) > BACKLOG_BYTES;
}

static bool keep_back(struct call *call, const struct scene_slot *slot, uint64_t number, uint64_t revision)
{
    struct late_commit *late = calloc(1, sizeof(*late)), **link = &call->server->late;
    if (!late)
        return false;
    late->n = call->in->n;
    late->request = call_keep(call);
    late->number = number;
    late->revision = revision;
    late->scene = (uint32_t)(slot - call->server->scenes);
    while (*link)
        link = &(*link)->next;
    *link = late;
    return true;
}

void commits_answer(struct visd_server *server, bool all)
{
    struct late_commit **link = &server->late;
    while (*link) {
        struct late_commit *late = *link;
        struct visd_message out;
        if (!all && is_ahead(server, &server->scenes[late->scene])) {
            link = &late->next;
            continue;
        }
        *link = late->next;
        committed(&out, late->number, late->revision);
        reply_to(server, late->request, late->n, &out);
        free(late);
    }
}

void batch_commit(struct call *call, struct scene_slot *slot, struct client *client, struct visd_batch *batch, uint64_t number,
                   const uint64_t *if_revision)
{
    struct visd_server *server = call->server;
    struct visd_refusal why;
    struct visd_commit_reply reply;
    memset(&why, 0, sizeof(why));
    if (if_revision && *if_revision != visd_scene_revision(slot->scene)) {
        char text[200];
        uint64_t now = visd_scene_revision(slot->scene);
        snprintf(text, sizeof(text), "the scene is at revision %llu, not %llu; read it again and redo the batch", (unsigned long long)now,
                 (unsigned long long)*if_revision);
        batch_refuse_expected(call, now, text);
        return;
    }
    size_t bytes = visd_batch_bytes(batch);
    if (!take_bytes(call, slot, bytes))
        return;
    const struct visd_commit_params params = {0}; /* the number is the server's affair: it counts over all scenes */
    enum visd_err err = visd_scene_commit(slot->scene, batch, &params, &reply, &why);
    if (err != VISD_ERR_OK) {
        visd_charge_force(&slot->bytes, &server->users, slot->user, VISD_QUOTA_SCENE_BYTES, slot->bytes.n - bytes);
        why.err = err;
        batch_refuse_refusal(call, &why, 0);
        return;
    }
    client->last_number = number;
    client->kept[number % KEPT_REPLIES] = (struct kept_reply){number, reply.revision};
    server->counts.commits++;
    if (!is_ahead(server, slot) || !keep_back(call, slot, number, reply.revision))
        batch_reply_committed(call, number, reply.revision);
    event_revision(server, slot, client->id);
    for (uint32_t i = 0; i < server->view_end; i++) {
        struct view_slot *view = &server->views[i];
        if (!view->view || visd_view_scene(view->view) != slot->scene)
            continue;
        visd_view_scene_changed(view->view);
        view_collect(server, view);
    }
}
