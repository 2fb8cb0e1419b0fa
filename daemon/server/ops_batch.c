/* Batches: numbered, whole or not at all, in one message or in parts.
 *
 * A client numbers its batches from 1 without gaps, over all scenes. The number is looked at before anything else: one that has
 * been committed gets the reply it got then, one that leaves a gap is refused with the number expected. So a client that lost its
 * connection sends again what it is not sure of, and nothing is applied twice or left out. A refused batch uses no number up.
 * A writer that is far ahead of the worker waits for its answer: what is staged but not yet on the device is memory too.
 * Parts are checked as they come; what they hold is charged to the user until the batch is committed or dropped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

#define BACKLOG_BYTES (256u << 20) /* on their way to the worker; above that, answers to commits wait */

/* ---- refusals ---- */

static void refuse_refusal(struct call *call, const struct visd_refusal *why, uint64_t first_item)
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

static void refuse_expected(struct call *call, uint64_t expected, const char *text)
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

static void reply_committed(struct call *call, uint64_t number, uint64_t revision)
{
    struct visd_message out;
    committed(&out, number, revision);
    call_reply(call, &out);
}

static void reply_ok(struct call *call)
{
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_OK;
    call_reply(call, &out);
}

/* ---- clients and numbers ---- */

static struct client *client_of(struct call *call, const uint8_t *id)
{
    struct client *client;
    enum visd_err err = session_client(call->server, call->session, id, &client);
    const char *name = visd_msg_name(call->in->type);
    if (err == VISD_ERR_DENIED)
        call_refuse(call, err, "%s: this client id is not the one that hello named, or another user's", name);
    else if (err == VISD_ERR_QUOTA)
        call_refuse(call, err, "%s: user_clients (%d) is used up", name, VISD_MAX_USER_CLIENTS);
    else if (err != VISD_ERR_OK)
        call_refuse(call, err, "%s: %s", name, visd_err_text(err));
    return err == VISD_ERR_OK ? client : NULL;
}

/* True: the number is the next one. False: the call has been answered. */
static bool number_is_next(struct call *call, const struct client *client, uint64_t number)
{
    char text[200];
    uint64_t expected = client->last_number + 1;
    const struct kept_reply *kept = &client->kept[number % KEPT_REPLIES];
    if (number == expected)
        return true;
    if (number && number < expected && kept->number == number) {
        call->server->counts.duplicates++;
        reply_committed(call, number, kept->revision);
        return false;
    }
    if (number && number < expected)
        snprintf(text, sizeof(text), "batch %llu was committed long ago, and its reply is no longer kept; the next number is %llu",
                 (unsigned long long)number, (unsigned long long)expected);
    else
        snprintf(text, sizeof(text), "batch %llu leaves a gap; the number expected is %llu", (unsigned long long)number,
                 (unsigned long long)expected);
    refuse_expected(call, expected, text);
    return false;
}

/* ---- items ---- */

/* Takes all items, or refuses and has answered. first: the index of the first over all parts. */
static bool take_items(struct call *call, struct visd_batch *batch, const struct visd_item *items, uint32_t count, uint64_t first)
{
    struct visd_refusal why;
    for (uint32_t i = 0; i < count; i++) {
        memset(&why, 0, sizeof(why));
        enum visd_err err = batch_take_item(batch, &items[i], &why);
        if (err == VISD_ERR_OK)
            continue;
        why.err = err;
        why.item = i; /* whatever the batch counts: the client's own index */
        refuse_refusal(call, &why, first);
        return false;
    }
    return true;
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

static void commit(struct call *call, struct scene_slot *slot, struct client *client, struct visd_batch *batch, uint64_t number,
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
        refuse_expected(call, now, text);
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
        refuse_refusal(call, &why, 0);
        return;
    }
    client->last_number = number;
    client->kept[number % KEPT_REPLIES] = (struct kept_reply){number, reply.revision};
    server->counts.commits++;
    if (!is_ahead(server, slot) || !keep_back(call, slot, number, reply.revision))
        reply_committed(call, number, reply.revision);
    event_revision(server, slot, client->id);
    for (uint32_t i = 0; i < server->view_end; i++) {
        struct view_slot *view = &server->views[i];
        if (!view->view || visd_view_scene(view->view) != slot->scene)
            continue;
        visd_view_scene_changed(view->view);
        view_collect(server, view);
    }
}

