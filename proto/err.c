/* The list of err.h as a table of names and texts. */
#include "err.h"

#include <stddef.h>

static const struct {
    const char *name, *text;
} rows[] = {
#define X(name, num, wire, text) [num] = {wire, text},
    VISD_ERR_MAP(X)
#undef X
};

const char *visd_err_name(enum visd_err err)
{
    size_t i = (size_t)err;
    return i < sizeof(rows) / sizeof(rows[0]) && rows[i].name ? rows[i].name : "unknown";
}

const char *visd_err_text(enum visd_err err)
{
    size_t i = (size_t)err;
    return i < sizeof(rows) / sizeof(rows[0]) && rows[i].text ? rows[i].text : "unknown";
}
