/* Requests: one table from the message's type to the function that serves it.
 *
 * What the table does not hold is answered "not supported yet" by name. Every request gets exactly one answer:
 * at once, or later if the op keeps the request. An op that refuses has changed nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

typedef void op_run(struct call *call);

enum op_flag {
    OP_ANY_VERSION = 1u << 0, /* served whatever version the client said it speaks, and whatever epoch it thinks this is */
};

/* message, flags, function */
#define OP_MAP(X)                                  \
    X(HELLO, OP_ANY_VERSION, op_hello)             \
    X(PING, OP_ANY_VERSION, op_ping)               \
    X(STATS, OP_ANY_VERSION, op_stats)             \
    X(CLIENTS, OP_ANY_VERSION, op_clients)         \
    X(SCENE_LIST, OP_ANY_VERSION, op_scene_list)   \
    X(SCENE_INFO, 0, op_scene_info)                \
    X(SCENE_CREATE, 0, op_scene_create)            \
    X(SCENE_REMOVE, 0, op_scene_remove)            \
    X(OBJECTS, 0, op_objects)                      \
    X(GROUPS, 0, op_groups)                        \
    X(MESHES, 0, op_meshes)                        \
    X(MESH_GET, 0, op_mesh_get)                    \
    X(BATCH, 0, op_batch)                          \
    X(BATCH_BEGIN, 0, op_batch_begin)              \
    X(BATCH_APPEND, 0, op_batch_append)            \
    X(BATCH_COMMIT, 0, op_batch_commit)            \
    X(BATCH_ABORT, 0, op_batch_abort)              \
    X(BATCH_LAST, 0, op_batch_last)                \
    X(VIEW_OPEN, 0, op_view_open)                  \
    X(VIEW_SET, 0, op_view_set)                    \
    X(VIEW_CLOSE, 0, op_view_close)                \
    X(FRAMES, 0, op_frames)                        \
    X(SNAPSHOT, 0, op_snapshot)

static const struct op {
    op_run *run;
    unsigned flags;
} ops[VISD_MSG_COUNT] = {
#define X(name, flags, run) [VISD_MSG_##name] = {run, flags},
    OP_MAP(X)
#undef X
};

/* ---- answers ---- */

static void count_refusal(struct visd_server *server, struct visd_request *request)
{
    server->counts.refusals++;
    struct session *session = request->conn ? *visd_conn_owner(request->conn) : NULL;
    if (session)
        session->refused++;
}

void reply_to(struct visd_server *server, struct visd_request *request, uint64_t n, struct visd_message *out)
{
    struct visd_buf buf = {0};
    struct visd_refused why;
    if (!request->conn) { /* nobody is left to read it */
        visd_request_drop(request);
        return;
    }
    out->n = n;
    size_t size = visd_encoded_size(out);
    enum visd_err err = size > VISD_MAX_REPLY_BYTES ? VISD_ERR_TOO_BIG : visd_buf_reserve(&buf, size);
    if (err == VISD_ERR_TOO_BIG)
        snprintf(why.text, sizeof(why.text), "the reply has %zu bytes, more than reply_bytes (%d); ask for less at a time", size, VISD_MAX_REPLY_BYTES);
    else if (err == VISD_ERR_OK)
        err = visd_encode(out, &buf, &why);
    else
        snprintf(why.text, sizeof(why.text), "no memory for a reply of %zu bytes", size);
    if (err == VISD_ERR_OK) {
        if (out->type == VISD_MSG_ERROR)
            count_refusal(server, request);
        visd_request_answer(request, buf.at, buf.size);
        return;
    }
    visd_buf_finish(&buf);
    if (out->type == VISD_MSG_ERROR) { /* not even that: the connection is closed, and the client asks again */
        visd_log(VISD_LOG_ERR, "ops: %s: cannot encode an error: %s", visd_conn_peer(request->conn)->text, why.text);
        visd_request_answer(request, NULL, 0);
        return;
    }
    if (err == VISD_ERR_BAD_VALUE) {
        visd_log(VISD_LOG_ERR, "ops: %s: the reply breaks the schema: %s", visd_conn_peer(request->conn)->text, why.text);
        err = VISD_ERR_INTERNAL;
    }
    refuse_to(server, request, n, err, why.text);
}

