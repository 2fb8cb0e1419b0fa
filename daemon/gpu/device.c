/* Finding and opening a device.
 *
 * A device will do if it has Vulkan 1.3, a queue that computes, and the features in the table below. "auto" takes a
 * discrete GPU, else an integrated one, else a virtual one, else the CPU device. Every refusal says which device lacks what. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum visd_err visd_gpu_failed(struct visd_gpu *gpu, const char *call, VkResult result)
{
    char text[400];
    int length = (int)strcspn(call, "(");
    snprintf(text, sizeof(text), "device: %s: %.*s failed with VkResult %d", gpu->info.name, length, call, (int)result);
    if (gpu->note) gpu->note(gpu->context, false, text);
    switch (result) {
    case VK_ERROR_DEVICE_LOST:
        gpu->lost = true;
        return VISD_ERR_DEVICE_LOST;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return VISD_ERR_NO_MEMORY;
    default:
        return VISD_ERR_INTERNAL;
    }
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    struct visd_gpu *gpu = user;
    (void)severity;
    (void)types;
    if (gpu->note) gpu->note(gpu->context, true, data->pMessage);
    return VK_FALSE;
}

static void append(char *why, size_t size, const char *format, ...)
{
    size_t used = strlen(why);
    va_list arguments;
    va_start(arguments, format);
    if (used < size) vsnprintf(why + used, size - used, format, arguments);
    va_end(arguments);
}

static enum visd_err open_instance(struct visd_gpu *gpu, bool validate, char *why, size_t why_size)
{
    enum visd_err err = VISD_ERR_OK;
    if (volkInitialize() != VK_SUCCESS) {
        snprintf(why, why_size, "no Vulkan loader: install libvulkan1 and a driver (mesa-vulkan-drivers works without a GPU)");
        return VISD_ERR_NO_DEVICE;
    }
    if (volkGetInstanceVersion() < VK_API_VERSION_1_3) {
        snprintf(why, why_size, "the Vulkan loader is older than 1.3: install a newer libvulkan1");
        return VISD_ERR_NO_DEVICE;
    }
    const char *layer = "VK_LAYER_KHRONOS_validation";
    const char *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkValidationFeatureEnableEXT enables[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .enabledValidationFeatureCount = 1,
                                        .pEnabledValidationFeatures = enables};
    VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .pNext = &features,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = gpu};
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "visd", .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    if (validate) {
        create.pNext = &messenger;
        create.enabledLayerCount = 1;
        create.ppEnabledLayerNames = &layer;
        create.enabledExtensionCount = 1;
        create.ppEnabledExtensionNames = &extension;
    }
    VkResult result = vkCreateInstance(&create, NULL, &gpu->instance);
    if (result == VK_ERROR_LAYER_NOT_PRESENT || result == VK_ERROR_EXTENSION_NOT_PRESENT) {
        snprintf(why, why_size, "validation was asked for, but its layer is not installed (vulkan-validationlayers)");
        return VISD_ERR_NO_DEVICE;
    }
    if (result != VK_SUCCESS) {
        snprintf(why, why_size, "no Vulkan driver could be opened (VkResult %d): install one (mesa-vulkan-drivers works without a GPU)", (int)result);
        return VISD_ERR_NO_DEVICE;
    }
    volkLoadInstance(gpu->instance);
    if (validate) {
        messenger.pNext = NULL;
        GPU_TRY(vkCreateDebugUtilsMessengerEXT(gpu->instance, &messenger, NULL, &gpu->messenger));
    }
error:
    return err;
}

struct gpu_features {
    VkPhysicalDeviceFeatures2 base;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
};

static void features_chain(struct gpu_features *f)
{
    f->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->base.pNext = &f->v11;
    f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    f->v11.pNext = &f->v12;
    f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->v12.pNext = &f->v13;
    f->v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
}

/* The features that no pass can do without: where each stands in struct gpu_features, and its name for people. */
static const struct { size_t offset; const char *name; } needed[] = {
    {offsetof(struct gpu_features, base.features.shaderInt64), "shaderInt64"},
    {offsetof(struct gpu_features, v12.bufferDeviceAddress), "bufferDeviceAddress"},
    {offsetof(struct gpu_features, v12.scalarBlockLayout), "scalarBlockLayout"},
    {offsetof(struct gpu_features, v12.timelineSemaphore), "timelineSemaphore"},
    {offsetof(struct gpu_features, v13.synchronization2), "synchronization2"},
    {offsetof(struct gpu_features, v13.maintenance4), "maintenance4"},
};
#define NEEDED_COUNT (sizeof(needed) / sizeof(needed[0]))

