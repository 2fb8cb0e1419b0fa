/* Frustum: each object's verdict, rectangle and nearest depth.
 *
 * Every comparison is made of a value and a tolerance: a quarter of the bound that the shader itself puts on its arithmetic (four units in
 * the last place of the magnitudes summed). An answer has two sides, "surely" and "maybe"; where they differ the object is open. */
#include <math.h>
#include <string.h>

#include "twin.h"

#define PROJECTION_ERROR 9.5367431640625e-7f
#define ULPS 2.384185791015625e-7f /* four units of 2^-24 */
#define SNAP 0.0625f
#define FLOAT_PIXELS 0.00390625f

struct answer { bool surely, maybe; };

static void all_below(struct answer *a, float value, float tolerance)
{
    a->surely = a->surely && value < -tolerance;
    a->maybe = a->maybe && value < tolerance;
}

static void any_above(struct answer *a, float value, float tolerance) /* value >= 0 */
{
    a->surely = a->surely || value >= tolerance;
    a->maybe = a->maybe || value >= -tolerance;
}

static bool open_answer(struct answer a) { return a.surely != a.maybe; }

static float dot3(const float a[3], const float b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static float dot3_abs(const float a[3], const float b[3]) { return fabsf(a[0]) * b[0] + fabsf(a[1]) * b[1] + fabsf(a[2]) * b[2]; }

/* An object's box in clip space. */
struct box {
    float centre[3], axis[3][3], reach[3]; /* relative to the eye */
    float c[4], a[3][4], e[4];
};

static void project_box(const struct object_bounds *b, const struct view_camera *camera, struct box *box)
{
    for (int i = 0; i < 3; i++) box->centre[i] = (b->centre_hi[i] - camera->eye_hi[i]) + (b->centre_lo[i] - camera->eye_lo[i]);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) box->axis[j][i] = b->row[i][j] * b->row[j][3];
    for (int i = 0; i < 3; i++)
        box->reach[i] = fabsf(box->centre[i]) + fabsf(box->axis[0][i]) + fabsf(box->axis[1][i]) + fabsf(box->axis[2][i]) +
                        fabsf(camera->eye_hi[i]) * 5.9604645e-8f;
    for (int k = 0; k < 4; k++) {
        const float *m = camera->m[k];
        box->c[k] = dot3(m, box->centre) + m[3];
        for (int j = 0; j < 3; j++) box->a[j][k] = dot3(m, box->axis[j]);
        box->e[k] = PROJECTION_ERROR * (dot3_abs(m, box->reach) + fabsf(m[3]));
    }
}

/* What the corners have in common, and where they stand. */
struct stand {
    struct answer left, right, top, bottom, before, beyond, touches;
    float least[2], most[2], nearest, error_pixels;
    float least_range[2][2], most_range[2][2], nearest_range[2]; /* where a device's may be */
};

static void corner_of(const struct box *box, int i, float p[4])
{
    for (int k = 0; k < 4; k++)
        p[k] = box->c[k] + (i & 1 ? box->a[0][k] : -box->a[0][k]) + (i & 2 ? box->a[1][k] : -box->a[1][k]) + (i & 4 ? box->a[2][k] : -box->a[2][k]);
}

/* Whether all of the box that is past the near plane is beyond one side: some weight k >= 0 makes side + k * near negative at every corner.
 * give: added to both, as a fraction of their tolerances. */
static bool past_and_beyond(const struct box *box, const float size[2], float margin, float give)
{
    const float *e = box->e;
    for (int side = 0; side < 4; side++) {
        float from = 0, to = 3e38f, tolerance = (e[side / 2] + e[3]) / 4, near_tolerance = (e[2] + e[3]) / 4;
        for (int i = 0; i < 8; i++) {
            float p[4];
            corner_of(box, i, p);
            float beyond = (side & 1 ? -p[side / 2] : p[side / 2]) + e[side / 2] + p[3] + e[3] + fmaxf(p[3], 0) * (2 * (margin + SNAP) / size[side / 2]);
            float past = p[3] + e[3] - (p[2] - e[2]) + give * near_tolerance;
            beyond += give * tolerance;
            if (past < 0) from = fmaxf(from, beyond / -past);
            else to = fminf(to, -beyond / fmaxf(past, 1e-37f));
        }
        if (from * (1.00001f + give * ULPS) < to) return true;
    }
    return false;
}

