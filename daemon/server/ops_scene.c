/* Scenes: making, removing, naming.
 *
 * A scene's number on the wire is its slot and a generation, so that the number of a removed scene is not
 * taken for its successor's. Scenes are shared: whoever may connect may read and change them; who created one pays for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

uint32_t scene_wire(const struct visd_server *server, const struct scene_slot *slot)
{
    return slot->generation * VISD_SEGMENT_MAX_SCENES + (uint32_t)(slot - server->scenes);
}

static struct scene_slot *find(struct visd_server *server, uint32_t wire) /* NULL: none, or closing */
{
    struct scene_slot *slot = &server->scenes[wire % VISD_SEGMENT_MAX_SCENES];
    return slot->scene && !slot->closing && slot->generation == wire / VISD_SEGMENT_MAX_SCENES ? slot : NULL;
}

struct scene_slot *call_scene(struct call *call, uint32_t wire)
{
    struct scene_slot *slot = find(call->server, wire);
    if (!slot)
        call_refuse(call, VISD_ERR_NOT_FOUND, "%s: there is no scene %u", visd_msg_name(call->in->type), wire);
    return slot;
}

void scene_free_slot(struct scene_slot *slot)
{
    visd_scene_destroy(slot->scene);
    slot->scene = NULL;
    slot->closing = false;
    slot->generation = (slot->generation + 1) % (UINT32_MAX / VISD_SEGMENT_MAX_SCENES);
    slot->user = NULL; /* the charges held it */
    visd_charge_drop(&slot->bytes);
    visd_charge_drop(&slot->charge);
}

static struct scene_slot *find_name(struct visd_server *server, struct visd_str name)
{
    for (uint32_t i = 0; i < server->scene_end; i++) {
        struct scene_slot *slot = &server->scenes[i];
        if (slot->scene && !slot->closing && visd_str_is(name, slot->name))
            return slot;
    }
    return NULL;
}

static void fill_row(const struct visd_server *server, struct scene_slot *slot, struct visd_msg_scene_row *row)
{
    struct visd_scene_info info;
    visd_scene_info(slot->scene, &info);
    /* The true size, now that it is known: what commits were charged is only a bound. */
    visd_charge_force(&slot->bytes, slot->charge.users, slot->user, VISD_QUOTA_SCENE_BYTES, info.bytes_host + info.bytes_segment);
    row->scene = scene_wire(server, slot);
    row->name = visd_str_of(slot->name);
    row->revision = info.revision;
    row->metres_per_unit = info.metres_per_unit;
    row->objects = info.objects;
    row->groups = info.groups;
    row->meshes = info.meshes;
    row->triangles = info.triangles;
    row->bytes_host = info.bytes_host + info.bytes_segment;
    row->has_min = row->has_max = info.bounded;
    memcpy(row->min, info.min, sizeof(row->min));
    memcpy(row->max, info.max, sizeof(row->max));
    row->ids32 = info.ids32;
}

static void reply_row(struct call *call, struct scene_slot *slot)
{
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_SCENE;
    fill_row(call->server, slot, &out.scene.row);
    call_reply(call, &out);
}

static struct scene_slot *free_slot(struct visd_server *server)
{
    for (uint32_t i = 1; i < VISD_SEGMENT_MAX_SCENES; i++)
        if (!server->scenes[i].scene) {
            if (i >= server->scene_end)
                server->scene_end = i + 1;
            return &server->scenes[i];
        }
    return NULL;
}