static struct scene_slot *scene_of(struct call *call, uint32_t wire)
{
    struct scene_slot *slot = scene_find(call->server, wire);
    if (!slot)
        call_refuse(call, VISD_ERR_NOT_FOUND, "%s: there is no scene %u", visd_msg_name(call->in->type), wire);
    return slot;
}

void op_batch(struct call *call)
{
    const struct visd_msg_batch *in = &call->in->batch;
    struct client *client = client_of(call, in->client);
    struct scene_slot *slot;
    struct visd_batch *batch = NULL;
    if (!client || !number_is_next(call, client, in->number) || !(slot = scene_of(call, in->scene)))
        return;
    if (visd_batch_create(&batch, call->server->params.segment) != VISD_ERR_OK) {
        call_refuse(call, VISD_ERR_NO_MEMORY, "batch: out of memory");
        return;
    }
    if (take_items(call, batch, in->items, in->items_count, 0))
        commit(call, slot, client, batch, in->number, in->has_if_revision ? &in->if_revision : NULL);
    visd_batch_destroy(batch);
}

/* ---- batches in parts ---- */

static void drop(struct visd_server *server, struct open_batch *open)
{
    struct open_batch **link = &server->batches;
    while (*link != open)
        link = &(*link)->next;
    *link = open->next;
    open->client->batches--;
    visd_batch_destroy(open->batch);
    visd_charge_drop(&open->charge);
    free(open);
}

void batches_drop(struct visd_server *server, const struct client *client, uint32_t scene)
{
    struct open_batch *next;
    for (struct open_batch *open = server->batches; open; open = next) {
        next = open->next;
        if (client ? open->client == client : open->scene == scene)
            drop(server, open);
    }
}

static struct open_batch *find_number(struct visd_server *server, const struct client *client, uint64_t number)
{
    struct open_batch *open = server->batches;
    while (open && (open->client != client || open->client_number != number))
        open = open->next;
    return open;
}

/* The open batch with this number on the wire, if it is this user's; else the call has been answered. */
static struct open_batch *batch_of(struct call *call, uint32_t number)
{
    struct open_batch *open = call->server->batches;
    while (open && open->number != number)
        open = open->next;
    if (open && open->client->user == visd_conn_user(call->session->conn))
        return open;
    call_refuse(call, VISD_ERR_NOT_FOUND, "%s: there is no open batch %u; begin it again", visd_msg_name(call->in->type), number);
    return NULL;
}

void op_batch_begin(struct call *call)
{
    struct visd_server *server = call->server;
    const struct visd_msg_batch_begin *in = &call->in->batch_begin;
    struct client *client = client_of(call, in->client);
    struct scene_slot *slot;
    if (!client || !number_is_next(call, client, in->number) || !(slot = scene_of(call, in->scene)))
        return;
    struct open_batch *open = find_number(server, client, in->number);
    if (open)
        drop(server, open); /* it begins anew */
    for (open = server->batches; open;) { /* and one whose number was committed in one message will never be */
        struct open_batch *next = open->next;
        if (open->client == client && open->client_number <= client->last_number)
            drop(server, open);
        open = next;
    }
    if (client->batches >= VISD_MAX_CLIENT_BATCHES) {
        call_refuse(call, VISD_ERR_QUOTA, "batch_begin: client_batches (%d) is used up; commit or abort one", VISD_MAX_CLIENT_BATCHES);
        return;
    }
    open = calloc(1, sizeof(*open));
    if (!open || visd_batch_create(&open->batch, server->params.segment) != VISD_ERR_OK) {
        free(open);
        call_refuse(call, VISD_ERR_NO_MEMORY, "batch_begin: out of memory");
        return;
    }
    open->number = ++server->batch_count;
    open->scene = scene_wire(server, slot);
    open->client = client;
    open->client_number = in->number;
    open->has_if_revision = in->has_if_revision;
    open->if_revision = in->if_revision;
    open->next = server->batches;
    server->batches = open;
    client->batches++;
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_BATCH_OPEN;
    out.batch_open.batch = open->number;
    call_reply(call, &out);
}

