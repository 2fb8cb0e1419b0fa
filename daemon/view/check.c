/* The invariants of a view, looked at one by one; for tests and assert. */
#include <stdio.h>
#include <stdlib.h>

#include "state.h"

#define HOLDS(condition) do { if (!(condition)) broken(#condition, __LINE__); } while (0)

static _Noreturn void broken(const char *what, int line)
{
    fprintf(stderr, "visd: view: invariant broken: %s (daemon/view/check.c:%d)\n", what, line);
    abort();
}

bool visd_view_check(const struct visd_view *v)
{
    size_t bytes = 0;
    HOLDS(!v->parked || v->waiting);
    HOLDS(!v->waiting || (v->waiting->serial == 0 && v->waiting->space.block == 0 && !v->waiting->forgotten));
    HOLDS(!v->waiting || (!v->closing && !v->gone));
    HOLDS(!v->open || (v->worker && v->scene));
    HOLDS(v->scene || v->gone);
    HOLDS((v->first == NULL) == (v->tail == NULL));
    HOLDS(!v->tail || v->tail->next == NULL);
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++)
        HOLDS(!v->flight[i] || (v->worker && v->flight[i]->serial && v->flight[i]->space.block));
    HOLDS(!v->picture || !v->picture->serial || v->picture->space.block);
    for (uint32_t i = 0; i < v->keep; i++)
        bytes += v->kept[i].ids ? v->kept[i].count * (v->kept[i].ids32 ? 4 : 8) : 0;
    HOLDS(bytes == v->kept_bytes && bytes <= VISD_VIEW_KEEP_BYTES);
    return true;
}
