/* Listening, and the rule of one daemon a socket.
 *
 * A socket file outlives its daemon, so whether one may be replaced has to be known, not guessed. PATH.lock is locked before PATH is
 * touched: another visd holds the lock for as long as it lives, and is thus never probed or robbed. With the lock in
 * hand, a socket that nobody answers on is a dead one's and goes; one that somebody answers on belongs to another program and stays.
 * Who gives the lock up removes its file first, still holding it; who then locks the removed file sees that its name is another's
 * or nobody's, and begins anew. So two daemons never hold two files of one name. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "door_internal.h"

#define ACCEPT_PAUSE_NS (100 * NS_PER_MS)

struct told {
    char *why;
    size_t size;
};

__attribute__((format(printf, 3, 4))) static enum visd_err refuse(struct told *told, enum visd_err err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(told->why, told->size, format, args);
    va_end(args);
    return err;
}

static const char *after(const char *url, const char *scheme)
{
    size_t length = strlen(scheme);
    return strncmp(url, scheme, length) == 0 ? url + length : NULL;
}

#define LOCK_NAME_SIZE (sizeof(((struct sockaddr_un *)0)->sun_path) + 8)

static void lock_name(char out[LOCK_NAME_SIZE], const char *path)
{
    snprintf(out, LOCK_NAME_SIZE, "%s.lock", path);
}

/* Whether the open file is still the one of this name. */
static bool is_named(int fd, const char *name)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(name, &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static enum visd_err take_lock(const char *path, int *out, struct told *told)
{
    char name[LOCK_NAME_SIZE];
    lock_name(name, path);
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return refuse(told, VISD_ERR_IO, "cannot open the lock file %s: %s; does its directory exist, and may this user write there?",
                          name, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int reason = errno;
            close(fd);
            if (reason == EWOULDBLOCK)
                return refuse(told, VISD_ERR_BUSY, "another visd listens on %s; stop it, or give another path", path);
            return refuse(told, VISD_ERR_IO, "cannot lock %s: %s", name, strerror(reason));
        }
        if (is_named(fd, name)) {
            *out = fd;
            return VISD_ERR_OK;
        }
        close(fd); /* a daemon that was ending removed it in between */
    }
}

static void give_lock(const char *path, int fd)
{
    char name[LOCK_NAME_SIZE];
    lock_name(name, path);
    unlink(name); /* before it is let go of; if it may not, the next daemon takes it over */
    close(fd);
}

/* With the lock held: makes room for our socket. */
static enum visd_err clear_path(const char *path, struct told *told)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? VISD_ERR_OK : refuse(told, VISD_ERR_IO, "cannot look at %s: %s", path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return refuse(told, VISD_ERR_EXISTS, "%s exists and is not a socket; remove it, or give another path", path);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1); /* its length has been checked */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return refuse(told, VISD_ERR_IO, "cannot make a socket: %s", strerror(errno));
    bool refused = connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 && errno == ECONNREFUSED;
    close(fd);
    if (!refused)
        return refuse(told, VISD_ERR_BUSY, "another program listens on %s; stop it, or give another path", path);
    if (unlink(path) != 0)
        return refuse(told, VISD_ERR_IO, "cannot remove the stale socket %s: %s", path, strerror(errno));
    visd_log(VISD_LOG_INFO, "door: %s: a stale socket was replaced", path);
    return VISD_ERR_OK;
}

/* ADDR:PORT, [ADDR]:PORT; false: no port is named, or none that a client could know. */
static bool split_address(const char *address, char *host, size_t size)
{
    const char *colon = strrchr(address, ':');
    char *end;
    if (!colon || colon < address + (*address == '[' ? 4 : 0) || colon[1] < '0' || colon[1] > '9' || (size_t)(colon - address) >= size)
        return false;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (*end || port == 0 || port > 65535)
        return false;
    size_t bracket = *address == '[' && colon[-1] == ']', length = (size_t)(colon - address) - 2 * bracket;
    memcpy(host, address + bracket, length);
    host[length] = 0;
    return true;
}

