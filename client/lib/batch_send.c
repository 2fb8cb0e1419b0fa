/* Batches to the daemon.
 *
 *   FILLING --one part, commit asked--> COMMITTING ----------------------> DONE
 *      |                                    ^                                (or FAILED, from anywhere)
 *      +--a part is full--> BEGINNING --> OPEN: parts, a few unacknowledged at a time
 *
 * Batches of one client are numbered without gaps, and a refused batch does not use its number up. So one batch at a time has
 * the turn, from its first message to its last answer; a batch that the program destroys meanwhile keeps the turn until the
 * daemon has answered. After a failure the next number is asked for rather than reckoned. Everything sent here may be sent
 * twice: the daemon knows batches by (client id, number) and parts by their number. */
#include <stdlib.h>

#include "internal.h"

#define PARTS_UNDER_WAY 3

static void unlink_batch(struct visd_client_batch *b)
{
    if (b->client) {
        struct visd_client_batch **at = &b->client->batches;
        while (*at != b) at = &(*at)->next;
        *at = b->next;
        if (b->client->turn == b) b->client->turn = NULL;
    }
}

void batch_free(struct visd_client_batch *b)
{
    struct part *next;
    for (struct part *p = b->parts; p; p = next) {
        next = p->next;
        visd_buf_finish(&p->items);
        free(p);
    }
    free(b);
}

static void drop_part(struct visd_client_batch *b, struct part *part)
{
    struct part **at = &b->parts;
    while (*at != part) at = &(*at)->next;
    *at = part->next;
    if (b->tail == &part->next) b->tail = at;
    if (b->filling == part) b->filling = NULL;
    b->acknowledged += part->items.size;
    visd_buf_finish(&part->items);
    free(part);
}

static void end_turn(struct visd_client_batch *b)
{
    bool over = b->phase == BATCH_DONE || b->phase == BATCH_FAILED;
    if (b->client->turn == b && over && b->unacknowledged == 0) b->client->turn = NULL;
}

void batch_fail(struct visd_client_batch *b)
{
    b->phase = BATCH_FAILED;
    b->failure = b->client->failure;
    b->client->next_batch = 0;
    end_turn(b);
}

/* ---- answers ---- */

static void done(struct visd_client_batch *b, const struct visd_msg_committed *m)
{
    b->phase = BATCH_DONE;
    b->committed = (struct visd_client_committed){m->number, m->revision, m->durable};
    b->acknowledged = b->put;
    b->client->next_batch = b->number + 1;
}

static void handle_begin(struct visd_client *c, void *owner, enum visd_err err, nng_msg **msg)
{
    struct visd_client_batch *b = owner;
    struct reply r;
    b->unacknowledged--;
    if (err == VISD_ERR_OK) err = reply_read(c, *msg, VISD_MSG_BATCH_OPEN, &r);
    if (err == VISD_ERR_OK) {
        *msg = NULL;
        b->daemon_batch = r.m.batch_open.batch;
        b->daemon_batch_open = true;
        if (b->phase == BATCH_BEGINNING) b->phase = BATCH_OPEN;
        reply_finish(&r);
    } else {
        batch_fail(b);
    }
    end_turn(b);
}

static void handle_part(struct visd_client *c, void *owner, enum visd_err err, nng_msg **msg)
{
    struct visd_client_batch *b = owner;
    struct part *p = b->parts;
    struct reply r;
    b->unacknowledged--;
    if (err == VISD_ERR_OK) err = reply_read(c, *msg, VISD_MSG_OK, &r);
    if (err == VISD_ERR_OK) {
        *msg = NULL;
        /* Answers of one batch may overtake each other; which of its parts is dropped matters not, only that all are. */
        while (p && !p->sent) p = p->next;
        if (p) drop_part(b, p);
        reply_finish(&r);
    } else if (b->phase != BATCH_FAILED) {
        batch_fail(b);
    }
    end_turn(b);
}

static void handle_commit(struct visd_client *c, void *owner, enum visd_err err, nng_msg **msg)
{
    struct visd_client_batch *b = owner;
    struct reply r;
    b->unacknowledged--;
    if (err == VISD_ERR_OK) err = reply_read(c, *msg, VISD_MSG_COMMITTED, &r);
    if (err == VISD_ERR_OK) {
        *msg = NULL;
        done(b, &r.m.committed);
        reply_finish(&r);
    } else {
        batch_fail(b);
    }
    end_turn(b);
}

