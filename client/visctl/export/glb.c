/* See glb.h.
 *
 * glTF wants a parent's list of children inside the parent, and the JSON before the data. So nodes are numbered as they are
 * left, children before their parents: only the groups that are open are kept in memory. glb_file.h does the rest. */
#include "glb.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/grow.h"
#include "../model/model.h"
#include "glb_file.h"

struct numbers {
    uint32_t *at, count, room;
};

struct open_group {
    uint32_t group;
    double transform[12];
    char name[256];
    struct numbers children; /* nodes */
};

/* Equal things, one after the other. */
struct run {
    uint32_t count, room, mesh, group;
    char path[1024]; /* of the first, without its "[0]" */
    bool rotated, scaled;
    struct visd_model_trs *trs;
    double transform[12]; /* of a thing without a TRS, which is always alone */
};

struct glb {
    struct visd_sink sink;
    struct glb_file file;
    uint32_t nodes, meshes, groups;
    struct open_group *open;
    uint32_t depth, depth_room;
    struct numbers roots;
    struct run run;
    bool instanced; /* any run had more than one */
};

static bool push(struct numbers *list, uint32_t number)
{
    uint32_t *rows = visd_grown(list->at, list->count, &list->room, sizeof(*rows));
    if (!rows) return false;
    list->at = rows;
    rows[list->count++] = number;
    return true;
}

/* ---- nodes ---- */

static FILE *nodes_of(struct glb *g)
{
    return g->file.stream[GLB_NODES];
}

static void begin_node(struct glb *g, const char *name)
{
    fputs(g->nodes ? ",\n{\"name\":" : "{\"name\":", nodes_of(g));
    glb_write_string(nodes_of(g), name);
}

static bool end_node(struct glb *g)
{
    fputc('}', nodes_of(g));
    return push(g->depth ? &g->open[g->depth - 1].children : &g->roots, g->nodes++);
}

static uint32_t instance_accessor(struct glb *g, size_t offset, uint32_t components)
{
    float row[4];
    FILE *accessors = g->file.stream[GLB_ACCESSORS];
    uint64_t at = g->file.bin_bytes;
    for (uint32_t i = 0; i < g->run.count; i++) {
        memcpy(row, (const char *)&g->run.trs[i] + offset, components * sizeof(float));
        glb_put_bin(&g->file, row, components * sizeof(float));
    }
    fprintf(accessors, "%s{\"bufferView\":0,\"byteOffset\":%llu,\"componentType\":5126,\"count\":%u,\"type\":\"VEC%u\"}",
            g->file.accessors ? ",\n" : "", (unsigned long long)at, g->run.count, components);
    return g->file.accessors++;
}

static void write_trs(struct glb *g, const struct visd_model_trs *trs)
{
    FILE *f = nodes_of(g);
    fprintf(f, ",\"translation\":[%.17g,%.17g,%.17g]", trs->translation[0], trs->translation[1], trs->translation[2]);
    if (g->run.rotated) fprintf(f, ",\"rotation\":[%.17g,%.17g,%.17g,%.17g]", trs->rotation[0], trs->rotation[1], trs->rotation[2], trs->rotation[3]);
    if (g->run.scaled) fprintf(f, ",\"scale\":[%.17g,%.17g,%.17g]", trs->scale[0], trs->scale[1], trs->scale[2]);
}

static bool flush_run(struct glb *g)
{
    struct run *run = &g->run;
    if (!run->count) return true;
    char name[256];
    visd_model_path_name(run->path, name, sizeof(name));
    begin_node(g, name);
    fprintf(nodes_of(g), ",\"mesh\":%u", run->mesh);
    if (run->count > 1) {
        g->instanced = true;
        uint32_t t = instance_accessor(g, offsetof(struct visd_model_trs, translation), 3);
        fprintf(nodes_of(g), ",\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{\"TRANSLATION\":%u", t);
        if (run->rotated) fprintf(nodes_of(g), ",\"ROTATION\":%u", instance_accessor(g, offsetof(struct visd_model_trs, rotation), 4));
        if (run->scaled) fprintf(nodes_of(g), ",\"SCALE\":%u", instance_accessor(g, offsetof(struct visd_model_trs, scale), 3));
        fputs("}}}", nodes_of(g));
    } else if (run->room) {
        write_trs(g, &run->trs[0]);
    } else {
        glb_write_matrix(nodes_of(g), run->transform);
    }
    run->count = 0;
    return end_node(g);
}

