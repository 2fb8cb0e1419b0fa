/* Greetings, headers and the words before a request; see sp.h. */
#include "sp.h"

#include <string.h>

static void put_u64(uint8_t *out, uint64_t v)
{
    for (int i = 7; i >= 0; i--, v >>= 8) out[i] = (uint8_t)v;
}

static uint64_t get_u64(const uint8_t *in)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | in[i];
    return v;
}

void visd_sp_greeting_build(uint8_t out[VISD_SP_GREETING_SIZE], uint16_t protocol)
{
    const uint8_t greeting[VISD_SP_GREETING_SIZE] = {0, 'S', 'P', 0, (uint8_t)(protocol >> 8), (uint8_t)protocol, 0, 0};
    memcpy(out, greeting, sizeof(greeting));
}

enum visd_err visd_sp_greeting_parse(const uint8_t in[VISD_SP_GREETING_SIZE], uint16_t *protocol)
{
    if (memcmp(in, "\0SP\0", 4) != 0 || in[6] || in[7]) return VISD_ERR_BAD_MESSAGE;
    *protocol = (uint16_t)(in[4] << 8 | in[5]);
    return VISD_ERR_OK;
}

size_t visd_sp_header_size(enum visd_sp_wire wire)
{
    return wire == VISD_SP_IPC ? 9 : 8;
}

void visd_sp_header_build(enum visd_sp_wire wire, uint64_t length, uint8_t *out)
{
    if (wire == VISD_SP_IPC) *out++ = 1;
    put_u64(out, length);
}

enum visd_err visd_sp_header_parse(enum visd_sp_wire wire, const uint8_t *in, uint64_t *length)
{
    if (wire == VISD_SP_IPC && *in++ != 1) return VISD_ERR_BAD_MESSAGE;
    *length = get_u64(in);
    return VISD_ERR_OK;
}

enum visd_err visd_sp_backtrace(const void *body, size_t size, size_t *words)
{
    const uint8_t *p = body;
    for (size_t i = 0; i < VISD_SP_BACKTRACE_WORDS && 4 * i + 4 <= size; i++) {
        if (p[4 * i] & 0x80) {
            *words = 4 * i + 4;
            return VISD_ERR_OK;
        }
    }
    return VISD_ERR_BAD_MESSAGE;
}
