#version 460
/* Frustum: where does each object stand, and could it be seen at all?
 *
 * The eight corners of the oriented box go to clip space, each with a bound on what float arithmetic may have done to it. An object
 * is out only if all of it that is past the near plane is beyond one side of the view volume by more than that bound, or beyond one section plane; a box
 * that touches the near plane has no rectangle and is listed. All others get a whole-pixel rectangle, widened by the rasteriser's
 * snapping, the bound and the object's margin, and the nearest depth that anything in the box can have. Nothing is divided by w <= 0. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "prefix.glsl"
#include "projection.glsl"
layout(local_size_x = GROUP) in;

shared uint group_tested, group_in, group_hidden, group_small, group_forced;

#define SNAP 0.0625          /* pixels: 2^-subPixelPrecisionBits is at most this on any device */
#define FLOAT_PIXELS 0.00390625 /* beyond this error in pixels, occluder vertices take the exact path */

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint slot = global_index();
    /* All that is uniform is read here: behind a branch each invocation would load it for itself. */
    view_camera camera = frame.f.camera;
    bounds_ref all_bounds = bounds_ref(frame.f.bounds);
    info_ref all_info = info_ref(frame.f.info);
    uint_ref verdicts = uint_ref(frame.f.verdicts), history = uint_ref(frame.f.history);
    proxy_ref proxies = proxy_ref(frame.f.proxies);
    uint slots = frame.f.slots, fresh = frame.f.fresh;
    if (gl_LocalInvocationIndex == 0u) {
        group_tested = 0u;
        group_in = 0u;
        group_hidden = 0u;
        group_small = 0u;
        group_forced = 0u;
    }
    prefix_begin();
    uint verdict = 0u;
    uint count_tested = 0u, count_in = 0u, count_hidden = 0u, count_small = 0u;
    proxy place = proxy(0u, 0u, 0.0, 0u);
    if (slot < slots) {
        object_bounds b = all_bounds.v[slot];
        bool live = (b.flags & OBJECT_LIVE) != 0u;
        bool hidden = live && ((b.flags & OBJECT_HIDDEN) != 0u || (b.layers & camera.layers) == 0u);
        count_tested = live ? 1u : 0u;
        count_hidden = hidden ? 1u : 0u;

        /* Centre and half axes, relative to the eye, and in clip space. */
        vec3 eye = camera.eye_hi;
        vec3 centre = relative_centre(b.centre_hi, b.centre_lo, eye, camera.eye_lo);
        vec3 axis[3];
        for (int j = 0; j < 3; j++) axis[j] = LINEAR_COLUMN(b, j) * b.row[j].w;
        vec3 reach = projection_reach(centre, eye, axis[0], axis[1], axis[2]);
        vec4 a[3], c, e;
        for (int k = 0; k < 4; k++) {
            vec4 m = camera.m[k];
            c[k] = project_point(m, centre);
            for (int j = 0; j < 3; j++) a[j][k] = project_vector(m, axis[j]);
            e[k] = projection_error(m, reach);
        }

        float width = float(camera.width), height = float(camera.height);
        float margin = float(b.flags >> 16) * 0.0625;
        vec2 wide = 2.0 * (margin + SNAP) / vec2(width, height); /* in normalised device coordinates */
        bool left = true, right = true, top = true, bottom = true, before = true, beyond = true;
        bool touches = false;
        vec2 least = vec2(3.0e38), most = vec2(-3.0e38);
        float nearest = 0.0, error_pixels = 0.0;
        for (int i = 0; i < 8; i++) {
            vec3 side = vec3(i & 1, i >> 1 & 1, i >> 2) * 2.0 - 1.0;
            vec4 p = c + side.x * a[0] + side.y * a[1] + side.z * a[2];
            float w = max(p.w, 0.0);
            left = left && p.x + e.x + p.w + e.w + w * wide.x < 0.0;
            right = right && p.x - e.x - p.w - e.w - w * wide.x > 0.0;
            top = top && p.y + e.y + p.w + e.w + w * wide.y < 0.0;
            bottom = bottom && p.y - e.y - p.w - e.w - w * wide.y > 0.0;
            before = before && p.z - e.z > p.w + e.w;
            beyond = beyond && p.z + e.z < 0.0;
            touches = touches || p.z + e.z >= p.w - e.w || p.w <= 2.0 * e.w;
            float safe = max(p.w, 1.0e-37);
            vec2 q = p.xy / safe;
            vec2 slip = (e.xy + abs(q) * e.w) / max(p.w - e.w, 1.0e-37);
            error_pixels = max(error_pixels, max(slip.x * width, slip.y * height) * 0.5);
            least = min(least, q - slip);
            most = max(most, q + slip);
            nearest = max(nearest, (p.z + e.z) / max(p.w - e.w, 1.0e-37));
        }
        bool inside = !(left || right || top || bottom || before || beyond);
        /* Of a box across the near plane, what is past the plane may still be beyond a side. No point of it is past the plane and not beyond
         * exactly if some weight k >= 0 makes side + k * near negative at every corner: each corner bounds k from one end. */
        if (inside && touches) {
            vec4 from = vec4(0.0), to = vec4(3.0e38);
            for (int i = 0; i < 8; i++) {
                vec3 side = vec3(i & 1, i >> 1 & 1, i >> 2) * 2.0 - 1.0;
                vec4 p = c + side.x * a[0] + side.y * a[1] + side.z * a[2];
                vec4 sides = vec4(p.x, -p.x, p.y, -p.y) + (e.xxyy + p.w + e.w + max(p.w, 0.0) * wide.xxyy);
                float past = p.w + e.w - (p.z - e.z);
                if (past < 0.0) from = max(from, sides / -past);
                else to = min(to, -sides / max(past, 1.0e-37));
            }
            inside = !any(lessThan(from * 1.00001, to));
        }

        /* Section planes: cut away if the whole box is on the far side of one. */
        bool cut = false;
        if ((b.flags & OBJECT_SECTION_EXEMPT) == 0u) {
            for (uint i = 0u; i < camera.planes; i++) {
                vec4 plane = frame.f.camera.plane[i];
                float distance = dot(plane.xyz, centre) + plane.w;
                float radius = abs(dot(plane.xyz, axis[0])) + abs(dot(plane.xyz, axis[1])) + abs(dot(plane.xyz, axis[2]));
                float error = PROJECTION_ERROR * (dot(abs(plane.xyz), reach) + abs(plane.w));
                inside = inside && distance + radius + error >= 0.0;
                cut = cut || distance - radius - error < 0.0;
            }
        }

        vec2 size = (most - least) * 0.5 * vec2(width, height);
        bool unbounded = (b.flags & OBJECT_UNBOUNDED) != 0u;
        touches = touches || unbounded;
        bool small = inside && !touches && camera.min_pixels > 0.0 && max(size.x, size.y) < camera.min_pixels;
        bool shown = live && !hidden && (unbounded || (inside && !small));
        bool pinned = live && !hidden && (b.flags & OBJECT_PINNED) != 0u;
        count_small = live && !hidden && !unbounded && small ? 1u : 0u;
        count_in = shown ? 1u : 0u;

        if (shown || pinned) {
            verdict = VERDICT_CANDIDATE;
            if (touches || pinned) verdict |= pinned || unbounded ? VERDICT_FORCED : VERDICT_FORCED | VERDICT_NEAR;
            if (cut) verdict |= VERDICT_CUT;
            if ((b.flags & OBJECT_OCCLUDER_ONLY) != 0u) verdict |= VERDICT_UNLISTED;
            object_info about = all_info.v[slot];
            if (shown && about.mesh != MESH_NONE && (b.flags & OBJECT_NO_OCCLUDER) == 0u) verdict |= VERDICT_OCCLUDES;
            if (fresh == 0u && history.v[slot] == about.generation) verdict |= VERDICT_HISTORY;

            /* Whole pixels. With one sample a pixel those whose centre is in the rectangle, if there are any. */
            vec2 limit = vec2(width, height) - 1.0;
            vec2 low = (least * 0.5 + 0.5) * vec2(width, height) - (margin + SNAP);
            vec2 high = (most * 0.5 + 0.5) * vec2(width, height) + (margin + SNAP);
            vec2 first = floor(low), last = floor(high);
            vec2 first_centre = ceil(low - 0.5), last_centre = floor(high - 0.5);
            if (camera.samples == 1u) {
                if (first_centre.x <= last_centre.x) { first.x = first_centre.x; last.x = last_centre.x; }
                if (first_centre.y <= last_centre.y) { first.y = first_centre.y; last.y = last_centre.y; }
            }
            if (touches) {
                first = vec2(0.0);
                last = limit;
                nearest = 1.0;
            }
            bool float_serves = !touches && !cut && error_pixels <= FLOAT_PIXELS && low.x > -GUARD_PIXELS && low.y > -GUARD_PIXELS &&
                                high.x < width + GUARD_PIXELS && high.y < height + GUARD_PIXELS;
            if (!float_serves) verdict |= VERDICT_CLIP;
            uvec2 from = uvec2(clamp(first, vec2(0.0), limit)), to = uvec2(clamp(last, vec2(0.0), limit));
            place = proxy(from.x | from.y << 16, to.x | to.y << 16, nearest, 0u);
            proxies.v[slot] = place;
        }
        verdicts.v[slot] = verdict;
    }
    prefix_set((verdict & VERDICT_CANDIDATE) != 0u);
    atomicAdd(group_tested, count_tested);
    atomicAdd(group_in, count_in);
    atomicAdd(group_hidden, count_hidden);
    atomicAdd(group_small, count_small);
    atomicAdd(group_forced, (verdict & (VERDICT_FORCED | VERDICT_UNLISTED)) == VERDICT_FORCED ? 1u : 0u);
    barrier();
    if (gl_LocalInvocationIndex == 0u && group_index() * GROUP < slots) {
        counters_ref counters = counters_ref(frame.f.counters);
        uvec4_ref(frame.f.blocks).v[group_index()] = uvec4(prefix_total(), 0u, 0u, 0u);
        atomicAdd(counters.c.tested, group_tested);
        atomicAdd(counters.c.in_frustum, group_in);
        atomicAdd(counters.c.hidden, group_hidden);
        atomicAdd(counters.c.small_objects, group_small);
        atomicAdd(counters.c.forced, group_forced);
    }
}