static void handle_number(struct visd_client *c, void *owner, enum visd_err err, nng_msg **msg)
{
    struct reply r;
    (void)owner;
    c->asking_number = false;
    if (err == VISD_ERR_OK) err = reply_read(c, *msg, VISD_MSG_BATCH_NUMBER, &r);
    if (err == VISD_ERR_OK) {
        *msg = NULL;
        c->next_batch = r.m.batch_number.number + 1;
        reply_finish(&r);
    } else if (c->turn) {
        batch_fail(c->turn);
    }
}

static void handle_nothing(struct visd_client *c, void *owner, enum visd_err err, nng_msg **msg)
{
    (void)c, (void)owner, (void)err, (void)msg;
}

/* ---- messages ---- */

static void ask_number(struct visd_client *c)
{
    struct visd_message m = {.type = VISD_MSG_BATCH_LAST};
    memcpy(m.batch_last.client, c->info.id, sizeof(c->info.id));
    if (c->asking_number) return;
    c->asking_number = call_start(c, &m, LINK_RESEND, handle_number, c, NULL) == VISD_ERR_OK;
    if (!c->asking_number && c->turn) batch_fail(c->turn);
}

static struct visd_message message_for(const struct visd_client_batch *b, enum visd_msg_type type)
{
    return (struct visd_message){.type = type, .has_epoch = true, .epoch = b->epoch};
}

/* A message is on its way, and with it the batch in its next phase; or it could not be sent, and the batch has failed. */
static void sent(struct visd_client_batch *b, enum visd_err err, enum batch_phase phase)
{
    if (err != VISD_ERR_OK) {
        batch_fail(b);
        return;
    }
    b->unacknowledged++;
    b->phase = phase;
}

static void send_begin(struct visd_client_batch *b)
{
    struct visd_message m = message_for(b, VISD_MSG_BATCH_BEGIN);
    m.batch_begin.scene = b->scene;
    memcpy(m.batch_begin.client, b->client->info.id, sizeof(m.batch_begin.client));
    m.batch_begin.number = b->number;
    m.batch_begin.has_if_revision = b->has_if_revision;
    m.batch_begin.if_revision = b->if_revision;
    m.batch_begin.has_transient = m.batch_begin.transient = b->transient;
    sent(b, call_start(b->client, &m, LINK_RESEND, handle_begin, b, NULL), BATCH_BEGINNING);
}

static void send_commit(struct visd_client_batch *b)
{
    struct visd_message m = message_for(b, VISD_MSG_BATCH_COMMIT);
    m.batch_commit.batch = b->daemon_batch;
    memcpy(m.batch_commit.client, b->client->info.id, sizeof(m.batch_commit.client));
    m.batch_commit.number = b->number;
    m.batch_commit.parts = b->next_part;
    sent(b, call_start(b->client, &m, LINK_RESEND, handle_commit, b, NULL), BATCH_COMMITTING);
}

/* Items that are encoded already go into a message of their own. */
static void send_items(struct visd_client_batch *b, struct visd_message *m, const struct part *part, enum batch_phase phase,
                       void (*handle)(struct visd_client *, void *, enum visd_err, nng_msg **))
{
    static const struct visd_buf nothing;
    struct visd_client *c = b->client;
    struct visd_refused why;
    enum visd_err err;
    m->n = c->next_n++;
    c->out.size = 0;
    err = visd_encode_with_items(m, part ? &part->items : &nothing, part ? part->count : 0, &c->out, &why);
    if (err != VISD_ERR_OK) client_fail(c, err, "%s", why.text);
    else err = link_send(c, m->n, LINK_RESEND, handle, b, NULL);
    sent(b, err, phase);
}

static void send_whole(struct visd_client_batch *b)
{
    struct visd_message m = message_for(b, VISD_MSG_BATCH);
    m.batch.scene = b->scene;
    memcpy(m.batch.client, b->client->info.id, sizeof(m.batch.client));
    m.batch.number = b->number;
    m.batch.has_if_revision = b->has_if_revision;
    m.batch.if_revision = b->if_revision;
    m.batch.has_transient = m.batch.transient = b->transient;
    send_items(b, &m, b->parts, BATCH_COMMITTING, handle_commit);
}

