/* Shared by every pass: the layout, references to the arrays, the place of an invocation. */
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#define VISD_GLSL
#include "layout.h"

layout(buffer_reference, scalar) readonly buffer frame_ref { frame f; };
layout(buffer_reference, scalar) buffer counters_ref { counters c; };
layout(buffer_reference, scalar) buffer bounds_ref { object_bounds v[]; };
layout(buffer_reference, scalar) buffer info_ref { object_info v[]; };
layout(buffer_reference, scalar) buffer fine_ref { object_fine v[]; };
layout(buffer_reference, scalar) readonly buffer change_ref { change v[]; };
layout(buffer_reference, scalar) readonly buffer mesh_ref { mesh v[]; };
layout(buffer_reference, scalar) buffer proxy_ref { proxy v[]; };
layout(buffer_reference, scalar) buffer draw_ref { draw v[]; };
layout(buffer_reference, scalar) buffer large_ref { large v[]; };
layout(buffer_reference, scalar) buffer tile_ref { tile v[]; };
layout(buffer_reference, scalar) buffer uint_ref { uint v[]; };
layout(buffer_reference, scalar) buffer uvec4_ref { uvec4 v[]; };
layout(buffer_reference, scalar) buffer float_ref { float v[]; };
layout(buffer_reference, scalar) readonly buffer vec3_ref { vec3 v[]; };
layout(buffer_reference, scalar) readonly buffer uvec3_ref { uvec3 v[]; };

/* Invocations a work group of the depth passes (a power of two): a triangle each, or all on one tile. The host chooses, for a software device
 * pays for idle invocations as for busy ones. */
layout(constant_id = 2) const uint CHUNK = 64u;

#ifndef VISD_OWN_PUSH
layout(push_constant, scalar) uniform push_block {
    address frame;
    uint argument; /* what it means is the pass's affair */
    uint max_groups; /* work groups an axis */
} push;

/* Indirect arguments for that many work groups, folded over y as the host folds its dispatches. */
uvec3 indirect_groups(uint groups)
{
    uint x = min(groups, push.max_groups);
    return uvec3(x, x == 0u ? 0u : (groups + x - 1u) / x, 1u);
}
#endif

/* Dispatches wider than one axis allows are folded over y. */
uint group_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }
/* Of passes whose work groups are GROUP wide. */
uint global_index() { return group_index() * GROUP + gl_LocalInvocationIndex; }

/* Adds to a 64-bit sum held as two words, low first. */
#define ADD64(low, high, value) { uint add64_ = (value); uint old64_ = atomicAdd(low, add64_); if (old64_ + add64_ < old64_) atomicAdd(high, 1u); }

/* How many texels of a level a row, or a column, of the image has. */
uint level_size(uint size, uint level) { return (size + (1u << level) - 1u) >> level; }
