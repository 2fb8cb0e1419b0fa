/* Looking in: ping, counters, who is connected, pictures. */
#include <stdlib.h>

#include "internal.h"

enum visd_err visd_client_ping(struct visd_client *c, struct visd_client_pong *out)
{
    struct visd_message m = {.type = VISD_MSG_PING};
    uint64_t start = now_ns();
    struct reply r;
    enum visd_err err = call(c, &m, LINK_RESEND, VISD_MSG_PONG, &r);
    if (err != VISD_ERR_OK) return err;
    if (out) *out = (struct visd_client_pong){now_ns() - start, r.m.pong.received_ns, r.m.pong.worker_ns, r.m.pong.sent_ns};
    reply_finish(&r);
    return VISD_ERR_OK;
}

enum visd_err visd_client_stats(struct visd_client *c, struct visd_client_number **out, size_t *count)
{
    struct visd_message m = {.type = VISD_MSG_STATS};
    struct reply r;
    enum visd_err err = call(c, &m, LINK_RESEND, VISD_MSG_STATS_OK, &r);
    *out = NULL;
    *count = 0;
    if (err != VISD_ERR_OK) return err;
    *out = calloc(r.m.stats_ok.values_count + 1u, sizeof(**out));
    if (!*out) err = client_fail(c, VISD_ERR_NO_MEMORY, "no memory for %u numbers", r.m.stats_ok.values_count);
    for (uint32_t i = 0; *out && i < r.m.stats_ok.values_count; i++) {
        text_copy((*out)[i].name, sizeof((*out)[i].name), r.m.stats_ok.values[i].name);
        (*out)[i].value = r.m.stats_ok.values[i].value;
    }
    *count = *out ? r.m.stats_ok.values_count : 0;
    reply_finish(&r);
    return err;
}

enum visd_err visd_client_peers(struct visd_client *c, struct visd_client_peer **out, size_t *count)
{
    struct visd_message m = {.type = VISD_MSG_CLIENTS};
    struct reply r;
    enum visd_err err = call(c, &m, LINK_RESEND, VISD_MSG_CLIENTS_OK, &r);
    *out = NULL;
    *count = 0;
    if (err != VISD_ERR_OK) return err;
    *out = calloc(r.m.clients_ok.rows_count + 1u, sizeof(**out));
    if (!*out) err = client_fail(c, VISD_ERR_NO_MEMORY, "no memory for %u rows", r.m.clients_ok.rows_count);
    for (uint32_t i = 0; *out && i < r.m.clients_ok.rows_count; i++) {
        const struct visd_msg_client_row *row = &r.m.clients_ok.rows[i];
        struct visd_client_peer *p = &(*out)[i];
        *p = (struct visd_client_peer){.connection = row->connection,
                                       .has_id = row->has_client,
                                       .has_user = row->has_uid,
                                       .uid = row->uid,
                                       .pid = row->pid,
                                       .events = row->events,
                                       .connected_ns = row->connected_ns,
                                       .requests = row->requests,
                                       .refused = row->refused,
                                       .bytes_in = row->bytes_in,
                                       .bytes_out = row->bytes_out,
                                       .waiting = row->waiting,
                                       .missed = row->missed,
                                       .views = row->views};
        text_copy(p->name, sizeof(p->name), row->has_name ? row->name : visd_str_of(""));
        text_copy(p->peer, sizeof(p->peer), row->peer);
        memcpy(p->id, row->client, sizeof(p->id));
    }
    *count = *out ? r.m.clients_ok.rows_count : 0;
    reply_finish(&r);
    return err;
}

enum visd_err visd_client_snapshot(struct visd_client_view *view, int what, uint32_t level, struct visd_client_image *out)
{
    struct visd_client *c = view->client;
    struct visd_message m = {.type = VISD_MSG_SNAPSHOT, .has_epoch = true, .epoch = view->epoch};
    static const uint8_t sizes[] = {4, 4, 8};
    struct reply r;
    enum visd_err err = client_check_epoch(c, view->epoch);
    *out = (struct visd_client_image){0};
    m.snapshot.view = view->number;
    m.snapshot.what = (uint32_t)what;
    m.snapshot.has_level = level != 0;
    m.snapshot.level = level;
    if (err == VISD_ERR_OK) err = call(c, &m, LINK_RESEND, VISD_MSG_IMAGE, &r);
    if (err != VISD_ERR_OK) return err;
    if ((uint64_t)r.m.image.width * r.m.image.height * sizes[r.m.image.kind] != r.m.image.data.rows) {
        err = client_fail(c, VISD_ERR_BAD_MESSAGE, "the daemon's picture has another size than it says");
    } else if ((out->memory = malloc(r.m.image.data.rows + 1)) == NULL) {
        err = client_fail(c, VISD_ERR_NO_MEMORY, "no memory for a picture");
    } else {
        memcpy(out->memory, r.m.image.data.at, r.m.image.data.rows);
        out->pixels = out->memory;
        out->bytes = r.m.image.data.rows;
        out->width = r.m.image.width;
        out->height = r.m.image.height;
        out->kind = (int)r.m.image.kind;
        out->frame = r.m.image.frame;
    }
    reply_finish(&r);
    return err;
}

void visd_client_image_finish(struct visd_client_image *image)
{
    free(image->memory);
    *image = (struct visd_client_image){0};
}
