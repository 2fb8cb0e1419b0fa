/* The segment's mapping, rings and bells; its allocator is blocks.c.
 *
 *   offset 0   struct head: two rings, each a head (consumer's) and a tail (producer's) on cache lines of their own
 *   then       blocks
 *
 * A ring is the usual one of one producer and one consumer: the producer writes the entry, then raises tail with
 * release; the consumer reads tail with acquire, reads the entry, then raises head with release. Indices run on
 * freely and wrap with the ring's size, a power of two. After each put the producer writes to the ring's eventfd; who
 * finds the ring empty clears the eventfd and looks once more before it believes it, so no wake-up is lost.
 *
 * A worker thread shares the creator's mapping (counted), so that a sanitizer sees both sides at the same addresses. */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "blocks.h"
#include "clock.h"

#define RESERVE_DEFAULT ((size_t)64 << 30)
#define RESERVE_MIN ((size_t)4 << 20)
#define RESERVE_MAX ((size_t)1 << 43)
#define NS_PER_S 1000000000ll

_Static_assert((VISD_SEGMENT_RING & (VISD_SEGMENT_RING - 1)) == 0, "indices wrap with the ring");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "the rings are shared between processes");

struct ring {
    _Alignas(64) _Atomic uint32_t head;
    _Alignas(64) _Atomic uint32_t tail;
};

struct head {
    struct ring jobs, results;
    _Alignas(64) struct visd_job job[VISD_SEGMENT_RING];
    _Alignas(64) struct visd_result result[VISD_SEGMENT_RING];
};

struct mapping {
    atomic_uint handles;
    int fd, job_bell, result_bell;
    unsigned char *base;
    size_t size;
};

struct visd_segment {
    struct mapping *map;
    struct blocks *blocks;  /* the creator's handle only */
    uint32_t unanswered;    /* likewise: jobs put whose result has not been taken; at most VISD_SEGMENT_RING */
};

static struct head *head_of(const struct visd_segment *s)
{
    return (struct head *)(void *)s->map->base;
}

static void mapping_release(struct mapping *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->handles, 1, memory_order_acq_rel) != 1)
        return;
    if (m->base)
        munmap(m->base, m->size);
    if (m->fd >= 0)
        close(m->fd);
    if (m->job_bell >= 0)
        close(m->job_bell);
    if (m->result_bell >= 0)
        close(m->result_bell);
    free(m);
}

static enum visd_err mapping_create(struct mapping **out, size_t size)
{
    enum visd_err err = VISD_ERR_IO;
    void *base;
    struct mapping *m = calloc(1, sizeof(*m));
    if (!m)
        return VISD_ERR_NO_MEMORY;
    atomic_init(&m->handles, 1);
    m->size = size;
    m->fd = m->job_bell = m->result_bell = -1;
    m->fd = memfd_create("visd-segment", MFD_CLOEXEC);
    m->job_bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m->result_bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m->fd < 0 || m->job_bell < 0 || m->result_bell < 0 || ftruncate(m->fd, (off_t)size) != 0)
        goto error;
    base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m->fd, 0);
    if (base == MAP_FAILED) {
        err = VISD_ERR_NO_MEMORY;
        goto error;
    }
    m->base = base;
    *out = m;
    return VISD_ERR_OK;
error:
    mapping_release(m);
    return err;
}

enum visd_err visd_segment_create(struct visd_segment **out, size_t reserve)
{
    enum visd_err err;
    size_t size = RESERVE_MIN;
    if (reserve == 0)
        reserve = RESERVE_DEFAULT;
    if (reserve > RESERVE_MAX)
        return VISD_ERR_NO_MEMORY;
    while (size < reserve)
        size *= 2;
    struct visd_segment *s = calloc(1, sizeof(*s));
    if (!s)
        return VISD_ERR_NO_MEMORY;
    err = mapping_create(&s->map, size);
    if (err != VISD_ERR_OK)
        goto error;
    err = VISD_ERR_NO_MEMORY;
    s->blocks = blocks_create(s->map->fd, size);
    if (!s->blocks || blocks_alloc(s->blocks, sizeof(struct head)) != 0)
        goto error;
    *out = s;
    return VISD_ERR_OK;
error:
    visd_segment_destroy(s);
    return err;
}

void visd_segment_destroy(struct visd_segment *s)
{
    if (!s)
        return;
    blocks_destroy(s->blocks);
    mapping_release(s->map);
    free(s);
}

enum visd_err visd_segment_attach(struct visd_segment **out, const struct visd_segment *segment)
{
    struct visd_segment *s = calloc(1, sizeof(*s));
    if (!s)
        return VISD_ERR_NO_MEMORY;
    s->map = segment->map;
    atomic_fetch_add_explicit(&s->map->handles, 1, memory_order_relaxed);
    *out = s;
    return VISD_ERR_OK;
}

void *visd_segment_at(const struct visd_segment *s, uint64_t offset)
{
    return offset != 0 && offset < s->map->size ? s->map->base + offset : NULL;
}

