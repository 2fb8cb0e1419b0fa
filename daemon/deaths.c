/* Counting deaths; see deaths.h. */
#include "daemon/deaths.h"

#define MOST 3u
#define MINUTE_NS UINT64_C(60000000000)

bool visd_deaths_add(struct visd_deaths *deaths, uint64_t now_ns)
{
    uint64_t quiet = (now_ns - deaths->last_ns) / MINUTE_NS;
    deaths->count = deaths->count > quiet ? deaths->count - quiet : 0;
    deaths->last_ns = now_ns;
    if (++deaths->count < MOST)
        return false;
    deaths->count = 0;
    return true;
}
