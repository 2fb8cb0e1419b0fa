/* Connections and the clients that speak through them.
 *
 * Views, open batches and batch numbers belong to a client, not to a connection: nng sockets reconnect by themselves, and a
 * client that comes back within the grace period finds everything as it was (unless room was short). A client's id is random, and bound to
 * the user that first used it. Once it has been gone for longer, what it holds is given back; its batch numbers stay known for as
 * long as there is room, so that a batch that is sent again after a long sleep is not applied twice.
 *
 *   live (connections > 0)  ->  gone (grace runs)  ->  remembered (numbers only)  ->  forgotten
 */
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

#define NS_PER_MS 1000000ull

struct session *session_open(struct visd_server *server, struct visd_conn *conn)
{
    struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->conn = conn;
    session->number = ++server->session_count;
    session->connected_ns = uv_hrtime();
    *visd_conn_owner(conn) = session;
    if (visd_conn_kind(conn) == VISD_CONN_SUB)
        server->subscribers++;
    return session;
}

static struct client *find(const struct visd_server *server, const uint8_t *id)
{
    struct client *client = server->clients;
    while (client && memcmp(client->id, id, VISD_CLIENT_ID_SIZE) != 0)
        client = client->next;
    return client;
}

static void forget(struct visd_server *server, struct client *client)
{
    struct client **link = &server->clients;
    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
    visd_charge_drop(&client->charge);
    visd_users_unref(&server->users, client->user);
    free(client);
}

/* Makes room among the remembered clients of a user: the one gone for longest is forgotten. */
static void forget_oldest(struct visd_server *server, const struct visd_user *user)
{
    unsigned count = 0;
    struct client *oldest = NULL;
    for (struct client *client = server->clients; client; client = client->next) {
        if (!client->remembered || client->user != user)
            continue;
        count++;
        if (!oldest || client->gone_ns < oldest->gone_ns)
            oldest = client;
    }
    if (count > REMEMBERED_CLIENTS)
        forget(server, oldest);
}

/* Lets go of what a client without a connection holds; only its batch numbers, if it has any, are remembered. */
static void release(struct visd_server *server, struct client *client)
{
    struct visd_user *user = client->user;
    views_drop(server, client);
    batches_drop(server, client, 0);
    visd_charge_drop(&client->charge);
    client->remembered = true;
    if (client->last_number == 0)
        forget(server, client);
    else
        forget_oldest(server, user);
}

static void leave(struct visd_server *server, struct session *session)
{
    struct client *client = session->client;
    session->client = NULL;
    if (!client || --client->connections)
        return;
    client->gone_ns = uv_hrtime();
    if (client->views || client->batches)
        server_tick_start(server); /* it may come back */
    else
        release(server, client);
}

bool clients_evict(struct visd_server *server, const struct visd_user *user)
{
    struct client *oldest = NULL;
    for (struct client *client = server->clients; client; client = client->next)
        if (!client->connections && !client->remembered && (!user || client->user == user) && (!oldest || client->gone_ns < oldest->gone_ns))
            oldest = client;
    if (oldest)
        release(server, oldest);
    return oldest != NULL;
}

void session_close(struct visd_server *server, struct session *session)
{
    if (visd_conn_kind(session->conn) == VISD_CONN_SUB)
        server->subscribers--;
    frames_forget(server, session);
    leave(server, session);
    free(session);
}

static struct client *make(struct visd_server *server, struct visd_user *user, const uint8_t *id)
{
    struct client *client = calloc(1, sizeof(*client));
    if (!client)
        return NULL;
    client->user = visd_users_ref(&server->users, user->uid); /* it exists: cannot fail */
    memcpy(client->id, id, sizeof(client->id));
    client->gone_ns = uv_hrtime();
    client->remembered = true; /* until it is attached */
    client->next = server->clients;
    server->clients = client;
    return client;
}

enum visd_err session_client(struct visd_server *server, struct session *session, const uint8_t *id, struct client **out)
{
    struct visd_user *user = visd_conn_user(session->conn);
    struct client *client = session->client;
    *out = NULL;
    if (!client || memcmp(client->id, id, VISD_CLIENT_ID_SIZE) != 0) {
        if (client && session->greeted)
            return VISD_ERR_DENIED;
        client = find(server, id);
        bool made = !client;
        if (made)
            client = make(server, user, id);
        if (!client)
            return VISD_ERR_NO_MEMORY;
        if (client->user != user)
            return VISD_ERR_DENIED;
        while (client->remembered && visd_charge_take(&client->charge, &server->users, user, VISD_QUOTA_CLIENTS, 1) != VISD_ERR_OK) {
            if (clients_evict(server, user))
                continue;
            if (made)
                forget(server, client);
            return VISD_ERR_QUOTA;
        }
        client->remembered = false;
        leave(server, session); /* a connection speaks for one client at a time */
        session->client = client;
        client->connections++;
        client->gone_ns = 0;
    }
    *out = client;
    return VISD_ERR_OK;
}

/* The first that is gone, and has been for so long. */
static struct client *gone_for(struct visd_server *server, uint64_t now, uint64_t ns)
{
    struct client *client = server->clients;
    while (client && (client->connections || client->remembered || now - client->gone_ns < ns))
        client = client->next;
    return client;
}

bool clients_tick(struct visd_server *server, uint64_t now)
{
    uint64_t grace = (server->params.grace_ms ? server->params.grace_ms : VISD_MAX_CLIENT_GRACE_MS) * NS_PER_MS;
    struct client *client;
    while ((client = gone_for(server, now, grace))) /* from the start each time: with one, others may leave the list */
        release(server, client);
    return gone_for(server, now, 0);
}

void clients_finish(struct visd_server *server)
{
    while (server->clients)
        forget(server, server->clients);
}