enum visd_err visd_segment_alloc(struct visd_segment *s, size_t bytes, uint64_t *out)
{
    uint64_t offset = blocks_alloc(s->blocks, bytes);
    *out = offset == UINT64_MAX ? 0 : offset;
    return offset == UINT64_MAX ? VISD_ERR_NO_MEMORY : VISD_ERR_OK;
}

void visd_segment_free(struct visd_segment *s, uint64_t offset)
{
    if (offset != 0)
        blocks_free(s->blocks, offset);
}

size_t visd_segment_used(const struct visd_segment *s)
{
    return blocks_used(s->blocks) - (sizeof(struct head) + BLOCKS_PAGE - 1) / BLOCKS_PAGE * BLOCKS_PAGE;
}

/* ---- bells ---- */

static void ring_bell(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    /* EAGAIN: the counter is full, so it is readable, which is all that is wanted. */
}

static void clear_bell(int fd)
{
    uint64_t count;
    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

/* ---- rings ---- */

/* The producer's place for the next entry, or NULL when the ring is full. */
static bool put_place(struct ring *r, uint32_t *place)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&r->head, memory_order_acquire) >= VISD_SEGMENT_RING)
        return false;
    *place = tail;
    return true;
}

static bool take_place(struct ring *r, uint32_t *place)
{
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    uint32_t count = atomic_load_explicit(&r->tail, memory_order_acquire) - head;
    if (count == 0 || count > VISD_SEGMENT_RING) /* more than it can hold: the other side has gone mad, believe nothing */
        return false;
    *place = head;
    return true;
}

enum visd_err visd_segment_put_job(struct visd_segment *s, const struct visd_job *job)
{
    struct head *h = head_of(s);
    uint32_t place;
    bool answered = job->kind != VISD_JOB_STOP;
    if ((answered && s->unanswered >= VISD_SEGMENT_RING) || !put_place(&h->jobs, &place))
        return VISD_ERR_BUSY;
    h->job[place % VISD_SEGMENT_RING] = *job;
    atomic_store_explicit(&h->jobs.tail, place + 1, memory_order_release);
    s->unanswered += answered;
    ring_bell(s->map->job_bell);
    return VISD_ERR_OK;
}

bool visd_segment_take_result(struct visd_segment *s, struct visd_result *out)
{
    struct head *h = head_of(s);
    uint32_t place;
    if (!take_place(&h->results, &place)) {
        clear_bell(s->map->result_bell);
        if (!take_place(&h->results, &place))
            return false;
    }
    *out = h->result[place % VISD_SEGMENT_RING];
    atomic_store_explicit(&h->results.head, place + 1, memory_order_release);
    if (s->unanswered > 0)
        s->unanswered--;
    return true;
}

int visd_segment_result_fd(const struct visd_segment *s)
{
    return s->map->result_bell;
}

bool visd_segment_take_job(struct visd_segment *s, struct visd_job *out)
{
    struct head *h = head_of(s);
    uint32_t place;
    if (!take_place(&h->jobs, &place))
        return false;
    *out = h->job[place % VISD_SEGMENT_RING];
    atomic_store_explicit(&h->jobs.head, place + 1, memory_order_release);
    return true;
}

bool visd_segment_wait_job(struct visd_segment *s, int64_t timeout_ns)
{
    struct head *h = head_of(s);
    struct pollfd bell = { .fd = s->map->job_bell, .events = POLLIN };
    int64_t end = timeout_ns > 0 ? (int64_t)visd_now_ns() + timeout_ns : 0;
    uint32_t place;
    for (;;) {
        if (take_place(&h->jobs, &place))
            return true;
        clear_bell(s->map->job_bell);
        if (take_place(&h->jobs, &place))
            return true;
        if (timeout_ns == 0)
            return false;
        struct timespec left = { 0 };
        if (timeout_ns > 0) {
            int64_t ns = end - (int64_t)visd_now_ns();
            if (ns <= 0)
                return false;
            left = (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
        }
        if (ppoll(&bell, 1, timeout_ns > 0 ? &left : NULL, NULL) < 0 && errno != EINTR)
            return false;
    }
}

void visd_segment_put_result(struct visd_segment *s, const struct visd_result *result)
{
    struct head *h = head_of(s);
    uint32_t place;
    if (!put_place(&h->results, &place))
        abort(); /* put_job keeps fewer jobs unanswered than this ring holds */
    h->result[place % VISD_SEGMENT_RING] = *result;
    atomic_store_explicit(&h->results.tail, place + 1, memory_order_release);
    ring_bell(s->map->result_bell);
}

void visd_segment_reset(struct visd_segment *s)
{
    struct head *h = head_of(s);
    atomic_store_explicit(&h->jobs.head, 0, memory_order_relaxed);
    atomic_store_explicit(&h->jobs.tail, 0, memory_order_relaxed);
    atomic_store_explicit(&h->results.head, 0, memory_order_relaxed);
    atomic_store_explicit(&h->results.tail, 0, memory_order_release);
    clear_bell(s->map->job_bell);
    clear_bell(s->map->result_bell);
    s->unanswered = 0;
}
