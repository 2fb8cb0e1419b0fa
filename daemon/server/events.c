/* Events: what subscribers are told without asking.
 *
 * A subscriber gets every topic, and filters for itself. Its events are numbered without gaps, in n, by a count of its own. When its
 * queue is full an event is lost to it alone; as soon as there is room it is told how many it missed, and then asks for
 * what it needs (scene_list): events say that something changed, the truth is in the replies.
 *
 * Counters change with every request, so they are not told one by one: the first thing that happens starts a second, and at its end
 * they are told once. While nothing happens, or nobody listens, no timer runs. */
#include <stdio.h>
#include <string.h>

#include "server_internal.h"

#define STATS_MS 1000u

static struct visd_message event_of(enum visd_msg_type type)
{
    struct visd_message event;
    memset(&event, 0, sizeof(event));
    event.type = type;
    return event;
}

/* Encodes for one subscriber and queues it; false: it did not fit. */
static bool send_to(struct session *session, const char *topic, struct visd_message *event)
{
    struct visd_buf buf = {0};
    event->n = session->sequence + 1;
    if (visd_event_topic(&buf, topic) != VISD_ERR_OK || visd_encode(event, &buf, NULL) != VISD_ERR_OK || buf.size > VISD_MAX_EVENT_BYTES) {
        visd_buf_finish(&buf);
        return false;
    }
    if (visd_conn_event(session->conn, buf.at, buf.size) != VISD_ERR_OK)
        return false;
    session->sequence++;
    return true;
}

static bool tell_lost(struct visd_server *server, struct session *session)
{
    if (!session->missed_since)
        return true;
    struct visd_message event = event_of(VISD_MSG_LOST);
    event.lost.epoch = server->epoch;
    event.lost.missed = session->missed_since;
    if (!send_to(session, "lost", &event))
        return false;
    session->missed_since = 0;
    return true;
}

static void send_or_lose(struct visd_server *server, struct session *session, const char *topic, struct visd_message *event)
{
    if (tell_lost(server, session) && send_to(session, topic, event))
        return;
    session->missed++;
    session->missed_since++;
    server->counts.events_lost++;
}

static void publish(struct visd_server *server, const char *topic, struct visd_message *event)
{
    if (!server->subscribers)
        return;
    for (struct visd_conn *conn = visd_conn_next(server->door, NULL); conn; conn = visd_conn_next(server->door, conn)) {
        struct session *session = *visd_conn_owner(conn);
        if (session && visd_conn_kind(conn) == VISD_CONN_SUB)
            send_or_lose(server, session, topic, event);
    }
}

static void publish_of_scene(struct visd_server *server, const struct scene_slot *slot, struct visd_message *event)
{
    char topic[sizeof(slot->name) + 8];
    snprintf(topic, sizeof(topic), "scene/%s", slot->name);
    publish(server, topic, event);
}

void event_revision(struct visd_server *server, const struct scene_slot *slot, const uint8_t *client)
{
    struct visd_message event = event_of(VISD_MSG_REVISION);
    event.revision.epoch = server->epoch;
    event.revision.scene = scene_wire(server, slot);
    event.revision.name = visd_str_of(slot->name);
    event.revision.revision = visd_scene_revision(slot->scene);
    if (client) {
        event.revision.has_client = true;
        memcpy(event.revision.client, client, sizeof(event.revision.client));
    }
    publish_of_scene(server, slot, &event);
}

void event_removed(struct visd_server *server, const struct scene_slot *slot)
{
    struct visd_message event = event_of(VISD_MSG_REMOVED);
    event.removed.epoch = server->epoch;
    event.removed.scene = scene_wire(server, slot);
    event.removed.name = visd_str_of(slot->name);
    publish_of_scene(server, slot, &event);
}

static struct visd_message device_event(const struct visd_server *server)
{
    struct visd_message event = event_of(VISD_MSG_DEVICE);
    event.device.epoch = server->epoch;
    event.device.state = server->device_state;
    event.device.device = visd_str_of(server->device);
    event.device.why = visd_str_of(server->device_why);
    return event;
}

void event_device(struct visd_server *server)
{
    struct visd_message event = device_event(server);
    publish(server, "device", &event);
}

/* ---- counters ---- */

static void tell_stats(uv_timer_t *timer)
{
    struct visd_server *server = timer->data;
    struct visd_msg_named_number rows[STATS_ROOM];
    struct visd_message event = event_of(VISD_MSG_STATS_EVENT);
    if (!server->subscribers)
        return; /* the last one has left */
    event.stats_event.epoch = server->epoch;
    event.stats_event.values = rows;
    event.stats_event.values_count = stats_collect(server, rows, STATS_ROOM);
    publish(server, "stats", &event);
}

void events_stir(struct visd_server *server)
{
    if (server->subscribers && !server->stopping && !uv_is_active((const uv_handle_t *)&server->stats_timer))
        uv_timer_start(&server->stats_timer, tell_stats, STATS_MS, 0);
}

/* ---- subscribers ---- */

/* It cannot know what was told before it came. */
void events_joined(struct visd_server *server, struct session *session)
{
    struct visd_message event = device_event(server);
    send_or_lose(server, session, "device", &event);
}

/* Its queue has room again: what it missed is told now, not with the next event, which may be long in coming. */
void events_drained(struct visd_server *server, struct session *session)
{
    tell_lost(server, session);
}
