/* The allocator behind visd_segment_alloc: buddies for pages, runs with bit maps for small blocks.
 *
 *   page states   0          inside a block, or never used
 *                 FREE|k     first page of a free block of 2^k pages, linked in free list k
 *                 USED|k     first page of a block in use; link[page].next holds the pages backed by memory
 *                 RUN        first page of a run; link[page].next holds the run's index
 *
 * Two free blocks that are each other's buddies never exist: freeing joins them. The tables are as large as the range
 * asks for (9 bytes a page) but are touched only where pages have been used. */
#include "blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define ORDERS 48
#define FREE 0x40u
#define USED 0x80u
#define RUN 0xc0u
#define STATE 0xc0u
#define RUN_ORDER 4 /* 64 KiB */
#define RUN_BYTES ((uint64_t)BLOCKS_PAGE << RUN_ORDER)
#define CLASSES 6   /* 64, 128, 256, 512, 1024, 2048 */

struct link {
    uint32_t next, prev;
};

struct run {
    uint64_t free_bits[RUN_BYTES / 64 / 64];
    uint32_t page;       /* its first */
    uint32_t free_count;
    uint32_t class;
    uint32_t next, prev; /* among the runs of its class with room; next also links unused entries */
};

struct blocks {
    int fd;
    unsigned top;             /* the whole range is one block of this order */
    uint8_t *state;           /* a page */
    struct link *link;        /* a page */
    uint32_t free[ORDERS];    /* heads */
    struct run *runs;
    uint32_t run_count, run_room, run_spare;
    uint32_t roomy[CLASSES];  /* heads */
    uint64_t used;
};

struct blocks *blocks_create(int fd, uint64_t range)
{
    struct blocks *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    uint64_t pages = range / BLOCKS_PAGE;
    b->fd = fd;
    while (((uint64_t)1 << b->top) < pages)
        b->top++;
    b->state = calloc(pages, sizeof(*b->state));
    b->link = calloc(pages, sizeof(*b->link));
    if (!b->state || !b->link) {
        blocks_destroy(b);
        return NULL;
    }
    for (unsigned k = 0; k < ORDERS; k++)
        b->free[k] = NONE;
    for (unsigned c = 0; c < CLASSES; c++)
        b->roomy[c] = NONE;
    b->run_spare = NONE;
    b->state[0] = (uint8_t)(FREE | b->top);
    b->link[0] = (struct link){ NONE, NONE };
    b->free[b->top] = 0;
    return b;
}

void blocks_destroy(struct blocks *b)
{
    if (!b)
        return;
    free(b->state);
    free(b->link);
    free(b->runs);
    free(b);
}

uint64_t blocks_used(const struct blocks *b)
{
    return b->used;
}

/* ---- pages ---- */

static void push_free(struct blocks *b, uint32_t page, unsigned order)
{
    uint32_t head = b->free[order];
    b->state[page] = (uint8_t)(FREE | order);
    b->link[page] = (struct link){ head, NONE };
    if (head != NONE)
        b->link[head].prev = page;
    b->free[order] = page;
}

static void drop_free(struct blocks *b, uint32_t page, unsigned order)
{
    struct link l = b->link[page];
    if (l.prev != NONE)
        b->link[l.prev].next = l.next;
    else
        b->free[order] = l.next;
    if (l.next != NONE)
        b->link[l.next].prev = l.prev;
    b->state[page] = 0;
}

static void give_pages(struct blocks *b, uint32_t page, unsigned order)
{
    b->state[page] = 0;
    while (order < b->top) {
        uint32_t buddy = page ^ ((uint32_t)1 << order);
        if (b->state[buddy] != (FREE | order))
            break;
        drop_free(b, buddy, order);
        if (buddy < page)
            page = buddy;
        order++;
    }
    push_free(b, page, order);
}

static uint32_t take_pages(struct blocks *b, unsigned order)
{
    unsigned k = order;
    while (k <= b->top && b->free[k] == NONE)
        k++;
    if (k > b->top)
        return NONE;
    uint32_t page = b->free[k];
    drop_free(b, page, k);
    while (k > order) { /* the upper halves go back */
        k--;
        push_free(b, page + ((uint32_t)1 << k), k);
    }
    return page;
}

/* Memory is taken here, where it can be refused, and not at the first touch, where it would be a signal. */
static int back_pages(struct blocks *b, uint32_t page, uint64_t pages)
{
    int rc;
    do
        rc = fallocate(b->fd, 0, (off_t)((uint64_t)page * BLOCKS_PAGE), (off_t)(pages * BLOCKS_PAGE));
    while (rc != 0 && errno == EINTR);
    return rc;
}

static void unback_pages(struct blocks *b, uint32_t page, uint64_t pages)
{
    int rc;
    do
        rc = fallocate(b->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)((uint64_t)page * BLOCKS_PAGE),
            (off_t)(pages * BLOCKS_PAGE));
    while (rc != 0 && errno == EINTR);
    /* Where holes cannot be punched the pages stay backed: memory is kept, nothing is wrong. */
}

static uint32_t alloc_pages(struct blocks *b, uint64_t pages)
{
    unsigned order = 0;
    while (((uint64_t)1 << order) < pages)
        if (++order > b->top)
            return NONE;
    uint32_t page = take_pages(b, order);
    if (page == NONE)
        return NONE;
    if (back_pages(b, page, pages) != 0) {
        unback_pages(b, page, pages);
        give_pages(b, page, order);
        return NONE;
    }
    b->state[page] = (uint8_t)(USED | order);
    b->link[page].next = (uint32_t)(pages - 1); /* so that the whole of 2^32 pages can be told */
    return page;
}

