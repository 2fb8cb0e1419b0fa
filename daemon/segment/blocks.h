/* Blocks of the segment: which bytes of its range are in use. Internal to daemon/segment; the loop's thread only.
 *
 * All of the book-keeping is on the loop's heap, none in the shared memory, so nothing that a worker writes can
 * mislead it. Large blocks come from a buddy system over 4 KiB pages (a block lies in a power of two of pages, but only
 * the pages it asked for are backed by memory: the range is sparse). Blocks of 2 KiB and less come from runs of 64 KiB,
 * each cut into one size class with a bit a block. */
#ifndef VISD_SEGMENT_BLOCKS_H
#define VISD_SEGMENT_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define BLOCKS_PAGE 4096u
#define BLOCKS_SMALL 2048u /* largest block of the runs */

struct blocks;

/* range: a power of two, at least 1 MiB; fd: the file that backs it. NULL when memory is short. The first block
 * that is allocated lies at 0. */
struct blocks *blocks_create(int fd, uint64_t range);
void blocks_destroy(struct blocks *blocks);

/* UINT64_MAX when the range is used up or memory is short. */
uint64_t blocks_alloc(struct blocks *blocks, uint64_t bytes);
/* Aborts if there is no block at the offset. */
void blocks_free(struct blocks *blocks, uint64_t offset);
uint64_t blocks_used(const struct blocks *blocks);

#endif
