/* See spread.h. */
#include "spread.h"

#include <stdlib.h>

bool visd_spread_add(struct visd_spread *spread, double value)
{
    if (spread->count == spread->room) {
        size_t room = spread->room ? spread->room * 2 : 64;
        double *values = realloc(spread->values, room * sizeof(*values));
        if (!values) return false;
        spread->values = values;
        spread->room = room;
    }
    spread->values[spread->count++] = value;
    spread->sorted = false;
    return true;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double visd_spread_at(struct visd_spread *spread, double share)
{
    if (!spread->count) return 0;
    if (!spread->sorted) qsort(spread->values, spread->count, sizeof(*spread->values), by_size);
    spread->sorted = true;
    return spread->values[(size_t)(share * (double)(spread->count - 1) + 0.5)];
}

void visd_spread_finish(struct visd_spread *spread)
{
    free(spread->values);
    *spread = (struct visd_spread){0};
}
