/* Events: kept in a queue until the program takes them.
 *
 * The SUB socket subscribes to everything and the filter is here, because a subscriber's events are numbered without gaps:
 * only who sees all can see that one is missing. What was missed is told as an event of its own; so is a lost connection,
 * across which nothing is known. */
#include <stdlib.h>

#include "internal.h"

#define QUEUE_MAX 4096

struct event_row {
    struct event_row *next;
    struct visd_client_event event;
};

struct topic {
    struct topic *next;
    char name[256];
};

static void push(struct visd_client *c, const struct visd_client_event *event)
{
    struct event_row *row;
    if (c->event_tail && c->event_tail->event.kind == VISD_EVENT_MISSED &&
        (c->event_count >= QUEUE_MAX || event->kind == VISD_EVENT_MISSED)) {
        c->event_tail->event.missed += event->kind == VISD_EVENT_MISSED ? event->missed : 1;
        return;
    }
    row = calloc(1, sizeof(*row));
    if (!row) return; /* the gap in the numbers cannot tell it; but then little else works */
    row->event = *event;
    if (c->event_count >= QUEUE_MAX) row->event = (struct visd_client_event){.kind = VISD_EVENT_MISSED, .epoch = event->epoch, .missed = 1};
    if (c->event_tail) c->event_tail->next = row;
    else c->event_head = row;
    c->event_tail = row;
    c->event_count++;
}

static bool wanted(const struct visd_client *c, struct visd_str name)
{
    if (c->events_wanted_all) return true;
    for (const struct topic *t = c->topics; t; t = t->next)
        if (visd_str_is(name, t->name)) return true;
    return false;
}

void events_take(struct visd_client *c, const void *bytes, size_t size)
{
    struct visd_client_event e = {0};
    struct visd_arena arena = {0};
    struct visd_message m;
    struct visd_refused why;
    size_t at;
    bool keep = false;
    if (visd_event_split(bytes, size, &at) != VISD_ERR_OK ||
        visd_decode((const char *)bytes + at, size - at, &arena, &m, &why) != VISD_ERR_OK) {
        visd_arena_finish(&arena);
        return; /* a newer daemon's event that we know nothing of; its number still counts at the next one */
    }
    if (c->event_n && m.n > c->event_n + 1)
        push(c, &(struct visd_client_event){.kind = VISD_EVENT_MISSED, .epoch = c->info.epoch, .missed = m.n - c->event_n - 1});
    c->event_n = m.n;
    switch (m.type) {
    case VISD_MSG_REVISION:
        keep = wanted(c, m.revision.name);
        e = (struct visd_client_event){.kind = VISD_EVENT_REVISION,
                                       .epoch = m.revision.epoch,
                                       .scene = m.revision.scene,
                                       .revision = m.revision.revision};
        e.own = m.revision.has_client && memcmp(m.revision.client, c->info.id, sizeof(c->info.id)) == 0;
        text_copy(e.name, sizeof(e.name), m.revision.name);
        break;
    case VISD_MSG_REMOVED:
        keep = wanted(c, m.removed.name);
        e = (struct visd_client_event){.kind = VISD_EVENT_REMOVED, .epoch = m.removed.epoch, .scene = m.removed.scene};
        text_copy(e.name, sizeof(e.name), m.removed.name);
        break;
    case VISD_MSG_DEVICE:
        keep = c->events_wanted_all;
        e = (struct visd_client_event){.kind = VISD_EVENT_DEVICE, .epoch = m.device.epoch, .state = m.device.state};
        text_copy(e.name, sizeof(e.name), m.device.device);
        text_copy(e.why, sizeof(e.why), m.device.why);
        break;
    case VISD_MSG_LOST:
        keep = true;
        e = (struct visd_client_event){.kind = VISD_EVENT_MISSED, .epoch = m.lost.epoch, .missed = m.lost.missed};
        break;
    default: break;
    }
    if (keep) push(c, &e);
    visd_arena_finish(&arena);
}

void events_lost(struct visd_client *c)
{
    c->event_gap = true;
    c->event_n = 0;
}

/* Told when there is a connection again: then it makes sense to ask for the state anew. */
void events_back(struct visd_client *c)
{
    if (c->event_gap) push(c, &(struct visd_client_event){.kind = VISD_EVENT_MISSED, .epoch = c->info.epoch});
    c->event_gap = false;
}

void events_free(struct visd_client *c)
{
    struct event_row *row;
    struct topic *topic;
    while ((row = c->event_head) != NULL) {
        c->event_head = row->next;
        free(row);
    }
    while ((topic = c->topics) != NULL) {
        c->topics = topic->next;
        free(topic);
    }
}

enum visd_err visd_client_subscribe(struct visd_client *c, const char *scene)
{
    struct topic *topic = NULL;
    enum visd_err err;
    if (scene) {
        if (strlen(scene) > VISD_MAX_NAME_BYTES)
            return client_fail(c, VISD_ERR_TOO_BIG, "the name has more than %d bytes", VISD_MAX_NAME_BYTES);
        topic = calloc(1, sizeof(*topic));
        if (!topic) return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for a subscription");
        text_copy(topic->name, sizeof(topic->name), visd_str_of(scene));
    }
    err = link_open_events(c);
    if (err != VISD_ERR_OK) {
        free(topic);
        return err;
    }
    if (topic) {
        topic->next = c->topics;
        c->topics = topic;
    } else {
        c->events_wanted_all = true;
    }
    return VISD_ERR_OK;
}

enum visd_err visd_client_next_event(struct visd_client *c, int timeout_ms, struct visd_client_event *out)
{
    uint64_t deadline = deadline_of(timeout_ms);
    struct event_row *row;
    visd_client_dispatch(c);
    while (!c->event_head) {
        if (!link_wait(c, deadline)) return VISD_ERR_TIMEOUT;
        visd_client_dispatch(c);
    }
    row = c->event_head;
    c->event_head = row->next;
    if (!c->event_head) c->event_tail = NULL;
    c->event_count--;
    *out = row->event;
    free(row);
    return VISD_ERR_OK;
}
