/* Shared by the two roads of the depth passes: which triangle of which draw an invocation has. A work group is a chunk of one draw. */

/* The draw that a chunk belongs to: the last whose start is not past it. */
uint draw_of_chunk(uint_ref starts, uint draws, uint chunk)
{
    uint low = 0u, high = draws;
    while (high - low > 1u) {
        uint middle = (low + high) >> 1;
        if (starts.v[middle] <= chunk) low = middle;
        else high = middle;
    }
    return low;
}

struct work {
    draw d;
    uvec3 index; /* of the triangle's vertices */
    bool two_sided;
    float facing; /* +1 or -1: the sign of area of a front face; 0: neither is known to be one */
};

/* False: this invocation has none. What is uniform is loaded before that is known, so that it stays uniform. */
bool draw_work(frame_ref frame, uint_ref starts, draw_ref draws, uint count, uint chunks, out work w)
{
    uint chunk = min(group_index(), chunks - 1u), place = draw_of_chunk(starts, count, chunk);
    float orientation = frame.f.camera.orientation;
    w.d = draws.v[place];
    uint triangle = (chunk - starts.v[place]) * CHUNK + gl_LocalInvocationIndex;
    if (triangle >= w.d.triangles || group_index() >= chunks) return false;
    uvec3 index = uvec3_ref(w.d.indices).v[triangle];
    w.index = uvec3(index.x & INDEX_MASK, index.yz);
    /* Where the sides are not known, back faces hide nothing, and do count as seen. */
    bool both = MODE == RASTER_MARK ? (w.d.flags & OBJECT_SINGLE_SIDED) == 0u : (w.d.flags & OBJECT_DOUBLE_SIDED) != 0u;
    w.two_sided = (index.x & INDEX_DOUBLE) != 0u || ((index.x & INDEX_UNKNOWN) != 0u && both);
    w.facing = (w.d.flags & OBJECT_FLATTENED) != 0u ? 0.0 : (w.d.flags & OBJECT_MIRRORED) != 0u ? -orientation : orientation;
    return true;
}
