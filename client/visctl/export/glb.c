/* See glb.h.
 *
 * glTF wants a parent's list of children inside the parent, and the JSON before the data. So nodes are numbered as they are
 * left, children before their parents: only the groups that are open are kept in memory. Data and the long
 * JSON arrays go to unnamed files beside the target, and are put together at the end. */
#include "glb.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../model/model.h"

enum { BIN, NODES, MESHES, ACCESSORS, VIEWS, FILES };

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
    char *path, *part;
    FILE *file[FILES];
    uint64_t bin_bytes;
    uint32_t nodes, meshes, accessors, views, groups;
    struct open_group *open;
    uint32_t depth, depth_room;
    struct numbers roots;
    struct run run;
    bool instanced; /* any run had more than one */
};

/* Material number: sides SINGLE or DOUBLE, and see-through. */
static const char *const materials = "{\"name\":\"solid\"},{\"name\":\"solid, both sides\",\"doubleSided\":true},{\"name\":\"glass\",\"alphaMode\":\"BLEND\"},"
                                     "{\"name\":\"glass, both sides\",\"doubleSided\":true,\"alphaMode\":\"BLEND\"}";

static bool push(struct numbers *list, uint32_t number)
{
    if (list->count == list->room) {
        uint32_t more = list->room ? list->room * 2 : 16;
        uint32_t *moved = realloc(list->at, more * sizeof(*moved));
        if (!moved) return false;
        list->at = moved;
        list->room = more;
    }
    list->at[list->count++] = number;
    return true;
}

static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') fputc('\\', file);
        if ((unsigned char)*c < 0x20)
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    }
    fputc('"', file);
}

static enum visd_err write_fault(struct glb *g, struct visd_why *why)
{
    return visd_why(why, VISD_ERR_IO, "%.200s: %s; the file was not written", g->path, errno ? strerror(errno) : "writing failed");
}

static uint64_t put_bin(struct glb *g, const void *data, size_t bytes)
{
    static const char zeros[4];
    uint64_t at = g->bin_bytes;
    fwrite(data, 1, bytes, g->file[BIN]);
    size_t pad = (4 - bytes % 4) % 4;
    fwrite(zeros, 1, pad, g->file[BIN]);
    g->bin_bytes += bytes + pad;
    return at;
}

/* ---- nodes ---- */

static void begin_node(struct glb *g, const char *name)
{
    fputs(g->nodes ? ",\n{\"name\":" : "{\"name\":", g->file[NODES]);
    write_string(g->file[NODES], name);
}

static void write_matrix(struct glb *g, const double m[12])
{
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    if (memcmp(m, identity, sizeof(identity)) == 0) return;
    fputs(",\"matrix\":[", g->file[NODES]);
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            fprintf(g->file[NODES], "%s%.17g", column + row ? "," : "", row < 3 ? m[row * 4 + column] : column == 3 ? 1.0 : 0.0);
    fputc(']', g->file[NODES]);
}

static bool end_node(struct glb *g)
{
    fputc('}', g->file[NODES]);
    return push(g->depth ? &g->open[g->depth - 1].children : &g->roots, g->nodes++);
}

static uint32_t instance_accessor(struct glb *g, size_t offset, uint32_t components)
{
    float row[4];
    uint64_t at = g->bin_bytes;
    for (uint32_t i = 0; i < g->run.count; i++) {
        memcpy(row, (const char *)&g->run.trs[i] + offset, components * sizeof(float));
        put_bin(g, row, components * sizeof(float));
    }
    fprintf(g->file[ACCESSORS], "%s{\"bufferView\":0,\"byteOffset\":%llu,\"componentType\":5126,\"count\":%u,\"type\":\"VEC%u\"}",
            g->accessors ? ",\n" : "", (unsigned long long)at, g->run.count, components);
    return g->accessors++;
}

