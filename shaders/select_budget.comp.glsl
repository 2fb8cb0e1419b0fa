#version 460
/* Budget: how far down the buckets the two budgets reach, triangles and rectangle samples, largest rectangles first.
 *
 * Whole buckets are taken while both last. The first that does not fit is the cut: of it the nearest are drawn (SELECT_CUT, after its candidates
 * have been weighed again by class of nearness), whole classes while both budgets last, and nothing below it. So the sums never
 * exceed the budgets, and the choice is the same in every frame. What is left out occludes nothing in this frame, which costs tightness
 * only. Phase 1 may use three quarters, so that what comes newly into view always finds some; marks have as much again for themselves; pictures and counts have no budget. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = BUCKETS) in;

/* The walk is one invocation's, and each of its loads from global memory would wait for the one before: all of them fetch for it. */
shared float bucket_triangles[BUCKETS], bucket_samples[BUCKETS];
shared uint bucket_near[BUCKETS], bucket_far[BUCKETS];

float histogram_take(counters_ref counters, uint h)
{
    float sum = float(counters.c.histogram[h]) + float(counters.c.histogram[h + 1u]) * 4294967296.0;
    counters.c.histogram[h] = 0u;
    counters.c.histogram[h + 1u] = 0u;
    return sum;
}

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    bool within = (push.argument & SELECT_CUT) != 0u, unlimited = (push.argument & SELECT_UNLIMITED) != 0u;
    if (within && counters.c.classes != 0u) return;
    uint own = gl_LocalInvocationIndex;
    bucket_triangles[own] = histogram_take(counters, own * 4u);
    bucket_samples[own] = histogram_take(counters, own * 4u + 2u);
    bucket_near[own] = counters.c.reach[own * 2u];
    bucket_far[own] = ~counters.c.reach[own * 2u + 1u];
    counters.c.reach[own * 2u] = 0u;
    counters.c.reach[own * 2u + 1u] = 0u;
    barrier();
    if (own != 0u) return;
    bool marks = (push.argument & SELECT_WHICH) == SELECT_MARKS;
    float triangles_used = marks && !within ? 0.0 : counters.c.used_triangles, samples_used = marks && !within ? 0.0 : counters.c.used_samples;
    float triangles_left = counters.c.left_triangles, samples_left = counters.c.left_samples;
    if (!within) {
        float share = (push.argument & SELECT_WHICH) == SELECT_HISTORY ? 0.75 : 1.0;
        triangles_left = frame.f.budget_triangles * share - triangles_used;
        samples_left = frame.f.budget_samples * share - samples_used;
    }
    uint cut = BUCKETS, taken = 0u;
    bool open = true;
    for (uint i = 0u; i < BUCKETS && open; i++) {
        uint b = within ? i : BUCKETS - 1u - i; /* classes from the nearest, buckets from the largest */
        float triangles = bucket_triangles[b], samples = bucket_samples[b];
        open = unlimited || (triangles <= triangles_left && samples <= samples_left);
        if (open) {
            triangles_left -= triangles;
            samples_left -= samples;
            triangles_used += triangles;
            samples_used += samples;
            taken = i + 1u;
        } else {
            cut = b;
        }
    }
    counters.c.used_triangles = triangles_used;
    counters.c.used_samples = samples_used;
    if (within) {
        counters.c.classes = taken;
        return;
    }
    /* With no cut all buckets are above it: 0 is the lowest, taken whole. */
    counters.c.cut = open ? 0u : cut;
    counters.c.classes = open ? BUCKETS : 0u;
    counters.c.cut_near = bucket_near[open ? 0u : cut];
    counters.c.cut_far = bucket_far[open ? 0u : cut];
    counters.c.left_triangles = triangles_left;
    counters.c.left_samples = samples_left;
}
