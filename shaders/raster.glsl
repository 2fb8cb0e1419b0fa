/* Shared by the depth passes: one rule of coverage and one of depth, for all triangles.
 *
 * Vertices are snapped to 1/SUBPIXEL pixel; edge functions are integers, exact, and a sample on an edge is covered (two neighbours may both cover
 * it, which the maximum does not mind). Depth is interpolated in float and then stepped back by a bound on the error of doing so, so
 * that an occluder is never nearer than the surface that the client draws. A mark errs the other way: wider, and as near as it may be. */
layout(constant_id = 0) const uint MODE = RASTER_DEPTH;
layout(constant_id = 1) const uint MULTISAMPLED = 0u; /* 0: one sample a pixel, at its centre */

/* What the raster needs of the frame, read once and first: a load behind a branch or an atomic is made again for every invocation. */
struct target {
    frame_ref frame;
    counters_ref counters;
    uint_ref depth, picture;
    large_ref larges;
    proxy_ref proxies;
    uint width, height, samples;
    uint large_capacity;
    uint count_samples;
};

target raster_target(frame_ref frame)
{
    return target(frame, counters_ref(frame.f.counters), uint_ref(frame.f.depth), uint_ref(frame.f.picture), large_ref(frame.f.larges),
                  proxy_ref(frame.f.proxies), frame.f.camera.width, frame.f.camera.height, MULTISAMPLED == 0u ? 1u : frame.f.camera.samples,
                  frame.f.large_capacity, frame.f.count_samples);
}

ivec2 sample_offset(target t, uint s) { return MULTISAMPLED == 0u ? ivec2(SUBPIXEL / 2) : t.frame.f.sample_offset[s]; }

#define DEPTH_ERROR 9.5367431640625e-7 /* of an interpolation whose weights are in [0, 1], to the largest depth: eight roundings, doubled */

float depth_magnitude(vec3 depth) { return max(abs(depth.x), max(abs(depth.y), abs(depth.z))); }

/* A covered sample. Depths at or behind the far plane, and what is no number, hide nothing. */
void raster_sample(target t, uint index, float depth, uint slot)
{
    if (!(depth > 0.0)) return;
    if (MODE == RASTER_IDS) {
        if (t.depth.v[index] == floatBitsToUint(depth)) atomicMax(t.picture.v[index], slot + 1u);
    } else {
        atomicMax(t.depth.v[index], floatBitsToUint(depth));
    }
}

void raster_count(target t, uint covered)
{
    counters_ref counters = t.counters;
    if (MODE == RASTER_COUNT && covered != 0u) ADD64(counters.c.samples_all[0], counters.c.samples_all[1], covered);
}

/* Whether a mark is as near as what depth holds. */
bool raster_passes(target t, uint index, float nearest) { return nearest >= uintBitsToFloat(t.depth.v[index]); }

/* What a triangle's samples have found: whether any passed, and how many that are surely its own. */
void raster_mark(target t, uint slot, bool any, uint own)
{
    if (any) atomicOr(t.proxies.v[slot].samples, MARK_BIT);
    if (own != 0u) atomicAdd(t.proxies.v[slot].samples, own);
}

/* One mark is enough, unless they are counted. */
bool raster_done(target t, uint slot) { return MODE == RASTER_MARK && t.count_samples == 0u && t.proxies.v[slot].samples != 0u; }

/* Of a sample on an edge that two triangles of a mesh share, one owns it: the least that the edge function must be. d: along the edge. */
int raster_own(ivec2 d) { return d.y > 0 || (d.y == 0 && d.x < 0) ? 0 : 1; }

int raster_reach(ivec2 d) { return abs(d.x) + abs(d.y); }

int64_t raster_cross(ivec2 a, ivec2 b, ivec2 c)
{
    return int64_t(b.x - a.x) * int64_t(c.y - a.y) - int64_t(c.x - a.x) * int64_t(b.y - a.y);
}

/* First and last pixel whose samples may lie between two snapped coordinates: at a pixel's middle, or 1/16 to 15/16 into it. */
ivec2 raster_span(int low, int high, uint size)
{
    ivec2 span = MULTISAMPLED == 0u ? ivec2(low + SUBPIXEL / 2 - 1, high - SUBPIXEL / 2) : ivec2(low - SUBPIXEL * 15 / 16, high - SUBPIXEL / 16);
    span >>= SUBPIXEL_BITS;
    return ivec2(max(span.x, 0), min(span.y, int(size) - 1));
}

/* Sends a snapped triangle on its way: nothing, the pixels at once, or the large list. facing: the sign of area of a front face, or 0.
 * wide: of a mark, by how much it is drawn wider all round, in 1/SUBPIXEL pixel; else 0. */