static void write_trs(struct glb *g, const struct visd_model_trs *trs)
{
    FILE *f = g->file[NODES];
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
    fprintf(g->file[NODES], ",\"mesh\":%u", run->mesh);
    if (run->count > 1) {
        g->instanced = true;
        uint32_t t = instance_accessor(g, offsetof(struct visd_model_trs, translation), 3);
        fprintf(g->file[NODES], ",\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{\"TRANSLATION\":%u", t);
        if (run->rotated) fprintf(g->file[NODES], ",\"ROTATION\":%u", instance_accessor(g, offsetof(struct visd_model_trs, rotation), 4));
        if (run->scaled) fprintf(g->file[NODES], ",\"SCALE\":%u", instance_accessor(g, offsetof(struct visd_model_trs, scale), 3));
        fputs("}}}", g->file[NODES]);
    } else if (run->room) {
        write_trs(g, &run->trs[0]);
    } else {
        write_matrix(g, run->transform);
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
        write_matrix(g, top->transform);
        for (uint32_t i = 0; i < top->children.count; i++) fprintf(g->file[NODES], "%s%u", i ? "," : ",\"children\":[", top->children.at[i]);
        if (top->children.count) fputc(']', g->file[NODES]);
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
    bool small = mesh->vertices <= 65535;
    for (uint32_t i = 0; i < mesh->part_count; i++)
        if (mesh->parts[i].sides == VISD_MODEL_SIDES_UNKNOWN)
            return visd_why(why, VISD_ERR_NOT_SUPPORTED, "%.200s: glTF cannot say that the sides of a part are unknown; declare them", g->path);
    uint64_t at = put_bin(g, mesh->positions, mesh->vertices * sizeof(float) * 3);
    fprintf(g->file[VIEWS], ",\n{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":34962}", (unsigned long long)at, mesh->vertices * 12ull);
    uint64_t indices = g->bin_bytes;
    for (uint32_t i = 0; i < mesh->index_count; i++) {
        uint16_t narrow = (uint16_t)mesh->indices[i];
        fwrite(small ? (const void *)&narrow : &mesh->indices[i], small ? 2 : 4, 1, g->file[BIN]);
    }
    g->bin_bytes += mesh->index_count * (small ? 2ull : 4ull);
    if (g->bin_bytes % 4) {
        fputc(0, g->file[BIN]);
        fputc(0, g->file[BIN]);
        g->bin_bytes += 2;
    }
    fprintf(g->file[VIEWS], ",\n{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":34963}", (unsigned long long)indices,
            mesh->index_count * (small ? 2ull : 4ull));
    uint32_t position = g->accessors++;
    fprintf(g->file[ACCESSORS], "%s{\"bufferView\":%u,\"componentType\":5126,\"count\":%u,\"type\":\"VEC3\",\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]}",
            position ? ",\n" : "", g->views, mesh->vertices, mesh->min[0], mesh->min[1], mesh->min[2], mesh->max[0], mesh->max[1], mesh->max[2]);
    fputs(g->meshes ? ",\n{\"primitives\":[" : "{\"primitives\":[", g->file[MESHES]);
    for (uint32_t i = 0; i < mesh->part_count; i++) {
        const struct visd_model_part *part = &mesh->parts[i];
        fprintf(g->file[MESHES], "%s{\"attributes\":{\"POSITION\":%u},\"indices\":%u,\"material\":%u}", i ? "," : "", position, g->accessors,
                part->see_through * 2 + (part->sides == VISD_MODEL_SIDES_DOUBLE));
        fprintf(g->file[ACCESSORS], ",\n{\"bufferView\":%u,\"byteOffset\":%llu,\"componentType\":%d,\"count\":%u,\"type\":\"SCALAR\"}", g->views + 1,
                part->first * (small ? 2ull : 4ull), small ? 5123 : 5125, part->count);
        g->accessors++;
    }
    fputs("]}", g->file[MESHES]);
    g->views += 2;
    g->meshes++;
    return VISD_ERR_OK;
}

static enum visd_err out_of_order(struct glb *g, struct visd_why *why)
{
    return visd_why(why, VISD_ERR_INTERNAL, "%.200s: out of memory, or the scene was not told as a walk; the file was not written", g->path);
}