static bool is_loopback(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return strcmp(host, "localhost") == 0 || (inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

/* What this URL is, and whether it may be served at all. */
static enum visd_err classify(const struct visd_door *door, const char *url, enum visd_sp_wire *wire, const char **path, struct told *told)
{
    const char *rest;
    char host[256];
    *path = NULL;
    if ((rest = after(url, "ipc://"))) {
        *wire = VISD_SP_IPC;
        *path = rest;
        if (!*rest)
            return refuse(told, VISD_ERR_BAD_VALUE, "%s names no path; write for example ipc:///run/visd/visd.sock", url);
        if (strlen(rest) >= sizeof(((struct sockaddr_un *)0)->sun_path))
            return refuse(told, VISD_ERR_TOO_BIG, "the path in %s is longer than the 107 bytes that a socket's may have", url);
        return VISD_ERR_OK;
    }
    *wire = VISD_SP_TCP;
    if (((rest = after(url, "tcp://")) || (rest = after(url, "tls+tcp://"))) && !split_address(rest, host, sizeof(host)))
        return refuse(told, VISD_ERR_BAD_VALUE, "%s names no port from 1 to 65535; write for example 127.0.0.1:7878", url);
    if (after(url, "tcp://")) {
        if (!is_loopback(host))
            return refuse(told, VISD_ERR_DENIED, "%s would let in whoever reaches it; listen on 127.0.0.1, or use tls+tcp:// with --tls-ca", url);
        return VISD_ERR_OK;
    }
    if (after(url, "tls+tcp://")) {
        if (!door->params.tls_cert_key)
            return refuse(told, VISD_ERR_BAD_VALUE, "%s needs --tls-cert-key FILE", url);
        if (!is_loopback(host) && !door->params.tls_ca)
            return refuse(told, VISD_ERR_DENIED, "%s would let in whoever reaches it; give --tls-ca FILE, so that clients must show a certificate", url);
        return VISD_ERR_OK;
    }
    if (after(url, "ws://") || after(url, "wss://"))
        return refuse(told, VISD_ERR_NOT_SUPPORTED, "%s is not supported yet; use ipc://, tcp:// or tls+tcp://", url);
    return refuse(told, VISD_ERR_BAD_VALUE, "%s is not a URL that can be listened on; use ipc://, tcp:// or tls+tcp://", url);
}

static int set_options(const struct visd_door *door, nng_stream_listener *stream, const char *url)
{
    int rv = 0;
    if (after(url, "ipc://"))
        return nng_stream_listener_set_int(stream, NNG_OPT_IPC_PERMISSIONS, (int)door->params.socket_mode);
    if (after(url, "tls+tcp://")) {
        rv = nng_stream_listener_set_string(stream, NNG_OPT_TLS_CERT_KEY_FILE, door->params.tls_cert_key);
        if (rv == 0 && door->params.tls_ca)
            rv = nng_stream_listener_set_string(stream, NNG_OPT_TLS_CA_FILE, door->params.tls_ca);
        if (rv == 0 && door->params.tls_ca)
            rv = nng_stream_listener_set_int(stream, NNG_OPT_TLS_AUTH_MODE, 2 /* required */);
    }
    return rv;
}

static void listener_free(struct listener *listener)
{
    for (unsigned i = 0; i < ACCEPTORS; i++)
        nng_aio_free(listener->acceptors[i].aio); /* NULL is fine */
    if (listener->stream)
        nng_stream_listener_free(listener->stream);
    if (listener->lock_fd >= 0)
        give_lock(after(listener->url, "ipc://"), listener->lock_fd); /* after the socket is gone from its path */
    free(listener->url);
    free(listener);
}

static void on_accept(void *arg) /* nng's thread */
{
    struct acceptor *acceptor = arg;
    visd_inbox_push(&acceptor->listener->door->inbox, &acceptor->accepted);
}

static void unlink_listener(struct listener *listener)
{
    struct visd_door *door = listener->door;
    struct listener **link = &door->listeners;
    while (*link != listener)
        link = &(*link)->next;
    *link = listener->next;
    listener_free(listener);
    door_check_emptied(door);
}

static void rearm(struct acceptor *acceptor)
{
    acceptor->accepting = true;
    nng_stream_listener_accept(acceptor->listener->stream, acceptor->aio);
}

static bool any_accepting(const struct listener *listener)
{
    for (unsigned i = 0; i < ACCEPTORS; i++)
        if (listener->acceptors[i].accepting)
            return true;
    return false;
}

static void handle_accept(struct visd_inbox_item *item)
{
    struct acceptor *acceptor = (struct acceptor *)((char *)item - offsetof(struct acceptor, accepted));
    struct listener *listener = acceptor->listener;
    struct visd_door *door = listener->door;
    int rv = nng_aio_result(acceptor->aio);
    acceptor->accepting = false;
    if (rv == 0) {
        nng_stream *stream = nng_aio_get_output(acceptor->aio, 0);
        if (listener->closing)
            nng_stream_free(stream);
        else
            conn_adopt(door, stream, listener->wire);
    }
    if (listener->closing) {
        if (!any_accepting(listener))
            unlink_listener(listener);
    } else if (rv == 0) {
        rearm(acceptor);
    } else {
        /* Short of descriptors or memory, or the peer left first. Nothing is ever final here: wait a little, and go on. */
        door->counts.accept_errors++;
        door_complain(door, "%s: cannot accept: %s; trying again", listener->url, nng_strerror(rv));
        listener->again_ns = uv_hrtime() + ACCEPT_PAUSE_NS;
        door_sweep_start(door);
    }
}

static int make_acceptors(struct listener *listener)
{
    int rv = 0;
    for (unsigned i = 0; i < ACCEPTORS && rv == 0; i++) {
        struct acceptor *acceptor = &listener->acceptors[i];
        acceptor->listener = listener;
        acceptor->accepted.handle = handle_accept;
        rv = nng_aio_alloc(&acceptor->aio, on_accept, acceptor);
    }
    return rv;
}

void listener_rearm(struct listener *listener)
{
    listener->again_ns = 0;
    for (unsigned i = 0; i < ACCEPTORS; i++)
        if (!listener->acceptors[i].accepting)
            rearm(&listener->acceptors[i]);
}

void listener_close(struct listener *listener)
{
    if (listener->closing)
        return;
    listener->closing = true;
    listener->again_ns = 0;
    nng_stream_listener_close(listener->stream); /* takes an ipc socket off its path; the pending accepts then end */
    if (!any_accepting(listener))
        unlink_listener(listener);
}

enum visd_err visd_door_listen(struct visd_door *door, const char *url, char *why, size_t why_size)
{
    struct told told = {why, why_size};
    const char *path = NULL;
    int rv;
    struct listener *listener = calloc(1, sizeof(*listener));
    if (!listener)
        return refuse(&told, VISD_ERR_NO_MEMORY, "out of memory");
    listener->lock_fd = -1;
    listener->door = door;
    listener->url = strdup(url);
    enum visd_err err = listener->url ? classify(door, url, &listener->wire, &path, &told) : refuse(&told, VISD_ERR_NO_MEMORY, "out of memory");
    if (err == VISD_ERR_OK && path) {
        err = take_lock(path, &listener->lock_fd, &told);
        if (err == VISD_ERR_OK)
            err = clear_path(path, &told);
    }
    if (err != VISD_ERR_OK)
        goto error;
    if ((rv = nng_stream_listener_alloc(&listener->stream, url)) != 0 || (rv = set_options(door, listener->stream, url)) != 0 ||
        (rv = make_acceptors(listener)) != 0 || (rv = nng_stream_listener_listen(listener->stream)) != 0) {
        err = refuse(&told, rv == NNG_EADDRINUSE ? VISD_ERR_BUSY : VISD_ERR_IO, "cannot listen on %s: %s", url, nng_strerror(rv));
        goto error;
    }
    listener->next = door->listeners;
    door->listeners = listener;
    listener_rearm(listener);
    return VISD_ERR_OK;
error:
    listener_free(listener);
    return err;
}
