/* Scenarios: a scene of a few boxes and meshes, looked at as clients look, and who must and must not be listed.
 *
 * Unless a test says otherwise: metres, y up, the eye at the origin looking down -z, a vertical view of 60 degrees, near 0.1, far 1000. Each
 * expectation is checked in the first frame and in the steady state, and under every depth form and an odd size, because no answer may depend on those.
 * Link visd_stage. */
#ifndef VISD_TESTS_STAGE_H
#define VISD_TESTS_STAGE_H

#include "daemon/view/view.h"
#include "rig.h"

/* A camera as a client thinks of it. */
struct look {
    double eye[3], yaw, pitch;  /* degrees; yaw to the left, pitch up */
    double fov;                 /* vertical, degrees */
    double tall;                /* parallel projection of so many metres of height; 0: perspective */
    double near, far;           /* far INFINITY: none */
    double edges[4];            /* left, right, bottom, top at distance 1, for lopsided views; all 0: from fov */
    uint32_t width, height, samples;
    uint32_t depth;             /* enum visd_depth_form */
    uint32_t y;                 /* enum visd_y_form */
    const double (*planes)[4];
    uint32_t plane_count;
    double min_pixels;
};

struct look look_ahead(uint32_t width, uint32_t height);
struct visd_camera look_camera(const struct look *look);

struct stage {
    struct rig rig;
    uint32_t view, cube, ball, plate; /* meshes: a cube of side 1, a ball of radius 1 (its box is a cube of side 2), a square of side 1 in x and y */
    struct visd_object_change *changes;
    uint32_t count, capacity, turn;
    enum visd_method surely;    /* the finest method by which what is said to be listed must be: exact, unless a test says otherwise after stage_clear, for
                                 * some of it is so small or lies so that no sample of it (box), or of its mesh (exact), is seen */
};

/* The test program's one stage, and the group fixtures that open and close it. */
extern struct stage stage;
int stage_setup(void **state);
int stage_teardown(void **state);
void stage_clear(struct stage *s); /* an empty scene, a new view */

/* Adds an object and returns its slot; it is there after stage_commit. stage_box: a closed single-sided box, centred, unturned. */
uint32_t stage_add(struct stage *s, uint64_t id, const double transform[12], const float half[3], uint32_t mesh, uint32_t flags);
uint32_t stage_box(struct stage *s, uint64_t id, double x, double y, double z, double wide, double high, double deep, uint32_t flags);
void stage_commit(struct stage *s);

#define NOBODY UINT64_MAX /* ends a list of ids */
#define IDS(...) ((const uint64_t[]){__VA_ARGS__, NOBODY})
#define NONE ((const uint64_t[]){NOBODY})
/* Checks the lists of frustum (listed only), hiz, box and exact. all: every form and size; else one after the other, a call each. */
void stage_expect(struct stage *s, const struct look *look, const uint64_t *listed, const uint64_t *absent, bool all);
struct rig_list stage_list(struct stage *s, const struct look *look, uint32_t flags); /* hiz */

#endif
