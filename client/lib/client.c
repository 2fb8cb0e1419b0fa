/* Connecting, greeting, state, closing.
 *
 * Each new connection is greeted with hello. The first greeting decides whether connect succeeds; later ones tell whether the
 * daemon is still the one of before: another epoch means that every number that the program holds is void. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define CONNECT_TIMEOUT_MS 5000
#define REQUEST_TIMEOUT_MS 60000

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t deadline_of(int timeout_ms)
{
    return timeout_ms < 0 ? UINT64_MAX : now_ns() + (uint64_t)timeout_ms * 1000000u;
}

void text_copy(char *out, size_t size, struct visd_str text)
{
    size_t n = text.size < size ? text.size : size - 1;
    if (n < text.size) /* not in the middle of a character */
        while (n && ((uint8_t)text.at[n] & 0xc0) == 0x80) n--;
    if (n) memcpy(out, text.at, n);
    out[n] = 0;
}

enum visd_err client_fail(struct visd_client *c, enum visd_err err, const char *format, ...)
{
    va_list args;
    c->failure = (struct visd_client_failure){.err = err};
    va_start(args, format);
    vsnprintf(c->failure.text, sizeof(c->failure.text), format, args);
    va_end(args);
    return err;
}

enum visd_err client_check_epoch(struct visd_client *c, uint64_t epoch)
{
    if (epoch == c->epoch && c->link != VISD_CLIENT_RESTARTED) return VISD_ERR_OK;
    return client_fail(c, VISD_ERR_CONFLICT, "the daemon was restarted; close what belongs to the old one and call visd_client_resume");
}

/* ---- greeting ---- */

static enum visd_err note_lists(struct visd_client *c, const struct visd_msg_hello_ok *h)
{
    struct visd_client_number_row *limits = calloc(h->limits_count + 1u, sizeof(*limits));
    char(*features)[64] = calloc(h->features_count + 1u, sizeof(*features));
    if (!limits || !features) {
        free(limits);
        free(features);
        return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for the daemon's limits");
    }
    for (uint32_t i = 0; i < h->limits_count; i++) {
        text_copy(limits[i].name, sizeof(limits[i].name), h->limits[i].name);
        limits[i].value = h->limits[i].value;
        if (visd_str_is(h->limits[i].name, "message_bytes") && h->limits[i].value > 4096 && h->limits[i].value < c->request_bytes)
            c->request_bytes = h->limits[i].value;
    }
    for (uint32_t i = 0; i < h->features_count; i++) text_copy(features[i], sizeof(features[i]), h->features[i]);
    free(c->limits);
    free(c->features);
    c->limits = limits;
    c->limits_count = h->limits_count;
    c->features = features;
    c->features_count = h->features_count;
    return VISD_ERR_OK;
}

static void handle_hello(struct visd_client *c, void *owner, enum visd_err err, nng_msg **reply)
{
    struct reply r;
    (void)owner;
    c->greeting_sent = false;
    if (!c->up) return; /* from a connection that is gone, or not told of yet: the next is greeted by itself */
    if (err == VISD_ERR_OK) err = reply_read(c, *reply, VISD_MSG_HELLO_OK, &r);
    if (err == VISD_ERR_OK) {
        *reply = NULL;
        const struct visd_msg_hello_ok *h = &r.m.hello_ok;
        bool first = c->epoch == 0;
        if (h->version_min > VISD_PROTO_VERSION || h->version < VISD_PROTO_VERSION_MIN)
            err = client_fail(c, VISD_ERR_VERSION,
                              "this program speaks protocol version %d, the daemon (%.*s) %u; use the libvisd that came with it",
                              VISD_PROTO_VERSION, (int)h->server.size, h->server.at, h->version);
        else err = note_lists(c, h);
        if (err == VISD_ERR_OK) {
            c->info.epoch = h->epoch;
            c->info.version = h->version;
            c->info.version_min = h->version_min;
            text_copy(c->info.device, sizeof(c->info.device), h->device);
            text_copy(c->info.worker, sizeof(c->info.worker), h->worker);
            text_copy(c->info.server, sizeof(c->info.server), h->server);
            if (first) c->epoch = h->epoch;
            if (first || h->epoch != c->epoch) c->next_batch = h->batch_number + 1;
            c->link = h->epoch == c->epoch ? VISD_CLIENT_CONNECTED : VISD_CLIENT_RESTARTED;
            c->greeted = true;
        }
        reply_finish(&r);
    }
    if (err != VISD_ERR_OK) c->link = VISD_CLIENT_REFUSED;
}

void client_up(struct visd_client *c)
{
    struct visd_message hello = {.type = VISD_MSG_HELLO};
    c->up = true;
    c->greeted = false;
    if (c->greeting_sent) return; /* the one under way is sent again by itself */
    hello.hello.version = VISD_PROTO_VERSION;
    memcpy(hello.hello.client, c->info.id, sizeof(c->info.id));
    hello.hello.name = visd_str_of(c->name);
    c->greeting_sent = call_start(c, &hello, LINK_RESEND, handle_hello, c, NULL) == VISD_ERR_OK;
    if (!c->greeting_sent) c->link = VISD_CLIENT_REFUSED;
}

void client_down(struct visd_client *c)
{
    c->up = c->greeted = false;
    c->link = VISD_CLIENT_LOST;
    c->lost_since = now_ns();
}

