/* Answers as they go over the wire. Lists are not copied here: they stay in the segment until the reply is encoded. */
#include "server_internal.h"

static void fill_stats(struct visd_msg_frame_stats *out, const struct visd_frame_stats *in)
{
    out->tested = in->tested;
    out->in_frustum = in->in_frustum;
    out->listed = in->listed;
    out->occluded = in->occluded;
    out->forced = in->forced;
    out->drawn_1 = in->drawn[0];
    out->drawn_2 = in->drawn[1];
    out->over_budget = in->over_budget;
    out->dropped_small = in->dropped_small;
    out->hidden = in->hidden;
    out->triangles_1 = in->triangles[0];
    out->triangles_2 = in->triangles[1];
    out->triangles_in_frustum = in->triangles_in_frustum;
    out->triangles_listed = in->triangles_listed;
    out->samples_all = in->samples_all;
    out->pixels_covered = in->pixels_covered;
    out->frustum_ns = in->pass_ns[VISD_PASS_FRUSTUM];
    out->select_ns = in->pass_ns[VISD_PASS_SELECT];
    out->depth_ns = in->pass_ns[VISD_PASS_DEPTH];
    out->pyramid_ns = in->pass_ns[VISD_PASS_PYRAMID];
    out->test_ns = in->pass_ns[VISD_PASS_TEST];
    out->has_mark_ns = in->pass_ns[VISD_PASS_MARK] != 0;
    out->mark_ns = in->pass_ns[VISD_PASS_MARK];
    out->compact_ns = in->pass_ns[VISD_PASS_COMPACT];
}

static void fill_lists(struct visd_msg_result *out, const struct visd_answer *answer, uint64_t epoch)
{
    if (answer->delta) {
        out->has_base = true;
        out->base = (struct visd_msg_base){.epoch = epoch, .view = out->view, .frame = answer->base_frame};
    }
    struct visd_bin ids = answer->delta ? visd_bin_of(answer->added, answer->added_count) : visd_bin_of(answer->ids, answer->count);
    if (answer->ids32) {
        out->has_ids32 = true;
        out->ids32 = ids;
        if (answer->delta) {
            out->has_removed32 = true;
            out->removed32 = visd_bin_of(answer->removed, answer->removed_count);
        }
    } else {
        out->has_ids64 = true;
        out->ids64 = ids;
        if (answer->delta) {
            out->has_removed64 = true;
            out->removed64 = visd_bin_of(answer->removed, answer->removed_count);
        }
    }
}

void result_fill(const struct visd_server *server, struct visd_msg_result *out, const struct wait_item *item)
{
    const struct visd_answer *answer = &item->answer;
    out->view = item->wire_view;
    out->frame = answer->frame;
    out->epoch = server->epoch;
    out->scene = server->views[item->view].scene;
    out->err = (uint32_t)item->err;
    if (item->err != VISD_ERR_OK) {
        out->has_text = true;
        out->text = visd_str_of(item->text);
        return;
    }
    out->revision = answer->revision;
    out->source_frame = answer->source_frame;
    out->source_revision = answer->source_revision;
    out->method = answer->method;
    out->grade = (uint32_t)answer->grade;
    out->lag = answer->lag;
    out->degraded = answer->degraded;
    if (answer->degraded) {
        out->has_why = true;
        out->why = visd_str_of(answer->why);
    }
    out->all = answer->all;
    out->count = answer->count;
    out->digest = answer->digest;
    if (!answer->all && item->want & VISD_WIRE_WANT_IDS)
        fill_lists(out, answer, server->epoch);
    if (!answer->all && answer->samples) {
        out->has_samples = true;
        out->samples = visd_bin_of(answer->samples, answer->count);
    }
    out->times = (struct visd_msg_times){
        .sent = answer->client_sent_ns, .received = answer->received_ns, .queued = answer->queued_ns,
        .gpu_start = answer->started_ns, .gpu_end = answer->ended_ns, .replied = uv_hrtime(),
    };
    if (item->want & VISD_WIRE_WANT_STATS) {
        out->has_stats = true;
        fill_stats(&out->stats, &answer->stats);
    }
}
