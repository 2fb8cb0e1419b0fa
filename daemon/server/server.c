/* The server as a whole: its life, whose turn it is to give the worker a job, and its end.
 *
 * Stopping is bounded. Listeners close at once and nothing more is read; what has been read is answered, and
 * what has been answered is written, for as long as the limit allows; then connections are closed, finished or not. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server_internal.h"

#define TICK_MS 1000u
#define STOP_LOOK_MS 10u /* how often a stopping server looks whether it is done */

/* ---- the door's events ---- */

static void on_opened(void *user, struct visd_conn *conn)
{
    struct visd_server *server = user;
    struct session *session = session_open(server, conn);
    if (!session) {
        visd_conn_close(conn, "out of memory");
        return;
    }
    visd_log(VISD_LOG_DEBUG, "door: %s: connected", visd_conn_peer(conn)->text);
    if (visd_conn_kind(conn) == VISD_CONN_SUB)
        events_joined(server, session);
    events_stir(server);
}

static void on_request(void *user, struct visd_request *request)
{
    struct visd_server *server = user;
    ops_dispatch(server, *visd_conn_owner(request->conn), request);
}

static void on_closed(void *user, struct visd_conn *conn)
{
    struct visd_server *server = user;
    struct session *session = *visd_conn_owner(conn);
    *visd_conn_owner(conn) = NULL;
    if (!session)
        return;
    visd_log(VISD_LOG_DEBUG, "door: %s: gone after %llu requests", visd_conn_peer(conn)->text, (unsigned long long)session->requests);
    session_close(server, session);
    server_reap(server);
    events_stir(server);
}

static void on_drained(void *user, struct visd_conn *conn)
{
    struct session *session = *visd_conn_owner(conn);
    if (session && visd_conn_kind(conn) == VISD_CONN_SUB)
        events_drained(user, session);
}

static void on_emptied(void *user)
{
    struct visd_server *server = user;
    server->door_emptied = true;
    server_check_stopped(server);
}

static const struct visd_door_handler door_handler = {
    .opened = on_opened,
    .request = on_request,
    .closed = on_closed,
    .drained = on_drained,
    .emptied = on_emptied,
};

/* ---- the worker's link ---- */

static bool next_ping(struct visd_server *server, uint64_t serial, struct visd_job *out)
{
    for (const struct ping_wait *ping = server->pings; ping; ping = ping->next)
        if (!ping->serial) {
            *out = (struct visd_job){.kind = VISD_JOB_PING, .serial = serial};
            pings_put(server, serial);
            return true;
        }
    return false;
}

static bool next_of_scenes(struct visd_server *server, uint64_t serial, struct visd_job *out)
{
    for (uint32_t i = 0; i < server->scene_end; i++) {
        uint32_t at = (server->next_scene + i) % server->scene_end;
        if (server->scenes[at].scene && visd_scene_next_job(server->scenes[at].scene, serial, out)) {
            server->next_scene = at + 1;
            return true;
        }
    }
    return false;
}

static bool next_of_views(struct visd_server *server, uint64_t serial, struct visd_job *out)
{
    for (uint32_t i = 0; i < server->view_end; i++) {
        uint32_t at = (server->next_view + i) % server->view_end;
        if (server->views[at].view && visd_view_next_job(server->views[at].view, serial, out)) {
            server->next_view = at + 1;
            return true;
        }
    }
    return false;
}

/* Scenes and views take turns, and each of them in turn: a long upload does not keep others' frames waiting, and frames
 * do not starve an upload. (A view's frames wait for its own scene's jobs by themselves.) */
static bool next_job(void *user, uint64_t serial, struct visd_job *out)
{
    struct visd_server *server = user;
    if (!server_has_worker(server))
        return false;
    if (next_ping(server, serial, out))
        return true;
    server->views_turn = !server->views_turn;
    return server->views_turn ? next_of_views(server, serial, out) || next_of_scenes(server, serial, out)
                              : next_of_scenes(server, serial, out) || next_of_views(server, serial, out);
}

