/* link: visd_visctl visd_proto */
/* Any bytes as a glTF or GLB file: a whole model, or a refusal with a text and nothing half read. */
#include "fuzz.h"

#include "client/visctl/import/gltf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct visd_model model;
    struct visd_why why = {{0}};
    visd_model_init(&model);
    enum visd_err err = visd_gltf_read_memory(&model, bytes, size, "input", NULL, NULL, &why);
    if (err == VISD_ERR_OK) {
        for (uint32_t i = 0; i < model.mesh_count; i++)
            FUZZ_CHECK(visd_model_mesh_check(&model.meshes[i]));
    } else {
        FUZZ_CHECK(why.text[0]);
        FUZZ_CHECK(model.mesh_count == 0 && model.group_count == 0 && model.object_count == 0);
    }
    visd_model_finish(&model);
    return 0;
}