static void free_pages(struct blocks *b, uint32_t page, uint64_t pages, unsigned order)
{
    unback_pages(b, page, pages);
    give_pages(b, page, order);
}

/* ---- runs ---- */

static void roomy_push(struct blocks *b, uint32_t r)
{
    struct run *run = &b->runs[r];
    run->prev = NONE;
    run->next = b->roomy[run->class];
    if (run->next != NONE)
        b->runs[run->next].prev = r;
    b->roomy[run->class] = r;
}

static void roomy_drop(struct blocks *b, uint32_t r)
{
    struct run *run = &b->runs[r];
    if (run->prev != NONE)
        b->runs[run->prev].next = run->next;
    else
        b->roomy[run->class] = run->next;
    if (run->next != NONE)
        b->runs[run->next].prev = run->prev;
}

static uint32_t run_create(struct blocks *b, uint32_t class)
{
    uint32_t r = b->run_spare;
    if (r == NONE && b->run_count == b->run_room) {
        uint32_t room = b->run_room ? b->run_room * 2 : 16;
        struct run *runs = realloc(b->runs, room * sizeof(*runs));
        if (!runs)
            return NONE;
        b->runs = runs;
        b->run_room = room;
    }
    uint32_t page = alloc_pages(b, RUN_BYTES / BLOCKS_PAGE);
    if (page == NONE)
        return NONE;
    if (r != NONE)
        b->run_spare = b->runs[r].next;
    else
        r = b->run_count++;
    struct run *run = &b->runs[r];
    memset(run, 0, sizeof(*run));
    run->page = page;
    run->class = class;
    run->free_count = (uint32_t)(RUN_BYTES / (64u << class));
    for (uint32_t i = 0; i < run->free_count; i++)
        run->free_bits[i / 64] |= (uint64_t)1 << (i % 64);
    b->state[page] = RUN;
    b->link[page].next = r;
    roomy_push(b, r);
    return r;
}

static uint64_t alloc_small(struct blocks *b, uint64_t bytes)
{
    uint32_t class = 0;
    while ((64u << class) < bytes)
        class++;
    uint32_t r = b->roomy[class];
    if (r == NONE)
        r = run_create(b, class);
    if (r == NONE)
        return UINT64_MAX;
    struct run *run = &b->runs[r];
    unsigned w = 0;
    while (!run->free_bits[w])
        w++;
    unsigned bit = (unsigned)__builtin_ctzll(run->free_bits[w]);
    run->free_bits[w] &= run->free_bits[w] - 1;
    if (--run->free_count == 0)
        roomy_drop(b, r);
    b->used += 64u << class;
    return (uint64_t)run->page * BLOCKS_PAGE + (uint64_t)(w * 64 + bit) * (64u << class);
}

static _Noreturn void no_block(uint64_t offset)
{
    fprintf(stderr, "visd: segment: freed where no block is: offset %llu\n", (unsigned long long)offset);
    abort();
}

static void free_small(struct blocks *b, uint64_t offset)
{
    uint32_t page = (uint32_t)(offset / RUN_BYTES * (RUN_BYTES / BLOCKS_PAGE));
    if (b->state[page] != RUN)
        no_block(offset);
    uint32_t r = b->link[page].next;
    struct run *run = &b->runs[r];
    uint64_t size = 64u << run->class, at = offset - (uint64_t)page * BLOCKS_PAGE;
    uint64_t i = at / size, bit = (uint64_t)1 << (i % 64);
    if (at % size != 0 || (run->free_bits[i / 64] & bit))
        no_block(offset);
    run->free_bits[i / 64] |= bit;
    b->used -= size;
    if (run->free_count++ == 0)
        roomy_push(b, r);
    /* An empty run goes, unless it is the last with room: then the next block of its class would fetch it again. */
    if (run->free_count * size == RUN_BYTES && (run->prev != NONE || run->next != NONE)) {
        roomy_drop(b, r);
        free_pages(b, page, RUN_BYTES / BLOCKS_PAGE, RUN_ORDER);
        run->next = b->run_spare;
        b->run_spare = r;
    }
}

/* ---- doors ---- */

uint64_t blocks_alloc(struct blocks *b, uint64_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    if (bytes <= BLOCKS_SMALL)
        return alloc_small(b, bytes);
    if (bytes > ((uint64_t)BLOCKS_PAGE << b->top))
        return UINT64_MAX;
    uint64_t pages = (bytes + BLOCKS_PAGE - 1) / BLOCKS_PAGE;
    uint32_t page = alloc_pages(b, pages);
    if (page == NONE)
        return UINT64_MAX;
    b->used += pages * BLOCKS_PAGE;
    return (uint64_t)page * BLOCKS_PAGE;
}

void blocks_free(struct blocks *b, uint64_t offset)
{
    if (offset / BLOCKS_PAGE >> b->top)
        no_block(offset);
    uint32_t page = (uint32_t)(offset / BLOCKS_PAGE);
    uint8_t state = b->state[page];
    if (offset % BLOCKS_PAGE == 0 && (state & STATE) == USED) {
        uint64_t pages = (uint64_t)b->link[page].next + 1;
        b->used -= pages * BLOCKS_PAGE;
        free_pages(b, page, pages, state & ~STATE);
        return;
    }
    free_small(b, offset);
}
