/* The errors of the whole product: one list gives enum, wire number, wire name and text.
 *
 * A number, once released, is never given to another error. OK is 0. Every function that can fail returns
 * enum visd_err, or says in its comment how it fails. Broken invariants abort; they are not in this list.
 * Safe from any thread: everything here is constant. */
#ifndef VISD_PROTO_ERR_H
#define VISD_PROTO_ERR_H

#define VISD_ERR_MAP(X)                                                                      \
    X(OK, 0, "ok", "done")                                                                   \
    X(BAD_MESSAGE, 1, "bad_message", "the message does not parse")                           \
    X(BAD_VALUE, 2, "bad_value", "a field holds a value that is not allowed")                \
    X(TOO_BIG, 3, "too_big", "the request exceeds a stated limit")                           \
    X(QUOTA, 4, "quota", "the caller's share is used up")                                    \
    X(NOT_SUPPORTED, 5, "not_supported", "not supported yet")                                \
    X(NOT_FOUND, 6, "not_found", "no such thing")                                            \
    X(EXISTS, 7, "exists", "it exists already")                                              \
    X(CONFLICT, 8, "conflict", "the state it was meant for has changed")                     \
    X(SUPERSEDED, 9, "superseded", "a newer camera of the same view took its place")         \
    X(VERSION, 10, "version", "client and daemon speak different versions")                  \
    X(DENIED, 11, "denied", "permission denied")                                             \
    X(NO_MEMORY, 12, "no_memory", "out of memory")                                           \
    X(NO_DEVICE, 13, "no_device", "no usable Vulkan device")                                 \
    X(DEVICE_LOST, 14, "device_lost", "the device was lost; retry")                          \
    X(IO, 15, "io", "reading or writing failed")                                             \
    X(BUSY, 16, "busy", "it is in use")                                                      \
    X(DISCONNECTED, 17, "disconnected", "the daemon cannot be reached")                      \
    X(TIMEOUT, 18, "timeout", "no answer in time")                                           \
    X(STOPPING, 19, "stopping", "the daemon is stopping")                                    \
    X(INTERNAL, 20, "internal", "an internal failure; the daemon's log says more")

enum visd_err {
#define X(name, num, wire, text) VISD_ERR_##name = num,
    VISD_ERR_MAP(X)
#undef X
};

/* The wire name ("bad_value") and the text for people; never NULL, "unknown" for a number not in the list. */
const char *visd_err_name(enum visd_err err);
const char *visd_err_text(enum visd_err err);

#endif
