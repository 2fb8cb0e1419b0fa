/* What a view holds, in bytes: its share of the host, the segment and the device is paid for by whoever opened it.
 *
 * The device's part is reckoned here, not asked for: the worker gives a view a word a slot of history, a depth buffer and a pyramid. The
 * rules for the two (daemon/segment/image.h) are the worker's own and depend on the cameras' sizes alone. */
#include "daemon/segment/image.h"
#include "state.h"

#define FIRST_SLOTS 1024u

struct image image_after(const struct visd_view *v, const struct visd_camera *camera)
{
    uint64_t samples = (uint64_t)camera->width * camera->height * camera->samples, texels = 0;
    for (uint32_t level = 0; level < visd_image_levels(camera->width, camera->height); level++)
        texels += visd_image_level_texels(camera->width, camera->height, camera->samples, level);
    return (struct image){
        .depth = visd_image_fit(v->image.depth, samples * sizeof(float)),
        .pyramid = visd_image_fit(v->image.pyramid, texels * sizeof(float)),
    };
}

/* What the device must have room for until this camera has been drawn: what is there, and what it will want. */
static uint64_t image_bytes_with(const struct visd_view *v, const struct visd_camera *camera)
{
    struct image now = v->image, then = image_after(v, camera);
    return (now.depth > then.depth ? now.depth : then.depth) + (now.pyramid > then.pyramid ? now.pyramid : then.pyramid);
}

uint64_t list_bytes(const struct visd_view *v, uint32_t want)
{
    uint64_t each = (v->scene && visd_scene_ids32(v->scene) ? 4 : 8) + (want & VISD_WANT_SAMPLES ? 4 : 0);
    uint64_t bytes = v->scene ? (uint64_t)visd_scene_slots(v->scene) * each : 0;
    return bytes + bytes / 8;
}

uint64_t prepass_bytes(const struct visd_camera *camera)
{
    return (uint64_t)camera->width * camera->height * sizeof(float);
}

static size_t request_bytes(const struct request *r)
{
    return r ? sizeof(*r) + r->prepass_bytes + (r->space.bytes ? r->space.bytes : r->room) + (r->answer.added_count + r->answer.removed_count) * 8 : 0;
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
    if (v->scene) { /* also before the worker has opened the view, which it does before the first frame */
        size_t slots = visd_scene_slots(v->scene);
        bytes += (slots + slots / 2 + FIRST_SLOTS) * sizeof(uint32_t); /* history, with its room to grow */
    }
    return bytes;
}

size_t visd_view_bytes(const struct visd_view *v)
{
    return base_bytes(v) + (v->waiting ? image_bytes_with(v, &v->waiting->camera) : v->image.depth + v->image.pyramid);
}

size_t visd_view_bytes_with(const struct visd_view *v, const struct visd_camera *camera, uint32_t want, bool prepass)
{
    uint64_t superseded = v->waiting ? v->waiting->room : 0;
    return base_bytes(v) - superseded + sizeof(struct request) + list_bytes(v, want) + (prepass ? prepass_bytes(camera) : 0) + image_bytes_with(v, camera);
}

uint64_t picture_bytes(const struct visd_view *v, uint32_t what, uint32_t level, uint32_t width, uint32_t height)
{
    if (what == VISD_SNAPSHOT_BOXES)
        return (uint64_t)visd_scene_slots(v->scene) * sizeof(struct visd_snapshot_box);
    uint32_t above = what == VISD_SNAPSHOT_PYRAMID ? level : 0;
    uint64_t texels = (uint64_t)visd_image_side(width, above) * visd_image_side(height, above);
    return texels * (what == VISD_SNAPSHOT_IDS ? sizeof(uint64_t) : sizeof(float));
}

uint64_t visd_view_picture_bytes(const struct visd_view *v, uint32_t what, uint32_t level)
{
    return v->width && !v->gone && level <= PICTURE_MAX_LEVEL ? picture_bytes(v, what, level, v->width, v->height) : 0;
}
