/* A sink that puts what it is told into one batch of a daemon's scene: all of it arrives, or nothing.
 *
 * Meshes and groups get the ids base + their number, objects the ids they are told with. The batch is streamed by libvisd
 * while it grows, and committed by finish. One thread. */
#ifndef VISD_VISCTL_COMMANDS_DAEMON_SINK_H
#define VISD_VISCTL_COMMANDS_DAEMON_SINK_H

#include <visd/client.h>

#include "../model/sink.h"
#include "fill.h"

struct daemon_sink_totals {
    uint64_t objects, meshes, triangles; /* triangles as placed */
    struct visd_client_committed committed;
};

/* fill: of the scene; it is told how the commit went. */
enum visd_err daemon_sink_create(struct visd_sink **out, struct visd_client *client, struct fill *fill, uint64_t id_base, struct visd_why *why);
/* Not finished: the batch is abandoned. NULL is fine. */
void daemon_sink_destroy(struct visd_sink *sink);
struct daemon_sink_totals daemon_sink_totals(const struct visd_sink *sink);

#endif
