/* A list under a mutex, and a wake-up for the loop; see inbox.h. */
#include "inbox.h"

static void drain(uv_async_t *async)
{
    struct visd_inbox *inbox = async->data;
    pthread_mutex_lock(&inbox->lock); /* wake-ups coalesce: take all that there is */
    struct visd_inbox_item *item = inbox->first;
    inbox->first = inbox->last = NULL;
    pthread_mutex_unlock(&inbox->lock);
    while (item) {
        struct visd_inbox_item *next = item->next; /* handling may push the item anew, or free it */
        item->handle(item);
        item = next;
    }
}

enum visd_err visd_inbox_init(struct visd_inbox *inbox, uv_loop_t *loop)
{
    if (pthread_mutex_init(&inbox->lock, NULL) != 0)
        return VISD_ERR_NO_MEMORY;
    inbox->first = inbox->last = NULL;
    if (uv_async_init(loop, &inbox->async, drain) != 0) {
        pthread_mutex_destroy(&inbox->lock);
        return VISD_ERR_NO_MEMORY;
    }
    inbox->async.data = inbox;
    inbox->open = true;
    return VISD_ERR_OK;
}

void visd_inbox_push(struct visd_inbox *inbox, struct visd_inbox_item *item)
{
    item->next = NULL;
    pthread_mutex_lock(&inbox->lock);
    if (inbox->last)
        inbox->last->next = item;
    else
        inbox->first = item;
    inbox->last = item;
    pthread_mutex_unlock(&inbox->lock);
    uv_async_send(&inbox->async);
}

void visd_inbox_close(struct visd_inbox *inbox)
{
    if (inbox->open && !uv_is_closing((uv_handle_t *)&inbox->async))
        uv_close((uv_handle_t *)&inbox->async, NULL);
}

void visd_inbox_finish(struct visd_inbox *inbox)
{
    if (inbox->open)
        pthread_mutex_destroy(&inbox->lock);
    inbox->open = false;
}