static bool compute_family(VkPhysicalDevice physical, uint32_t *family, uint32_t *timestamp_bits)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
        *family = i;
        *timestamp_bits = families[i].timestampValidBits;
        return true;
    }
    return false;
}

/* Whether the device will do; what it lacks is appended to why. */
static bool device_serves(VkPhysicalDevice physical, char *why, size_t why_size)
{
    VkPhysicalDeviceProperties properties;
    struct gpu_features features = {0};
    uint32_t family, bits;
    bool serves = true;
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_3) {
        append(why, why_size, "; %s: lacks Vulkan 1.3", properties.deviceName);
        return false;
    }
    features_chain(&features);
    vkGetPhysicalDeviceFeatures2(physical, &features.base);
    for (size_t i = 0; i < NEEDED_COUNT; i++) {
        if (*(const VkBool32 *)((const char *)&features + needed[i].offset)) continue;
        append(why, why_size, "; %s: lacks %s", properties.deviceName, needed[i].name);
        serves = false;
    }
    if (!compute_family(physical, &family, &bits)) {
        append(why, why_size, "; %s: lacks a compute queue", properties.deviceName);
        serves = false;
    }
    return serves;
}

static int preference(VkPhysicalDevice physical)
{
    static const int order[] = {[VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = 4, [VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = 3,
                                [VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = 2, [VK_PHYSICAL_DEVICE_TYPE_CPU] = 1, [VK_PHYSICAL_DEVICE_TYPE_OTHER] = 0};
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    return (size_t)properties.deviceType < sizeof(order) / sizeof(order[0]) ? order[properties.deviceType] : 0;
}

static enum visd_err choose(struct visd_gpu *gpu, const char *select, char *why, size_t why_size)
{
    VkPhysicalDevice devices[64];
    uint32_t count = 64;
    char lacking[1024] = "";
    vkEnumeratePhysicalDevices(gpu->instance, &count, devices);
    char *end = NULL;
    unsigned long place = strtoul(select, &end, 10);
    bool by_number = *select && !*end;
    bool cpu_only = strcmp(select, "cpu") == 0;
    if (!by_number && !cpu_only && strcmp(select, "auto") != 0) {
        snprintf(why, why_size, "device \"%s\" is not one of auto, cpu or a number", select);
        return VISD_ERR_BAD_VALUE;
    }
    if (by_number && place >= count) {
        snprintf(why, why_size, "device %lu was asked for, but Vulkan sees %u: give a smaller number, or auto", place, count);
        return VISD_ERR_NO_DEVICE;
    }
    int best = -1;
    for (uint32_t i = 0; i < count; i++) {
        int rank = preference(devices[i]);
        if (by_number && i != place) continue;
        if (cpu_only && rank != 1) continue;
        if (rank <= best || !device_serves(devices[i], lacking, sizeof(lacking))) continue;
        best = rank;
        gpu->physical = devices[i];
    }
    if (gpu->physical) return VISD_ERR_OK;
    snprintf(why, why_size, "no usable Vulkan device among the %u seen%s%s", count,
             cpu_only ? " (a CPU device was asked for: install mesa-vulkan-drivers)" : "",
             lacking);
    return VISD_ERR_NO_DEVICE;
}

static void describe(struct visd_gpu *gpu, uint32_t timestamp_bits)
{
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    vkGetPhysicalDeviceProperties2(gpu->physical, &properties);
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
    snprintf(gpu->info.name, sizeof(gpu->info.name), "%s", properties.properties.deviceName);
    snprintf(gpu->info.driver, sizeof(gpu->info.driver), "%.120s %.160s", driver.driverName, driver.driverInfo);
    gpu->info.software = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    gpu->info.max_groups = properties.properties.limits.maxComputeWorkGroupCount[0];
    if (gpu->info.max_groups > 65535) gpu->info.max_groups = 65535;
    gpu->info.timestamp_ns = timestamp_bits ? (double)properties.properties.limits.timestampPeriod : 0;
    gpu->info.timestamp_mask = timestamp_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << timestamp_bits) - 1;
}

static enum visd_err open_device(struct visd_gpu *gpu)
{
    enum visd_err err = VISD_ERR_OK;
    uint32_t bits = 0;
    float priority = 1;
    struct gpu_features have = {0}, want = {0};
    compute_family(gpu->physical, &gpu->family, &bits);
    describe(gpu, bits);
    features_chain(&have);
    vkGetPhysicalDeviceFeatures2(gpu->physical, &have.base);
    features_chain(&want);
    for (size_t i = 0; i < NEEDED_COUNT; i++) *(VkBool32 *)((char *)&want + needed[i].offset) = VK_TRUE;
    want.base.features.shaderFloat64 = have.base.features.shaderFloat64;
    gpu->info.float64 = have.base.features.shaderFloat64;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = gpu->family, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &want.base, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
    GPU_TRY(vkCreateDevice(gpu->physical, &create, NULL, &gpu->device));
    volkLoadDevice(gpu->device);
    vkGetDeviceQueue(gpu->device, gpu->family, 0, &gpu->queue);

    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = GPU_PUSH_BYTES};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .pushConstantRangeCount = 1, .pPushConstantRanges = &push};
    GPU_TRY(vkCreatePipelineLayout(gpu->device, &layout, NULL, &gpu->layout));
    VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    GPU_TRY(vkCreatePipelineCache(gpu->device, &cache, NULL, &gpu->cache));
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = gpu->family};
    GPU_TRY(vkCreateCommandPool(gpu->device, &pool, NULL, &gpu->pool));
    VkCommandBufferAllocateInfo buffers = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = gpu->pool,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = GPU_COMMAND_BUFFERS};
    GPU_TRY(vkAllocateCommandBuffers(gpu->device, &buffers, gpu->commands));
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    GPU_TRY(vkCreateSemaphore(gpu->device, &semaphore, NULL, &gpu->timeline));
error:
    return err;
}

