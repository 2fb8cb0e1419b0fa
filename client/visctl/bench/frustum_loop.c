/* See frustum_loop.h. This file is built with -O3, and the loop twice: for processors with and without AVX2. */
#include "frustum_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLANES 6
#define BLOCK 4096u /* boxes whose flags stay in the nearest cache from plane to plane */

bool visd_frustum_loop_add(struct visd_frustum_loop *loop, const double world_box[6])
{
    if (loop->count == loop->room) {
        size_t room = loop->room ? loop->room * 2 : 4096;
        for (int k = 0; k < 6; k++) {
            float *moved = realloc(loop->bounds[k], room * sizeof(*moved));
            if (!moved) return false;
            loop->bounds[k] = moved;
        }
        loop->room = room;
    }
    for (int k = 0; k < 6; k++) {
        double far = 1e30, v = fmin(fmax(world_box[k], -far), far); /* products stay finite */
        float rounded = (float)v;
        if (k < 3 ? (double)rounded > v : (double)rounded < v) rounded = nextafterf(rounded, k < 3 ? -INFINITY : INFINITY);
        loop->bounds[k][loop->count] = rounded;
    }
    loop->count++;
    return true;
}

bool visd_frustum_loop_ready(struct visd_frustum_loop *loop)
{
    loop->inside = malloc(BLOCK);
    loop->list = malloc((loop->count + 1) * sizeof(*loop->list));
    return loop->inside && loop->list;
}

/* Rows of clip = proj * view, and from them the planes: what is inside has no negative distance. */
static void planes_of(const struct visd_client_camera *camera, float out[PLANES][4])
{
    double clip[4][4], sum;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            sum = 0;
            for (int k = 0; k < 4; k++) sum += camera->proj[k * 4 + r] * camera->view[c * 4 + k];
            clip[r][c] = sum;
        }
    for (int c = 0; c < 4; c++) {
        out[0][c] = (float)(clip[3][c] + clip[0][c]), out[1][c] = (float)(clip[3][c] - clip[0][c]);
        out[2][c] = (float)(clip[3][c] + clip[1][c]), out[3][c] = (float)(clip[3][c] - clip[1][c]);
        out[4][c] = (float)(clip[3][c] - clip[2][c]);
        out[5][c] = (float)(clip[2][c] + (camera->depth == VISD_DEPTH_NEG_ONE_TO_ONE ? clip[3][c] : 0));
    }
}

/* Of each box the corner that lies farthest along the plane's normal. */
static inline __attribute__((always_inline)) void test_block(uint8_t *restrict inside, const float *restrict x, const float *restrict y,
                                                             const float *restrict z, const float plane[4], size_t count)
{
    float a = plane[0], b = plane[1], c = plane[2], d = plane[3];
    for (size_t i = 0; i < count; i++) inside[i] &= a * x[i] + b * y[i] + c * z[i] + d >= 0;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void test_wide(uint8_t *inside, const float *x, const float *y, const float *z, const float plane[4], size_t count)
{
    test_block(inside, x, y, z, plane, count);
}
#endif

static void test_plain(uint8_t *inside, const float *x, const float *y, const float *z, const float plane[4], size_t count)
{
    test_block(inside, x, y, z, plane, count);
}

size_t visd_frustum_loop_run(struct visd_frustum_loop *loop, const struct visd_client_camera *camera)
{
    void (*test)(uint8_t *, const float *, const float *, const float *, const float *, size_t) = test_plain;
    float planes[PLANES][4];
    size_t listed = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) test = test_wide;
#endif
    planes_of(camera, planes);
    for (size_t first = 0; first < loop->count; first += BLOCK) {
        size_t count = loop->count - first < BLOCK ? loop->count - first : BLOCK;
        memset(loop->inside, 1, count);
        for (int p = 0; p < PLANES; p++)
            test(loop->inside, loop->bounds[planes[p][0] >= 0 ? 3 : 0] + first, loop->bounds[planes[p][1] >= 0 ? 4 : 1] + first,
                 loop->bounds[planes[p][2] >= 0 ? 5 : 2] + first, planes[p], count);
        for (size_t i = 0; i < count; i++) {
            loop->list[listed] = (uint32_t)(first + i);
            listed += loop->inside[i];
        }
    }
    return listed;
}

void visd_frustum_loop_finish(struct visd_frustum_loop *loop)
{
    for (int k = 0; k < 6; k++) free(loop->bounds[k]);
    free(loop->inside);
    free(loop->list);
    *loop = (struct visd_frustum_loop){0};
}
