/* The list of limits.h as a table. */
#include "limits.h"

const struct visd_limit_row visd_limit_rows[] = {
#define X(name, NAME, number, text) {#name, text, (number)},
    VISD_LIMIT_MAP(X)
#undef X
};
const size_t visd_limit_count = sizeof(visd_limit_rows) / sizeof(visd_limit_rows[0]);