/* Closes open groups until the given one is on top; false if it was left before, or memory is short. */
static bool leave_to(struct glb *g, uint32_t group)
{
    if (!flush_run(g)) return false;
    while (g->depth && g->open[g->depth - 1].group != group) {
        struct open_group *top = &g->open[g->depth - 1];
        begin_node(g, top->name);
        glb_write_matrix(nodes_of(g), top->transform);
        for (uint32_t i = 0; i < top->children.count; i++) fprintf(nodes_of(g), "%s%u", i ? "," : ",\"children\":[", top->children.at[i]);
        if (top->children.count) fputc(']', nodes_of(g));
        free(top->children.at);
        g->depth--;
        if (!end_node(g)) return false;
    }
    return g->depth > 0 || group == VISD_MODEL_NONE;
}

/* ---- the sink ---- */

static enum visd_err glb_mesh(struct visd_sink *sink, const struct visd_model_mesh *mesh, struct visd_why *why)
{
    struct glb *g = (struct glb *)sink;
    struct glb_file *f = &g->file;
    bool small = mesh->vertices <= 65535;
    for (uint32_t i = 0; i < mesh->part_count; i++)
        if (mesh->parts[i].sides == VISD_MODEL_SIDES_UNKNOWN)
            return visd_why(why, VISD_ERR_NOT_SUPPORTED, "%.200s: glTF cannot say that the sides of a part are unknown; declare them", f->path);
    uint64_t at = glb_put_bin(f, mesh->positions, mesh->vertices * sizeof(float) * 3), bytes = mesh->index_count * (small ? 2ull : 4ull);
    uint32_t view = glb_put_view(f, at, mesh->vertices * 12ull, false);
    if (small) {
        uint16_t *narrow = malloc(bytes);
        if (!narrow) return visd_why_memory(why, "a mesh");
        for (uint32_t i = 0; i < mesh->index_count; i++) narrow[i] = (uint16_t)mesh->indices[i];
        at = glb_put_bin(f, narrow, bytes);
        free(narrow);
    } else {
        at = glb_put_bin(f, mesh->indices, bytes);
    }
    uint32_t index_view = glb_put_view(f, at, bytes, true), position = glb_put_positions(f, view, mesh->vertices, mesh->min, mesh->max);
    fputs(g->meshes ? ",\n{\"primitives\":[" : "{\"primitives\":[", f->stream[GLB_MESHES]);
    for (uint32_t i = 0; i < mesh->part_count; i++) {
        const struct visd_model_part *part = &mesh->parts[i];
        uint32_t indices = glb_put_indices(f, index_view, part->first * (small ? 2ull : 4ull), small, part->count);
        fprintf(f->stream[GLB_MESHES], "%s{\"attributes\":{\"POSITION\":%u},\"indices\":%u,\"material\":%u}", i ? "," : "", position, indices,
                part->see_through * 2 + (part->sides == VISD_MODEL_SIDES_DOUBLE));
    }
    fputs("]}", f->stream[GLB_MESHES]);
    g->meshes++;
    return VISD_ERR_OK;
}

static enum visd_err out_of_order(struct glb *g, struct visd_why *why)
{
    return visd_why(why, VISD_ERR_INTERNAL, "%.200s: out of memory, or the scene was not told as a walk; the file was not written",
                    g->file.path);
}

static enum visd_err glb_group(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why)
{
    struct glb *g = (struct glb *)sink;
    if (!leave_to(g, group->parent)) return out_of_order(g, why);
    struct open_group *rows = visd_grown(g->open, g->depth, &g->depth_room, sizeof(*rows));
    if (!rows) return visd_why_memory(why, "groups");
    g->open = rows;
    struct open_group *top = &rows[g->depth++];
    *top = (struct open_group){.group = g->groups++};
    memcpy(top->transform, group->transform, sizeof(top->transform));
    visd_model_path_name(group->path, top->name, sizeof(top->name));
    return VISD_ERR_OK;
}

/* True if the object's path is that of the run's next: the same with "[count]" behind it. */
static bool continues(const struct run *run, const char *path)
{
    char tail[16];
    size_t base = strlen(run->path);
    snprintf(tail, sizeof(tail), "[%u]", run->count);
    return strncmp(path, run->path, base) == 0 && strcmp(path + base, tail) == 0;
}

