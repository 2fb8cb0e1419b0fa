/* The one way into the loop from other threads: they push an item and leave.
 *
 * nng runs its callbacks on threads of its own. Such a callback may do nothing but push the item that belongs to the
 * finished operation; the loop thread then handles all that have come, in order. An item belongs to one operation, and an
 * operation is started again only by the loop, so an item is never pushed twice before it has been handled.
 *
 * visd_inbox_push: any thread. Everything else: loop thread. */
#ifndef VISD_SERVER_INBOX_H
#define VISD_SERVER_INBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <uv.h>

#include "proto/err.h"

struct visd_inbox_item {
    struct visd_inbox_item *next;
    void (*handle)(struct visd_inbox_item *item);
};

struct visd_inbox {
    pthread_mutex_t lock; /* guards first and last */
    struct visd_inbox_item *first, *last;
    uv_async_t async;
    bool open;
};

enum visd_err visd_inbox_init(struct visd_inbox *inbox, uv_loop_t *loop);
void visd_inbox_push(struct visd_inbox *inbox, struct visd_inbox_item *item);
/* No push may come any more. The loop must run once more to let go of the handle before finish. */
void visd_inbox_close(struct visd_inbox *inbox);
void visd_inbox_finish(struct visd_inbox *inbox); /* a zeroed one is fine */

#endif
