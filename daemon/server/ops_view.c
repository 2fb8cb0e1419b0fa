/* Views: opening, setting, closing. They belong to a client and a key of its choice, so that a request that is sent
 * again opens nothing twice. */
#include <string.h>

#include "server_internal.h"

#define VIEW_SET_LATER(X) X(hide) X(isolate) X(xray) X(pin) X(offset_groups) X(offsets)

uint32_t view_wire(const struct visd_server *server, const struct view_slot *slot)
{
    return slot->generation * VISD_SEGMENT_MAX_VIEWS + (uint32_t)(slot - server->views);
}

struct view_slot *view_find(struct call *call, uint32_t wire)
{
    struct view_slot *slot = &call->server->views[wire % VISD_SEGMENT_MAX_VIEWS];
    if (!slot->view || slot->closing || slot->generation != wire / VISD_SEGMENT_MAX_VIEWS ||
        slot->client->user != visd_conn_user(call->session->conn))
        return NULL;
    if (!call->session->client) { /* nng sends a request again before the client can say hello on the new connection */
        struct client *client;
        session_client(call->server, call->session, slot->client->id, &client);
    }
    return slot;
}

struct view_slot *call_view(struct call *call, uint32_t wire)
{
    struct view_slot *slot = view_find(call, wire);
    if (!slot)
        call_refuse(call, VISD_ERR_NOT_FOUND, "%s: there is no view %u", visd_msg_name(call->in->type), wire);
    return slot;
}

void view_close_slot(struct visd_server *server, struct view_slot *slot)
{
    if (slot->closing)
        return;
    slot->closing = true;
    server->closing++;
    slot->client->views--;
    slot->client = NULL;
    visd_charge_drop(&slot->charge);
    visd_charge_drop(&slot->bytes);
    visd_view_close(slot->view);
    view_collect(server, slot);
}

void view_free_slot(struct view_slot *slot)
{
    visd_view_destroy(slot->view);
    slot->view = NULL;
    slot->closing = false;
    slot->generation = (slot->generation + 1) % (UINT32_MAX / VISD_SEGMENT_MAX_VIEWS);
    visd_charge_drop(&slot->charge);
    visd_charge_drop(&slot->bytes);
}

void view_settle(struct visd_server *server, struct view_slot *slot)
{
    if (slot->view && !slot->closing)
        visd_charge_force(&slot->bytes, &server->users, slot->client->user, VISD_QUOTA_VIEW_BYTES, visd_view_bytes(slot->view));
}

void views_drop(struct visd_server *server, const struct client *client)
{
    for (uint32_t i = 0; i < server->view_end; i++)
        if (server->views[i].view && server->views[i].client == client)
            view_close_slot(server, &server->views[i]);
    server_reap(server);
}

static struct view_slot *find_key(struct visd_server *server, const struct client *client, uint64_t key)
{
    for (uint32_t i = 0; i < server->view_end; i++)
        if (server->views[i].view && server->views[i].client == client && server->views[i].key == key)
            return &server->views[i];
    return NULL;
}

static struct view_slot *free_slot(struct visd_server *server)
{
    for (uint32_t i = 1; i < VISD_SEGMENT_MAX_VIEWS; i++)
        if (!server->views[i].view) {
            if (i >= server->view_end)
                server->view_end = i + 1;
            return &server->views[i];
        }
    return NULL;
}

static void reply_view(struct call *call, const struct view_slot *slot)
{
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_VIEW;
    out.view.view = view_wire(call->server, slot);
    out.view.last_frame = visd_view_last_frame(slot->view);
    call_reply(call, &out);
}

