/* Shared by the passes that choose occluders: who may be drawn, what it costs, in which bucket it is. */

/* Whether a candidate is eligible in this selection; argument: SELECT_… */
bool select_eligible(uint verdict)
{
    bool asked = true;
    if (push.argument == SELECT_HISTORY) asked = (verdict & VERDICT_HISTORY) != 0u;
    if (push.argument == SELECT_PASSED) asked = (verdict & (VERDICT_SEEN | VERDICT_DRAWN)) == VERDICT_SEEN;
    if (push.argument == SELECT_SEEN) asked = (verdict & VERDICT_SEEN) != 0u;
    return asked && (verdict & VERDICT_OCCLUDES) != 0u;
}

uint proxy_area(proxy place)
{
    return ((place.high & 0xffffu) - (place.low & 0xffffu) + 1u) * ((place.high >> 16) - (place.low >> 16) + 1u);
}

/* Larger rectangles are in higher buckets, eight an octave, read off the float's own bits. */
uint select_bucket(uint area) { return min(BUCKETS - 1u, (floatBitsToUint(float(area)) >> 20) - (127u << 3)); }

uint chunks_of(uint triangles) { return (triangles + CHUNK - 1u) / CHUNK; }

/* A fixed, well-mixed order of slots, so that the share taken of the last bucket is the same in every frame. */
uint select_hash(uint slot)
{
    slot = (slot ^ (slot >> 16)) * 0x7feb352du;
    slot = (slot ^ (slot >> 15)) * 0x846ca68bu;
    return (slot ^ (slot >> 16)) & 0xffffu;
}