static void fault(struct visd_server *server, struct scene_slot *slot)
{
    visd_log(VISD_LOG_ERR, "scene '%s': worker: %s; its views are answered with grade all", slot->name, visd_scene_fault(slot->scene));
    for (uint32_t i = 0; i < server->view_end; i++)
        if (server->views[i].view && visd_view_scene(server->views[i].view) == slot->scene)
            view_collect(server, &server->views[i]);
}

static void job_done(void *user, const struct visd_result *result)
{
    struct visd_server *server = user;
    if (result->err != VISD_ERR_OK) {
        server->counts.worker_errors++;
        visd_log(VISD_LOG_DEBUG, "worker: job %u: %s: %s", result->kind, visd_err_name((enum visd_err)result->err), result->text);
    }
    device_look(server, result);
    if (result->kind == VISD_JOB_PING) {
        pings_done(server, result);
        return;
    }
    struct view_slot *view = &server->views[result->view % VISD_SEGMENT_MAX_VIEWS];
    if (view->view && visd_view_job_done(view->view, result)) {
        view_collect(server, view);
        return;
    }
    for (uint32_t i = 0; i < server->scene_end; i++) {
        struct scene_slot *slot = &server->scenes[i];
        if (!slot->scene || !visd_scene_job_done(slot->scene, result))
            continue;
        if (result->err != VISD_ERR_OK && visd_scene_fault(slot->scene) && !server->losing) /* a loss is told once, for all scenes */
            fault(server, slot);
        return;
    }
}

static void link_idle(void *user)
{
    struct visd_server *server = user;
    device_settle(server);
    commits_answer(server, false);
    server_reap(server);
    events_stir(server);
}

void server_reap(struct visd_server *server)
{
    if (!server->closing)
        return;
    for (uint32_t i = 0; i < server->view_end; i++) {
        struct view_slot *slot = &server->views[i];
        if (!slot->view || !slot->closing)
            continue;
        view_collect(server, slot);
        if (slot->held == 0 && visd_view_closed(slot->view)) {
            view_free_slot(slot);
            server->closing--;
        }
    }
    for (uint32_t i = 0; i < server->scene_end; i++) {
        struct scene_slot *slot = &server->scenes[i];
        if (slot->scene && slot->closing && visd_scene_closed(slot->scene)) {
            scene_free_slot(slot);
            server->closing--;
        }
    }
    visd_link_pump(&server->link); /* a scene's close waits for its last view */
}

/* ---- once a second, while there is a client to wait for ---- */

static void tick(uv_timer_t *timer)
{
    struct visd_server *server = timer->data;
    if (!clients_tick(server, uv_hrtime()))
        uv_timer_stop(&server->second);
}

void server_tick_start(struct visd_server *server)
{
    if (!server->stopping && !uv_is_active((const uv_handle_t *)&server->second))
        uv_timer_start(&server->second, tick, TICK_MS, TICK_MS);
}

/* ---- life ---- */

