/* The parts of bench scale: scale_point.c measures a scene at a size, scale_report.c tells of it. */
#ifndef VISD_VISCTL_COMMANDS_SCALE_H
#define VISD_VISCTL_COMMANDS_SCALE_H

#include "../bench/point.h"
#include "cli.h"

struct scale_plan {
    uint64_t seed;
    int method;
    size_t frames;       /* a point, at most */
    double seconds;      /* that a point's frames may take, about; 4 frames are flown whatever they take */
    double view_bytes;   /* on the device, of a view that shows one object */
    bool wall;           /* the device's timestamps are not times: passes are asked for one by one, and timed by the wall clock */
    const char *device;
};

struct scale_scene; /* a generated scene of the daemon's, and what is known of it */

/* Fills a new scene of the daemon. An exit status, having told the user. *out NULL on failure. */
int scale_scene_make(struct cli *cli, const struct scale_plan *plan, const char *kind, uint64_t objects, double share, struct scale_scene **out);
/* Removes it. NULL is fine. */
void scale_scene_remove(struct cli *cli, struct scale_scene *scene);
/* What a view takes on the device by itself. An exit status. */
int scale_view_bytes(struct cli *cli, const struct scale_plan *plan, uint32_t width, uint32_t height, double *out);
/* Flies through it. An exit status. */
int scale_point(struct cli *cli, const struct scale_plan *plan, struct scale_scene *scene, uint32_t width, uint32_t height, struct visd_bench_point *out);

/* A point as a JSON object on one line, or as lines for people. */
void scale_put_json(FILE *file, const struct visd_bench_point *point, const struct scale_plan *plan, const char *server);
void scale_put_lines(FILE *file, const struct visd_bench_point *point);
/* The cost model fitted to the points, in the same ways. */
void scale_put_costs_json(FILE *file, const struct visd_bench_point *points, size_t count, const struct scale_plan *plan, const char *server);
void scale_put_costs(FILE *file, const struct visd_bench_point *points, size_t count);
/* Charts into a folder. base: the size and the number of objects of the sweeps in which they stay. An exit status. */
int scale_charts(struct cli *cli, const struct visd_bench_point *points, size_t count, uint64_t base_objects, uint32_t base_width, uint32_t base_height,
                 const char *folder);

#endif
