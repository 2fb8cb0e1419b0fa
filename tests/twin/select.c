/* Selection: which candidates are drawn as occluders, largest rectangles first, within the two budgets; and their draws. */
#include <math.h>
#include <string.h>

#include "twin.h"

#define PROJECTION_ERROR 9.5367431640625e-7f

static bool eligible(uint32_t verdict, uint32_t which)
{
    bool asked = which == SELECT_HISTORY ? verdict & VERDICT_HISTORY
                 : which == SELECT_PASSED ? (verdict & (VERDICT_SEEN | VERDICT_DRAWN)) == VERDICT_SEEN
                 : which == SELECT_SEEN   ? verdict & VERDICT_SEEN
                                          : true;
    return asked && (verdict & VERDICT_OCCLUDES);
}

static uint32_t area_of(const struct proxy *p) { return ((p->high & 0xffff) - (p->low & 0xffff) + 1) * ((p->high >> 16) - (p->low >> 16) + 1); }

/* Eight buckets an octave: the octave is the area's exponent, the eighth its first three bits below the leading one. */
static uint32_t bucket_of(uint32_t area)
{
    int exponent;
    float fraction = frexpf((float)area, &exponent); /* area = fraction * 2^exponent, fraction in [1/2, 1) */
    uint32_t bucket = (uint32_t)(exponent - 1) * 8 + (uint32_t)((fraction * 2 - 1) * 8);
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static uint32_t hash_of(uint32_t slot)
{
    slot = (slot ^ (slot >> 16)) * 0x7feb352du;
    slot = (slot ^ (slot >> 15)) * 0x846ca68bu;
    return (slot ^ (slot >> 16)) & 0xffff;
}

static uint32_t drawn_of(const struct twin *t, uint32_t slot)
{
    uint32_t triangles = t->scene->meshes[t->scene->info[slot].mesh].triangles;
    return triangles < t->frame.draw_limit ? triangles : t->frame.draw_limit;
}

struct sums { uint64_t triangles[BUCKETS], samples[BUCKETS]; };

/* Takes entries in order (from, step) while both budgets last; returns how many, of BUCKETS at most. */
static uint32_t take(struct counters *c, const struct sums *in, uint32_t from, int step, bool unlimited, float *triangles, float *samples)
{
    for (uint32_t i = 0; i < BUCKETS; i++) {
        uint32_t b = from + (uint32_t)(step * (int)i);
        float want_triangles = (float)in->triangles[b], want_samples = (float)in->samples[b];
        if (!unlimited && (want_triangles > *triangles || want_samples > *samples)) return i;
        *triangles -= want_triangles;
        *samples -= want_samples;
        c->used_triangles += want_triangles;
        c->used_samples += want_samples;
    }
    return BUCKETS;
}

static struct sums weigh(const struct twin *t, uint32_t which, bool lot)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < t->counters.candidates; i++) {
        uint32_t slot = t->candidates[i];
        if (!eligible(t->verdicts[slot], which)) continue;
        uint32_t area = area_of(&t->proxies[slot]), bucket = bucket_of(area), b = lot ? hash_of(slot) >> 8 : bucket;
        if (lot && bucket != t->counters.cut) continue;
        sums.triangles[b] += drawn_of(t, slot);
        sums.samples[b] += (uint64_t)area * t->frame.camera.samples;
    }
    return sums;
}

static void budget(struct twin *t, uint32_t which, bool unlimited)
{
    struct counters *c = &t->counters;
    float share = which == SELECT_HISTORY ? 0.75f : 1;
    float triangles = t->frame.budget_triangles * share - c->used_triangles, samples = t->frame.budget_samples * share - c->used_samples;
    struct sums sums = weigh(t, which, false);
    uint32_t taken = take(c, &sums, BUCKETS - 1, -1, unlimited, &triangles, &samples);
    c->cut = taken == BUCKETS ? 0 : BUCKETS - 1 - taken;
    c->fraction = 65536;
    if (taken == BUCKETS) return;
    sums = weigh(t, which, true);
    c->fraction = take(c, &sums, 0, 1, false, &triangles, &samples) << 8;
}

