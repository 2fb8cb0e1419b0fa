/* Ranks inside a work group of GROUP, at any subgroup width and without subgroup operations.
 *
 * For flags: every invocation sets its bit in GROUP / 32 shared words; after one barrier its rank is the number of set bits below
 * its own. For sums: runs of 16 are added up by one invocation each, and every invocation adds the runs and values before it; two
 * barriers, for they are what costs on a software device. Both keep the order of the invocations. */
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
#define PREFIX_RUN 16u
shared uvec4 prefix_values[GROUP], prefix_runs[GROUP / PREFIX_RUN];

/* The exclusive sum of all invocations before this one; total receives the sum of all. */
uvec4 prefix_sum(uvec4 value, out uvec4 total)
{
    uint i = gl_LocalInvocationIndex, run = i / PREFIX_RUN;
    prefix_values[i] = value;
    barrier();
    if (i < GROUP / PREFIX_RUN) {
        uvec4 sum = uvec4(0u);
        for (uint j = 0u; j < PREFIX_RUN; j++) sum += prefix_values[i * PREFIX_RUN + j];
        prefix_runs[i] = sum;
    }
    barrier();
    uvec4 before = uvec4(0u);
    total = uvec4(0u);
    for (uint r = 0u; r < GROUP / PREFIX_RUN; r++) {
        if (r == run) before = total;
        total += prefix_runs[r];
    }
    for (uint j = run * PREFIX_RUN; j < i; j++) before += prefix_values[j];
    return before;
}
#endif
