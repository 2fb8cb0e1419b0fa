/* Compute pipelines: a module, its specialization constants, the one layout. */
#include "internal.h"

#define MAX_CONSTANTS 8

enum visd_err visd_gpu_pipeline_create(struct visd_gpu *gpu, const uint32_t *spirv, size_t bytes, const uint32_t *constants,
                                       uint32_t constant_count, struct visd_gpu_pipeline *out)
{
    enum visd_err err = VISD_ERR_OK;
    VkShaderModule module = VK_NULL_HANDLE;
    VkSpecializationMapEntry entries[MAX_CONSTANTS];
    if (constant_count > MAX_CONSTANTS) return VISD_ERR_INTERNAL;
    for (uint32_t i = 0; i < constant_count; i++) entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = i * 4, .size = 4};
    VkSpecializationInfo special = {
        .mapEntryCount = constant_count, .pMapEntries = entries, .dataSize = constant_count * 4, .pData = constants};
    VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = spirv};
    GPU_TRY(vkCreateShaderModule(gpu->device, &code, NULL, &module));
    VkComputePipelineCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                          .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                    .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                    .module = module,
                                                    .pName = "main",
                                                    .pSpecializationInfo = &special},
                                          .layout = gpu->layout};
    GPU_TRY(vkCreateComputePipelines(gpu->device, gpu->cache, 1, &create, NULL, &out->pipeline));
error:
    vkDestroyShaderModule(gpu->device, module, NULL);
    return err;
}

void visd_gpu_pipeline_destroy(struct visd_gpu *gpu, struct visd_gpu_pipeline *pipeline)
{
    vkDestroyPipeline(gpu->device, pipeline->pipeline, NULL);
    pipeline->pipeline = VK_NULL_HANDLE;
}
