/* Shared by the depth passes: one rule of coverage and one of depth, for all triangles.
 *
 * Vertices are snapped to 1/SUBPIXEL pixel; edge functions are integers, exact, and a sample on an edge is covered (two neighbours may both cover
 * it, which the maximum does not mind). Depth is interpolated in float and then stepped back by a bound on the error of doing so, so
 * that an occluder is never nearer than the surface that the client draws. */
layout(constant_id = 0) const uint MODE = RASTER_DEPTH;
layout(constant_id = 1) const uint MULTISAMPLED = 0u; /* 0: one sample a pixel, at its centre */

/* What the raster needs of the frame, read once and first: a load behind a branch or an atomic is made again for every invocation. */
struct target {
    frame_ref frame;
    counters_ref counters;
    uint_ref depth, picture;
    large_ref larges;
    uint width, height, samples;
    uint large_capacity;
};

target raster_target(frame_ref frame)
{
    return target(frame, counters_ref(frame.f.counters), uint_ref(frame.f.depth), uint_ref(frame.f.picture), large_ref(frame.f.larges),
                  frame.f.camera.width, frame.f.camera.height, MULTISAMPLED == 0u ? 1u : frame.f.camera.samples, frame.f.large_capacity);
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

/* Sends a snapped triangle on its way: nothing, the pixels at once, or the large list. facing: the sign of area of a front face, or 0. */
void raster_triangle(target t, ivec2 p0, ivec2 p1, ivec2 p2, vec3 depth, bool two_sided, float facing, uint slot)
{
    int64_t area = raster_cross(p0, p1, p2);
    bool front = area > 0l ? facing > 0.0 : facing < 0.0;
    ivec2 least = min(p0, min(p1, p2)), most = max(p0, max(p1, p2));
    ivec2 sx = raster_span(least.x, most.x, t.width);
    ivec2 sy = raster_span(least.y, most.y, t.height);
    bool drawn = area != 0l && (front || two_sided) && sx.x <= sx.y && sy.x <= sy.y && max(depth.x, max(depth.y, depth.z)) > 0.0;
    if (area < 0l) {
        ivec2 p = p1;
        p1 = p2;
        p2 = p;
        depth = depth.xzy;
    }
    int wide = sx.y - sx.x + 1, high = sy.y - sy.x + 1;
    bool small = drawn && wide * high <= SMALL_PIXELS && most.x - least.x < SMALL_SIDE * SUBPIXEL && most.y - least.y < SMALL_SIDE * SUBPIXEL;

    if (drawn && !small) {
        uint place = atomicAdd(t.counters.c.larges, 1u);
        if (place < t.large_capacity) t.larges.v[place] = large(ivec2[3](p0, p1, p2), depth, slot);
    }

    /* Small ones: 32-bit edge functions relative to p0 suffice. One flat loop: neighbours' rectangles differ in shape more than in size. */
    int pixels = small ? wide * high : 0;
    ivec2 d1 = p1 - p0, d2 = p2 - p0;
    int whole = d1.x * d2.y - d2.x * d1.y;
    float scale = 1.0 / float(whole), back = depth_magnitude(depth) * DEPTH_ERROR;
    float z1 = (depth.y - depth.x) * scale, z2 = (depth.z - depth.x) * scale;
    uint covered = 0u;
    int x = sx.x, y = sy.x;
    for (int i = 0; i < pixels; i++) {
        for (uint s = 0u; s < t.samples; s++) {
            ivec2 r = ivec2(x, y) * SUBPIXEL + sample_offset(t, s) - p0;
            int e1 = r.x * d2.y - d2.x * r.y; /* weight of p1 */
            int e2 = d1.x * r.y - r.x * d1.y; /* weight of p2 */
            if (e1 < 0 || e2 < 0 || e1 + e2 > whole) continue;
            covered++;
            precise float value = depth.x + (float(e1) * z1 + float(e2) * z2) - back;
            raster_sample(t, (uint(y) * t.width + uint(x)) * t.samples + s, value, slot);
        }
        bool end = x == sx.y;
        x = end ? sx.x : x + 1;
        y += end ? 1 : 0;
    }
    raster_count(t, covered);
}