/* The slot of a new view, or NULL and the call has been answered. */
static struct view_slot *open_view(struct call *call, struct client *client, struct scene_slot *scene)
{
    struct visd_server *server = call->server;
    const struct visd_msg_view_open *in = &call->in->view_open;
    struct view_slot *slot;
    enum visd_err err;
    char why[200] = "";
    if (client->views >= VISD_MAX_CLIENT_VIEWS) {
        call_refuse(call, VISD_ERR_QUOTA, "view_open: client_views (%d) is used up; close one", VISD_MAX_CLIENT_VIEWS);
        return NULL;
    }
    while (!(slot = free_slot(server)) && clients_evict(server, NULL))
        server_reap(server);
    if (!slot) {
        call_refuse(call, VISD_ERR_QUOTA, "view_open: views (%d) is used up; try again later", VISD_MAX_VIEWS);
        return NULL;
    }
    while ((err = visd_charge_take(&slot->charge, &server->users, client->user, VISD_QUOTA_VIEWS, 1)) != VISD_ERR_OK)
        if (!clients_evict(server, client->user))
            break;
    if (err != VISD_ERR_OK) {
        call_refuse(call, VISD_ERR_QUOTA, "view_open: user_views (%d) is used up; close one", VISD_MAX_USER_VIEWS);
        return NULL;
    }
    struct visd_view_params params = {
        .number = (uint32_t)(slot - server->views),
        .method = in->has_method ? in->method : VISD_METHOD_HIZ,
        .keep_frames = in->has_keep_frames ? in->keep_frames : UINT32_MAX,
        .worker_ready = server_has_worker(server),
    };
    err = visd_view_open(&slot->view, server->params.segment, scene->scene, &params, why, sizeof(why));
    if (err != VISD_ERR_OK) {
        slot->view = NULL;
        visd_charge_drop(&slot->charge);
        call_refuse(call, err, "view_open: %s", *why ? why : visd_err_text(err));
        return NULL;
    }
    slot->client = client;
    slot->key = in->key;
    slot->scene = scene_wire(server, scene);
    slot->last_answered = 0;
    client->views++;
    view_settle(server, slot);
    return slot;
}

void op_view_open(struct call *call)
{
    struct visd_server *server = call->server;
    const struct visd_msg_view_open *in = &call->in->view_open;
    struct client *client;
    enum visd_err err = session_client(server, call->session, in->client, &client);
    if (err != VISD_ERR_OK) {
        call_refuse(call, err, "view_open: %s",
                    err == VISD_ERR_DENIED ? "this client id is not the one that hello named, or another user's" : visd_err_text(err));
        return;
    }
    if (in->has_triangle_budget || in->has_sample_budget || in->has_query_budget) {
        call_refuse(call, VISD_ERR_NOT_SUPPORTED, "view_open: budgets of a view are not supported yet; the daemon's hold");
        return;
    }
    if (in->has_keep_frames && in->keep_frames > VISD_MAX_KEEP_FRAMES) {
        call_refuse(call, VISD_ERR_TOO_BIG, "view_open: keep_frames is %u, above the limit of %d", in->keep_frames, VISD_MAX_KEEP_FRAMES);
        return;
    }
    struct scene_slot *scene = call_scene(call, in->scene);
    if (!scene)
        return;
    struct view_slot *slot = find_key(server, client, in->key);
    if (slot && slot->scene == in->scene && !in->has_keep_frames) {
        char why[200] = "";
        err = visd_view_set_method(slot->view, in->has_method ? in->method : VISD_METHOD_HIZ, why, sizeof(why));
        if (err != VISD_ERR_OK)
            call_refuse(call, err, "view_open: %s", why);
        else
            reply_view(call, slot);
        return;
    }
    struct view_slot *opened = open_view(call, client, scene);
    if (!opened)
        return;
    if (slot)
        view_close_slot(server, slot); /* the key now names the new one */
    reply_view(call, opened);
}

void op_view_set(struct call *call)
{
    const struct visd_msg_view_set *in = &call->in->view_set;
    struct view_slot *slot = call_view(call, in->view);
    char why[200] = "";
    if (!slot)
        return;
#define X(field)                                                                                     \
    if (in->has_##field && in->field.rows) {                                                         \
        call_refuse(call, VISD_ERR_NOT_SUPPORTED, "view_set: %s is not supported yet", #field);      \
        return;                                                                                      \
    }
    VIEW_SET_LATER(X)
#undef X
    if (in->has_triangle_budget || in->has_sample_budget || in->has_query_budget || in->has_keep_frames) {
        call_refuse(call, VISD_ERR_NOT_SUPPORTED, "view_set: budgets and keep_frames of an open view are not supported yet");
        return;
    }
    enum visd_err err = in->has_method ? visd_view_set_method(slot->view, in->method, why, sizeof(why)) : VISD_ERR_OK;
    if (err != VISD_ERR_OK) {
        call_refuse(call, err, "view_set: %s", *why ? why : visd_err_text(err));
        return;
    }
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_OK;
    call_reply(call, &out);
}

void op_view_close(struct call *call)
{
    struct visd_server *server = call->server;
    struct view_slot *slot = call_view(call, call->in->view_close.view);
    if (!slot)
        return;
    view_close_slot(server, slot);
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_OK;
    call_reply(call, &out);
}
