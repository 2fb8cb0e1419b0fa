/* Recording, submitting, waiting: a ring of command buffers and one timeline. */
#include "internal.h"

bool visd_gpu_reached(struct visd_gpu *gpu, uint64_t value)
{
    uint64_t now = gpu->reached;
    if (!gpu->lost) {
        VkResult result = vkGetSemaphoreCounterValue(gpu->device, gpu->timeline, &now);
        if (result != VK_SUCCESS)
            visd_gpu_failed(gpu, "vkGetSemaphoreCounterValue", result);
        else
            gpu->reached = now;
        visd_gpu_collect(gpu);
    }
    return gpu->reached >= value;
}

enum visd_err visd_gpu_wait(struct visd_gpu *gpu, uint64_t value, uint64_t timeout_ns)
{
    if (gpu->lost) return VISD_ERR_DEVICE_LOST;
    if (gpu->reached >= value) return VISD_ERR_OK;
    VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &gpu->timeline, .pValues = &value};
    VkResult result = vkWaitSemaphores(gpu->device, &wait, timeout_ns);
    if (result == VK_TIMEOUT) return VISD_ERR_TIMEOUT;
    if (result != VK_SUCCESS) return visd_gpu_failed(gpu, "vkWaitSemaphores", result);
    visd_gpu_reached(gpu, value);
    return gpu->lost ? VISD_ERR_DEVICE_LOST : VISD_ERR_OK; /* a wait may also end well because the device is lost */
}

#define SETTLE_LOST_NS 1000000000u

/* A wait on a lost device ends (Vulkan promises it), but work that was given before the loss may still be on its way out of the driver. */
void visd_gpu_settle(struct visd_gpu *gpu)
{
    if (!gpu->timeline) return;
    VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, .semaphoreCount = 1, .pSemaphores = &gpu->timeline, .pValues = &gpu->submitted};
    vkWaitSemaphores(gpu->device, &wait, gpu->lost ? SETTLE_LOST_NS : UINT64_MAX);
}

enum visd_err visd_gpu_begin(struct visd_gpu *gpu, VkCommandBuffer *out)
{
    enum visd_err err = VISD_ERR_OK;
    if (gpu->lost) return VISD_ERR_DEVICE_LOST;
    int slot = (int)(gpu->submitted % GPU_COMMAND_BUFFERS);
    err = visd_gpu_wait(gpu, gpu->command_value[slot], UINT64_MAX);
    if (err != VISD_ERR_OK) return err;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    GPU_TRY(vkBeginCommandBuffer(gpu->commands[slot], &begin));
    gpu->recording = slot;
    *out = gpu->commands[slot];
error:
    return err;
}

enum visd_err visd_gpu_submit(struct visd_gpu *gpu, uint64_t *value)
{
    enum visd_err err = VISD_ERR_OK;
    int slot = gpu->recording;
    gpu->recording = -1;
    GPU_TRY(vkEndCommandBuffer(gpu->commands[slot]));
    VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = gpu->commands[slot]};
    VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                    .semaphore = gpu->timeline,
                                    .value = gpu->submitted + 1,
                                    .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                            .commandBufferInfoCount = 1,
                            .pCommandBufferInfos = &buffer,
                            .signalSemaphoreInfoCount = 1,
                            .pSignalSemaphoreInfos = &signal};
    GPU_TRY(vkQueueSubmit2(gpu->queue, 1, &submit, VK_NULL_HANDLE));
    gpu->submitted++;
    gpu->command_value[slot] = gpu->submitted;
    if (value) *value = gpu->submitted;
error:
    return err;
}

void visd_gpu_abandon(struct visd_gpu *gpu)
{
    if (gpu->recording < 0) return;
    vkEndCommandBuffer(gpu->commands[gpu->recording]);
    gpu->recording = -1;
}

uint64_t visd_gpu_submitted(const struct visd_gpu *gpu) { return gpu->submitted; }

void visd_gpu_barrier(struct visd_gpu *gpu, VkCommandBuffer commands)
{
    (void)gpu;
    VkMemoryBarrier2 memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT |
                        VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |
                         VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_2_HOST_READ_BIT};
    VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &memory};
    vkCmdPipelineBarrier2(commands, &dependency);
}

static void bind(struct visd_gpu *gpu, VkCommandBuffer commands, const struct visd_gpu_pipeline *pipeline, const void *push, uint32_t push_bytes)
{
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
    vkCmdPushConstants(commands, gpu->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes, push);
}

void visd_gpu_dispatch(struct visd_gpu *gpu, VkCommandBuffer commands, const struct visd_gpu_pipeline *pipeline, const void *push,
                       uint32_t push_bytes, uint64_t groups)
{
    if (!groups) return;
    uint64_t x = groups < gpu->info.max_groups ? groups : gpu->info.max_groups;
    bind(gpu, commands, pipeline, push, push_bytes);
    vkCmdDispatch(commands, (uint32_t)x, (uint32_t)((groups + x - 1) / x), 1);
}

void visd_gpu_dispatch_indirect(struct visd_gpu *gpu, VkCommandBuffer commands, const struct visd_gpu_pipeline *pipeline, const void *push,
                                uint32_t push_bytes, const struct visd_gpu_buffer *arguments, uint64_t offset)
{
    bind(gpu, commands, pipeline, push, push_bytes);
    vkCmdDispatchIndirect(commands, arguments->buffer, offset);
}
