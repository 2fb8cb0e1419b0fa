/* link: visd_proto */
/* Any bytes as a message. What is accepted must come out of encode again, and be accepted again, with the same bytes from then on. */
#include "fuzz.h"

#include <string.h>

#include "proto/codec.h"
#include "proto/walker.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct visd_arena arena = {0}, again_arena = {0};
    struct visd_message message, again;
    struct visd_refused why;
    struct visd_buf first = {0}, second = {0};
    enum visd_err err = visd_decode(bytes, size, &arena, &message, &why);
    if (err == VISD_ERR_OK) {
        FUZZ_CHECK(visd_encode(&message, &first, &why) == VISD_ERR_OK);
        FUZZ_CHECK(visd_encoded_size(&message) == first.size);
        FUZZ_CHECK(visd_decode(first.at, first.size, &again_arena, &again, &why) == VISD_ERR_OK);
        FUZZ_CHECK(visd_encode(&again, &second, &why) == VISD_ERR_OK);
        FUZZ_CHECK(first.size == second.size && memcmp(first.at, second.at, first.size) == 0);
    } else {
        FUZZ_CHECK(err == VISD_ERR_BAD_MESSAGE || err == VISD_ERR_BAD_VALUE || err == VISD_ERR_TOO_BIG);
        FUZZ_CHECK(why.err == err && why.text[0] && memchr(why.text, 0, sizeof(why.text)));
    }
    visd_buf_finish(&first);
    visd_buf_finish(&second);
    visd_arena_finish(&arena);
    visd_arena_finish(&again_arena);
    return 0;
}
