/* Every limit of the wire and of what one client may make the daemon hold, in one place.
 *
 * What is over a limit is refused, and the text names it as it is named here: VISD_ERR_TOO_BIG for what one message may be,
 * VISD_ERR_QUOTA for what may be held in all. hello_ok tells clients all of them, by name; a client should believe hello_ok
 * rather than the header it was built with. Constant: safe from any thread. */
#ifndef VISD_PROTO_LIMITS_H
#define VISD_PROTO_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define VISD_PROTO_VERSION 1     /* what this code speaks */
#define VISD_PROTO_VERSION_MIN 1 /* the oldest that it still understands */

#define VISD_LIMIT_MAP(X)                                                                              \
    X(message_bytes, MESSAGE_BYTES, 64 << 20, "bytes of one request")                                  \
    X(reply_bytes, REPLY_BYTES, 256 << 20, "bytes of one reply")                                       \
    X(event_bytes, EVENT_BYTES, 64 << 10, "bytes of one event, its topic included")                    \
    X(depth, DEPTH, 8, "nesting of maps and arrays in a message")                                      \
    X(values, VALUES, 128 << 10, "msgpack values in a message; bulk data counts as one")               \
    X(items, ITEMS, 4096, "items of a batch in one message")                                           \
    X(frames, FRAMES, 64, "cameras in one request")                                                    \
    X(name_bytes, NAME_BYTES, 255, "bytes of the name of a scene, a client or a view")                 \
    X(text_bytes, TEXT_BYTES, 1024, "bytes of a text for people")                                      \
    X(rows, ROWS, 64 << 10, "rows of objects, groups or meshes in one reply")                          \
    X(clients, CLIENTS, 1024, "connections at a time")                                                 \
    X(client_requests, CLIENT_REQUESTS, 256, "unanswered requests of one connection")                  \
    X(scenes, SCENES, 255, "scenes at a time")                                                         \
    X(views, VIEWS, 1023, "views at a time")                                                           \
    X(client_views, CLIENT_VIEWS, 128, "views of one client")                                          \
    X(client_batches, CLIENT_BATCHES, 4, "open batches of one client")                                 \
    X(batch_mib, BATCH_MIB, 4096, "MiB of one batch, all of its parts together")                       \
    X(batch_parts, BATCH_PARTS, 65536, "parts of one batch")                                           \
    X(objects, OBJECTS, 16 << 20, "objects of one scene")                                              \
    X(groups, GROUPS, 4 << 20, "groups of one scene")                                                  \
    X(group_depth, GROUP_DEPTH, 256, "nesting of groups")                                              \
    X(meshes, MESHES, 1 << 20, "meshes of one scene")                                                  \
    X(mesh_vertices, MESH_VERTICES, 5 << 20, "vertices of one mesh")                                   \
    X(mesh_triangles, MESH_TRIANGLES, 5 << 20, "triangles of one mesh")                                \
    X(mesh_parts, MESH_PARTS, 64 << 10, "parts of one mesh")                                           \
    X(portals, PORTALS, 64 << 10, "portals of one scene")                                              \
    X(image_side, IMAGE_SIDE, 16384, "pixels a side of a view")                                        \
    X(image_samples, IMAGE_SAMPLES, 268435456, "samples of a view: width times height times samples a pixel") \
    X(clip_planes, CLIP_PLANES, 8, "section planes of a camera")                                       \
    X(group_offsets, GROUP_OFFSETS, 256, "exploded groups of a view")                                  \
    X(override_ids, OVERRIDE_IDS, 1 << 20, "ids in one list of a view's overrides")                    \
    X(keep_frames, KEEP_FRAMES, 64, "earlier answers kept for a view as bases of deltas")              \
    X(event_queue_bytes, EVENT_QUEUE_BYTES, 4 << 20, "bytes of events that wait for one subscriber")   \
    X(reply_queue_bytes, REPLY_QUEUE_BYTES, 512 << 20, "bytes of replies that wait for one connection")\
    X(user_connections, USER_CONNECTIONS, 256, "connections of one user")                              \
    X(user_clients, USER_CLIENTS, 256, "clients of one user")                                          \
    X(user_request_mib, USER_REQUEST_MIB, 1024, "MiB of requests of one user being read or served")    \
    X(user_reply_mib, USER_REPLY_MIB, 1024, "MiB of replies and events that wait for one user")        \
    X(user_batch_mib, USER_BATCH_MIB, 8192, "MiB in the open batches of one user")                     \
    X(user_scenes, USER_SCENES, 64, "scenes of one user")                                              \
    X(user_scene_mib, USER_SCENE_MIB, 32768, "MiB in the scenes of one user")                          \
    X(user_views, USER_VIEWS, 256, "views of one user")                                                \
    X(user_view_mib, USER_VIEW_MIB, 8192, "MiB that the views of one user hold, on the device too")    \
    X(greeting_ms, GREETING_MS, 5000, "milliseconds that a connection may take to say what it speaks") \
    X(stall_ms, STALL_MS, 10000, "milliseconds that a peer may stand still inside a message")          \
    X(client_grace_ms, CLIENT_GRACE_MS, 30000, "milliseconds that the views of a client outlive its last connection")

enum visd_limit {
#define X(name, NAME, number, text) VISD_MAX_##NAME = (number),
    VISD_LIMIT_MAP(X)
#undef X
};

/* The same as rows, for hello_ok, the documentation and whoever prints them. */
struct visd_limit_row {
    const char *name, *text;
    uint64_t number;
};
extern const struct visd_limit_row visd_limit_rows[];
extern const size_t visd_limit_count;

#endif
