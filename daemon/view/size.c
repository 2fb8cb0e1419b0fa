/* What a view holds, in bytes: its share of the host, the segment and the device is paid for by whoever opened it.
 *
 * The device's part is reckoned here, not asked for: the worker gives a view a word a slot of history, a depth buffer and a pyramid, by
 * rules (cull/history.c, cull/pyramid.c) that depend on the camera's size alone. The sums here are never below the worker's. */
#include "state.h"

#define PYRAMID_LEVELS 15 /* of the largest picture, down to one texel */
#define FIRST_SLOTS 1024u

static uint64_t level_texels(uint32_t width, uint32_t height, uint32_t level)
{
    uint64_t w = (width + (1u << level) - 1) >> level, h = (height + (1u << level) - 1) >> level;
    return w * h;
}

static uint64_t image_bytes(const struct visd_camera *camera)
{
    uint64_t texels = (uint64_t)camera->width * camera->height * camera->samples;
    for (uint32_t level = camera->samples > 1 ? 0 : 1; level < PYRAMID_LEVELS; level++)
        texels += level_texels(camera->width, camera->height, level);
    return texels * sizeof(float);
}

uint64_t image_bytes_after(const struct visd_view *v, const struct visd_camera *camera)
{
    uint64_t need = image_bytes(camera);
    return v->image_bytes >= need && v->image_bytes <= need * 4 ? v->image_bytes : need; /* shrunk only when much too large */
}

uint64_t list_bytes(const struct visd_view *v)
{
    uint64_t bytes = v->scene ? (uint64_t)visd_scene_slots(v->scene) * (visd_scene_ids32(v->scene) ? 4 : 8) : 0;
    return bytes + bytes / 8;
}

static size_t request_bytes(const struct request *r)
{
    return r ? sizeof(*r) + (r->space.bytes ? r->space.bytes : r->room) + (r->answer.added_count + r->answer.removed_count) * 8 : 0;
}

/* All but depth and pyramid. */
static size_t base_bytes(const struct visd_view *v)
{
    size_t bytes = sizeof(*v) + history_bytes(v) + request_bytes(v->waiting) + request_bytes(v->picture);
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++)
        bytes += request_bytes(v->flight[i]);
    for (const struct request *r = v->first; r; r = r->next)
        bytes += request_bytes(r);
    for (int i = 0; i < SPARES; i++)
        bytes += v->spare[i].bytes;
    if (v->open) {
        size_t slots = visd_scene_slots(v->scene);
        bytes += (slots + slots / 2 + FIRST_SLOTS) * sizeof(uint32_t); /* history, with its room to grow */
    }
    return bytes;
}

size_t visd_view_bytes(const struct visd_view *v)
{
    uint64_t image = v->image_bytes, waiting = v->waiting ? image_bytes_after(v, &v->waiting->camera) : 0;
    return base_bytes(v) + (image > waiting ? image : waiting);
}

size_t visd_view_bytes_with(const struct visd_view *v, const struct visd_camera *camera)
{
    uint64_t image = v->image_bytes, after = image_bytes_after(v, camera), superseded = v->waiting ? v->waiting->room : 0;
    return base_bytes(v) - superseded + sizeof(struct request) + list_bytes(v) + (image > after ? image : after);
}

uint64_t picture_bytes(const struct visd_view *v, uint32_t what, uint32_t level, uint32_t width, uint32_t height)
{
    if (what == VISD_SNAPSHOT_BOXES)
        return (uint64_t)visd_scene_slots(v->scene) * sizeof(struct visd_snapshot_box);
    uint64_t texels = level_texels(width, height, what == VISD_SNAPSHOT_PYRAMID ? level : 0);
    return texels * (what == VISD_SNAPSHOT_IDS ? sizeof(uint64_t) : sizeof(float));
}

uint64_t visd_view_picture_bytes(const struct visd_view *v, uint32_t what, uint32_t level)
{
    return v->width && !v->gone && level < PYRAMID_LEVELS ? picture_bytes(v, what, level, v->width, v->height) : 0;
}