static void emit(struct twin *t, uint32_t slot)
{
    const struct object_bounds *b = &t->scene->bounds[slot];
    const struct object_info *about = &t->scene->info[slot];
    const struct mesh *mesh = &t->scene->meshes[about->mesh];
    const struct view_camera *camera = &t->frame.camera;
    struct draw d = {.slot = slot, .vertices = mesh->vertices, .indices = mesh->indices, .triangles = drawn_of(t, slot), .flags = b->flags};
    float centre[3], reach[3], stretch = 0, error[4];
    for (int i = 0; i < 3; i++) {
        centre[i] = (b->centre_hi[i] - camera->eye_hi[i]) + (b->centre_lo[i] - camera->eye_lo[i]);
        reach[i] = fabsf(centre[i]) + fabsf(b->row[i][0] * b->row[0][3]) + fabsf(b->row[i][1] * b->row[1][3]) + fabsf(b->row[i][2] * b->row[2][3]) +
                   fabsf(camera->eye_hi[i]) * 5.9604645e-8f;
        for (int j = 0; j < 3; j++) stretch += b->row[i][j] * b->row[i][j];
    }
    float stray = mesh->deviation * sqrtf(stretch);
    for (int k = 0; k < 4; k++) {
        const float *m = camera->m[k];
        for (int j = 0; j < 3; j++) d.row[k][j] = m[0] * b->row[0][j] + m[1] * b->row[1][j] + m[2] * b->row[2][j];
        d.row[k][3] = m[0] * centre[0] + m[1] * centre[1] + m[2] * centre[2] + m[3];
        error[k] = PROJECTION_ERROR * (fabsf(m[0]) * reach[0] + fabsf(m[1]) * reach[1] + fabsf(m[2]) * reach[2] + fabsf(m[3])) +
                   stray * sqrtf(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    }
    d.error_z = error[2];
    d.error_w = error[3];
    memcpy(d.local, about->local, sizeof(d.local));
    t->clip[t->draw_count] = t->verdicts[slot] & VERDICT_CLIP;
    t->draws[t->draw_count++] = d;
}

void twin_select(struct twin *t, uint32_t which, bool unlimited)
{
    struct counters *c = &t->counters;
    budget(t, which, unlimited);
    t->draw_count = 0;
    for (uint32_t i = 0; i < c->candidates; i++) {
        uint32_t slot = t->candidates[i];
        bool could = eligible(t->verdicts[slot], which);
        uint32_t bucket = could ? bucket_of(area_of(&t->proxies[slot])) : 0;
        bool picked = could && (bucket > c->cut || (bucket == c->cut && hash_of(slot) < c->fraction));
        t->verdicts[slot] &= ~VERDICT_PICKED;
        if (!picked) {
            c->over_budget += could && which == SELECT_PASSED;
            continue;
        }
        t->verdicts[slot] |= VERDICT_PICKED | VERDICT_DRAWN;
        emit(t, slot);
        if (which > SELECT_PASSED) continue;
        uint64_t sum = c->triangles_drawn[which * 2] + drawn_of(t, slot);
        c->drawn[which]++;
        c->triangles_drawn[which * 2] = (uint32_t)sum;
        c->triangles_drawn[which * 2 + 1] += (uint32_t)(sum >> 32);
    }
}

void twin_project(const struct draw *d, const float vertex[3], float clip[4])
{
    float v[3];
    for (int i = 0; i < 3; i++) v[i] = vertex[i] - d->local[i];
    for (int k = 0; k < 4; k++) clip[k] = d->row[k][0] * v[0] + d->row[k][1] * v[1] + d->row[k][2] * v[2] + d->row[k][3];
}
