/* Views: opening, changing, closing; cameras' and methods' defaults and names. */
#include <stdlib.h>

#include "internal.h"

_Static_assert((int)VISD_CULL_AUTO == (int)VISD_WIRE_METHOD_AUTO && (int)VISD_ANSWER_REGION == (int)VISD_WIRE_GRADE_REGION &&
                   (int)VISD_FLAG_DOUBLE_SIDED == (int)VISD_WIRE_FLAG_DOUBLE_SIDED &&
                   (int)VISD_DEPTH_NEG_ONE_TO_ONE == (int)VISD_WIRE_DEPTH_NEG_ONE_TO_ONE &&
                   (int)VISD_Y_DOWN == (int)VISD_WIRE_Y_DOWN && (int)VISD_GET_COVERAGE == (int)VISD_WIRE_WANT_COVERAGE &&
                   (int)VISD_COLUMN_DRAWING == (int)VISD_WIRE_COLUMN_DRAWING &&
                   (int)VISD_SHOW_BOXES == (int)VISD_WIRE_WHAT_BOXES && (int)VISD_PIXELS_U64 == (int)VISD_WIRE_PIXELS_U64 &&
                   (int)VISD_SIDES_TWO == (int)VISD_WIRE_SIDES_DOUBLE,
               "client.h says the wire's numbers");

const char *visd_client_method_name(int method) { return method < 0 ? NULL : visd_wire_method_name((uint32_t)method); }
const char *visd_client_grade_name(int grade) { return grade < 0 ? NULL : visd_wire_grade_name((uint32_t)grade); }

int visd_client_method_number(const char *name)
{
    uint32_t number;
    return visd_wire_method_number(name, strlen(name), &number) ? (int)number : -1;
}

void visd_client_view_options_init(struct visd_client_view_options *o)
{
    *o = (struct visd_client_view_options){.method = VISD_CULL_DEFAULT};
}

void visd_client_camera_init(struct visd_client_camera *camera)
{
    *camera = (struct visd_client_camera){.samples = 1, .layers = UINT32_MAX};
    for (int i = 0; i < 4; i++) camera->view[5 * i] = camera->proj[5 * i] = 1;
}

void visd_client_frame_init(struct visd_client_frame *frame, struct visd_client_view *view)
{
    *frame = (struct visd_client_frame){.view = view, .method = VISD_CULL_DEFAULT};
    visd_client_camera_init(&frame->camera);
}

uint32_t visd_client_view_number(const struct visd_client_view *view) { return view->number; }

/* view_open and view_set have these in common. */
#define POLICY(m, o)                                                    \
    do {                                                                \
        (m).has_method = (o)->method >= 0;                              \
        (m).method = (o)->method >= 0 ? (uint32_t)(o)->method : 0;      \
        (m).has_keep_frames = (o)->keep_frames != 0;                    \
        (m).keep_frames = (o)->keep_frames;                             \
        (m).has_triangle_budget = (o)->triangle_budget != 0;            \
        (m).triangle_budget = (o)->triangle_budget;                     \
        (m).has_sample_budget = (o)->sample_budget != 0;                \
        (m).sample_budget = (o)->sample_budget;                         \
        (m).has_query_budget = (o)->query_budget != 0;                  \
        (m).query_budget = (o)->query_budget;                           \
    } while (0)

