/* Timestamps around passes. Ticks are turned into nanoseconds with the device's period, and only their valid bits count, so
 * that a counter that wraps between two stamps still gives the right difference. */
#include "internal.h"

enum visd_err visd_gpu_stamps_create(struct visd_gpu *gpu, uint32_t capacity, struct visd_gpu_stamps *out)
{
    enum visd_err err = VISD_ERR_OK;
    *out = (struct visd_gpu_stamps){.capacity = capacity};
    if (gpu->info.timestamp_ns == 0) return VISD_ERR_OK;
    VkQueryPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = capacity};
    GPU_TRY(vkCreateQueryPool(gpu->device, &create, NULL, &out->pool));
error:
    return err;
}

void visd_gpu_stamps_destroy(struct visd_gpu *gpu, struct visd_gpu_stamps *stamps)
{
    vkDestroyQueryPool(gpu->device, stamps->pool, NULL);
    *stamps = (struct visd_gpu_stamps){0};
}

void visd_gpu_stamps_reset(struct visd_gpu *gpu, VkCommandBuffer commands, struct visd_gpu_stamps *stamps)
{
    (void)gpu;
    stamps->used = 0;
    if (stamps->pool) vkCmdResetQueryPool(commands, stamps->pool, 0, stamps->capacity);
}

void visd_gpu_stamp(struct visd_gpu *gpu, VkCommandBuffer commands, struct visd_gpu_stamps *stamps)
{
    (void)gpu;
    if (!stamps->pool || stamps->used == stamps->capacity) return;
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, stamps->pool, stamps->used++);
}

bool visd_gpu_stamps_read(struct visd_gpu *gpu, const struct visd_gpu_stamps *stamps, uint64_t *between_ns)
{
    uint64_t ticks[64][2];
    if (!stamps->pool || stamps->used < 2 || stamps->used > 64) return false;
    VkResult result = vkGetQueryPoolResults(gpu->device, stamps->pool, 0, stamps->used, sizeof(ticks), ticks, sizeof(ticks[0]),
                                            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    if (result != VK_SUCCESS && result != VK_NOT_READY) return false;
    for (uint32_t i = 0; i + 1 < stamps->used; i++) {
        uint64_t difference = (ticks[i + 1][0] - ticks[i][0]) & gpu->info.timestamp_mask;
        bool backwards = difference > gpu->info.timestamp_mask / 2;
        between_ns[i] = ticks[i][1] && ticks[i + 1][1] && !backwards ? (uint64_t)((double)difference * gpu->info.timestamp_ns) : 0;
    }
    return true;
}