void refuse_to(struct visd_server *server, struct visd_request *request, uint64_t n, enum visd_err err, const char *text)
{
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    visd_error_reply(&out, n, err, text);
    reply_to(server, request, n, &out);
}

void call_reply(struct call *call, struct visd_message *out)
{
    struct visd_request *request = call->request;
    call->request = NULL;
    reply_to(call->server, request, call->in->n, out);
}

void call_refuse_error(struct call *call, const struct visd_msg_error *error)
{
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_ERROR;
    out.error = *error;
    out.error.name = visd_str_of(visd_err_name((enum visd_err)error->err));
    call_reply(call, &out);
}

void call_refuse(struct call *call, enum visd_err err, const char *format, ...)
{
    char text[VISD_MAX_TEXT_BYTES / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    struct visd_request *request = call->request;
    call->request = NULL;
    refuse_to(call->server, request, call->in->n, err, text);
}

struct visd_request *call_keep(struct call *call)
{
    struct visd_request *request = call->request;
    call->request = NULL;
    visd_request_shed(request);
    return request;
}

/* ---- dispatch ---- */

static void refuse_unread(struct visd_server *server, struct visd_request *request)
{
    char text[256];
    switch (request->err) {
    case VISD_ERR_TOO_BIG:
        snprintf(text, sizeof(text), "the request has %zu bytes, more than message_bytes (%d); send large batches in parts", request->size,
                 VISD_MAX_MESSAGE_BYTES);
        break;
    case VISD_ERR_QUOTA:
        snprintf(text, sizeof(text), "the request has %zu bytes, and user_request_mib (%d) is used up by this user's other requests; try again",
                 request->size, VISD_MAX_USER_REQUEST_MIB);
        break;
    default:
        snprintf(text, sizeof(text), "no memory for a request of %zu bytes; try again later", request->size);
    }
    refuse_to(server, request, 0, request->err, text);
}

static void serve(struct call *call)
{
    const struct op *op = &ops[call->in->type];
    const char *name = visd_msg_name(call->in->type);
    call->server->op_counts[call->in->type]++;
    if (visd_msg_class(call->in->type) != VISD_CLASS_REQUEST)
        call_refuse(call, VISD_ERR_BAD_MESSAGE, "%s is not a request", name);
    else if (!op->run)
        call_refuse(call, VISD_ERR_NOT_SUPPORTED, "%s is not supported yet", name);
    else if (call->session->greeted && !(op->flags & OP_ANY_VERSION) &&
             (call->session->version < VISD_PROTO_VERSION_MIN || call->session->version > VISD_PROTO_VERSION))
        call_refuse(call, VISD_ERR_VERSION, "%s: the client speaks version %u, the daemon %d to %d; update the older one", name,
                    call->session->version, VISD_PROTO_VERSION_MIN, VISD_PROTO_VERSION);
    else if (call->in->has_epoch && call->in->epoch != call->server->epoch && !(op->flags & OP_ANY_VERSION))
        call_refuse(call, VISD_ERR_CONFLICT, "%s: it is meant for the daemon of another epoch, whose numbers are void; say hello, and find its things anew",
                    name);
    else
        op->run(call);
}

void ops_dispatch(struct visd_server *server, struct session *session, struct visd_request *request)
{
    struct visd_message in;
    struct visd_refused why;
    session->requests++;
    if (request->err != VISD_ERR_OK) {
        refuse_unread(server, request);
        return;
    }
    size_t size = request->size - request->words;
    enum visd_err err = visd_decode(request->body + request->words, size, &server->arena, &in, &why);
    if (err != VISD_ERR_OK) {
        server->counts.bad_messages++;
        refuse_to(server, request, why.n, err, why.text);
    } else if (server->stopping) {
        refuse_to(server, request, in.n, VISD_ERR_STOPPING, "the daemon is stopping");
    } else {
        struct call call = {.server = server, .session = session, .request = request, .in = &in};
        serve(&call);
        visd_request_drop(call.request); /* every op answers or keeps it: NULL by now */
    }
    visd_arena_reset(&server->arena);
    visd_link_pump(&server->link);
    server_reap(server);
    events_stir(server);
}