void raster_triangle(target t, ivec2 p0, ivec2 p1, ivec2 p2, vec3 depth, bool two_sided, float facing, uint slot, int wide)
{
    int64_t area = raster_cross(p0, p1, p2);
    bool front = area > 0l ? facing > 0.0 : facing < 0.0;
    ivec2 least = min(p0, min(p1, p2)) - wide, most = max(p0, max(p1, p2)) + wide;
    ivec2 sx = raster_span(least.x, most.x, t.width);
    ivec2 sy = raster_span(least.y, most.y, t.height);
    float nearest = max(depth.x, max(depth.y, depth.z));
    bool drawn = area != 0l && (front || two_sided) && sx.x <= sx.y && sy.x <= sy.y && nearest > 0.0;
    bool flat_one = false; /* of a mark: snapping may have turned it, so that it has no side, and its plane says nothing */
    if (MODE == RASTER_MARK) {
        flat_one = abs(area) <= 2l * int64_t(raster_reach(most - least)) + 4l;
        drawn = (front || two_sided || flat_one || facing == 0.0) && sx.x <= sx.y && sy.x <= sy.y && nearest >= 0.0;
    }
    if (area < 0l) {
        ivec2 p = p1;
        p1 = p2;
        p2 = p;
        depth = depth.xzy;
    }
    int columns = sx.y - sx.x + 1, rows = sy.y - sy.x + 1;
    bool small = drawn && columns * rows <= SMALL_PIXELS && most.x - least.x < SMALL_SIDE * SUBPIXEL && most.y - least.y < SMALL_SIDE * SUBPIXEL;

    if (drawn && !small) {
        uint place = atomicAdd(t.counters.c.larges, 1u);
        if (place < t.large_capacity) t.larges.v[place] = large(ivec2[3](p0, p1, p2), depth, slot, wide);
        else if (MODE == RASTER_MARK) raster_mark(t, slot, true, 0u); /* nobody will look at it: it counts as seen */
    }

    /* Small ones: 32-bit edge functions relative to p0 suffice. One flat loop: neighbours' rectangles differ in shape more than in size. */
    int pixels = small ? columns * rows : 0;
    ivec2 d1 = p1 - p0, d2 = p2 - p0;
    int whole = d1.x * d2.y - d2.x * d1.y;
    float scale = 1.0 / float(whole), back = depth_magnitude(depth) * DEPTH_ERROR;
    float z1 = (depth.y - depth.x) * scale, z2 = (depth.z - depth.x) * scale;
    uint covered = 0u;
    bool any = false;
    int wide1 = 0, wide2 = 0, wide3 = 0, own1 = raster_own(-d2), own2 = raster_own(d1), own3 = raster_own(p2 - p1);
    if (MODE == RASTER_MARK) {
        wide1 = wide * raster_reach(d2);
        wide2 = wide * raster_reach(d1);
        wide3 = wide * raster_reach(p2 - p1);
        if (flat_one) {
            depth.x = nearest;
            z1 = 0.0;
            z2 = 0.0;
        }
        /* As near as it may be anywhere within wide of the sample; and the error of a weight that is not in [0, 1]. */
        float steep = float(raster_reach(d2)) * abs(z1) + float(raster_reach(d1)) * abs(z2);
        back = -(DEPTH_ERROR * (depth_magnitude(depth) + float(raster_reach(most - least)) * steep) +
                 float(wide) * (abs(float(d2.y) * z1 - float(d1.y) * z2) + abs(float(d1.x) * z2 - float(d2.x) * z1)));
    }
    int x = sx.x, y = sy.x;
    for (int i = 0; i < pixels; i++) {
        for (uint s = 0u; s < t.samples; s++) {
            ivec2 r = ivec2(x, y) * SUBPIXEL + sample_offset(t, s) - p0;
            int e1 = r.x * d2.y - d2.x * r.y; /* weight of p1 */
            int e2 = d1.x * r.y - r.x * d1.y; /* weight of p2 */
            if (e1 < -wide1 || e2 < -wide2 || e1 + e2 > whole + wide3) continue;
            precise float plane = depth.x + (float(e1) * z1 + float(e2) * z2), value = plane - back;
            uint index = (uint(y) * t.width + uint(x)) * t.samples + s;
            if (MODE == RASTER_MARK) {
                any = any || raster_passes(t, index, min(value, nearest));
                covered += e1 >= own1 && e2 >= own2 && e1 + e2 <= whole - own3 && !flat_one && raster_passes(t, index, plane) ? 1u : 0u;
                continue;
            }
            covered++;
            raster_sample(t, index, value, slot);
        }
        bool end = x == sx.y;
        x = end ? sx.x : x + 1;
        y += end ? 1 : 0;
    }
    if (MODE == RASTER_MARK) raster_mark(t, slot, any, covered);
    else raster_count(t, covered);
}
