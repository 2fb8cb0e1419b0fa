/* Ranks inside a work group of GROUP, at any subgroup width and without subgroup operations.
 *
 * For flags: every invocation sets its bit in GROUP / 32 shared words; after one barrier its rank is the number of set bits below
 * its own. For sums: a plain doubling scan. Both keep the order of the invocations. */
shared uint prefix_words[GROUP / 32u];

void prefix_begin()
{
    if (gl_LocalInvocationIndex < GROUP / 32u) prefix_words[gl_LocalInvocationIndex] = 0u;
    barrier();
}

void prefix_set(bool flag)
{
    uint i = gl_LocalInvocationIndex;
    if (flag) atomicOr(prefix_words[i >> 5], 1u << (i & 31u));
    barrier();
}

uint prefix_rank()
{
    uint i = gl_LocalInvocationIndex, rank = bitCount(prefix_words[i >> 5] & ((1u << (i & 31u)) - 1u));
    for (uint w = 0u; w < (i >> 5); w++) rank += bitCount(prefix_words[w]);
    return rank;
}

uint prefix_total()
{
    uint total = 0u;
    for (uint w = 0u; w < GROUP / 32u; w++) total += bitCount(prefix_words[w]);
    return total;
}

#ifdef PREFIX_SUMS
shared uvec4 prefix_sums[GROUP];

/* The exclusive sum of all invocations before this one; total receives the sum of all. */
uvec4 prefix_sum(uvec4 value, out uvec4 total)
{
    uint i = gl_LocalInvocationIndex;
    prefix_sums[i] = value;
    barrier();
    for (uint step = 1u; step < GROUP; step <<= 1) {
        uvec4 before = i >= step ? prefix_sums[i - step] : uvec4(0u);
        barrier();
        prefix_sums[i] += before;
        barrier();
    }
    total = prefix_sums[GROUP - 1u];
    return prefix_sums[i] - value;
}
#endif