static uint64_t new_epoch(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Numbers that are handed out begin elsewhere after each start: one of an earlier epoch must not be taken for one of this. */
static void number_from(struct visd_server *server, uint32_t start)
{
    for (uint32_t i = 0; i < VISD_SEGMENT_MAX_SCENES; i++)
        server->scenes[i].generation = start;
    for (uint32_t i = 0; i < VISD_SEGMENT_MAX_VIEWS; i++)
        server->views[i].generation = start;
    server->batch_count = start << 8;
}

enum visd_err visd_server_create(struct visd_server **out, const struct visd_server_params *params)
{
    struct visd_server *server = calloc(1, sizeof(*server));
    if (!server)
        return VISD_ERR_NO_MEMORY;
    server->params = *params;
    server->epoch = new_epoch();
    server->started_ns = uv_hrtime();
    if (params->worker)
        device_set(server, VISD_WIRE_DEVICE_STATE_READY, params->device, "");
    else
        device_set(server, VISD_WIRE_DEVICE_STATE_NONE, "", params->device);
    number_from(server, (uint32_t)(server->epoch / 1000000000u) & 0xfffff);
    struct visd_door_params door = {
        .loop = params->loop, .users = &server->users, .handler = &door_handler, .user = server, .socket_mode = params->socket_mode,
        .tls_cert_key = params->tls_cert_key, .tls_ca = params->tls_ca, .connections = params->connections,
        .greeting_ms = params->greeting_ms, .stall_ms = params->stall_ms,
    };
    struct visd_link_source source = {.user = server, .next = next_job, .done = job_done, .idle = link_idle};
    enum visd_err err = visd_link_init(&server->link, params->loop, params->segment, &source);
    if (err != VISD_ERR_OK)
        goto error;
    err = visd_door_create(&server->door, &door);
    if (err != VISD_ERR_OK) {
        visd_link_close(&server->link);
        uv_run(params->loop, UV_RUN_NOWAIT); /* lets go of the link's handle, which lies in the server */
        goto error;
    }
    uv_timer_init(params->loop, &server->second);
    uv_timer_init(params->loop, &server->stats_timer);
    uv_timer_init(params->loop, &server->stop_timer);
    server->second.data = server->stats_timer.data = server->stop_timer.data = server;
    *out = server;
    return VISD_ERR_OK;
error:
    free(server);
    return err;
}

enum visd_err visd_server_listen(struct visd_server *server, const char *url, char *why, size_t why_size)
{
    return visd_door_listen(server->door, url, why, why_size);
}

void server_check_stopped(struct visd_server *server)
{
    if (!server->stopping || !server->door_emptied || server->stopped)
        return;
    server->stopped = true;
    uv_close((uv_handle_t *)&server->second, NULL);
    uv_close((uv_handle_t *)&server->stats_timer, NULL);
    uv_close((uv_handle_t *)&server->stop_timer, NULL);
    visd_link_close(&server->link);
    server->params.stopped(server->params.user);
}

static void look_stopped(uv_timer_t *timer)
{
    struct visd_server *server = timer->data;
    bool busy = frames_pending(server) || server->pings || server->late || visd_door_writing(server->door);
    if (busy && uv_hrtime() < server->stop_ns)
        return;
    uv_timer_stop(timer);
    if (busy)
        visd_log(VISD_LOG_WARN, "stop: not everything that was in flight could be answered in time");
    pings_end(server, VISD_ERR_STOPPING);
    commits_answer(server, true);
    visd_door_close(server->door);
}

void visd_server_stop(struct visd_server *server, uint64_t limit_ms)
{
    if (server->stopping)
        return;
    server->stopping = true;
    server->stop_ns = uv_hrtime() + limit_ms * 1000000u;
    uv_timer_stop(&server->second);
    uv_timer_stop(&server->stats_timer);
    visd_door_close_listeners(server->door);
    visd_door_stop_reading(server->door);
    frames_stop_waiting(server);
    uv_timer_start(&server->stop_timer, look_stopped, STOP_LOOK_MS, STOP_LOOK_MS);
}

void visd_server_destroy(struct visd_server *server)
{
    if (!server)
        return;
    for (uint32_t i = 0; i < server->view_end; i++)
        if (server->views[i].view)
            view_free_slot(&server->views[i]);
    while (server->batches)
        batches_drop(server, server->batches->client, 0);
    for (uint32_t i = 0; i < server->scene_end; i++)
        if (server->scenes[i].scene)
            scene_free_slot(&server->scenes[i]);
    clients_finish(server);
    visd_door_destroy(server->door);
    visd_arena_finish(&server->arena);
    free(server);
}

bool visd_server_healthy(const struct visd_server *server, uint64_t limit_ms)
{
    return server->link.unanswered == 0 || uv_hrtime() - server->link.moved_ns < limit_ms * 1000000u;
}
