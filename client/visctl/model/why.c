/* See why.h. Control characters are replaced, since names from files end up in these texts and then on terminals. */
#include "why.h"

#include <stdarg.h>
#include <stdio.h>

enum visd_err visd_why(struct visd_why *why, enum visd_err err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof(why->text), format, args);
    va_end(args);
    for (char *c = why->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    return err;
}

enum visd_err visd_why_memory(struct visd_why *why, const char *what)
{
    return visd_why(why, VISD_ERR_NO_MEMORY, "out of memory for %s; close other programs or load a smaller model", what);
}
