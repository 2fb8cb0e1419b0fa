/* Answers in: checked, made whole, and copied to where they are aligned.
 *
 * A delta is applied to the list that its frame named as base. If base, count or digest do not fit, the frame is sent once
 * more without a base, and the ticket waits on: the program never sees a list that is not proved. */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

struct answer *answer_hold(struct answer *answer)
{
    if (answer) answer->holders++;
    return answer;
}

void answer_drop(struct answer *answer)
{
    if (!answer || --answer->holders) return;
    list_drop(answer->list);
    visd_arena_finish(&answer->memory);
    free(answer);
}

static const char *text_of(struct answer *a, bool there, struct visd_str text)
{
    char *at;
    if (!there) return "";
    at = visd_arena_take(&a->memory, text.size + 1, 1);
    if (at) memcpy(at, text.at, text.size);
    return at ? at : "";
}

/* A column of ids, as u64; NULL and 0 when there is none. false: no memory. */
static bool ids_of(struct answer *a, bool has32, const struct visd_bin *ids32, bool has64, const struct visd_bin *ids64,
                   const uint64_t **out, size_t *count)
{
    size_t n = has64 ? ids64->rows : has32 ? ids32->rows : 0;
    uint64_t *at = n ? visd_arena_take(&a->memory, n, sizeof(*at)) : NULL;
    *out = at;
    *count = n;
    if (n && !at) return false;
    for (size_t i = 0; i < n; i++) at[i] = has64 ? visd_bin_u64(ids64, i) : visd_bin_u32(ids32, i);
    return true;
}

static bool words_of(struct answer *a, const struct visd_bin *bin, size_t columns, const uint32_t **out)
{
    uint32_t *at = visd_arena_take(&a->memory, bin->rows * columns + 1, sizeof(*at));
    *out = at;
    if (at && bin->rows) memcpy(at, bin->at, bin->rows * columns * sizeof(*at));
    return at != NULL;
}

static void fill_counts(const struct visd_msg_frame_stats *s, struct visd_client_counts *out)
{
    *out = (struct visd_client_counts){s->tested, s->in_frustum, s->listed, s->occluded, s->forced, s->drawn_1, s->drawn_2, s->over_budget, s->dropped_small,
        s->hidden, s->triangles_1, s->triangles_2, s->triangles_in_frustum, s->triangles_listed, s->samples_all, s->pixels_covered,
        s->frustum_ns, s->select_ns, s->depth_ns, s->pyramid_ns, s->test_ns, s->has_mark_ns ? s->mark_ns : 0, s->compact_ns};
}

/* What is not a list. */
static bool fill(struct answer *a, const struct flight_frame *f, const struct visd_msg_result *r, uint64_t arrived)
{
    struct visd_client_result *out = &a->result;
    out->err = r->err <= VISD_ERR_INTERNAL ? (enum visd_err)r->err : VISD_ERR_INTERNAL;
    out->text = r->has_text ? text_of(a, true, r->text) : r->err ? visd_err_text(out->err) : "";
    out->view = f->frame.view;
    out->tag = f->frame.tag;
    out->frame = r->frame;
    out->epoch = r->epoch;
    out->revision = r->revision;
    out->source_frame = r->source_frame;
    out->source_revision = r->source_revision;
    out->scene = r->scene;
    out->method = (int)r->method;
    out->grade = (int)r->grade;
    out->lag = r->lag;
    out->degraded = r->degraded;
    out->why = text_of(a, r->has_why, r->why);
    out->all = r->all;
    out->digest = r->digest;
    out->times =
        (struct visd_client_times){f->sent,          arrived,         r->times.received, r->times.queued, r->times.gpu_start,
                                   r->times.gpu_end, r->times.replied};
    out->has_counts = r->has_stats;
    if (r->has_stats) fill_counts(&r->stats, &out->counts);
    if (r->has_draws || r->has_draws_plain) {
        out->draw_words = r->has_draws ? 5 : 4;
        if (!words_of(a, r->has_draws ? &r->draws : &r->draws_plain, out->draw_words, &out->draws)) return false;
    }
    return !r->has_samples || words_of(a, &r->samples, 1, &out->samples);
}

