/* A view's state on the device; see history.h. */
#include "history.h"

#include "daemon/segment/image.h"

void visd_history_open(struct visd_history *h) { *h = (struct visd_history){.open = true}; }

void visd_history_close(struct visd_history *h, struct visd_gpu *gpu)
{
    visd_gpu_buffer_retire(gpu, &h->seen);
    visd_gpu_buffer_retire(gpu, &h->depth);
    visd_gpu_buffer_retire(gpu, &h->pyramid);
    *h = (struct visd_history){0};
}

static enum visd_err fit_buffer(struct visd_gpu *gpu, struct visd_gpu_buffer *buffer, uint64_t bytes)
{
    uint64_t fit = visd_image_fit(buffer->bytes, bytes);
    if (fit == buffer->bytes) return VISD_ERR_OK;
    visd_gpu_buffer_retire(gpu, buffer);
    return visd_gpu_buffer_create(gpu, VISD_GPU_DEVICE, fit, buffer);
}

enum visd_err visd_history_fit(struct visd_history *h, struct visd_gpu *gpu, uint32_t slot_capacity, const struct visd_camera *camera)
{
    enum visd_err err = visd_gpu_buffer_grow(gpu, &h->seen, (uint64_t)slot_capacity * sizeof(uint32_t));
    if (err != VISD_ERR_OK) return err;
    if (h->depth.buffer && h->width == camera->width && h->height == camera->height && h->samples == camera->samples) return VISD_ERR_OK;
    uint64_t texels = visd_pyramid_plan(camera->width, camera->height, camera->samples, &h->levels, h->level_offset);
    h->framed = false;
    err = fit_buffer(gpu, &h->depth, (uint64_t)camera->width * camera->height * camera->samples * 4);
    if (err == VISD_ERR_OK) err = fit_buffer(gpu, &h->pyramid, texels * 4);
    if (err != VISD_ERR_OK) {
        h->width = 0;
        return err;
    }
    h->width = camera->width;
    h->height = camera->height;
    h->samples = camera->samples;
    return VISD_ERR_OK;
}
