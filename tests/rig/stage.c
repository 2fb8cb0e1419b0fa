/* See stage.h. */
#include "stage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DEGREE (3.14159265358979323846 / 180)

struct look look_ahead(uint32_t width, uint32_t height)
{
    return (struct look){.fov = 60, .near = 0.1, .far = 1000, .width = width, .height = height, .samples = 1};
}

/* Rows of the projection, for eye space with y up and -z ahead. Depth runs from `front` at near to `back` at far. */
static void projection(const struct look *l, double p[4][4])
{
    double front = l->depth == VISD_DEPTH_REVERSED ? 1 : l->depth == VISD_DEPTH_NEG_ONE_TO_ONE ? -1 : 0, back = l->depth == VISD_DEPTH_REVERSED ? 0 : 1;
    double e[4], n = l->near, f = l->far, top = l->tall ? l->tall / 2 : tan(l->fov * DEGREE / 2), side = top * l->width / l->height;
    bool lopsided = l->edges[0] != l->edges[1];
    for (int i = 0; i < 4; i++) e[i] = lopsided ? l->edges[i] : i == 0 ? -side : i == 1 ? side : i == 2 ? -top : top;
    memset(p, 0, 16 * sizeof(double));
    p[0][0] = 2 / (e[1] - e[0]);
    p[1][1] = 2 / (e[3] - e[2]);
    p[0][l->tall ? 3 : 2] = (e[1] + e[0]) / (e[1] - e[0]) * (l->tall ? -1 : 1);
    p[1][l->tall ? 3 : 2] = (e[3] + e[2]) / (e[3] - e[2]) * (l->tall ? -1 : 1);
    if (l->y == VISD_Y_DOWN)
        for (int j = 0; j < 4; j++) p[1][j] = -p[1][j];
    if (l->tall) {
        p[2][2] = -(back - front) / (f - n);
        p[2][3] = front - n * (back - front) / (f - n);
        p[3][3] = 1;
        return;
    }
    double slope = isinf(f) ? back : (back * f - front * n) / (f - n); /* clip z = slope * distance + constant */
    p[2][2] = -slope;
    p[2][3] = (front - slope) * n;
    p[3][2] = -1;
}

struct visd_camera look_camera(const struct look *l)
{
    struct visd_camera_spec spec = {.width = l->width, .height = l->height, .depth = l->depth, .y = l->y, .samples = l->samples, .layers = UINT32_MAX,
                                    .clip_planes = l->planes, .clip_plane_count = l->plane_count, .min_pixels = l->min_pixels};
    struct visd_camera camera;
    char why[200] = "";
    double p[4][4], yaw = l->yaw * DEGREE, pitch = l->pitch * DEGREE;
    const double axes[3][3] = {{cos(yaw), 0, -sin(yaw)},
                               {sin(yaw) * sin(pitch), cos(pitch), cos(yaw) * sin(pitch)},
                               {sin(yaw) * cos(pitch), -sin(pitch), cos(yaw) * cos(pitch)}};
    projection(l, p);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            spec.view[j * 4 + i] = axes[i][j];
            spec.view[12 + i] -= axes[i][j] * l->eye[j];
        }
    }
    spec.view[15] = 1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) spec.proj[j * 4 + i] = p[i][j];
    if (visd_camera_canonical(&spec, &camera, why, sizeof(why)) != VISD_ERR_OK) fail_msg("camera: %s", why);
    return camera;
}

#define ROWS 12u
#define COLUMNS 18u

static uint32_t ball_mesh(struct rig *rig)
{
    float p[(ROWS + 1) * COLUMNS * 3];
    uint32_t indices[ROWS * COLUMNS * 6], count = 0;
    for (uint32_t i = 0; i <= ROWS; i++)
        for (uint32_t j = 0; j < COLUMNS; j++) {
            double a = 180 * DEGREE * i / ROWS, b = 360 * DEGREE * j / COLUMNS;
            float *v = p + (i * COLUMNS + j) * 3;
            v[0] = (float)(sin(a) * cos(b));
            v[1] = (float)(sin(a) * sin(b));
            v[2] = (float)cos(a);
        }
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < COLUMNS; j++) {
            uint32_t a = i * COLUMNS + j, b = i * COLUMNS + (j + 1) % COLUMNS, c = a + COLUMNS, d = b + COLUMNS;
            const uint32_t six[6] = {a, c, d, a, d, b};
            memcpy(indices + count, six, sizeof(six));
            count += 6;
        }
    return rig_mesh(rig, p, (ROWS + 1) * COLUMNS, indices, count, VISD_SIDES_SINGLE);
}

struct stage stage;