/* BAD_MESSAGE: the list is not right; another try without a base may be. */
static enum visd_err fill_list(struct answer *a, const struct flight_frame *f, const struct visd_msg_result *r)
{
    struct visd_client_result *out = &a->result;
    bool wants_ids = !f->frame.want || (f->frame.want & VISD_GET_IDS);
    enum visd_err err;
    if (out->err != VISD_ERR_OK || r->all || !wants_ids) return VISD_ERR_OK;
    if (r->has_base) {
        if (!f->base || r->base.epoch != f->base->epoch || r->base.frame != f->base->frame || r->base.view != r->view)
            return VISD_ERR_BAD_MESSAGE;
        err = list_from_delta(f->base, r, &a->list);
        out->delta = true;
        if (err == VISD_ERR_OK &&
            (!ids_of(a, r->has_ids32, &r->ids32, r->has_ids64, &r->ids64, &out->added, &out->added_count) ||
             !ids_of(a, r->has_removed32, &r->removed32, r->has_removed64, &r->removed64, &out->removed, &out->removed_count) ||
             !ids_of(a, r->has_changed32, &r->changed32, r->has_changed64, &r->changed64, &out->changed, &out->changed_count)))
            err = VISD_ERR_NO_MEMORY;
    } else {
        err = list_from_result(r, &a->list);
    }
    if (err != VISD_ERR_OK) return err;
    out->count = a->list->count;
    out->ids = a->list->ids;
    return VISD_ERR_OK;
}

static bool newer(const struct visd_client_view *view, const struct visd_msg_result *r)
{
    return !view->latest || r->frame > view->latest->result.frame;
}

/* One result. BAD_MESSAGE: ask again. */
static enum visd_err take(struct flight_frame *f, const struct visd_msg_result *r, uint64_t arrived)
{
    struct visd_client_view *view = f->frame.view;
    struct answer *a;
    enum visd_err err;
    if (r->view != view->number || r->frame != f->number) return VISD_ERR_BAD_MESSAGE;
    a = calloc(1, sizeof(*a));
    if (!a) return VISD_ERR_NO_MEMORY;
    a->holders = 1;
    err = fill(a, f, r, arrived) ? fill_list(a, f, r) : VISD_ERR_NO_MEMORY;
    if (err != VISD_ERR_OK) {
        answer_drop(a);
        return err;
    }
    f->answer = a;
    if (a->result.err == VISD_ERR_OK && newer(view, r)) {
        answer_drop(view->latest);
        view->latest = answer_hold(a);
        if (a->list) {
            list_drop(view->base);
            view->base = list_hold(a->list);
        }
    }
    return VISD_ERR_OK;
}

static void finish(struct flight *flight, enum visd_err err)
{
    flight->complete = true;
    flight->err = err;
    if (err != VISD_ERR_OK) snprintf(flight->text, sizeof(flight->text), "%s", flight->client->failure.text);
    if (!flight->wanted) flight_free(flight);
}

/* Answers come in the order of the frames that were asked for: those without an answer yet, the closed ones included if they
 * were open then. */
static void take_all(struct flight *flight, const struct visd_msg_results *results)
{
    struct visd_client *c = flight->client;
    uint64_t arrived = now_ns();
    bool again = false;
    enum visd_err err;
    for (uint32_t i = 0; i < flight->count; i++) {
        struct flight_frame *f = &flight->frames[i];
        const struct visd_msg_result *r = NULL;
        if (f->answer || f->closed) continue;
        for (uint32_t j = 0; j < results->results_count && !r; j++)
            if (results->results[j].view == f->frame.view->number) r = &results->results[j];
        err = r ? take(f, r, arrived) : VISD_ERR_BAD_MESSAGE;
        if (err == VISD_ERR_BAD_MESSAGE && r && !flight->again) {
            again = true;
            list_drop(f->base);
            f->base = NULL;
        } else if (err == VISD_ERR_BAD_MESSAGE) {
            finish(flight, client_fail(c, err, "the daemon's list of view %u does not agree with its own digest", f->frame.view->number));
            return;
        } else if (err != VISD_ERR_OK) {
            finish(flight, client_fail(c, err, "no memory for a result"));
            return;
        }
    }
    if (!again) {
        finish(flight, VISD_ERR_OK);
        return;
    }
    flight->again = true;
    err = flight_send(flight);
    if (err != VISD_ERR_OK) finish(flight, err);
}

void flight_handle(struct visd_client *c, void *owner, enum visd_err err, nng_msg **msg)
{
    struct flight *flight = owner;
    struct reply r;
    flight->exchange = NULL;
    if (err == VISD_ERR_OK) err = reply_read(c, *msg, VISD_MSG_RESULTS, &r);
    if (err != VISD_ERR_OK) {
        finish(flight, err);
        return;
    }
    *msg = NULL;
    take_all(flight, &r.m.results);
    reply_finish(&r);
}
