/* The door as a whole: its life, and the one timer that ends what takes too long.
 *
 * Deadlines are plain numbers in the connections. A sweep looks at all of them ten times a second, and only while there is at
 * least one: a daemon whose peers are all at rest has no timer at all. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "door_internal.h"
#include "proto/limits.h"

#define SWEEP_MS 100u

static bool overdue(uint64_t deadline, uint64_t now)
{
    return deadline && now >= deadline;
}

/* Returns whether the connection has a deadline to wait for. */
static bool sweep_conn(struct visd_conn *conn, uint64_t now)
{
    struct visd_door *door = conn->door;
    if (conn->state == CONN_CLOSING)
        return false;
    if (overdue(conn->still_ns, now) || overdue(conn->total_ns, now)) {
        if (conn->state == CONN_GREETING) {
            door->counts.bad_greeting++;
            visd_conn_close(conn, "it did not say in time what it speaks");
        } else {
            door->counts.stalled++;
            visd_conn_close(conn, "it stood still inside a message");
        }
        return false;
    }
    if (overdue(conn->write_still_ns, now) || overdue(conn->write_total_ns, now)) {
        door->counts.slow++;
        visd_conn_close(conn, "it does not take what it is sent");
        return false;
    }
    return conn->still_ns || conn->write_still_ns;
}

static void sweep(uv_timer_t *timer)
{
    struct visd_door *door = timer->data;
    uint64_t now = uv_hrtime();
    bool more = false;
    struct visd_conn *next;
    for (struct visd_conn *conn = door->conns; conn; conn = next) {
        next = conn->next;
        more |= sweep_conn(conn, now);
    }
    for (struct listener *listener = door->listeners; listener; listener = listener->next) {
        if (overdue(listener->again_ns, now))
            listener_rearm(listener);
        more |= listener->again_ns != 0;
    }
    if (!more) {
        uv_timer_stop(&door->sweep);
        door->sweeping = false;
    }
}

void door_sweep_start(struct visd_door *door)
{
    if (door->sweeping || door->emptied)
        return;
    door->sweeping = uv_timer_start(&door->sweep, sweep, SWEEP_MS, SWEEP_MS) == 0;
}

void door_complain(struct visd_door *door, const char *format, ...)
{
    unsigned silenced = 0;
    char text[512];
    if (VISD_LOG_WARN > visd_log_level_now || !visd_log_valve_open(&door->valve, uv_hrtime(), &silenced))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (silenced)
        visd_log(VISD_LOG_WARN, "door: %s (and %u more such lines kept back)", text, silenced);
    else
        visd_log(VISD_LOG_WARN, "door: %s", text);
}

void door_check_emptied(struct visd_door *door)
{
    if (!door->closing || door->emptied || door->conns || door->listeners)
        return;
    door->emptied = true;
    uv_close((uv_handle_t *)&door->sweep, NULL);
    visd_inbox_close(&door->inbox);
    door->params.handler->emptied(door->params.user);
}

enum visd_err visd_door_create(struct visd_door **out, const struct visd_door_params *params)
{
    struct visd_door *door = calloc(1, sizeof(*door));
    if (!door)
        return VISD_ERR_NO_MEMORY;
    door->params = *params;
    if (!door->params.connections)
        door->params.connections = VISD_MAX_CLIENTS;
    if (!door->params.greeting_ms)
        door->params.greeting_ms = VISD_MAX_GREETING_MS;
    if (!door->params.stall_ms)
        door->params.stall_ms = VISD_MAX_STALL_MS;
    enum visd_err err = visd_inbox_init(&door->inbox, params->loop);
    if (err != VISD_ERR_OK) {
        free(door);
        return err;
    }
    uv_timer_init(params->loop, &door->sweep); /* cannot fail */
    door->sweep.data = door;
    *out = door;
    return VISD_ERR_OK;
}

void visd_door_destroy(struct visd_door *door)
{
    if (!door)
        return;
    visd_inbox_finish(&door->inbox);
    free(door);
}

void visd_door_close_listeners(struct visd_door *door)
{
    struct listener *next;
    for (struct listener *listener = door->listeners; listener; listener = next) {
        next = listener->next;
        listener_close(listener);
    }
}

void visd_door_stop_reading(struct visd_door *door)
{
    door->reading_stopped = true;
}

void visd_door_close(struct visd_door *door)
{
    door->closing = true;
    visd_door_close_listeners(door);
    struct visd_conn *next;
    for (struct visd_conn *conn = door->conns; conn; conn = next) {
        next = conn->next;
        visd_conn_close(conn, NULL);
    }
    door_check_emptied(door);
}

unsigned visd_door_connections(const struct visd_door *door)
{
    return door->connections;
}

bool visd_door_writing(const struct visd_door *door)
{
    for (const struct visd_conn *conn = door->conns; conn; conn = conn->next)
        if (conn->state != CONN_CLOSING && conn->first)
            return true;
    return false;
}

const struct visd_door_counts *visd_door_counts(const struct visd_door *door)
{
    return &door->counts;
}

struct visd_conn *visd_conn_next(const struct visd_door *door, const struct visd_conn *after)
{
    return after ? after->next : door->conns;
}
