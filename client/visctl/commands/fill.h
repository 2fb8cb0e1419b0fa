/* Filling a scene of the daemon: alike for load, generate and scene import. One thread. */
#ifndef VISD_VISCTL_COMMANDS_FILL_H
#define VISD_VISCTL_COMMANDS_FILL_H

#include "cli.h"

struct fill {
    struct visd_client_scene scene;
    bool made;       /* by us: gone again if nothing came in */
    bool unanswered; /* the commit was: it may have been applied */
};

struct fill_totals {
    uint64_t objects, meshes, triangles; /* triangles as placed */
    uint64_t since_ns;
};

/* Connects, and finds a scene that may be filled: there and empty, or not empty but with an --id-base, else it is made.
 * metres_per_unit 0: any. False after telling the user: return CLI_FAILED. */
bool fill_begin(struct cli *cli, const char *name, double metres_per_unit, struct fill *out);
/* A batch for what fills it: ids that are taken are refused, whoever took them, whenever. */
enum visd_err fill_batch(struct visd_client *client, const struct fill *fill, struct visd_client_batch **out);
/* Commits, and asks again when the answer is lost: the daemon applies a batch once. out may be NULL. */
enum visd_err fill_commit(struct fill *fill, struct visd_client_batch *batch, struct visd_client_committed *out);
/* Tells how it went; the exit status. */
int fill_end(struct cli *cli, const struct fill *fill, enum visd_err err, const struct visd_why *why, const struct fill_totals *totals);
/* The last line: {"KEY": NAME, "objects": ...}. */
void fill_print(const char *key, const char *name, const struct fill_totals *totals);

#endif
