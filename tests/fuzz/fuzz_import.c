/* link: visd_visctl visd_proto */
/* Any bytes as the stream of visctl-import: a whole model, or a refusal with a text and nothing half read. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "client/visctl/import/stream_read.h"

struct input {
    const uint8_t *at;
    size_t left;
};

static size_t read_input(void *context, void *to, size_t size)
{
    struct input *in = context;
    size_t n = size < in->left ? size : in->left;
    if (n) memcpy(to, in->at, n);
    in->at += n;
    in->left -= n;
    return n;
}

static void check_model(const struct visd_model *model)
{
    for (uint32_t i = 0; i < model->mesh_count; i++) FUZZ_CHECK(visd_model_mesh_check(&model->meshes[i]));
    for (uint32_t i = 0; i < model->group_count; i++) {
        uint32_t parent = model->groups[i].parent;
        FUZZ_CHECK(parent == VISD_MODEL_NONE || parent < i);
    }
    for (uint32_t i = 0; i < model->object_count; i++) {
        const struct visd_model_object *o = &model->objects[i];
        FUZZ_CHECK(o->id == i && (o->mesh == VISD_MODEL_NONE || o->mesh < model->mesh_count) && (o->group == VISD_MODEL_NONE || o->group < model->group_count));
        for (int k = 0; k < 3; k++) FUZZ_CHECK(isfinite(o->min[k]) && isfinite(o->max[k]) && o->min[k] <= o->max[k]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input in = {bytes, size};
    struct visd_model model;
    struct visd_why why = {{0}};
    bool told = false;
    visd_model_init(&model);
    enum visd_err err = visd_stream_read(&model, &(struct visd_stream_source){read_input, &in}, "input", &told, &why);
    if (err == VISD_ERR_OK) {
        FUZZ_CHECK(in.left == 0 && !told);
        check_model(&model);
    } else {
        FUZZ_CHECK(why.text[0]);
        FUZZ_CHECK(model.mesh_count == 0 && model.group_count == 0 && model.object_count == 0);
    }
    visd_model_finish(&model);
    return 0;
}
