/* A Vulkan layer that loses the device when a test says so, under a daemon that knows nothing of it.
 *
 * VISD_FAULT names a path. A submission that finds PATH.lose removes it and loses its device: that call fails with
 * VK_ERROR_DEVICE_LOST, and so does all that is asked of this device afterwards. While PATH.none is there, no device is made; where
 * PATH.once is found, it is removed and one device is not made. Waits on a lost device still wait for the real one underneath, so that
 * the teardown that follows is as safe as a driver makes it. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/* One instance and one device at a time: the worker has no more. Its thread alone calls. */
static struct {
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_vkDestroyInstance destroy_instance;
    PFN_vkDestroyDevice destroy_device;
    PFN_vkQueueSubmit2 submit;
    PFN_vkWaitSemaphores wait;
    PFN_vkGetSemaphoreCounterValue counter;
    bool lost;
} next;

static void name_of(char *out, size_t size, const char *what)
{
    const char *path = getenv("VISD_FAULT");
    snprintf(out, size, "%s.%s", path ? path : "/nowhere", what);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    char lose[512];
    name_of(lose, sizeof(lose), "lose");
    if (unlink(lose) == 0)
        next.lost = true;
    return next.lost ? VK_ERROR_DEVICE_LOST : next.submit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
    VkResult result = next.wait(device, info, timeout);
    return next.lost ? VK_ERROR_DEVICE_LOST : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL counter(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    return next.lost ? VK_ERROR_DEVICE_LOST : next.counter(device, semaphore, value);
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance, const VkAllocationCallbacks *allocator)
{
    next.destroy_instance(instance, allocator);
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks *allocator)
{
    next.destroy_device(device, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *create, const VkAllocationCallbacks *allocator, VkInstance *out)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)create->pNext;
    while (link && (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    next.instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateInstance make = (PFN_vkCreateInstance)next.instance_proc(NULL, "vkCreateInstance");
    VkResult result = make(create, allocator, out);
    if (result == VK_SUCCESS)
        next.destroy_instance = (PFN_vkDestroyInstance)next.instance_proc(*out, "vkDestroyInstance");
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *create, const VkAllocationCallbacks *allocator,
                                                    VkDevice *out)
{
    char none[512], once[512];
    name_of(none, sizeof(none), "none");
    name_of(once, sizeof(once), "once");
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)create->pNext;
    while (link && (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    if (!link || unlink(once) == 0 || access(none, F_OK) == 0)
        return VK_ERROR_INITIALIZATION_FAILED;
    next.device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkCreateDevice make = (PFN_vkCreateDevice)link->u.pLayerInfo->pfnNextGetInstanceProcAddr(NULL, "vkCreateDevice");
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = make(physical, create, allocator, out);
    if (result != VK_SUCCESS)
        return result;
    next.destroy_device = (PFN_vkDestroyDevice)next.device_proc(*out, "vkDestroyDevice");
    next.submit = (PFN_vkQueueSubmit2)next.device_proc(*out, "vkQueueSubmit2");
    next.wait = (PFN_vkWaitSemaphores)next.device_proc(*out, "vkWaitSemaphores");
    next.counter = (PFN_vkGetSemaphoreCounterValue)next.device_proc(*out, "vkGetSemaphoreCounterValue");
    next.lost = false;
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name);

static const struct {
    const char *name;
    PFN_vkVoidFunction function;
    bool of_device;
} ours[] = {
    {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)instance_proc, false},
    {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)device_proc, true},
    {"vkCreateInstance", (PFN_vkVoidFunction)create_instance, false},
    {"vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance, false},
    {"vkCreateDevice", (PFN_vkVoidFunction)create_device, false},
    {"vkDestroyDevice", (PFN_vkVoidFunction)destroy_device, true},
    {"vkQueueSubmit2", (PFN_vkVoidFunction)submit, true},
    {"vkWaitSemaphores", (PFN_vkVoidFunction)wait, true},
    {"vkGetSemaphoreCounterValue", (PFN_vkVoidFunction)counter, true},
};

static PFN_vkVoidFunction find(const char *name, bool of_device_only)
{
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strcmp(ours[i].name, name) == 0 && (ours[i].of_device || !of_device_only))
            return ours[i].function;
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction function = find(name, true);
    return function ? function : next.device_proc(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction function = find(name, false);
    return function ? function : next.instance_proc ? next.instance_proc(instance, name) : NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
    if (interface->loaderLayerInterfaceVersion > 2)
        interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = instance_proc;
    interface->pfnGetDeviceProcAddr = device_proc;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