void op_batch_append(struct call *call)
{
    const struct visd_msg_batch_append *in = &call->in->batch_append;
    struct open_batch *open = batch_of(call, in->batch);
    if (!open)
        return;
    if (in->part < open->parts) {
        reply_ok(call); /* it came before, and its answer was lost */
        return;
    }
    if (in->part > open->parts) {
        char text[128];
        snprintf(text, sizeof(text), "part %u leaves a gap; the part expected is %u", in->part, open->parts);
        refuse_expected(call, open->parts, text);
        return;
    }
    size_t limit = (size_t)VISD_MAX_BATCH_MIB << 20, coming = call->request->size;
    if (open->parts == VISD_MAX_BATCH_PARTS || visd_batch_bytes(open->batch) + coming > limit) {
        call_refuse(call, VISD_ERR_TOO_BIG, "batch_append: the batch would be larger than batch_mib (%d) or batch_parts (%d) allow; make it several",
                    VISD_MAX_BATCH_MIB, VISD_MAX_BATCH_PARTS);
        return;
    }
    if (visd_charge_set(&open->charge, &call->server->users, open->client->user, VISD_QUOTA_BATCH_BYTES,
                        visd_batch_bytes(open->batch) + coming) != VISD_ERR_OK) {
        call_refuse(call, VISD_ERR_QUOTA, "batch_append: user_batch_mib (%d) is used up by this user's open batches; commit or abort one",
                    VISD_MAX_USER_BATCH_MIB);
        return;
    }
    if (!take_items(call, open->batch, in->items, in->items_count, open->items)) {
        drop(call->server, open); /* items before the refused one are in it, and a part is taken whole or not at all */
        return;
    }
    open->parts++;
    open->items += in->items_count;
    visd_charge_force(&open->charge, &call->server->users, open->client->user, VISD_QUOTA_BATCH_BYTES, visd_batch_bytes(open->batch));
    reply_ok(call);
}

void op_batch_commit(struct call *call)
{
    const struct visd_msg_batch_commit *in = &call->in->batch_commit;
    struct client *client = client_of(call, in->client);
    struct open_batch *open;
    struct scene_slot *slot;
    if (!client || !number_is_next(call, client, in->number) || !(open = batch_of(call, in->batch)))
        return;
    if (open->client != client || open->client_number != in->number) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "batch_commit: batch %u was begun by another client, or with another number", in->batch);
        return;
    }
    if (in->parts != open->parts) {
        char text[128];
        snprintf(text, sizeof(text), "the batch has %u parts, not %u; send the missing ones", open->parts, in->parts);
        refuse_expected(call, open->parts, text);
        return;
    }
    if (!(slot = scene_of(call, open->scene)))
        return;
    commit(call, slot, client, open->batch, in->number, open->has_if_revision ? &open->if_revision : NULL);
    drop(call->server, open);
}

void op_batch_abort(struct call *call)
{
    struct open_batch *open = batch_of(call, call->in->batch_abort.batch);
    if (!open)
        return;
    drop(call->server, open);
    reply_ok(call);
}

void op_batch_last(struct call *call)
{
    struct client *client = client_of(call, call->in->batch_last.client);
    if (!client)
        return;
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_BATCH_NUMBER;
    out.batch_number.number = client->last_number;
    call_reply(call, &out);
}
