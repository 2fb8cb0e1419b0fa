/* Bytes on their way to the device: copied into one of two staging slices at once, and from there by the device, in order.
 *
 * Every write is visible to work submitted after the next flush. The caller's bytes are not needed any more when a
 * call returns. Thread: the worker's. */
#ifndef VISD_CULL_UPLOAD_H
#define VISD_CULL_UPLOAD_H

#include "daemon/gpu/gpu.h"

struct visd_upload;

#define VISD_UPLOAD_SLICE (UINT64_C(8) << 20) /* the most that one reservation may ask for */

enum visd_err visd_upload_create(struct visd_gpu *gpu, struct visd_upload **out);
void visd_upload_destroy(struct visd_upload *upload); /* NULL is fine */

/* Room in staging for bytes (at most a slice) that will go to buffer at offset; to be filled before the next call. */
enum visd_err visd_upload_reserve(struct visd_upload *upload, VkBuffer buffer, uint64_t offset, uint64_t bytes, void **room);
/* Any number of bytes. */
enum visd_err visd_upload_write(struct visd_upload *upload, VkBuffer buffer, uint64_t offset, const void *data, uint64_t bytes);
enum visd_err visd_upload_flush(struct visd_upload *upload);

#endif
