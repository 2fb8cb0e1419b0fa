/* Hi-Z: is a candidate's rectangle everywhere behind what was drawn? Asked twice, of the least that a right device may have drawn against
 * the largest rectangle, and of the most against the smallest: where the answers differ the test is open. */
#include "twin.h"

bool twin_hidden(const struct twin_pyramid *p, const struct proxy *place, uint32_t footprint)
{
    uint32_t x0 = place->low & 0xffff, y0 = place->low >> 16, x1 = place->high & 0xffff, y1 = place->high >> 16, k = 0;
    while (k + 1 < p->levels && ((x1 >> k) - (x0 >> k) + 1 > footprint || (y1 >> k) - (y0 >> k) + 1 > footprint)) k++;
    for (uint32_t y = y0 >> k; y <= y1 >> k; y++)
        for (uint32_t x = x0 >> k; x <= x1 >> k; x++)
            if (!(p->level[k][(uint64_t)y * p->width[k] + x] > place->depth)) return false;
    return true;
}

void twin_hiz(struct twin *t, enum twin_test test)
{
    struct counters *c = &t->counters;
    uint64_t all = 0, listed = 0;
    for (uint32_t i = 0; i < c->candidates; i++) {
        uint32_t slot = t->candidates[i], verdict = t->verdicts[slot];
        bool seen = test == TWIN_PASS_ALL || (verdict & VERDICT_FORCED) || (test == TWIN_TEST_REST && (verdict & VERDICT_DRAWN));
        if (test == TWIN_TEST_SETTLE) {
            bool decided = (verdict & VERDICT_SEEN) && (verdict & VERDICT_PICKED);
            seen = (verdict & VERDICT_SEEN) && (!decided || t->marked_maybe[slot]);
            t->open_tests += decided && t->marked_maybe[slot] != t->marked_surely[slot];
        } else if (!seen) {
            bool surely = twin_hidden(&t->low, &t->outer[slot], t->footprint), maybe = twin_hidden(&t->high, &t->inner[slot], t->footprint);
            t->open_tests += surely != maybe;
            seen = !surely;
        }
        t->verdicts[slot] = seen ? verdict | VERDICT_SEEN : verdict & ~VERDICT_SEEN;
        if (test == TWIN_TEST_REST || test == TWIN_TEST_ALL) continue;
        const struct object_info *about = &t->scene->info[slot];
        uint64_t triangles = about->mesh == MESH_NONE ? 0 : t->scene->meshes[about->mesh].all_triangles;
        t->history[slot] = seen ? about->generation : 0;
        c->occluded += !seen;
        all += triangles;
        if (seen && !(verdict & VERDICT_UNLISTED)) listed += triangles;
    }
    if (test == TWIN_TEST_REST || test == TWIN_TEST_ALL) return;
    c->triangles_in_frustum[0] = (uint32_t)all;
    c->triangles_in_frustum[1] = (uint32_t)(all >> 32);
    c->triangles_listed[0] = (uint32_t)listed;
    c->triangles_listed[1] = (uint32_t)(listed >> 32);
}