static struct stand stand_of(const struct box *box, const float size[2], float margin)
{
    static const struct answer yes = {true, true};
    struct stand s = {.left = yes, .right = yes, .top = yes, .bottom = yes, .before = yes, .beyond = yes,
                      .least = {3e38f, 3e38f}, .most = {-3e38f, -3e38f},
                      .least_range = {{3e38f, 3e38f}, {3e38f, 3e38f}}, .most_range = {{-3e38f, -3e38f}, {-3e38f, -3e38f}}};
    const float *e = box->e;
    float tx = (e[0] + e[3]) / 4, ty = (e[1] + e[3]) / 4, tz = (e[2] + e[3]) / 4;
    for (int i = 0; i < 8; i++) {
        float p[4];
        corner_of(box, i, p);
        float w = fmaxf(p[3], 0), wide_x = w * (2 * (margin + SNAP) / size[0]), wide_y = w * (2 * (margin + SNAP) / size[1]);
        all_below(&s.left, p[0] + e[0] + p[3] + e[3] + wide_x, tx);
        all_below(&s.right, -(p[0] - e[0] - p[3] - e[3] - wide_x), tx);
        all_below(&s.top, p[1] + e[1] + p[3] + e[3] + wide_y, ty);
        all_below(&s.bottom, -(p[1] - e[1] - p[3] - e[3] - wide_y), ty);
        all_below(&s.before, (p[3] + e[3]) - (p[2] - e[2]), tz);
        all_below(&s.beyond, p[2] + e[2], e[2] / 4);
        any_above(&s.touches, (p[2] + e[2]) - (p[3] - e[3]), tz);
        any_above(&s.touches, 2 * e[3] - p[3], e[3] / 4);
        float safe = fmaxf(p[3], 1e-37f), inner = fmaxf(p[3] - e[3], 1e-37f);
        for (int k = 0; k < 2; k++) {
            float q = p[k] / safe, slip = (e[k] + fabsf(q) * e[3]) / inner;
            s.error_pixels = fmaxf(s.error_pixels, slip * size[k] * 0.5f);
            s.least[k] = fminf(s.least[k], q - slip);
            s.most[k] = fmaxf(s.most[k], q + slip);
            float give = slip / 4 + fabsf(q) * ULPS;
            for (int i = 0; i < 2; i++) {
                s.least_range[k][i] = fminf(s.least_range[k][i], q - slip + (i ? give : -give));
                s.most_range[k][i] = fmaxf(s.most_range[k][i], q + slip + (i ? give : -give));
            }
        }
        float near = (p[2] + e[2]) / inner, give = (e[2] + fabsf(near) * e[3]) / inner / 4 + fabsf(near) * ULPS;
        s.nearest = fmaxf(s.nearest, near);
        s.nearest_range[0] = fmaxf(s.nearest_range[0], near - give);
        s.nearest_range[1] = fmaxf(s.nearest_range[1], near + give);
    }
    return s;
}

/* Whole pixels of one axis, inclusive; with one sample a pixel those whose centre is inside, if there are any. */
static void whole_pixels(float low, float high, float limit, bool centres, uint32_t out[2])
{
    float first = floorf(low), last = floorf(high), first_centre = ceilf(low - 0.5f), last_centre = floorf(high - 0.5f);
    if (centres && first_centre <= last_centre) {
        first = first_centre;
        last = last_centre;
    }
    out[0] = (uint32_t)fminf(fmaxf(first, 0), limit);
    out[1] = (uint32_t)fminf(fmaxf(last, 0), limit);
}

