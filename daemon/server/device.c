/* The device as clients see it: ready, lost, back, or away.
 *
 * A loss shows in the results of jobs. From the first of them on no job is put; when the last has been answered, the worker touches the
 * segment no more, and everything that it knew is given up: frames that wait are answered `all`, scenes are queued to be loaded again,
 * views forget their history. Then whoever owns the worker is told. */
#include <stdio.h>

#include "server_internal.h"

void device_set(struct visd_server *server, enum visd_wire_device_state state, const char *device, const char *why)
{
    server->device_state = state;
    snprintf(server->device, sizeof(server->device), "%s", device);
    snprintf(server->device_why, sizeof(server->device_why), "%s", why);
}

/* Views answer with this reason until there is a worker again. */
static void views_lose(struct visd_server *server)
{
    for (uint32_t i = 0; i < server->view_end; i++)
        if (server->views[i].view) {
            visd_view_worker_lost(server->views[i].view, server->device_why);
            view_collect(server, &server->views[i]);
        }
}

void device_look(struct visd_server *server, const struct visd_result *result)
{
    if (result->err != VISD_ERR_DEVICE_LOST || !server_has_worker(server))
        return;
    device_set(server, VISD_WIRE_DEVICE_STATE_LOST, "", "the device was lost, and is being brought back");
    server->losing = true;
}

void device_settle(struct visd_server *server)
{
    if (!server->losing || server->link.unanswered)
        return;
    server->losing = false;
    server->counts.device_losses++;
    views_lose(server); /* first: a scene's copy goes when no view holds it */
    for (uint32_t i = 0; i < server->scene_end; i++)
        if (server->scenes[i].scene)
            visd_scene_reload(server->scenes[i].scene);
    pings_end(server, VISD_ERR_OK);
    event_device(server);
    if (server->params.worker_lost)
        server->params.worker_lost(server->params.user);
}

void visd_server_worker_away(struct visd_server *server, const char *why)
{
    device_set(server, VISD_WIRE_DEVICE_STATE_NONE, "", why);
    views_lose(server);
    event_device(server);
}

void visd_server_worker_ready(struct visd_server *server, const char *device)
{
    device_set(server, VISD_WIRE_DEVICE_STATE_READY, device, "");
    for (uint32_t i = 0; i < server->view_end; i++)
        if (server->views[i].view)
            visd_view_worker_ready(server->views[i].view);
    event_device(server);
    visd_link_pump(&server->link);
}