enum visd_err visd_gpu_create(struct visd_gpu **out, const struct visd_gpu_params *params, char *why, size_t why_size)
{
    struct visd_gpu *gpu = calloc(1, sizeof(*gpu));
    if (!gpu) return VISD_ERR_NO_MEMORY;
    gpu->note = params->note;
    gpu->context = params->context;
    gpu->recording = -1;
    if (why_size) why[0] = 0;
    enum visd_err err = open_instance(gpu, params->validate, why, why_size);
    if (err == VISD_ERR_OK) err = choose(gpu, params->select, why, why_size);
    if (err == VISD_ERR_OK) {
        err = open_device(gpu);
        if (err != VISD_ERR_OK) snprintf(why, why_size, "%s could not be opened", gpu->info.name);
    }
    if (err != VISD_ERR_OK) {
        visd_gpu_destroy(gpu);
        return err;
    }
    *out = gpu;
    return VISD_ERR_OK;
}

void visd_gpu_destroy(struct visd_gpu *gpu)
{
    if (!gpu) return;
    if (gpu->device) {
        visd_gpu_settle(gpu);
        gpu->reached = UINT64_MAX;
        visd_gpu_collect(gpu);
        vkDestroySemaphore(gpu->device, gpu->timeline, NULL);
        vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
        vkDestroyPipelineCache(gpu->device, gpu->cache, NULL);
        vkDestroyPipelineLayout(gpu->device, gpu->layout, NULL);
        vkDestroyDevice(gpu->device, NULL);
    }
    if (gpu->messenger) vkDestroyDebugUtilsMessengerEXT(gpu->instance, gpu->messenger, NULL);
    if (gpu->instance) vkDestroyInstance(gpu->instance, NULL);
    free(gpu->retired);
    free(gpu);
}

const struct visd_gpu_info *visd_gpu_info(const struct visd_gpu *gpu) { return &gpu->info; }
bool visd_gpu_is_lost(const struct visd_gpu *gpu) { return gpu->lost; }
uint64_t visd_gpu_bytes(const struct visd_gpu *gpu) { return gpu->bytes; }