/* ---- the program's calls ---- */

static enum visd_err fill_in(struct visd_client *c, const char *url, const struct visd_client_options *o)
{
    c->connect_timeout_ms = o->connect_timeout_ms ? o->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    c->request_timeout_ms = o->request_timeout_ms ? o->request_timeout_ms : REQUEST_TIMEOUT_MS;
    c->reply_bytes = o->reply_bytes ? o->reply_bytes : VISD_MAX_REPLY_BYTES;
    c->request_bytes = VISD_MAX_MESSAGE_BYTES;
    if (!url || strlen(url) >= sizeof(c->url))
        return client_fail(c, VISD_ERR_BAD_VALUE, "the URL is missing or too long; for example ipc:///run/visd/visd.sock");
    text_copy(c->url, sizeof(c->url), visd_str_of(url));
    text_copy(c->name, sizeof(c->name), visd_str_of(o->name ? o->name : program_invocation_short_name));
    if (o->id) memcpy(c->info.id, o->id, sizeof(c->info.id));
    else if (getrandom(c->info.id, sizeof(c->info.id), 0) != (ssize_t)sizeof(c->info.id))
        return client_fail(c, VISD_ERR_IO, "no random numbers: %s", strerror(errno));
    c->next_n = c->next_view_key = c->next_ticket = 1;
    c->link = VISD_CLIENT_LOST;
    c->lost_since = now_ns();
    return VISD_ERR_OK;
}

enum visd_err visd_client_connect(struct visd_client **out, const char *url, const struct visd_client_options *options,
                                  struct visd_client_failure *why)
{
    static const struct visd_client_options none;
    struct visd_client *c = calloc(1, sizeof(*c));
    uint64_t deadline;
    enum visd_err err;
    *out = NULL;
    if (!c) {
        if (why) *why = (struct visd_client_failure){.err = VISD_ERR_NO_MEMORY, .text = "no memory for a client"};
        return VISD_ERR_NO_MEMORY;
    }
    c->inbox.fd = -1;
    c->inbox.done_tail = &c->inbox.done;
    pthread_mutex_init(&c->inbox.lock, NULL);
    pthread_cond_init(&c->inbox.outside, NULL);
    err = fill_in(c, url, options ? options : &none);
    if (err == VISD_ERR_OK) err = link_open(c, url);
    deadline = deadline_of(c->connect_timeout_ms);
    while (err == VISD_ERR_OK && !c->greeted) {
        if (c->link == VISD_CLIENT_REFUSED) err = c->failure.err;
        else if (link_wait(c, deadline)) visd_client_dispatch(c);
        else
            err = client_fail(c, VISD_ERR_DISCONNECTED,
                              c->up ? "whoever listens at %s does not answer" : "nobody listens at %s; start visd there", url);
    }
    if (err != VISD_ERR_OK) {
        if (why) *why = c->failure;
        visd_client_close(c);
        return err;
    }
    *out = c;
    return VISD_ERR_OK;
}

void visd_client_close(struct visd_client *c)
{
    struct visd_client_batch *b, *next;
    bool closed;
    if (!c) return;
    closed = link_close(c);
    while (c->flights) flight_free(c->flights);
    while (c->views) view_forget(c->views);
    for (b = c->batches; b; b = next) { /* a batch that the program still holds is its own to destroy */
        next = b->next;
        b->client = NULL;
        b->phase = BATCH_FAILED;
        if (b->destroyed) batch_free(b);
    }
    events_free(c);
    visd_buf_finish(&c->out);
    free(c->limits);
    free(c->features);
    if (!closed) return;
    pthread_cond_destroy(&c->inbox.outside);
    pthread_mutex_destroy(&c->inbox.lock);
    free(c);
}

enum visd_err visd_client_dispatch(struct visd_client *c)
{
    link_dispatch(c);
    batch_pump(c);
    return VISD_ERR_OK;
}

enum visd_err visd_client_poll(struct visd_client *c, int timeout_ms)
{
    if (!link_wait(c, deadline_of(timeout_ms))) return VISD_ERR_TIMEOUT;
    return visd_client_dispatch(c);
}

int visd_client_fd(const struct visd_client *c) { return c->inbox.fd; }
enum visd_client_link visd_client_state(const struct visd_client *c) { return c->link; }
const struct visd_client_failure *visd_client_why(const struct visd_client *c) { return &c->failure; }
const struct visd_client_info *visd_client_about(const struct visd_client *c) { return &c->info; }
void visd_client_set_timeout(struct visd_client *c, int request_timeout_ms) { c->request_timeout_ms = request_timeout_ms; }
void visd_client_free(void *array) { free(array); }

void visd_client_resume(struct visd_client *c)
{
    c->epoch = c->info.epoch;
    if (c->link == VISD_CLIENT_RESTARTED) c->link = VISD_CLIENT_CONNECTED;
}

bool visd_client_has_feature(const struct visd_client *c, const char *name)
{
    for (size_t i = 0; i < c->features_count; i++)
        if (strcmp(c->features[i], name) == 0) return true;
    return false;
}

uint64_t visd_client_limit(const struct visd_client *c, const char *name)
{
    for (size_t i = 0; i < c->limits_count; i++)
        if (strcmp(c->limits[i].name, name) == 0) return c->limits[i].value;
    return 0;
}
