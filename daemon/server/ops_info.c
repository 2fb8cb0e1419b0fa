/* Who is there and how it goes: hello, ping, statistics, connections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "server_internal.h"

/* What this daemon serves, by name: a client asks here, not the version. */
static const char *const features[] = {"frustum", "hiz",      "delta",    "wait",   "batch_parts", "if_revision",
                                       "groups",  "instances", "snapshot", "events", "profile",     "coverage",
                                       "meshes", "box",      "exact", "samples", "prepass"};
#define FEATURES (sizeof(features) / sizeof(features[0]))

void op_hello(struct call *call)
{
    const struct visd_msg_hello *in = &call->in->hello;
    struct visd_server *server = call->server;
    struct client *client;
    call->session->greeted = false; /* a second hello may name another client */
    enum visd_err err = session_client(server, call->session, in->client, &client);
    if (err == VISD_ERR_DENIED) {
        call_refuse(call, err, "hello: this client id is another user's; choose a random one");
        return;
    }
    if (err != VISD_ERR_OK) {
        call_refuse(call, err, "hello: %s", err == VISD_ERR_QUOTA ? "user_clients is used up; close some" : visd_err_text(err));
        return;
    }
    call->session->greeted = true;
    call->session->version = in->version;
    snprintf(client->name, sizeof(client->name), "%.*s", (int)in->name.size, in->name.at);
    for (char *c = client->name; *c; c++) /* tables and logs show it on terminals */
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';

    struct visd_str names[FEATURES];
    struct visd_msg_named_limit limits[128];
    uint32_t count = 0;
    memset(limits, 0, sizeof(limits));
    for (size_t i = 0; i < FEATURES; i++)
        names[i] = visd_str_of(features[i]);
    for (size_t i = 0; i < visd_limit_count && count < sizeof(limits) / sizeof(limits[0]); i++, count++) {
        limits[count].name = visd_str_of(visd_limit_rows[i].name);
        limits[count].value = visd_limit_rows[i].number;
    }
    char version[64];
    snprintf(version, sizeof(version), "visd %s", server->params.version);
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_HELLO_OK;
    out.hello_ok.epoch = server->epoch;
    out.hello_ok.version = VISD_PROTO_VERSION;
    out.hello_ok.version_min = VISD_PROTO_VERSION_MIN;
    out.hello_ok.features = names;
    out.hello_ok.features_count = FEATURES;
    out.hello_ok.limits = limits;
    out.hello_ok.limits_count = count;
    out.hello_ok.device = visd_str_of(server->device);
    out.hello_ok.worker = visd_str_of(server->params.worker_kind);
    out.hello_ok.server = visd_str_of(version);
    out.hello_ok.batch_number = client->last_number;
    call_reply(call, &out);
}

/* ---- ping ---- */

static void pong(struct visd_server *server, struct visd_request *request, uint64_t n, uint64_t worker_ns)
{
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_PONG;
    out.pong.received_ns = request->received_ns;
    out.pong.worker_ns = worker_ns;
    out.pong.sent_ns = uv_hrtime();
    reply_to(server, request, n, &out);
}

void op_ping(struct call *call)
{
    struct visd_server *server = call->server;
    struct ping_wait *ping = NULL;
    if (server_has_worker(server) && !(ping = calloc(1, sizeof(*ping)))) {
        call_refuse(call, VISD_ERR_NO_MEMORY, "ping: out of memory");
        return;
    }
    struct visd_request *request = call_keep(call);
    if (!ping) {
        pong(server, request, call->in->n, 0);
        return;
    }
    ping->request = request;
    ping->n = call->in->n;
    struct ping_wait **link = &server->pings;
    while (*link)
        link = &(*link)->next;
    *link = ping;
}

/* One job serves all that wait for one. */
void pings_put(struct visd_server *server, uint64_t serial)
{
    for (struct ping_wait *ping = server->pings; ping; ping = ping->next)
        if (!ping->serial)
            ping->serial = serial;
}

void pings_done(struct visd_server *server, const struct visd_result *result)
{
    struct ping_wait **link = &server->pings;
    while (*link) {
        struct ping_wait *ping = *link;
        if (ping->serial != result->serial) {
            link = &ping->next;
            continue;
        }
        *link = ping->next;
        pong(server, ping->request, ping->n, result->received_ns);
        free(ping);
    }
}

void pings_end(struct visd_server *server, enum visd_err err)
{
    while (server->pings) {
        struct ping_wait *ping = server->pings;
        server->pings = ping->next;
        if (err == VISD_ERR_OK)
            pong(server, ping->request, ping->n, 0);
        else
            refuse_to(server, ping->request, ping->n, err, visd_err_text(err));
        free(ping);
    }
}

/* ---- statistics ---- */

struct rows {
    struct visd_msg_named_number *at;
    unsigned count, room;
};

