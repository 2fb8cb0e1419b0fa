/* How often is too often: three deaths of a worker in a minute are, and each quiet minute forgives one. Plain data, any thread. */
#ifndef VISD_DAEMON_DEATHS_H
#define VISD_DAEMON_DEATHS_H

#include <stdbool.h>
#include <stdint.h>

struct visd_deaths { /* zeroed: none */
    uint64_t count, last_ns;
};

/* One more death at this time; true: it is one too many, and counting begins anew. */
bool visd_deaths_add(struct visd_deaths *deaths, uint64_t now_ns);

#endif
