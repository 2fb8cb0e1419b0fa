/* Batches: numbered, whole or not at all, in one message or in parts.
 *
 * A client numbers its batches from 1 without gaps, over all scenes. The number is looked at before anything else: one that has
 * been committed gets the reply it got then, one that leaves a gap is refused with the number expected. So a client that lost its
 * connection sends again what it is not sure of, and nothing is applied twice or left out. A refused batch uses no number up.
 * Parts are checked as they come; what they hold is charged to the user until the batch is committed or dropped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

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
        batch_reply_committed(call, number, kept->revision);
        return false;
    }
    if (number && number < expected)
        snprintf(text, sizeof(text), "batch %llu was committed long ago, and its reply is no longer kept; the next number is %llu",
                 (unsigned long long)number, (unsigned long long)expected);
    else
        snprintf(text, sizeof(text), "batch %llu leaves a gap; the number expected is %llu", (unsigned long long)number,
                 (unsigned long long)expected);
    batch_refuse_expected(call, expected, text);
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
        batch_refuse_refusal(call, &why, first);
        return false;
    }
    return true;
}

/* ---- batches in one message ---- */

void op_batch(struct call *call)
{
    const struct visd_msg_batch *in = &call->in->batch;
    struct client *client = client_of(call, in->client);
    struct scene_slot *slot;
    struct visd_batch *batch = NULL;
    if (!client || !number_is_next(call, client, in->number) || !(slot = call_scene(call, in->scene)))
        return;
    if (visd_batch_create(&batch, call->server->params.segment) != VISD_ERR_OK) {
        call_refuse(call, VISD_ERR_NO_MEMORY, "batch: out of memory");
        return;
    }
    if (take_items(call, batch, in->items, in->items_count, 0))
        batch_commit(call, slot, client, batch, in->number, in->has_if_revision ? &in->if_revision : NULL);
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
    if (!client || !number_is_next(call, client, in->number) || !(slot = call_scene(call, in->scene)))
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
        batch_refuse_expected(call, open->parts, text);
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
        batch_refuse_expected(call, open->parts, text);
        return;
    }
    if (!(slot = call_scene(call, open->scene)))
        return;
    batch_commit(call, slot, client, open->batch, in->number, open->has_if_revision ? &open->if_revision : NULL);
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
