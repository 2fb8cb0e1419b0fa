/* Pictures of a view: what a frame was decided on, for people.
 *
 * A picture is made by the worker from the view's last frame, in a block of its own size, and encoded from there. Its size is known
 * before that: what could not be sent, or would take more than its user's share, is refused before any work is done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

#define MOST (VISD_MAX_REPLY_BYTES - 4096u) /* of a reply, without what surrounds the picture */

void picture_answered(struct visd_server *server, struct view_slot *slot, struct wait_item *item, const struct visd_answer *answer)
{
    struct visd_message out;
    memset(&out, 0, sizeof(out));
    if (answer->err == VISD_ERR_BAD_VALUE && slot->snapshot_what == VISD_SNAPSHOT_PYRAMID) {
        snprintf(item->text, sizeof(item->text), "snapshot: the view's pyramid has no level %u", slot->snapshot_level);
        refuse_to(server, item->request, item->n, answer->err, item->text);
    } else if (answer->err != VISD_ERR_OK) {
        refuse_to(server, item->request, item->n, answer->err, answer->text);
    } else {
        uint64_t pixels = (uint64_t)answer->width * answer->height;
        bool depth = slot->snapshot_what == VISD_SNAPSHOT_DEPTH || slot->snapshot_what == VISD_SNAPSHOT_PYRAMID;
        out.type = VISD_MSG_IMAGE;
        out.image.width = answer->width;
        out.image.height = answer->height;
        out.image.kind = depth ? VISD_WIRE_PIXELS_F32 : answer->bytes == pixels * 8 ? VISD_WIRE_PIXELS_U64 : VISD_WIRE_PIXELS_U32;
        out.image.frame = slot->last_answered;
        out.image.data = visd_bin_of(answer->data, answer->bytes);
        reply_to(server, item->request, item->n, &out);
    }
    free(item);
}

static enum visd_err take_room(struct visd_server *server, struct view_slot *slot, const struct visd_msg_snapshot *in)
{
    uint64_t picture = visd_view_picture_bytes(slot->view, in->what, in->level);
    uint64_t bytes = visd_view_bytes(slot->view) + (picture <= MOST ? picture : 0); /* a larger one is refused for what it is */
    return visd_charge_set(&slot->bytes, &server->users, slot->client->user, VISD_QUOTA_VIEW_BYTES, bytes);
}

void op_snapshot(struct call *call)
{
    const struct visd_msg_snapshot *in = &call->in->snapshot;
    struct view_slot *slot = call_view(call, in->view);
    char why[200] = "";
    if (!slot)
        return;
    struct wait_item *item = calloc(1, sizeof(*item));
    if (!item) {
        call_refuse(call, VISD_ERR_NO_MEMORY, "snapshot: out of memory");
        return;
    }
    item->kind = WAIT_SNAPSHOT;
    item->n = call->in->n;
    enum visd_err err = take_room(call->server, slot, in);
    if (err != VISD_ERR_OK)
        snprintf(why, sizeof(why), "user_view_mib (%d) is used up by this user's views; make this one smaller, or close one", VISD_MAX_USER_VIEW_MIB);
    else
        err = visd_view_snapshot(slot->view, in->what, in->level, MOST, item, why, sizeof(why));
    if (err != VISD_ERR_OK) {
        free(item);
        view_settle(call->server, slot);
        call_refuse(call, err, "snapshot: %s", *why ? why : visd_err_text(err));
        return;
    }
    slot->snapshot_what = in->what;
    slot->snapshot_level = in->level;
    item->request = call_keep(call); /* outlives its connection, and is then answered to nobody */
    view_collect(call->server, slot);
}
