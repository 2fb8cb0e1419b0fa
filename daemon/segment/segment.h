/* The shared segment: the only place where loop and worker meet.
 *
 * One sparse memfd, mapped once over a large reserved range by each side, so that it grows without moving: offsets
 * stay good and nothing is ever remapped. In it: a ring of jobs (loop to worker), a ring of results (worker to loop) and
 * blocks of memory. Two eventfds wake the sides. The same segment serves a worker thread and a worker process.
 *
 * Ownership and threads: the loop creates, allocates, frees and destroys. The worker attaches, reads blocks that jobs name,
 * and writes only where a job says. Each ring has one producer and one consumer. */
#ifndef VISD_SEGMENT_SEGMENT_H
#define VISD_SEGMENT_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"
#include "proto/err.h"
#include "record.h"

#define VISD_SEGMENT_MAX_SCENES 256
#define VISD_SEGMENT_MAX_VIEWS 1024
#define VISD_SEGMENT_RING 1024 /* jobs, and results, that fit in their rings */

struct visd_segment; /* one side's handle */

/* Loop: makes a segment; reserve is the address range in bytes that it can ever grow to (0: 64 GiB). Fails with NO_MEMORY or IO. */
enum visd_err visd_segment_create(struct visd_segment **out, size_t reserve);
/* Either side: unmaps and closes. NULL is fine. */
void visd_segment_destroy(struct visd_segment *segment);

/* Worker thread: a second handle over the same memory, independent of the creator's handle until both are destroyed. */
enum visd_err visd_segment_attach(struct visd_segment **out, const struct visd_segment *segment);

/* The bytes at an offset. A pointer is good for as long as the block is. */
void *visd_segment_at(const struct visd_segment *segment, uint64_t offset);

/* Loop: a block of at least bytes, aligned to 4096 if larger than 2048, else to 64; zeroed or not as it comes. *out is 0 on failure
 * (NO_MEMORY: the range is used up or memory is short). Freed pages of large blocks go back to the system. */
enum visd_err visd_segment_alloc(struct visd_segment *segment, size_t bytes, uint64_t *out);
void visd_segment_free(struct visd_segment *segment, uint64_t offset);
size_t visd_segment_used(const struct visd_segment *segment); /* bytes in allocated blocks */

/* Loop: put a job (BUSY when the ring is full; the caller keeps it and tries again after a result); take a result. */
enum visd_err visd_segment_put_job(struct visd_segment *segment, const struct visd_job *job);
bool visd_segment_take_result(struct visd_segment *segment, struct visd_result *out);
int visd_segment_result_fd(const struct visd_segment *segment); /* readable when results may be waiting; take_result until false */
/* Loop, while no worker is attached: forgets all jobs and results, as after a worker's death. Blocks stay. */
void visd_segment_reset(struct visd_segment *segment);

/* Worker: take a job; wait up to timeout_ns for one (-1: for ever; 0: poll); put a result (never full: the loop keeps at most VISD_SEGMENT_RING jobs
 * unanswered, put_job enforces it). */
bool visd_segment_take_job(struct visd_segment *segment, struct visd_job *out);
bool visd_segment_wait_job(struct visd_segment *segment, int64_t timeout_ns);
void visd_segment_put_result(struct visd_segment *segment, const struct visd_result *result);

#endif
