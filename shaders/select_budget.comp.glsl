#version 460
/* Budget: how far down the buckets the two budgets reach, triangles and rectangle samples, largest rectangles first.
 *
 * Whole buckets are taken while both last; of the first that does not fit a share is taken by a fixed order of slots, and nothing
 * below it. What is left out occludes nothing in this frame, which costs tightness only. Phase 1 may use three quarters, so that what
 * comes newly into view always finds some; pictures and counts (SELECT_UNLIMITED) have no budget. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = 1) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    float triangles_left = frame.f.budget_triangles, samples_left = frame.f.budget_samples;
    if (push.argument == SELECT_HISTORY) {
        triangles_left *= 0.75;
        samples_left *= 0.75;
    } else {
        triangles_left -= counters.c.used_triangles;
        samples_left -= counters.c.used_samples;
    }
    float triangles_all = triangles_left, samples_all = samples_left;
    uint cut = BUCKETS, fraction = 0u;
    bool open = true;
    for (int b = int(BUCKETS) - 1; b >= 0; b--) {
        uint h = uint(b) * 4u;
        float triangles = float(counters.c.histogram[h]) + float(counters.c.histogram[h + 1u]) * 4294967296.0;
        float samples = float(counters.c.histogram[h + 2u]) + float(counters.c.histogram[h + 3u]) * 4294967296.0;
        if (open && samples > 0.0) {
            cut = uint(b);
            float share = min(1.0, min(triangles_left / max(triangles, 1.0), samples_left / samples));
            if (share < 1.0) share *= 0.96875; /* the share is drawn by lot: a thirty-second in hand keeps the sum within the budget */
            if ((push.argument & SELECT_UNLIMITED) != 0u) share = 1.0;
            fraction = uint(share * 65536.0);
            triangles_left -= triangles * share;
            samples_left -= samples * share;
            open = share == 1.0;
        }
        counters.c.histogram[h] = 0u;
        counters.c.histogram[h + 1u] = 0u;
        counters.c.histogram[h + 2u] = 0u;
        counters.c.histogram[h + 3u] = 0u;
    }
    counters.c.cut = cut;
    counters.c.fraction = fraction;
    counters.c.used_triangles += triangles_all - triangles_left;
    counters.c.used_samples += samples_all - samples_left;
}
