/* Shared by the passes that choose what is drawn: who may be, what it costs, in which bucket it is. push.argument: SELECT_… */

bool select_marks() { return (push.argument & SELECT_WHICH) == SELECT_MARKS; }

/* Whether a candidate may be drawn as an occluder. */
bool select_occludes(uint verdict)
{
    bool asked = true;
    uint which = push.argument & SELECT_WHICH;
    if (which == SELECT_HISTORY) asked = (verdict & VERDICT_HISTORY) != 0u;
    if (which == SELECT_PASSED) asked = (verdict & (VERDICT_SEEN | VERDICT_DRAWN)) == VERDICT_SEEN;
    if (which == SELECT_SEEN) asked = (verdict & VERDICT_SEEN) != 0u;
    return asked && (verdict & VERDICT_OCCLUDES) != 0u;
}

/* Whether a candidate is marked as its box, and not as its mesh. marked: the triangles that stand for the mesh. */
bool select_box(uint marked) { return (push.argument & SELECT_BOXES) != 0u || marked == 0u; }

/* Whether marks may decide about what passed the pyramid; else it is listed, as pinned objects are, or never, as those that only occlude. A mesh
 * is clipped by the near plane and by sections as the client clips it; but where cuts are shown filled, what fills them is no mesh. A box
 * is never clipped, for then its back faces, which lie behind the object's own surface, would stand for it. */
bool select_markable(uint verdict, uint marked, bool caps)
{
    bool passed = (verdict & (VERDICT_SEEN | VERDICT_UNLISTED)) == VERDICT_SEEN && ((verdict & VERDICT_FORCED) == 0u || (verdict & VERDICT_NEAR) != 0u);
    bool cut = (verdict & VERDICT_CUT) != 0u;
    return passed && (select_box(marked) ? !cut && (verdict & VERDICT_NEAR) == 0u : !(cut && caps));
}

/* Whether a candidate may be drawn in this selection, and with how many triangles. left_out: its marks would decide, but they cannot be made: the mesh
 * is too large for a draw, or needs the exact road and the device has none. */
bool select_eligible(uint verdict, uint mesh_slot, mesh_ref meshes, uint draw_limit, bool caps, out uint triangles, out bool left_out)
{
    triangles = 0u;
    left_out = false;
    if (!select_marks()) {
        bool occludes = select_occludes(verdict);
        if (occludes) triangles = min(meshes.v[mesh_slot].triangles, draw_limit);
        return occludes;
    }
    uint marked = 0u;
    if (mesh_slot != MESH_NONE) marked = meshes.v[mesh_slot].mark_triangles;
    if (!select_markable(verdict, marked, caps)) return false;
    triangles = select_box(marked) ? BOX_TRIANGLES : marked;
    left_out = triangles > draw_limit || ((push.argument & SELECT_NO_CLIP) != 0u && (verdict & VERDICT_CLIP) != 0u);
    return !left_out;
}

uint proxy_area(proxy place)
{
    return ((place.high & 0xffffu) - (place.low & 0xffffu) + 1u) * ((place.high >> 16) - (place.low >> 16) + 1u);
}

/* Larger rectangles are in higher buckets, eight an octave, read off the float's own bits. */
uint select_bucket(uint area) { return min(BUCKETS - 1u, (floatBitsToUint(float(area)) >> 20) - (127u << 3)); }

uint chunks_of(uint triangles) { return (triangles + CHUNK - 1u) / CHUNK; }

/* The class of a candidate of the cut bucket, 0 to BUCKETS - 1, the nearest first: what lies in front hides what would have been drawn behind it,
 * where any other choice leaves holes in every layer. Depths are cut up evenly by their bits, so by their ratios. Where all are
 * equally near it falls by lot: by a fixed, well-mixed order of slots, the same in every frame. */
uint select_class(uint slot, float depth, uint near, uint far)
{
    if (near - far < BUCKETS) {
        slot = (slot ^ (slot >> 16)) * 0x7feb352du;
        slot = (slot ^ (slot >> 15)) * 0x846ca68bu;
        return (slot ^ (slot >> 16)) & (BUCKETS - 1u);
    }
    return (near - floatBitsToUint(depth)) / ((near - far) / BUCKETS + 1u);
}