static void send_parts(struct visd_client_batch *b)
{
    for (struct part *p = b->parts; p && b->phase == BATCH_OPEN && b->unacknowledged < PARTS_UNDER_WAY; p = p->next) {
        struct visd_message m = message_for(b, VISD_MSG_BATCH_APPEND);
        if (p->sent || p == b->filling) continue;
        m.batch_append.batch = b->daemon_batch;
        m.batch_append.part = p->number;
        p->sent = true;
        send_items(b, &m, p, BATCH_OPEN, handle_part);
    }
}

static void send_abort(struct visd_client_batch *b)
{
    struct visd_message m = message_for(b, VISD_MSG_BATCH_ABORT);
    m.batch_abort.batch = b->daemon_batch;
    call_start(b->client, &m, LINK_ONCE, handle_nothing, b->client, NULL);
}

/* ---- the turn ---- */

static bool wants_turn(const struct visd_client_batch *b)
{
    return b->phase == BATCH_FILLING && !b->destroyed && (b->commit || (b->parts && b->parts != b->filling));
}

static void pump(struct visd_client_batch *b)
{
    struct visd_client *c = b->client;
    if (b->phase == BATCH_FILLING) {
        if (client_check_epoch(c, b->epoch) != VISD_ERR_OK) {
            batch_fail(b);
            return;
        }
        if (!c->next_batch) {
            ask_number(c);
            return;
        }
        b->number = c->next_batch;
        if (b->commit && (!b->parts || !b->parts->next)) send_whole(b);
        else send_begin(b);
    }
    if (b->phase == BATCH_OPEN) {
        send_parts(b);
        if (b->phase == BATCH_OPEN && b->commit && !b->parts && !b->unacknowledged) send_commit(b);
    }
}

void batch_pump(struct visd_client *c)
{
    struct visd_client_batch *b, *next;
    for (b = c->batches; b; b = next) {
        next = b->next;
        if (!b->destroyed) continue;
        if (b->unacknowledged) continue;
        if (b->daemon_batch_open && b->phase != BATCH_DONE) {
            send_abort(b);
            c->next_batch = 0;
        }
        unlink_batch(b);
        batch_free(b);
    }
    for (;;) {
        if (!c->turn) {
            struct visd_client_batch *oldest = NULL; /* the list has the newest first */
            for (b = c->batches; b; b = b->next)
                if (wants_turn(b)) oldest = b;
            c->turn = oldest;
        }
        if (!c->turn) return;
        b = c->turn;
        pump(b);
        if (c->turn == b) return;
    }
}

/* ---- the program's calls ---- */

void visd_client_batch_destroy(struct visd_client_batch *b)
{
    if (!b) return;
    b->destroyed = true;
    if (b->client) batch_pump(b->client);
    else batch_free(b);
}

enum visd_err visd_client_batch_start(struct visd_client_batch *b)
{
    if (!b->client) return VISD_ERR_DISCONNECTED;
    b->commit = true;
    b->filling = NULL;
    batch_pump(b->client);
    if (b->phase != BATCH_FAILED) return VISD_ERR_OK;
    b->client->failure = b->failure;
    return b->failure.err;
}

enum visd_err visd_client_batch_result(struct visd_client_batch *b, int timeout_ms, struct visd_client_committed *out)
{
    uint64_t deadline = deadline_of(timeout_ms);
    struct visd_client *c = b->client;
    enum visd_err err;
    if (!c) return VISD_ERR_DISCONNECTED;
    if (!b->commit) return client_fail(c, VISD_ERR_BAD_VALUE, "the batch has not been started");
    visd_client_dispatch(c);
    while (b->phase != BATCH_DONE && b->phase != BATCH_FAILED)
        if ((err = call_wait(c, deadline)) != VISD_ERR_OK) return err;
    if (b->phase == BATCH_FAILED) {
        c->failure = b->failure;
        return b->failure.err;
    }
    if (out) *out = b->committed;
    return VISD_ERR_OK;
}

enum visd_err visd_client_batch_commit(struct visd_client_batch *b, struct visd_client_committed *out)
{
    enum visd_err err = visd_client_batch_start(b);
    return err == VISD_ERR_OK ? visd_client_batch_result(b, b->client->request_timeout_ms, out) : err;
}
