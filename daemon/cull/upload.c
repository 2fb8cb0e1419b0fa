/* Two slices in turn: one is filled while the device may still be reading the other. */
#include "upload.h"

#include <stdlib.h>
#include <string.h>

#define SLICES 2
#define MAX_COPIES 4096

struct copy { VkBuffer buffer; VkBufferCopy region; };

struct visd_upload {
    struct visd_gpu *gpu;
    struct visd_gpu_buffer slice[SLICES];
    uint64_t value[SLICES]; /* when the device is done with the slice */
    int current;
    uint64_t used; /* of the current slice */
    struct copy copies[MAX_COPIES];
    size_t count;
};

enum visd_err visd_upload_create(struct visd_gpu *gpu, struct visd_upload **out)
{
    enum visd_err err = VISD_ERR_OK;
    struct visd_upload *upload = calloc(1, sizeof(*upload));
    if (!upload) return VISD_ERR_NO_MEMORY;
    upload->gpu = gpu;
    for (int i = 0; i < SLICES && err == VISD_ERR_OK; i++) err = visd_gpu_buffer_create(gpu, VISD_GPU_UPLOAD, VISD_UPLOAD_SLICE, &upload->slice[i]);
    if (err != VISD_ERR_OK) {
        visd_upload_destroy(upload);
        return err;
    }
    *out = upload;
    return VISD_ERR_OK;
}

void visd_upload_destroy(struct visd_upload *upload)
{
    if (!upload) return;
    for (int i = 0; i < SLICES; i++) visd_gpu_buffer_destroy(upload->gpu, &upload->slice[i]);
    free(upload);
}

enum visd_err visd_upload_flush(struct visd_upload *upload)
{
    VkCommandBuffer commands;
    if (!upload->count) return VISD_ERR_OK;
    enum visd_err err = visd_gpu_begin(upload->gpu, &commands);
    if (err != VISD_ERR_OK) return err;
    visd_gpu_barrier(upload->gpu, commands);
    for (size_t i = 0; i < upload->count; i++)
        vkCmdCopyBuffer(commands, upload->slice[upload->current].buffer, upload->copies[i].buffer, 1, &upload->copies[i].region);
    visd_gpu_barrier(upload->gpu, commands);
    err = visd_gpu_submit(upload->gpu, &upload->value[upload->current]);
    if (err != VISD_ERR_OK) return err;
    upload->current = (upload->current + 1) % SLICES;
    upload->used = 0;
    upload->count = 0;
    return visd_gpu_wait(upload->gpu, upload->value[upload->current], UINT64_MAX);
}

enum visd_err visd_upload_reserve(struct visd_upload *upload, VkBuffer buffer, uint64_t offset, uint64_t bytes, void **room)
{
    uint64_t rounded = (bytes + 15) / 16 * 16;
    if (bytes > VISD_UPLOAD_SLICE) return VISD_ERR_INTERNAL;
    if (upload->count == MAX_COPIES || upload->used + rounded > VISD_UPLOAD_SLICE) {
        enum visd_err err = visd_upload_flush(upload);
        if (err != VISD_ERR_OK) return err;
    }
    upload->copies[upload->count++] =
        (struct copy){.buffer = buffer, .region = {.srcOffset = upload->used, .dstOffset = offset, .size = bytes}};
    *room = (char *)upload->slice[upload->current].host + upload->used;
    upload->used += rounded;
    return VISD_ERR_OK;
}

enum visd_err visd_upload_write(struct visd_upload *upload, VkBuffer buffer, uint64_t offset, const void *data, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        void *room;
        uint64_t part = bytes - done < VISD_UPLOAD_SLICE ? bytes - done : VISD_UPLOAD_SLICE;
        enum visd_err err = visd_upload_reserve(upload, buffer, offset + done, part, &room);
        if (err != VISD_ERR_OK) return err;
        memcpy(room, (const char *)data + done, part);
        done += part;
    }
    return VISD_ERR_OK;
}