static enum visd_err glb_group(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why)
{
    struct glb *g = (struct glb *)sink;
    if (!leave_to(g, group->parent)) return out_of_order(g, why);
    if (g->depth == g->depth_room) {
        uint32_t more = g->depth_room ? g->depth_room * 2 : 16;
        struct open_group *moved = realloc(g->open, more * sizeof(*moved));
        if (!moved) return visd_why_memory(why, "groups");
        g->open = moved;
        g->depth_room = more;
    }
    struct open_group *top = &g->open[g->depth++];
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
        return visd_why(why, VISD_ERR_NOT_SUPPORTED, "%.120s: object %llu has no mesh, or flags or a margin; glTF cannot say that", g->path,
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
    if (run->count == run->room) {
        uint32_t more = run->room ? run->room * 2 : 64;
        struct visd_model_trs *moved = realloc(run->trs, more * sizeof(*moved));
        if (!moved) return visd_why_memory(why, "instances");
        run->trs = moved;
        run->room = more;
    }
    run->trs[run->count++] = *object->trs;
    run->rotated |= memcmp(object->trs->rotation, plain.rotation, sizeof(plain.rotation)) != 0;
    run->scaled |= memcmp(object->trs->scale, plain.scale, sizeof(plain.scale)) != 0;
    return ferror(g->file[BIN]) || ferror(g->file[NODES]) ? write_fault(g, why) : VISD_ERR_OK;
}

static bool append(FILE *to, FILE *from)
{
    char block[65536];
    size_t n;
    rewind(from);
    while ((n = fread(block, 1, sizeof(block), from)) > 0)
        if (fwrite(block, 1, n, to) != n) return false;
    return !ferror(from);
}

static bool put_u32(FILE *file, uint64_t value)
{
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    return fwrite(bytes, 1, 4, file) == 4;
}

static void write_json(struct glb *g, FILE *out)
{
    fputs("{\"asset\":{\"version\":\"2.0\",\"generator\":\"visctl\"},", out);
    if (g->instanced) fputs("\"extensionsUsed\":[\"EXT_mesh_gpu_instancing\"],\"extensionsRequired\":[\"EXT_mesh_gpu_instancing\"],\n", out);
    fputs("\"scene\":0,\"scenes\":[{", out);
    for (uint32_t i = 0; i < g->roots.count; i++) fprintf(out, "%s%u", i ? "," : "\"nodes\":[", g->roots.at[i]);
    fputs(g->roots.count ? "]}]" : "}]", out);
    if (g->nodes) {
        fputs(",\n\"nodes\":[\n", out);
        append(out, g->file[NODES]);
        fputs("]", out);
    }
    if (g->meshes) {
        fprintf(out, ",\n\"materials\":[%s],\n\"meshes\":[\n", materials);
        append(out, g->file[MESHES]);
        fputs("],\n\"accessors\":[\n", out);
        append(out, g->file[ACCESSORS]);
        fprintf(out, "],\n\"bufferViews\":[\n{\"buffer\":0,\"byteLength\":%llu}", (unsigned long long)g->bin_bytes);
        append(out, g->file[VIEWS]);
        fprintf(out, "],\n\"buffers\":[{\"byteLength\":%llu}]", (unsigned long long)g->bin_bytes);
    }
    fputs("}", out);
}

static enum visd_err glb_finish(struct visd_sink *sink, struct visd_why *why)
{
    struct glb *g = (struct glb *)sink;
    errno = 0;
    if (!leave_to(g, VISD_MODEL_NONE)) return out_of_order(g, why);
    FILE *out = fopen(g->part, "wbe");
    if (!out) return write_fault(g, why);
    /* The header's lengths are known only at the end: room first, then the numbers. */
    bool good = put_u32(out, 0) && put_u32(out, 0) && put_u32(out, 0) && put_u32(out, 0) && put_u32(out, 0);
    write_json(g, out);
    uint64_t json = (uint64_t)ftello(out) - 20;
    for (; json % 4; json++) fputc(' ', out);
    uint64_t all = 20 + json + (g->meshes ? 8 + g->bin_bytes : 0);
    if (all > UINT32_MAX) {
        fclose(out);
        unlink(g->part);
        return visd_why(why, VISD_ERR_TOO_BIG, "%.200s: a GLB holds at most 4 GiB, this would be %llu MiB; ask for fewer objects", g->path,
                        (unsigned long long)(all >> 20));
    }
    if (g->meshes) good = good && put_u32(out, g->bin_bytes) && put_u32(out, 0x004e4942) && append(out, g->file[BIN]);
    good = good && fseeko(out, 0, SEEK_SET) == 0 && put_u32(out, 0x46546c67) && put_u32(out, 2) && put_u32(out, all) && put_u32(out, json) &&
           put_u32(out, 0x4e4f534a) && !ferror(out);
    for (int i = 0; i < FILES; i++) good = good && !ferror(g->file[i]);
    good = (fflush(out) == 0) && good;
    good = (fclose(out) == 0) && good;
    if (good && rename(g->part, g->path) == 0) return VISD_ERR_OK;
    enum visd_err err = write_fault(g, why);
    unlink(g->part);
    return err;
}

static const struct visd_sink_ops glb_ops = {glb_mesh, glb_group, glb_object, glb_finish};

enum visd_err visd_glb_create(struct visd_sink **out, const char *path, struct visd_why *why)
{
    struct glb *g = calloc(1, sizeof(*g));
    *out = NULL;
    if (!g) return visd_why_memory(why, "the file");
    g->sink.ops = &glb_ops;
    g->path = strdup(path);
    size_t room = strlen(path) + 16;
    g->part = malloc(room);
    enum visd_err err = g->path && g->part ? VISD_ERR_OK : visd_why_memory(why, "the file");
    struct stat there; /* what is no plain file, a device or a pipe, must not be replaced by one */
    if (err == VISD_ERR_OK && stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        err = visd_why(why, VISD_ERR_IO, "%.200s: not a plain file; name another", path);
    for (int i = 0; i < FILES && err == VISD_ERR_OK; i++) {
        snprintf(g->part, room, "%s.XXXXXX", path);
        int fd = mkstemp(g->part);
        if (fd >= 0) unlink(g->part);
        if (fd < 0 || !(g->file[i] = fdopen(fd, "w+b"))) err = visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
        if (fd >= 0 && !g->file[i]) close(fd);
    }
    if (err != VISD_ERR_OK) {
        visd_glb_destroy(&g->sink);
        return err;
    }
    snprintf(g->part, room, "%s.part", path);
    g->views = 1; /* the first holds the instances */
    *out = &g->sink;
    return VISD_ERR_OK;
}

void visd_glb_destroy(struct visd_sink *sink)
{
    struct glb *g = (struct glb *)sink;
    if (!g) return;
    for (int i = 0; i < FILES; i++)
        if (g->file[i]) fclose(g->file[i]);
    for (uint32_t i = 0; i < g->depth; i++) free(g->open[i].children.at);
    free(g->open);
    free(g->roots.at);
    free(g->run.trs);
    free(g->path);
    free(g->part);
    free(g);
}
