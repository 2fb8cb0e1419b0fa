#version 460
/* Emit: a draw for each that was picked, in slot order: the matrix from its mesh to clip space, with bounds on its errors.
 *
 * starts[] holds the first chunk of each draw; a work group of the depth passes finds its draw by a binary search in it. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "projection.glsl"
#include "select.glsl"
#define PREFIX_SUMS
#include "prefix.glsl"
layout(local_size_x = GROUP) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint i = global_index();
    uint slot = 0u, verdict = 0u;
    mesh shape;
    object_info about;
    bool box = false;
    uvec4 cost = uvec4(0u), total;
    if (i < counters.c.candidates) {
        slot = uint_ref(frame.f.candidates).v[i];
        verdict = uint_ref(frame.f.verdicts).v[slot];
        if ((verdict & VERDICT_PICKED) != 0u) {
            about = info_ref(frame.f.info).v[slot];
            if (about.mesh != MESH_NONE) shape = mesh_ref(frame.f.meshes).v[about.mesh];
            else shape.mark_triangles = 0u;
            box = select_marks() && select_box(shape.mark_triangles);
            if (box) shape = mesh(frame.f.cube_vertices, frame.f.cube_indices, BOX_TRIANGLES, 0.0, BOX_TRIANGLES, BOX_TRIANGLES);
            else shape.triangles = select_marks() ? shape.mark_triangles : min(shape.triangles, frame.f.draw_limit);
            uint chunks = chunks_of(shape.triangles);
            cost = (verdict & VERDICT_CLIP) != 0u ? uvec4(0u, 0u, 1u, chunks) : uvec4(1u, chunks, 0u, 0u);
        }
    }
    uvec4 at = prefix_sum(cost, total);
    if (cost.x + cost.z == 0u) return;
    at += uvec4_ref(frame.f.blocks).v[group_index()];
    bool clip = cost.z != 0u;
    uint place = clip ? at.z : at.x;
    if (place >= frame.f.draw_capacity) {
        atomicAdd(counters.c.over_budget, 1u);
        if (select_marks()) atomicOr(proxy_ref(frame.f.proxies).v[slot].samples, MARK_BIT);
        return;
    }

    object_bounds b = bounds_ref(frame.f.bounds).v[slot];
    vec3 eye = frame.f.camera.eye_hi;
    vec3 centre = relative_centre(b.centre_hi, b.centre_lo, eye, frame.f.camera.eye_lo);
    vec3 column[3];
    for (int j = 0; j < 3; j++) column[j] = LINEAR_COLUMN(b, j);
    vec3 reach = projection_reach(centre, eye, column[0] * b.row[0].w, column[1] * b.row[1].w, column[2] * b.row[2].w);
    draw d;
    for (int k = 0; k < 4; k++) {
        vec4 m = frame.f.camera.m[k];
        for (int j = 0; j < 3; j++) d.row[k][j] = project_vector(m, box ? column[j] * b.row[j].w : column[j]);
        d.row[k].w = project_point(m, centre);
    }
    /* A mesh may stray from what the client draws by its deviation, in the object's own units: depth steps back by it. */
    float stretch = 0.0;
    for (int j = 0; j < 3; j++) stretch += dot(b.row[j].xyz, b.row[j].xyz);
    float stray = shape.deviation * sqrt(stretch);
    vec4 mz = frame.f.camera.m[2], mw = frame.f.camera.m[3];
    d.error_z = projection_error(mz, reach) + stray * length(mz.xyz);
    d.error_w = projection_error(mw, reach) + stray * length(mw.xyz);
    /* A mark is drawn wider by the object's margin, too. */
    d.wide = float(MARK_WIDE) + float(b.flags >> 16) * float(SUBPIXEL / 16);
    d.stray = stray * vec3(length(frame.f.camera.m[0].xyz), length(frame.f.camera.m[1].xyz), length(mw.xyz));
    d.local = box ? vec3(0.0) : about.local;
    d.slot = slot;
    d.vertices = shape.vertices;
    d.indices = shape.indices;
    d.triangles = shape.triangles;
    d.flags = box ? b.flags | DRAW_BOX | OBJECT_SECTION_EXEMPT : b.flags;
    draw_ref draws = draw_ref(clip ? frame.f.clip_draws : frame.f.fast_draws);
    uint_ref starts = uint_ref(clip ? frame.f.clip_starts : frame.f.fast_starts);
    draws.v[place] = d;
    starts.v[place] = clip ? at.w : at.y;
}
