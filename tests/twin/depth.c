/* Depth: every triangle of the newest selection goes its draw's road. */
#include "twin.h"

void twin_depth(struct twin *t)
{
    for (uint32_t i = 0; i < t->draw_count; i++)
        for (uint32_t triangle = 0; triangle < t->draws[i].triangles; triangle++) {
            if (t->clip[i]) twin_road_clip(t, &t->draws[i], triangle);
            else twin_road_fast(t, &t->draws[i], triangle);
        }
}
