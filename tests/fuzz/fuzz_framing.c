/* link: visd_proto */
/* Any bytes as greetings, frame headers, backtraces and events. */
#include "fuzz.h"

#include <string.h>

#include "proto/codec.h"
#include "proto/sp.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size >= VISD_SP_GREETING_SIZE) {
        uint16_t protocol;
        uint8_t built[VISD_SP_GREETING_SIZE];
        if (visd_sp_greeting_parse(bytes, &protocol) == VISD_ERR_OK) {
            visd_sp_greeting_build(built, protocol);
            FUZZ_CHECK(memcmp(built, bytes, sizeof(built)) == 0);
        }
    }
    for (int i = 0; i < 2; i++) {
        enum visd_sp_wire wire = i ? VISD_SP_TCP : VISD_SP_IPC;
        uint64_t length;
        uint8_t built[VISD_SP_HEADER_MAX];
        if (size >= visd_sp_header_size(wire) && visd_sp_header_parse(wire, bytes, &length) == VISD_ERR_OK) {
            visd_sp_header_build(wire, length, built);
            FUZZ_CHECK(memcmp(built, bytes, visd_sp_header_size(wire)) == 0);
        }
    }
    size_t words, message;
    if (visd_sp_backtrace(bytes, size, &words) == VISD_ERR_OK)
        FUZZ_CHECK(words >= 4 && words <= size && words <= 4 * VISD_SP_BACKTRACE_WORDS && words % 4 == 0 && (bytes[words - 4] & 0x80));
    if (visd_event_split(bytes, size, &message) == VISD_ERR_OK)
        FUZZ_CHECK(message <= size);
    return 0;
}
