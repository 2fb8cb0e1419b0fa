/* Selection: which candidates are drawn as occluders, largest rectangles first, within the two budgets; and their draws. */
#include <math.h>
#include <string.h>

#include "twin.h"

#define PROJECTION_ERROR 9.5367431640625e-7f

/* What stands for a box: corner i is at -1 or 1 by its bits. */
static const float cube_vertices[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1}};
#define FACE(a, b, c, d) (a) | INDEX_DOUBLE, b, c, (a) | INDEX_DOUBLE, c, d
static const uint32_t cube_indices[BOX_TRIANGLES * 3] = {FACE(0, 2, 3, 1), FACE(4, 5, 7, 6), FACE(0, 1, 5, 4), FACE(2, 6, 7, 3), FACE(0, 4, 6, 2), FACE(1, 3, 7, 5)};

static bool is_marks(uint32_t which) { return (which & SELECT_WHICH) == SELECT_MARKS; }

static uint32_t mark_mesh(const struct twin *t, uint32_t slot)
{
    uint32_t mesh = t->scene->info[slot].mesh;
    return mesh == MESH_NONE ? 0 : t->scene->meshes[mesh].mark_triangles;
}

static bool as_box(const struct twin *t, uint32_t slot, uint32_t which) { return which & SELECT_BOXES || !mark_mesh(t, slot); }

/* Marks may decide: it passed, is not listed anyway, and neither near plane nor section opens what would stand for it. */
static bool markable(const struct twin *t, uint32_t slot, uint32_t which)
{
    uint32_t verdict = t->verdicts[slot];
    bool near = verdict & VERDICT_NEAR, forced = verdict & VERDICT_FORCED && !near, cut = verdict & VERDICT_CUT;
    if (!(verdict & VERDICT_SEEN) || verdict & VERDICT_UNLISTED || forced) return false;
    return as_box(t, slot, which) ? !near && !cut : !(cut && t->frame.camera.caps);
}

static uint32_t mark_triangles(const struct twin *t, uint32_t slot, uint32_t which) { return as_box(t, slot, which) ? BOX_TRIANGLES : mark_mesh(t, slot); }

static bool occludes(uint32_t verdict, uint32_t which)
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

static uint32_t bits_of(float depth)
{
    uint32_t bits;
    memcpy(&bits, &depth, 4);
    return bits;
}

/* Within the cut bucket: nearest first, in as many classes as there are buckets; where all are equally near, by a mixture of the slot. */
static uint32_t class_of(const struct twin *t, uint32_t slot, float depth)
{
    uint32_t near = t->counters.cut_near, span = near - t->counters.cut_far, mixed = slot;
    mixed = (mixed ^ (mixed >> 16)) * 0x7feb352du;
    mixed = (mixed ^ (mixed >> 15)) * 0x846ca68bu;
    mixed ^= mixed >> 16;
    if (span < BUCKETS) return mixed % BUCKETS;
    uint32_t bits = bits_of(depth), c = bits > near ? 0 : (near - bits) / (span / BUCKETS + 1);
    return c < BUCKETS ? c : BUCKETS - 1;
}

static uint32_t drawn_of(const struct twin *t, uint32_t slot, uint32_t which)
{
    if (is_marks(which)) return mark_triangles(t, slot, which);
    uint32_t triangles = t->scene->meshes[t->scene->info[slot].mesh].triangles;
    return triangles < t->frame.draw_limit ? triangles : t->frame.draw_limit;
}