static void add(struct rows *rows, const char *name, double value)
{
    if (rows->count == rows->room)
        return;
    rows->at[rows->count].name = visd_str_of(name);
    rows->at[rows->count++].value = value;
}

static unsigned count_scenes(const struct visd_server *server)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < server->scene_end; i++)
        count += server->scenes[i].scene != NULL;
    return count;
}

static unsigned count_views(const struct visd_server *server)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < server->view_end; i++)
        count += server->views[i].view != NULL;
    return count;
}

static unsigned count_clients(const struct visd_server *server)
{
    unsigned count = 0;
    for (const struct client *client = server->clients; client; client = client->next)
        count += !client->remembered;
    return count;
}

unsigned stats_collect(struct visd_server *server, struct visd_msg_named_number *out, unsigned room)
{
    struct rows rows = {out, 0, room};
    struct rusage usage;
    memset(out, 0, room * sizeof(*out));
    add(&rows, "uptime_s", (double)(uv_hrtime() - server->started_ns) / 1e9);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        add(&rows, "cpu_s", (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
        add(&rows, "rss_peak_bytes", (double)usage.ru_maxrss * 1024);
    }
    add(&rows, "segment_bytes", (double)visd_segment_used(server->params.segment));
    if (server->params.worker_stats) {
        struct visd_server_worker_stats worker = {0};
        server->params.worker_stats(server->params.user, &worker);
        add(&rows, "device_bytes", (double)worker.device_bytes);
        add(&rows, "validation_messages", (double)worker.validation_messages);
    }
    add(&rows, "connections", visd_door_connections(server->door));
    add(&rows, "subscribers", server->subscribers);
    add(&rows, "clients", count_clients(server));
    add(&rows, "scenes", count_scenes(server));
    add(&rows, "views", count_views(server));
    add(&rows, "jobs", (double)server->link.jobs);
    add(&rows, "jobs_unanswered", (double)server->link.unanswered);
    const struct visd_door_counts *door = visd_door_counts(server->door);
#define X(field, text) add(&rows, "door_" #field, (double)door->field);
    VISD_DOOR_COUNT_MAP(X)
#undef X
#define X(field, text) add(&rows, #field, (double)server->counts.field);
    SERVER_COUNT_MAP(X)
#undef X
    static char op_names[VISD_MSG_COUNT][40]; /* the same text each time */
    for (unsigned i = 0; i < VISD_MSG_COUNT; i++)
        if (server->op_counts[i]) {
            snprintf(op_names[i], sizeof(op_names[i]), "op_%s", visd_msg_name((enum visd_msg_type)i));
            add(&rows, op_names[i], (double)server->op_counts[i]);
        }
    return rows.count;
}

void op_stats(struct call *call)
{
    struct visd_msg_named_number rows[STATS_ROOM];
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_STATS_OK;
    out.stats_ok.values = rows;
    out.stats_ok.values_count = stats_collect(call->server, rows, STATS_ROOM);
    call_reply(call, &out);
}

static void fill_row(struct visd_msg_client_row *row, const struct visd_conn *conn, const struct session *session, uint64_t now)
{
    const struct visd_peer *peer = visd_conn_peer(conn);
    const struct client *client = session->client;
    row->connection = session->number;
    row->peer = visd_str_of(peer->text);
    if (client) {
        row->has_client = row->has_name = true;
        memcpy(row->client, client->id, sizeof(row->client));
        row->name = visd_str_of(client->name);
        row->views = client->views;
    }
    if (peer->uid != VISD_UID_NONE) {
        row->has_uid = row->has_pid = true;
        row->uid = (uint32_t)peer->uid;
        row->pid = (uint32_t)peer->pid;
    }
    row->events = visd_conn_kind(conn) == VISD_CONN_SUB;
    row->connected_ns = now - session->connected_ns;
    row->requests = session->requests;
    row->refused = session->refused;
    row->waiting = visd_conn_requests(conn);
    row->missed = session->missed;
    visd_conn_bytes(conn, &row->bytes_in, &row->bytes_out);
}

void op_clients(struct call *call)
{
    struct visd_server *server = call->server;
    struct visd_msg_client_row *rows = calloc(visd_door_connections(server->door) + 1, sizeof(*rows));
    if (!rows) {
        call_refuse(call, VISD_ERR_NO_MEMORY, "clients: out of memory");
        return;
    }
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_CLIENTS_OK;
    out.clients_ok.rows = rows;
    uint64_t now = uv_hrtime();
    for (struct visd_conn *conn = visd_conn_next(server->door, NULL); conn; conn = visd_conn_next(server->door, conn)) {
        const struct session *session = *visd_conn_owner(conn); /* NULL: greeting, or closing */
        if (session && out.clients_ok.rows_count < VISD_MAX_CLIENTS)
            fill_row(&rows[out.clients_ok.rows_count++], conn, session, now);
    }
    call_reply(call, &out);
    free(rows);
}