static struct proxy proxy_of(const uint32_t x[2], const uint32_t y[2], float depth)
{
    return (struct proxy){.low = x[0] | y[0] << 16, .high = x[1] | y[1] << 16, .depth = depth};
}

/* A normalised coordinate in pixels, moved by an object's margin. */
static float pixel_of(float at, float size, float margin) { return (at * 0.5f + 0.5f) * size + margin; }

/* The rectangle as computed, and the smallest and largest that roundings of its sides may make. */
static void place(const struct twin *t, const struct stand *s, const float size[2], float margin, uint32_t slot)
{
    uint32_t at[2][2], inner[2][2], outer[2][2];
    bool centres = t->frame.camera.samples == 1;
    for (int k = 0; k < 2; k++) {
        whole_pixels(pixel_of(s->least[k], size[k], -margin), pixel_of(s->most[k], size[k], margin), size[k] - 1, centres, at[k]);
        memcpy(inner[k], at[k], sizeof(at[k]));
        memcpy(outer[k], at[k], sizeof(at[k]));
        for (int i = 0; i < 4; i++) {
            uint32_t other[2];
            float low = pixel_of(s->least_range[k][i & 1], size[k], -margin), high = pixel_of(s->most_range[k][i >> 1], size[k], margin);
            low += (i & 1 ? ULPS : -ULPS) * (fabsf(low) + size[k] + margin);
            high += (i >> 1 ? ULPS : -ULPS) * (fabsf(high) + size[k] + margin);
            whole_pixels(low, high, size[k] - 1, centres, other);
            outer[k][0] = other[0] < outer[k][0] ? other[0] : outer[k][0];
            outer[k][1] = other[1] > outer[k][1] ? other[1] : outer[k][1];
            inner[k][0] = other[0] > inner[k][0] ? other[0] : inner[k][0];
            inner[k][1] = other[1] < inner[k][1] ? other[1] : inner[k][1];
        }
        if (inner[k][1] < inner[k][0]) inner[k][1] = inner[k][0];
    }
    t->proxies[slot] = proxy_of(at[0], at[1], s->nearest);
    t->inner[slot] = proxy_of(inner[0], inner[1], s->nearest_range[0]);
    t->outer[slot] = proxy_of(outer[0], outer[1], s->nearest_range[1]);
}

static void whole_screen(const struct twin *t, uint32_t slot)
{
    const uint32_t x[2] = {0, t->frame.camera.width - 1}, y[2] = {0, t->frame.camera.height - 1};
    t->proxies[slot] = t->inner[slot] = t->outer[slot] = proxy_of(x, y, 1);
}

