/* See digest.h: words of eight bytes are mixed into the sum one after the other, the last one filled up with zeros, then the length. */
#include "digest.h"

#include <string.h>

#include "proto/codec.h"

static void mix(struct visd_byte_digest *digest, const unsigned char *word)
{
    uint64_t value;
    memcpy(&value, word, sizeof(value));
    digest->sum = visd_digest_of(digest->sum ^ value);
}

void visd_byte_digest_add(struct visd_byte_digest *digest, const void *bytes, size_t size)
{
    const unsigned char *at = bytes, *end = at + size;
    while (at < end) {
        size_t held = digest->count % 8;
        if (held == 0 && end - at >= 8) {
            mix(digest, at);
            digest->count += 8;
            at += 8;
            continue;
        }
        digest->held[held] = *at++;
        digest->count++;
        if (held == 7) mix(digest, digest->held);
    }
}

uint64_t visd_byte_digest_end(const struct visd_byte_digest *digest)
{
    struct visd_byte_digest last = *digest;
    size_t held = last.count % 8;
    if (held) {
        memset(last.held + held, 0, 8 - held);
        mix(&last, last.held);
    }
    return visd_digest_of(last.sum ^ last.count);
}
