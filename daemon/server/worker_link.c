/* Jobs in, results out, a few jobs ahead; see worker_link.h. */
#include "worker_link.h"

#define AHEAD 24u /* jobs put and unanswered, at most: enough to keep a worker busy */

static void take_results(uv_poll_t *poll, int status, int events)
{
    struct visd_link *link = poll->data;
    struct visd_result result;
    (void)status;
    (void)events;
    while (visd_segment_take_result(link->segment, &result)) {
        link->results++;
        if (link->unanswered)
            link->unanswered--;
        link->moved_ns = uv_hrtime();
        link->source.done(link->source.user, &result);
    }
    visd_link_pump(link);
    link->source.idle(link->source.user);
}

enum visd_err visd_link_init(struct visd_link *link, uv_loop_t *loop, struct visd_segment *segment, const struct visd_link_source *source)
{
    *link = (struct visd_link){.segment = segment, .source = *source};
    if (uv_poll_init(loop, &link->poll, visd_segment_result_fd(segment)) != 0)
        return VISD_ERR_IO;
    link->poll.data = link;
    link->open = true;
    if (uv_poll_start(&link->poll, UV_READABLE, take_results) != 0) {
        visd_link_close(link);
        return VISD_ERR_IO;
    }
    return VISD_ERR_OK;
}

static bool put(struct visd_link *link)
{
    if (visd_segment_put_job(link->segment, &link->held) != VISD_ERR_OK)
        return false; /* full: it goes first when there is room again */
    if (link->unanswered == 0)
        link->moved_ns = uv_hrtime();
    link->unanswered++;
    link->jobs++;
    link->holding = false;
    return true;
}

void visd_link_pump(struct visd_link *link)
{
    if (!link->open || link->pumping)
        return;
    link->pumping = true;
    while (link->unanswered < AHEAD) {
        if (!link->holding) {
            if (!link->source.next(link->source.user, link->serial + 1, &link->held))
                break;
            link->serial++;
            link->holding = true;
        }
        if (!put(link))
            break;
    }
    link->pumping = false;
}

void visd_link_close(struct visd_link *link)
{
    if (!link->open)
        return;
    link->open = false;
    uv_close((uv_handle_t *)&link->poll, NULL);
}