void op_scene_create(struct call *call)
{
    struct visd_server *server = call->server;
    const struct visd_msg_scene_create *in = &call->in->scene_create;
    struct visd_user *user = visd_conn_user(call->session->conn);
    struct scene_slot *slot = find_name(server, in->name);
    if (slot) {
        if (in->or_open)
            reply_row(call, slot);
        else
            call_refuse(call, VISD_ERR_EXISTS, "scene_create: a scene '%s' exists already; choose another name, or say or_open", slot->name);
        return;
    }
    slot = free_slot(server);
    if (!slot) {
        call_refuse(call, VISD_ERR_QUOTA, "scene_create: scenes (%d) is used up; remove one", VISD_MAX_SCENES);
        return;
    }
    if (visd_charge_take(&slot->charge, &server->users, user, VISD_QUOTA_SCENES, 1) != VISD_ERR_OK) {
        call_refuse(call, VISD_ERR_QUOTA, "scene_create: user_scenes (%d) is used up; remove one", VISD_MAX_USER_SCENES);
        return;
    }
    char name[VISD_MAX_NAME_BYTES + 1];
    struct visd_refusal why;
    snprintf(name, sizeof(name), "%.*s", (int)in->name.size, in->name.at);
    struct visd_scene_params params = {
        .number = (uint32_t)(slot - server->scenes),
        .name = name,
        .metres_per_unit = in->has_metres_per_unit ? in->metres_per_unit : 1.0,
        .max_objects = VISD_MAX_OBJECTS,
        .max_groups = VISD_MAX_GROUPS,
        .max_meshes = VISD_MAX_MESHES,
    };
    enum visd_err err = in->has_metres_per_unit && !(in->metres_per_unit > 0)
                            ? VISD_ERR_BAD_VALUE
                            : visd_scene_create(&slot->scene, server->params.segment, &params, &why);
    if (err != VISD_ERR_OK) {
        slot->scene = NULL;
        visd_charge_drop(&slot->charge);
        if (in->has_metres_per_unit && !(in->metres_per_unit > 0))
            call_refuse(call, err, "scene_create: metres_per_unit must be above 0");
        else
            call_refuse(call, err, "scene_create: %s", why.text);
        return;
    }
    memcpy(slot->name, name, sizeof(name));
    slot->user = user;
    visd_log(VISD_LOG_DEBUG, "scene '%s': %s: created", slot->name, visd_conn_peer(call->session->conn)->text);
    event_revision(server, slot, call->session->client ? call->session->client->id : NULL);
    reply_row(call, slot);
}

void op_scene_remove(struct call *call)
{
    struct visd_server *server = call->server;
    struct scene_slot *slot = call_scene(call, call->in->scene_remove.scene);
    if (!slot)
        return;
    const struct visd_msg_scene_remove *in = &call->in->scene_remove;
    if (in->has_if_revision && in->if_revision != visd_scene_revision(slot->scene)) {
        call_refuse(call, VISD_ERR_CONFLICT, "scene_remove: the scene is meant to be removed at revision %llu, and is at %llu; look at what it holds now",
                    (unsigned long long)in->if_revision, (unsigned long long)visd_scene_revision(slot->scene));
        return;
    }
    uint32_t wire = scene_wire(server, slot);
    batches_drop(server, NULL, wire);
    for (uint32_t i = 0; i < server->view_end; i++) {
        struct view_slot *view = &server->views[i];
        if (!view->view || visd_view_scene(view->view) != slot->scene)
            continue;
        visd_view_scene_gone(view->view);
        view_collect(server, view);
        view_close_slot(server, view);
    }
    event_removed(server, slot);
    slot->closing = true;
    server->closing++;
    visd_scene_close(slot->scene);
    visd_log(VISD_LOG_DEBUG, "scene '%s': %s: removed", slot->name, visd_conn_peer(call->session->conn)->text);
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_OK;
    call_reply(call, &out);
}

void op_scene_list(struct call *call)
{
    struct visd_server *server = call->server;
    struct visd_msg_scene_row *rows = calloc(VISD_SEGMENT_MAX_SCENES, sizeof(*rows));
    if (!rows) {
        call_refuse(call, VISD_ERR_NO_MEMORY, "scene_list: out of memory");
        return;
    }
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_SCENES;
    out.scenes.rows = rows;
    for (uint32_t i = 0; i < server->scene_end; i++)
        if (server->scenes[i].scene && !server->scenes[i].closing)
            fill_row(server, &server->scenes[i], &rows[out.scenes.rows_count++]);
    call_reply(call, &out);
    free(rows);
}

void op_scene_info(struct call *call)
{
    const struct visd_msg_scene_info *in = &call->in->scene_info;
    if (in->has_scene == in->has_name) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "scene_info: give scene or name, and not both");
        return;
    }
    struct scene_slot *slot = in->has_scene ? find(call->server, in->scene) : find_name(call->server, in->name);
    if (slot)
        reply_row(call, slot);
    else if (in->has_scene)
        call_refuse(call, VISD_ERR_NOT_FOUND, "scene_info: there is no scene %u", in->scene);
    else
        call_refuse(call, VISD_ERR_NOT_FOUND, "scene_info: there is no scene '%.*s'", (int)in->name.size, in->name.at);
}
