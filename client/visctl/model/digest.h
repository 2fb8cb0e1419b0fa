/* A digest of bytes in their order, for files that must be whole: chance damage is seen, forgery is not. Pure, any thread. */
#ifndef VISD_VISCTL_MODEL_DIGEST_H
#define VISD_VISCTL_MODEL_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct visd_byte_digest { /* zeroed: of nothing */
    uint64_t sum;
    unsigned char held[8]; /* bytes that do not fill a word yet */
    size_t count;          /* of all bytes so far */
};

/* Bytes may come in pieces of any size. */
void visd_byte_digest_add(struct visd_byte_digest *digest, const void *bytes, size_t size);
uint64_t visd_byte_digest_end(const struct visd_byte_digest *digest);

#endif
