/* The clock that loop and worker share: all times in jobs, results and answers are of it. Any thread. */
#ifndef VISD_SEGMENT_CLOCK_H
#define VISD_SEGMENT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t visd_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
