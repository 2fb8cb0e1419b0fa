/* What the device's rooms share among themselves. Nothing outside daemon/gpu includes it. */
#ifndef VISD_GPU_INTERNAL_H
#define VISD_GPU_INTERNAL_H

#include "gpu.h"

#define GPU_COMMAND_BUFFERS 8 /* recordings that can be in flight */
#define GPU_PUSH_BYTES 128

struct gpu_retired {
    uint64_t value; /* timeline value after which it may go */
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t bytes;
};

struct visd_gpu {
    struct visd_gpu_info info;
    void (*note)(void *context, bool validation, const char *text);
    void *context;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkPipelineLayout layout; /* push constants only; every pipeline's */
    VkPipelineCache cache;
    VkCommandPool pool;
    VkCommandBuffer commands[GPU_COMMAND_BUFFERS];
    uint64_t command_value[GPU_COMMAND_BUFFERS]; /* when each is free again */
    int recording; /* index into commands, or -1 */
    VkSemaphore timeline;
    uint64_t submitted;
    uint64_t reached;
    struct gpu_retired *retired; /* in order of value */
    size_t retired_count, retired_capacity;
    uint64_t bytes;
    bool lost;
};

/* Traces a failed Vulkan call, sets the sticky lost flag on DEVICE_LOST, and names the error for our callers. */
enum visd_err visd_gpu_failed(struct visd_gpu *gpu, const char *call, VkResult result);
void visd_gpu_collect(struct visd_gpu *gpu); /* frees what was retired at or before gpu->reached */

/* Try a Vulkan call: on failure trace it, set err and leave by the error label. */
#define GPU_TRY(call)                                          \
    do {                                                       \
        VkResult result_ = (call);                             \
        if (result_ != VK_SUCCESS) {                           \
            err = visd_gpu_failed(gpu, #call, result_);        \
            goto error;                                        \
        }                                                      \
    } while (0)

#endif
