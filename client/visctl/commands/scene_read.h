/* Reading a whole scene from the daemon, page by page: its hash, and on request its boxes. */
#ifndef VISD_VISCTL_COMMANDS_SCENE_READ_H
#define VISD_VISCTL_COMMANDS_SCENE_READ_H

#include "../bench/frustum_loop.h"
#include "cli.h"

/* loop: gets the box of every object, too; NULL: not wanted. An exit status, having told the user. A scene that changes
 * meanwhile is refused. */
int scene_read(struct cli *cli, const struct visd_client_scene *scene, uint64_t *hash, struct visd_frustum_loop *loop);

#endif
