/* See path.h. */
#include "path.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NAME_BYTES 255u
#define ABOVE_BYTES 1000u

/* The length of the UTF-8 sequence at text, which ends with a zero; 0 if it is none. */
static size_t sequence(const unsigned char *text)
{
    size_t n = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    return overlong || outside ? 0 : n;
}

void visd_model_path_join(char out[VISD_MODEL_PATH_BYTES], const char *above, const char *name)
{
    size_t n = strlen(above), used = 0;
    if (n > ABOVE_BYTES) {
        memcpy(out, "\xe2\x80\xa6", 3);
        n = 3;
    } else {
        memcpy(out, above, n);
    }
    if (n) out[n++] = '/';
    while (*name) {
        size_t length = sequence((const unsigned char *)name), kept = length ? length : 3;
        if (used + kept > NAME_BYTES) break;
        used += kept;
        if (*name == '/' || *name == '\\') out[n++] = '\\';
        memcpy(out + n, length ? name : "\xef\xbf\xbd", kept);
        n += kept;
        name += length ? length : 1;
    }
    out[n] = 0;
}
