/* Pictures of a view's last frame, fetched from the daemon and written as PNG. */
#ifndef VISD_VISCTL_COMMANDS_SHOTS_H
#define VISD_VISCTL_COMMANDS_SHOTS_H

#include "cli.h"

struct shot {
    struct visd_client_view *view;      /* has answered camera last */
    struct visd_client_camera camera;
    uint32_t scene;
    const uint64_t *listed;             /* what it answered: rising or not */
    size_t listed_count;
};

/* what: enum visd_client_what. Returns an exit status, having told the user. */
int shot_write(struct cli *cli, const struct shot *shot, int what, const char *path);

/* Culls one camera as a cut and fills a shot with a copy of the list, to be freed with shot_finish. */
int shot_take(struct cli *cli, struct visd_client_view *view, uint32_t scene, const struct visd_client_camera *camera, struct shot *out);
void shot_finish(struct shot *shot);

#endif
