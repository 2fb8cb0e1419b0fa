/* Depth: every triangle of the newest selection goes its draw's road. Twice: first to learn what is asked of the lists of large triangles. */
#include "twin.h"

void twin_draw_all(struct twin *t)
{
    for (uint32_t i = 0; i < t->draw_count; i++)
        for (uint32_t triangle = 0; triangle < t->draws[i].triangles; triangle++) {
            if (t->clip[i]) twin_road_clip(t, &t->draws[i], triangle);
            else twin_road_fast(t, &t->draws[i], triangle);
        }
}

bool twin_too_many(const struct twin *t, int most)
{
    const struct twin_larges *l = &t->larges;
    return l->triangles[most] > t->frame.large_capacity || l->tiles[most] > t->frame.tile_capacity || l->units[most] > t->frame.tile_unit_limit;
}

void twin_depth(struct twin *t)
{
    t->larges = (struct twin_larges){.counting = true};
    twin_draw_all(t);
    t->larges.counting = false;
    t->larges.left_out = twin_too_many(t, 1);
    t->counters.over_budget += twin_too_many(t, 0);
    t->open_tests += twin_too_many(t, 0) != twin_too_many(t, 1);
    twin_draw_all(t);
}
