/* Names in pieces; see names.h. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define PIECE ((size_t)1 << 20)
#define LENGTH_BITS 16

void names_finish(struct names *n)
{
    for (size_t i = 0; i < n->pieces; i++)
        free(n->piece[i]);
    free(n->piece);
    memset(n, 0, sizeof(*n));
}

bool names_put(struct names *n, const char *bytes, uint32_t length, uint64_t *ref)
{
    *ref = NAME_NONE;
    if (length == 0)
        return true;
    if (n->pieces == 0 || n->fill + length > PIECE) { /* a name lies in one piece */
        char *piece = grow(&n->piece, &n->room, n->pieces + 1, sizeof(*n->piece)) ? malloc(PIECE) : NULL;
        if (!piece)
            return false;
        n->piece[n->pieces++] = piece;
        n->fill = 0;
    }
    memcpy(n->piece[n->pieces - 1] + n->fill, bytes, length);
    *ref = ((uint64_t)(n->pieces - 1) * PIECE + n->fill) << LENGTH_BITS | length;
    n->fill += length;
    n->live += length;
    return true;
}

void names_drop(struct names *n, uint64_t ref)
{
    uint32_t length = ref & ((1u << LENGTH_BITS) - 1);
    n->live -= length;
    n->dead += length;
}

const char *names_get(const struct names *n, uint64_t ref, uint32_t *length)
{
    uint64_t at = ref >> LENGTH_BITS;
    *length = ref & ((1u << LENGTH_BITS) - 1);
    return *length ? n->piece[at / PIECE] + at % PIECE : "";
}

bool names_wasteful(const struct names *n)
{
    return n->dead > PIECE && n->dead > n->live;
}

size_t names_bytes(const struct names *n)
{
    return n->pieces * PIECE + n->room * sizeof(*n->piece);
}

bool names_are_utf8(const char *bytes, uint64_t n)
{
    const unsigned char *s = (const unsigned char *)bytes;
    for (uint64_t i = 0; i < n;) {
        unsigned char c = s[i];
        unsigned more = c == 0 ? 4 : c < 0x80 ? 0 : c >= 0xc2 && c <= 0xdf ? 1 : (c & 0xf0) == 0xe0 ? 2 : c >= 0xf0 && c <= 0xf4 ? 3 : 4;
        if (more == 4 || more > n - i - 1)
            return false;
        for (unsigned k = 1; k <= more; k++)
            if ((s[i + k] & 0xc0) != 0x80)
                return false;
        if ((c == 0xe0 && s[i + 1] < 0xa0) || (c == 0xed && s[i + 1] > 0x9f) || (c == 0xf0 && s[i + 1] < 0x90) || (c == 0xf4 && s[i + 1] > 0x8f))
            return false;
        i += more + 1;
    }
    return true;
}
