/* Shared by the passes that choose occluders: who may be drawn, what it costs, in which bucket it is. */

/* Whether a candidate is eligible in this selection; argument: SELECT_… */
bool select_eligible(uint verdict)
{
    bool asked = true;
    uint which = push.argument & SELECT_WHICH;
    if (which == SELECT_HISTORY) asked = (verdict & VERDICT_HISTORY) != 0u;
    if (which == SELECT_PASSED) asked = (verdict & (VERDICT_SEEN | VERDICT_DRAWN)) == VERDICT_SEEN;
    if (which == SELECT_SEEN) asked = (verdict & VERDICT_SEEN) != 0u;
    return asked && (verdict & VERDICT_OCCLUDES) != 0u;
}

uint proxy_area(proxy place)
{
    return ((place.high & 0xffffu) - (place.low & 0xffffu) + 1u) * ((place.high >> 16) - (place.low >> 16) + 1u);
}

/* Larger rectangles are in higher buckets, eight an octave, read off the float's own bits. */
uint select_bucket(uint area) { return min(BUCKETS - 1u, (floatBitsToUint(float(area)) >> 20) - (127u << 3)); }

uint chunks_of(uint triangles) { return (triangles + CHUNK - 1u) / CHUNK; }

/* A fixed, well-mixed order of slots, so that the lot falls the same way in every frame. The upper half of its 16 bits is the lot's class. */
uint select_hash(uint slot)
{
    slot = (slot ^ (slot >> 16)) * 0x7feb352du;
    slot = (slot ^ (slot >> 15)) * 0x846ca68bu;
    return (slot ^ (slot >> 16)) & 0xffffu;
}
