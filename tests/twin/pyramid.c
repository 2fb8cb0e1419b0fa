/* Pyramid: the farthest depth of every block of pixels, straight from the pixels: texel (i, j) of level k is the least over the pixels
 * [i * 2^k, (i + 1) * 2^k) x [j * 2^k, (j + 1) * 2^k) that are in the image, and over all of their samples. */
#include <stdlib.h>

#include "twin.h"

static float least_of(const float *depth, uint32_t width, uint32_t samples, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1)
{
    float least = 2;
    for (uint32_t y = y0; y < y1; y++)
        for (const float *d = depth + ((uint64_t)y * width + x0) * samples, *end = depth + ((uint64_t)y * width + x1) * samples; d < end; d++)
            if (*d < least) least = *d;
    return least;
}

void twin_pyramid_make(struct twin_pyramid *p, const float *depth, uint32_t width, uint32_t height, uint32_t samples)
{
    twin_pyramid_free(p);
    for (uint32_t k = 0;; k++) {
        uint32_t block = 1u << k;
        p->width[k] = (width + block - 1) / block;
        p->height[k] = (height + block - 1) / block;
        p->level[k] = malloc((uint64_t)p->width[k] * p->height[k] * sizeof(float));
        for (uint32_t j = 0; j < p->height[k]; j++)
            for (uint32_t i = 0; i < p->width[k]; i++) {
                uint32_t x1 = (i + 1) * block < width ? (i + 1) * block : width, y1 = (j + 1) * block < height ? (j + 1) * block : height;
                p->level[k][(uint64_t)j * p->width[k] + i] = least_of(depth, width, samples, i * block, j * block, x1, y1);
            }
        p->levels = k + 1;
        if (p->width[k] <= FOOTPRINT && p->height[k] <= FOOTPRINT) break;
    }
}

void twin_pyramid_free(struct twin_pyramid *p)
{
    for (uint32_t k = 0; k < p->levels; k++) free(p->level[k]);
    *p = (struct twin_pyramid){0};
}