static void look_at(struct twin *t, uint32_t slot)
{
    const struct view_camera *camera = &t->frame.camera;
    const struct object_bounds *b = &t->scene->bounds[slot];
    const struct object_info *about = &t->scene->info[slot];
    struct counters *c = &t->counters;
    t->verdicts[slot] = 0;
    if (!(b->flags & OBJECT_LIVE)) return;
    bool hidden = (b->flags & OBJECT_HIDDEN) || !(b->layers & camera->layers);
    c->tested++;
    c->hidden += hidden;
    if (hidden) return;

    const float size[2] = {(float)camera->width, (float)camera->height}, margin = (float)(b->flags >> 16) * 0.0625f;
    struct box box;
    project_box(b, camera, &box);
    struct stand s = stand_of(&box, size, margin);
    struct answer outs[] = {s.left, s.right, s.top, s.bottom, s.before, s.beyond};
    struct answer out = {false, false}, cut = {false, false};
    for (int i = 0; i < 6; i++) out = (struct answer){out.surely || outs[i].surely, out.maybe || outs[i].maybe};
    if (s.touches.maybe) {
        out.surely = out.surely || (s.touches.surely && past_and_beyond(&box, size, margin, 1));
        out.maybe = out.maybe || past_and_beyond(&box, size, margin, -1);
    }
    for (uint32_t i = 0; i < camera->planes && !(b->flags & OBJECT_SECTION_EXEMPT); i++) {
        const float *plane = camera->plane[i];
        float distance = dot3(plane, box.centre) + plane[3];
        float radius = fabsf(dot3(plane, box.axis[0])) + fabsf(dot3(plane, box.axis[1])) + fabsf(dot3(plane, box.axis[2]));
        float error = PROJECTION_ERROR * (dot3_abs(plane, box.reach) + fabsf(plane[3]));
        struct answer away = {true, true};
        all_below(&away, distance + radius + error, error / 4);
        out = (struct answer){out.surely || away.surely, out.maybe || away.maybe};
        any_above(&cut, -(distance - radius - error), error / 4);
    }

    bool unbounded = b->flags & OBJECT_UNBOUNDED, pinned = b->flags & OBJECT_PINNED;
    struct answer touches = unbounded ? (struct answer){true, true} : s.touches;
    float low[2], high[2];
    struct answer small = {true, true};
    for (int k = 0; k < 2; k++) {
        low[k] = pixel_of(s.least[k], size[k], -(margin + SNAP));
        high[k] = pixel_of(s.most[k], size[k], margin + SNAP);
        float give = (s.least_range[k][1] - s.least_range[k][0] + s.most_range[k][1] - s.most_range[k][0]) * size[k];
        all_below(&small, (s.most[k] - s.least[k]) * 0.5f * size[k] - camera->min_pixels, give);
    }
    if (!(camera->min_pixels > 0) || touches.maybe) small = (struct answer){false, false};
    bool open = open_answer(out) || (!out.surely && (open_answer(touches) || open_answer(small) || open_answer(cut)));

    bool dropped = !out.maybe && small.surely && !unbounded, shown = unbounded || (!out.maybe && !small.surely);
    c->small_objects += dropped;
    c->in_frustum += shown;
    if (!shown && !pinned) {
        t->open_objects += open && !unbounded;
        return;
    }
    uint32_t verdict = VERDICT_CANDIDATE;
    if (touches.surely || pinned) verdict |= pinned || unbounded ? VERDICT_FORCED : VERDICT_FORCED | VERDICT_NEAR;
    if (cut.surely) verdict |= VERDICT_CUT;
    if (b->flags & OBJECT_OCCLUDER_ONLY) verdict |= VERDICT_UNLISTED;
    if (shown && about->mesh != MESH_NONE && !(b->flags & OBJECT_NO_OCCLUDER)) verdict |= VERDICT_OCCLUDES;
    if (!t->frame.fresh && t->history[slot] == about->generation) verdict |= VERDICT_HISTORY;
    float near_limit = FLOAT_PIXELS * (1 - ULPS * 8), far_limit = FLOAT_PIXELS * (1 + ULPS * 8);
    bool inside_guard = low[0] > -GUARD_PIXELS && low[1] > -GUARD_PIXELS && high[0] < size[0] + GUARD_PIXELS && high[1] < size[1] + GUARD_PIXELS;
    if (touches.surely || cut.surely || !(s.error_pixels <= FLOAT_PIXELS) || !inside_guard) verdict |= VERDICT_CLIP;
    open = open || (!touches.surely && !cut.surely && s.error_pixels > near_limit && s.error_pixels < far_limit);
    if (touches.surely) whole_screen(t, slot);
    else place(t, &s, size, margin + SNAP, slot);
    t->open_objects += open;
    c->forced += (verdict & (VERDICT_FORCED | VERDICT_UNLISTED)) == VERDICT_FORCED;
    t->verdicts[slot] = verdict;
    t->candidates[c->candidates++] = slot;
}

void twin_frustum(struct twin *t)
{
    for (uint32_t slot = 0; slot < t->scene->slots; slot++) look_at(t, slot);
}