static enum visd_err glb_object(struct visd_sink *sink, const struct visd_model_object *object, struct visd_why *why)
{
    struct glb *g = (struct glb *)sink;
    struct run *run = &g->run;
    static const struct visd_model_trs plain = {{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
    if (object->mesh == VISD_MODEL_NONE || object->margin != 0 || object->flags & ~(uint32_t)VISD_MODEL_SEE_THROUGH)
        return visd_why(why, VISD_ERR_NOT_SUPPORTED, "%.120s: object %llu has no mesh, or flags or a margin; glTF cannot say that", g->file.path,
                        (unsigned long long)object->id);
    if (!(run->count && object->trs && run->mesh == object->mesh && run->group == object->group && continues(run, object->path))) {
        if (!leave_to(g, object->group)) return out_of_order(g, why);
        run->mesh = object->mesh;
        run->group = object->group;
        run->rotated = run->scaled = false;
        size_t length = strlen(object->path);
        if (object->trs && length >= 3 && strcmp(object->path + length - 3, "[0]") == 0) length -= 3;
        if (length >= sizeof(run->path)) length = sizeof(run->path) - 1;
        memcpy(run->path, object->path, length);
        run->path[length] = 0;
        memcpy(run->transform, object->transform, sizeof(run->transform));
        if (!object->trs) {
            free(run->trs);
            run->trs = NULL;
            run->room = 0;
            run->count = 1;
            return VISD_ERR_OK;
        }
    }
    struct visd_model_trs *rows = visd_grown(run->trs, run->count, &run->room, sizeof(*rows));
    if (!rows) return visd_why_memory(why, "instances");
    run->trs = rows;
    rows[run->count++] = *object->trs;
    run->rotated |= memcmp(object->trs->rotation, plain.rotation, sizeof(plain.rotation)) != 0;
    run->scaled |= memcmp(object->trs->scale, plain.scale, sizeof(plain.scale)) != 0;
    /* What objects are written to, so that a full disk ends a long scene early; all of it is looked at in the end. */
    bool good = !ferror(g->file.stream[GLB_BIN]) && !ferror(nodes_of(g));
    return good ? VISD_ERR_OK : glb_file_fault(&g->file, why);
}

static void write_json(struct glb *g)
{
    FILE *out = g->file.stream[GLB_JSON];
    fputs("{\"asset\":{\"version\":\"2.0\",\"generator\":\"visctl\"},", out);
    if (g->instanced) fputs("\"extensionsUsed\":[\"EXT_mesh_gpu_instancing\"],\"extensionsRequired\":[\"EXT_mesh_gpu_instancing\"],\n", out);
    fputs("\"scene\":0,\"scenes\":[{", out);
    for (uint32_t i = 0; i < g->roots.count; i++) fprintf(out, "%s%u", i ? "," : "\"nodes\":[", g->roots.at[i]);
    fputs(g->roots.count ? "]}]" : "}]", out);
    if (g->nodes) {
        fputs(",\n\"nodes\":[\n", out);
        glb_write_stream(&g->file, GLB_NODES, GLB_JSON);
        fputs("]", out);
    }
    if (g->meshes) {
        fprintf(out, ",\n\"materials\":[%s],\n\"meshes\":[\n", glb_materials);
        glb_write_stream(&g->file, GLB_MESHES, GLB_JSON);
        fputs("],\n\"accessors\":[\n", out);
        glb_write_stream(&g->file, GLB_ACCESSORS, GLB_JSON);
        fprintf(out, "],\n\"bufferViews\":[\n{\"buffer\":0,\"byteLength\":%llu}", (unsigned long long)g->file.bin_bytes);
        glb_write_stream(&g->file, GLB_VIEWS, GLB_JSON);
        fprintf(out, "],\n\"buffers\":[{\"byteLength\":%llu}]", (unsigned long long)g->file.bin_bytes);
    }
    fputs("}", out);
}

static enum visd_err glb_finish(struct visd_sink *sink, struct visd_why *why)
{
    struct glb *g = (struct glb *)sink;
    errno = 0;
    if (!leave_to(g, VISD_MODEL_NONE)) return out_of_order(g, why);
    write_json(g);
    return glb_file_finish(&g->file, 0, why);
}

static const struct visd_sink_ops glb_ops = {glb_mesh, glb_group, glb_object, glb_finish};

enum visd_err visd_glb_create(struct visd_sink **out, const char *path, struct visd_why *why)
{
    struct glb *g = calloc(1, sizeof(*g));
    *out = NULL;
    if (!g) return visd_why_memory(why, "the file");
    g->sink.ops = &glb_ops;
    enum visd_err err = glb_file_open(&g->file, path, why);
    if (err != VISD_ERR_OK) {
        visd_glb_destroy(&g->sink);
        return err;
    }
    g->file.views = 1; /* the first holds the instances */
    *out = &g->sink;
    return VISD_ERR_OK;
}

void visd_glb_destroy(struct visd_sink *sink)
{
    struct glb *g = (struct glb *)sink;
    if (!g) return;
    glb_file_close(&g->file);
    for (uint32_t i = 0; i < g->depth; i++) free(g->open[i].children.at);
    free(g->open);
    free(g->roots.at);
    free(g->run.trs);
    free(g);
}