static bool eligible(const struct twin *t, uint32_t slot, uint32_t which)
{
    if (!is_marks(which)) return occludes(t->verdicts[slot], which);
    return markable(t, slot, which) && mark_triangles(t, slot, which) <= t->frame.draw_limit;
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

/* A rounding of a depth may put a candidate into the class before or after: then what is drawn is open. */
static bool class_open(const struct twin *t, uint32_t slot)
{
    float few = 4 * 0x1p-23f;
    return class_of(t, slot, t->inner[slot].depth * (1 - few)) != class_of(t, slot, t->outer[slot].depth * (1 + few));
}

static struct sums weigh(const struct twin *t, uint32_t which, bool within)
{
    struct sums sums = {0};
    for (uint32_t i = 0; i < t->counters.candidates; i++) {
        uint32_t slot = t->candidates[i];
        if (!eligible(t, slot, which)) continue;
        uint32_t area = area_of(&t->proxies[slot]), bucket = bucket_of(area), b = within ? class_of(t, slot, t->proxies[slot].depth) : bucket;
        if (within && bucket != t->counters.cut) continue;
        sums.triangles[b] += drawn_of(t, slot, which);
        sums.samples[b] += (uint64_t)area * t->frame.camera.samples;
    }
    return sums;
}

static void budget(struct twin *t, uint32_t which, bool unlimited)
{
    struct counters *c = &t->counters;
    if (is_marks(which)) c->used_triangles = c->used_samples = 0; /* a budget of their own */
    float share = which == SELECT_HISTORY ? 0.75f : 1;
    float triangles = t->frame.budget_triangles * share - c->used_triangles, samples = t->frame.budget_samples * share - c->used_samples;
    struct sums sums = weigh(t, which, false);
    uint32_t taken = take(c, &sums, BUCKETS - 1, -1, unlimited, &triangles, &samples);
    c->cut = taken == BUCKETS ? 0 : BUCKETS - 1 - taken;
    c->classes = BUCKETS;
    if (taken == BUCKETS) return;
    uint32_t near = 0, far = UINT32_MAX;
    for (uint32_t i = 0; i < c->candidates; i++) {
        uint32_t slot = t->candidates[i], bits = bits_of(t->proxies[slot].depth);
        if (!eligible(t, slot, which) || bucket_of(area_of(&t->proxies[slot])) != c->cut) continue;
        near = bits > near ? bits : near;
        far = bits < far ? bits : far;
    }
    c->cut_near = near;
    c->cut_far = far;
    for (uint32_t i = 0; i < c->candidates; i++) {
        uint32_t slot = t->candidates[i];
        t->open_tests += eligible(t, slot, which) && bucket_of(area_of(&t->proxies[slot])) == c->cut && class_open(t, slot);
    }
    sums = weigh(t, which, true);
    c->classes = take(c, &sums, 0, 1, false, &triangles, &samples);
}

static void emit(struct twin *t, uint32_t slot, uint32_t which)
{
    const struct object_bounds *b = &t->scene->bounds[slot];
    const struct object_info *about = &t->scene->info[slot];
    const struct mesh box = {.vertices = (uintptr_t)cube_vertices, .indices = (uintptr_t)cube_indices};
    bool boxed = is_marks(which) && as_box(t, slot, which);
    const struct mesh *mesh = boxed ? &box : &t->scene->meshes[about->mesh];
    const struct view_camera *camera = &t->frame.camera;
    struct draw d = {.slot = slot, .vertices = mesh->vertices, .indices = mesh->indices, .triangles = drawn_of(t, slot, which), .flags = b->flags};
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
        for (int j = 0; j < 3; j++) {
            float half = boxed ? b->row[j][3] : 1;
            d.row[k][j] = m[0] * (b->row[0][j] * half) + m[1] * (b->row[1][j] * half) + m[2] * (b->row[2][j] * half);
        }
        d.row[k][3] = m[0] * centre[0] + m[1] * centre[1] + m[2] * centre[2] + m[3];
        error[k] = PROJECTION_ERROR * (fabsf(m[0]) * reach[0] + fabsf(m[1]) * reach[1] + fabsf(m[2]) * reach[2] + fabsf(m[3])) +
                   stray * sqrtf(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
        if (k != 2) d.stray[k < 2 ? k : 2] = stray * sqrtf(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    }
    d.error_z = error[2];
    d.error_w = error[3];
    d.wide = MARK_WIDE + (float)(b->flags >> 16) * (SUBPIXEL / 16);
    if (boxed) d.flags |= DRAW_BOX | OBJECT_SECTION_EXEMPT;
    else memcpy(d.local, about->local, sizeof(d.local));
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
        bool could = eligible(t, slot, which);
        uint32_t bucket = could ? bucket_of(area_of(&t->proxies[slot])) : 0;
        bool picked = could && (bucket > c->cut || (bucket == c->cut && (c->classes == BUCKETS || class_of(t, slot, t->proxies[slot].depth) < c->classes)));
        t->verdicts[slot] &= ~VERDICT_PICKED;
        if (!picked) {
            c->over_budget += is_marks(which) ? markable(t, slot, which) : could && which == SELECT_PASSED;
            continue;
        }
        t->verdicts[slot] |= is_marks(which) ? VERDICT_PICKED : VERDICT_PICKED | VERDICT_DRAWN;
        emit(t, slot, which);
        if ((which & SELECT_WHICH) > SELECT_PASSED) continue;
        uint64_t sum = c->triangles_drawn[which * 2] + drawn_of(t, slot, which);
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