int stage_setup(void **state)
{
    struct stage *s = &stage;
    (void)state;
    static const float half[3] = {0.5f, 0.5f, 0.5f}, square[12] = {-0.5f, -0.5f, 0, 0.5f, -0.5f, 0, 0.5f, 0.5f, 0, -0.5f, 0.5f, 0};
    static const uint32_t two[6] = {0, 1, 2, 0, 2, 3};
    *s = (struct stage){0};
    rig_init(&s->rig, 0, 0);
    s->cube = rig_box_mesh(&s->rig, half, VISD_SIDES_SINGLE);
    s->ball = ball_mesh(&s->rig);
    s->plate = rig_mesh(&s->rig, square, 4, two, 6, VISD_SIDES_UNKNOWN);
    s->view = rig_view(&s->rig);
    return 0;
}

int stage_teardown(void **state)
{
    (void)state;
    free(stage.changes);
    rig_finish(&stage.rig);
    return 0;
}

void stage_clear(struct stage *s)
{
    rig_clear(&s->rig);
    s->count = 0;
    s->surely = VISD_METHOD_EXACT;
    s->view = rig_view(&s->rig);
}

uint32_t stage_add(struct stage *s, uint64_t id, const double transform[12], const float half[3], uint32_t mesh, uint32_t flags)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity * 2 + 64;
        s->changes = realloc(s->changes, s->capacity * sizeof(*s->changes));
    }
    s->changes[s->count] = rig_object(s->count, id, transform, half, mesh, flags);
    return s->count++;
}

uint32_t stage_box(struct stage *s, uint64_t id, double x, double y, double z, double wide, double high, double deep, uint32_t flags)
{
    const double t[12] = {wide, 0, 0, x, 0, high, 0, y, 0, 0, deep, z};
    const float half[3] = {0.5f, 0.5f, 0.5f};
    return stage_add(s, id, t, half, s->cube, flags);
}

void stage_commit(struct stage *s) { rig_commit(&s->rig, s->changes, s->count); }

struct rig_list stage_list(struct stage *s, const struct look *look, uint32_t flags)
{
    struct visd_camera camera = look_camera(look);
    return rig_frame(&s->rig, s->view, &camera, VISD_METHOD_HIZ, flags);
}

static void check_list(const struct rig_list *list, const struct look *look, const char *when, const uint64_t *listed, const uint64_t *absent)
{
    for (; *listed != NOBODY; listed++)
        if (!rig_lists(list, *listed))
            fail_msg("%s, %u x %u, depth form %u, yaw %g, pitch %g, eye %g %g %g: %llu is missing", when, look->width, look->height, look->depth, look->yaw,
                     look->pitch, look->eye[0], look->eye[1], look->eye[2], (unsigned long long)*listed);
    for (; *absent != NOBODY; absent++)
        if (rig_lists(list, *absent))
            fail_msg("%s, %u x %u, depth form %u, yaw %g, pitch %g, eye %g %g %g: %llu is listed", when, look->width, look->height, look->depth, look->yaw,
                     look->pitch, look->eye[0], look->eye[1], look->eye[2], (unsigned long long)*absent);
}

static void check_form(struct stage *s, struct look look, uint32_t form, const uint64_t *listed, const uint64_t *absent)
{
    look.depth = form % 3;
    look.y = form & 1 ? VISD_Y_DOWN : VISD_Y_UP;
    if (form >= 3 && look.width > 64 && look.height > 64) {
        look.width -= 1;
        look.height -= 3;
    }
    struct visd_camera camera = look_camera(&look);
    struct rig_list list = rig_frame(&s->rig, s->view, &camera, VISD_METHOD_FRUSTUM, 0);
    check_list(&list, &look, "frustum", listed, NONE);
    rig_list_free(&list);
    for (int frame = 0; frame < 3; frame++) {
        list = rig_frame(&s->rig, s->view, &camera, VISD_METHOD_HIZ, frame == 0 ? VISD_FRAME_FRESH : 0);
        check_list(&list, &look, frame == 0 ? "first frame" : "steady state", listed, absent);
        rig_list_free(&list);
    }
    static const struct { enum visd_method method; const char *name; } finer[] = {{VISD_METHOD_BOX, "box"}, {VISD_METHOD_EXACT, "exact"}};
    for (int m = 0; m < 2; m++) {
        if (form % 2 != (uint32_t)m) continue; /* by turns: each form shows one of the two */
        list = rig_frame(&s->rig, s->view, &camera, finer[m].method, form >= 3 ? VISD_FRAME_FRESH : 0);
        check_list(&list, &look, finer[m].name, finer[m].method <= s->surely ? listed : NONE, absent);
        rig_list_free(&list);
    }
}

void stage_expect(struct stage *s, const struct look *look, const uint64_t *listed, const uint64_t *absent, bool all)
{
    for (uint32_t form = 0; form < 6 && all; form++) check_form(s, *look, form, listed, absent);
    if (!all) check_form(s, *look, s->turn++ % 6, listed, absent);
}
