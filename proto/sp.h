/* The framing of nng's scalability protocols (SP) on ipc and tcp streams: bytes in, numbers out. No I/O, no memory.
 *
 *   greeting   00 53 50 00 | protocol u16 | 00 00         both sides, once; the dialer speaks first
 *   frame      ipc: 01 | length u64 | body                tcp, tls: length u64 | body
 *   request    u32 words up to and with the first whose top bit is set (at most 16) | message
 *   reply      the same words | message
 *   event      topic bytes | message
 *
 * All numbers are big-endian. The words of a request are echoed byte for byte. Safe from any thread. */
#ifndef VISD_PROTO_SP_H
#define VISD_PROTO_SP_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

#define VISD_SP_GREETING_SIZE 8u
#define VISD_SP_HEADER_MAX 9u
#define VISD_SP_BACKTRACE_WORDS 16u

enum visd_sp_protocol {
    VISD_SP_PUB = 0x20,
    VISD_SP_SUB = 0x21,
    VISD_SP_REQ = 0x30,
    VISD_SP_REP = 0x31,
};

enum visd_sp_wire { VISD_SP_IPC, VISD_SP_TCP }; /* tls as tcp */

void visd_sp_greeting_build(uint8_t out[VISD_SP_GREETING_SIZE], uint16_t protocol);
/* BAD_MESSAGE: not SP. Any protocol number is let through; which are served is the door's affair. */
enum visd_err visd_sp_greeting_parse(const uint8_t in[VISD_SP_GREETING_SIZE], uint16_t *protocol);

size_t visd_sp_header_size(enum visd_sp_wire wire); /* 9 or 8 */
void visd_sp_header_build(enum visd_sp_wire wire, uint64_t length, uint8_t *out);
/* in: header_size bytes. BAD_MESSAGE: an ipc frame that does not begin with 01. The length is what the peer says: compare
 * it with a limit before memory is taken. */
enum visd_err visd_sp_header_parse(enum visd_sp_wire wire, const uint8_t *in, uint64_t *length);

/* How many bytes of a request's body are backtrace words. BAD_MESSAGE: it ends, or sixteen words pass, without a last word. */
enum visd_err visd_sp_backtrace(const void *body, size_t size, size_t *words);

#endif