enum visd_err visd_client_view_open(struct visd_client *c, uint32_t scene, const struct visd_client_view_options *options,
                                    struct visd_client_view **out)
{
    struct visd_message m = {.type = VISD_MSG_VIEW_OPEN, .has_epoch = true, .epoch = c->epoch};
    struct visd_client_view *view;
    struct reply r;
    enum visd_err err = client_check_epoch(c, c->epoch);
    *out = NULL;
    if (err != VISD_ERR_OK) return err;
    view = calloc(1, sizeof(*view));
    if (!view) return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for a view");
    view->client = c;
    view->epoch = c->epoch;
    view->key = c->next_view_key++;
    m.view_open.scene = scene;
    memcpy(m.view_open.client, c->info.id, sizeof(m.view_open.client));
    m.view_open.key = view->key;
    if (options) {
        POLICY(m.view_open, options);
        m.view_open.has_name = options->name != NULL;
        m.view_open.name = visd_str_of(options->name);
    }
    err = call(c, &m, LINK_RESEND, VISD_MSG_VIEW, &r);
    if (err != VISD_ERR_OK) {
        free(view);
        return err;
    }
    view->number = r.m.view.view;
    view->next_frame = r.m.view.last_frame + 1;
    reply_finish(&r);
    view->next = c->views;
    c->views = view;
    *out = view;
    return VISD_ERR_OK;
}

static enum visd_err call_set(struct visd_client_view *view, struct visd_message *m)
{
    struct reply r;
    enum visd_err err = client_check_epoch(view->client, view->epoch);
    m->type = VISD_MSG_VIEW_SET;
    m->has_epoch = true;
    m->epoch = view->epoch;
    m->view_set.view = view->number;
    if (err == VISD_ERR_OK) err = call(view->client, m, LINK_RESEND, VISD_MSG_OK, &r);
    if (err == VISD_ERR_OK) reply_finish(&r);
    return err;
}

enum visd_err visd_client_view_set(struct visd_client_view *view, const struct visd_client_view_options *options)
{
    struct visd_message m = {0};
    POLICY(m.view_set, options);
    return call_set(view, &m);
}

enum visd_err visd_client_view_override(struct visd_client_view *view, const struct visd_client_overrides *o)
{
    struct visd_message m = {0};
#define IDS(field)                                                     \
    if (o->field) {                                                    \
        m.view_set.has_##field = true;                                 \
        m.view_set.field = visd_bin_of(o->field->ids, o->field->count); \
    }
    IDS(hide)
    IDS(isolate)
    IDS(xray)
    IDS(pin)
    IDS(offset_groups)
#undef IDS
    if (o->offset_groups) {
        m.view_set.has_offsets = true;
        m.view_set.offsets = visd_bin_of(o->offsets, o->offset_groups->count);
    }
    return call_set(view, &m);
}

static void handle_closed(struct visd_client *c, void *owner, enum visd_err err, nng_msg **reply)
{
    (void)c, (void)owner, (void)err, (void)reply;
}

void view_forget(struct visd_client_view *view)
{
    struct visd_client *c = view->client;
    struct visd_client_view **at = &c->views;
    for (struct flight *f = c->flights; f; f = f->next) {
        for (uint32_t i = 0; i < f->count; i++) {
            if (f->frames[i].frame.view != view) continue;
            f->frames[i].frame.view = NULL;
            f->frames[i].closed = true;
            answer_drop(f->frames[i].answer);
            f->frames[i].answer = NULL;
        }
    }
    while (*at != view) at = &(*at)->next;
    *at = view->next;
    list_drop(view->base);
    answer_drop(view->latest);
    free(view);
}

void visd_client_view_close(struct visd_client_view *view)
{
    struct visd_message m = {.type = VISD_MSG_VIEW_CLOSE};
    if (!view) return;
    m.has_epoch = true;
    m.epoch = view->epoch;
    m.view_close.view = view->number;
    if (client_check_epoch(view->client, view->epoch) == VISD_ERR_OK)
        call_start(view->client, &m, LINK_RESEND, handle_closed, view->client, NULL);
    view_forget(view);
}

enum visd_err visd_client_view_latest(struct visd_client_view *view, struct visd_client_result *result, uint64_t *age_ns)
{
    visd_client_dispatch(view->client);
    if (!view->latest) return client_fail(view->client, VISD_ERR_NOT_FOUND, "no result of this view has arrived yet");
    *result = view->latest->result;
    if (age_ns) *age_ns = now_ns() - result->times.sent;
    return VISD_ERR_OK;
}
