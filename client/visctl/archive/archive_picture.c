/* See archive_picture.h.
 *
 * A glTF mesh has one material a part, where a mesh of ours may be seen with its objects' sides, and through: so one of ours becomes
 * up to four of glTF's, made when first shown, over the same data. glTF cannot say that sides are unknown; they are shown as
 * single, which is also what hides least when the file is loaded. */
#include "archive_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/grow.h"
#include "../model/model.h"
#include "../model/transform.h"

#define DEPTH_MAX 4096u /* steps up the groups: more than there can be, so that a ring of parents ends */

enum { BOTH_SIDES = 1, GLASS = 2, LOOKS = 4 }; /* materials, as glb_file.h numbers them */

struct picture_mesh {
    struct visd_client_part *part; /* those that hold triangles */
    uint32_t parts, position, indices; /* accessors; one of indices for each part, from this on */
    uint32_t gltf[LOOKS];          /* PICTURE_NONE: not shown so far */
};

struct picture_group {
    double transform[12];
    char *name;
    uint32_t parent, flags;
};

void picture_init(struct picture *p, struct glb_file *file)
{
    memset(p, 0, sizeof(*p));
    p->file = file;
    p->wires = PICTURE_NONE;
}

void picture_finish(struct picture *p)
{
    for (uint32_t i = 0; i < p->mesh_count; i++) free(p->meshes[i].part);
    for (uint32_t i = 0; i < p->group_count; i++) free(p->groups[i].name);
    free(p->meshes);
    free(p->groups);
    free(p->parents);
}

bool picture_add_mesh(struct picture *p, const struct visd_client_mesh *mesh, uint64_t at)
{
    float min[3], max[3];
    struct picture_mesh *rows = visd_grown(p->meshes, p->mesh_count, &p->mesh_room, sizeof(*rows));
    if (!rows) return false;
    p->meshes = rows;
    struct picture_mesh *m = &rows[p->mesh_count];
    *m = (struct picture_mesh){.part = calloc(mesh->parts + 1, sizeof(*m->part)), .gltf = {PICTURE_NONE, PICTURE_NONE, PICTURE_NONE, PICTURE_NONE}};
    if (!m->part) return false;
    p->mesh_count++;
    for (size_t i = 0; i < mesh->parts; i++)
        if (mesh->part[i].count) m->part[m->parts++] = mesh->part[i];
    if (!m->parts) return true;
    memcpy(min, mesh->positions, sizeof(min));
    memcpy(max, mesh->positions, sizeof(max));
    for (size_t i = 3; i < mesh->vertices * 3; i++) {
        min[i % 3] = fminf(min[i % 3], mesh->positions[i]);
        max[i % 3] = fmaxf(max[i % 3], mesh->positions[i]);
    }
    uint32_t view = glb_put_view(p->file, at, mesh->vertices * 12ull, false);
    uint32_t index_view = glb_put_view(p->file, at + mesh->vertices * 12ull, mesh->triangles * 12ull, true);
    m->position = glb_put_positions(p->file, view, (uint32_t)mesh->vertices, min, max);
    m->indices = p->file->accessors;
    for (uint32_t i = 0; i < m->parts; i++) glb_put_indices(p->file, index_view, m->part[i].first * 4ull, false, m->part[i].count);
    return true;
}

/* The last name of a path, cut to some 250 bytes but never inside a character; NULL: it has none. */
static const char *name_of(struct picture *p, const char *name, uint32_t bytes)
{
    if (!bytes || bytes >= sizeof(p->name)) return NULL;
    memcpy(p->name, name, bytes);
    p->name[bytes] = 0;
    visd_model_path_name(p->name, p->last, sizeof(p->last));
    size_t end = strlen(p->last);
    if (end == sizeof(p->last) - 1) {
        while (end && (p->last[end - 1] & 0xc0) == 0x80) end--;
        p->last[end ? end - 1 : 0] = 0;
    }
    return p->last;
}

bool picture_add_group(struct picture *p, const double transform[12], uint32_t flags, const char *name, uint32_t name_bytes)
{
    struct picture_group *rows = visd_grown(p->groups, p->group_count, &p->group_room, sizeof(*rows));
    if (!rows) return false;
    p->groups = rows;
    struct picture_group *g = &rows[p->group_count];
    const char *last = name_of(p, name, name_bytes);
    *g = (struct picture_group){.parent = PICTURE_NONE, .flags = flags, .name = last ? strdup(last) : NULL};
    if (last && !g->name) return false;
    memcpy(g->transform, transform, sizeof(g->transform));
    p->group_count++;
    return true;
}

void picture_set_parent(struct picture *p, uint32_t group, uint32_t parent)
{
    p->groups[group].parent = parent;
}

/* ---- objects ---- */

static uint32_t wires(struct picture *p)
{
    static const float corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    static const uint32_t edges[24] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7};
    static const float min[3] = {0, 0, 0}, max[3] = {1, 1, 1};
    if (p->wires != PICTURE_NONE) return p->wires;
    uint32_t view = glb_put_view(p->file, glb_put_bin(p->file, corners, sizeof(corners)), sizeof(corners), false);
    uint32_t index_view = glb_put_view(p->file, glb_put_bin(p->file, edges, sizeof(edges)), sizeof(edges), true);
    uint32_t position = glb_put_positions(p->file, view, 8, min, max), indices = glb_put_indices(p->file, index_view, 0, false, 24);
    fprintf(p->file->stream[GLB_MESHES], "%s{\"primitives\":[{\"attributes\":{\"POSITION\":%u},\"indices\":%u,\"material\":0,\"mode\":1}]}",
            p->gltf_meshes ? ",\n" : "", position, indices);
    return p->wires = p->gltf_meshes++;
}

static uint32_t shown(struct picture *p, struct picture_mesh *m, uint32_t look)
{
    FILE *out = p->file->stream[GLB_MESHES];
    if (m->gltf[look] != PICTURE_NONE) return m->gltf[look];
    fprintf(out, "%s{\"primitives\":[", p->gltf_meshes ? ",\n" : "");
    for (uint32_t i = 0; i < m->parts; i++) {
        bool both = m->part[i].sides == VISD_SIDES_TWO || (m->part[i].sides == VISD_SIDES_AS_OBJECT && look & BOTH_SIDES);
        fprintf(out, "%s{\"attributes\":{\"POSITION\":%u},\"indices\":%u,\"material\":%d}", i ? "," : "", m->position, m->indices + i,
                (both ? BOTH_SIDES : 0) | (m->part[i].see_through || look & GLASS ? GLASS : 0));
    }
    fputs("]}", out);
    return m->gltf[look] = p->gltf_meshes++;
}

static uint32_t flags_with_groups(const struct picture *p, uint32_t flags, uint32_t group)
{
    for (uint32_t depth = 0; group != PICTURE_NONE && depth < DEPTH_MAX; group = p->groups[group].parent, depth++) flags |= p->groups[group].flags;
    return flags;
}

static bool fits(const double box[6])
{
    for (int k = 0; k < 6; k++)
        if (!(box[k] > -1e30 && box[k] < 1e30)) return false;
    return true;
}

static void write_name(FILE *out, const char *name)
{
    if (!name) return;
    fputs("\"name\":", out);
    glb_write_string(out, name);
}

bool picture_add_object(struct picture *p, uint32_t mesh, uint32_t group, uint32_t flags, const double transform[12], const double box[6],
                        const char *name, uint32_t name_bytes)
{
    static const uint32_t clear = VISD_FLAG_SEE_THROUGH | VISD_FLAG_XRAY | VISD_FLAG_GHOSTED | VISD_FLAG_HELPER;
    FILE *out = p->file->stream[GLB_NODES];
    const char *last = name_of(p, name, name_bytes);
    double m[12];
    uint32_t *parents = visd_grown(p->parents, p->object_count, &p->object_room, sizeof(*parents));
    if (!parents) return false;
    p->parents = parents;
    parents[p->object_count++] = group;
    flags = flags_with_groups(p, flags, group);
    memcpy(m, transform, sizeof(m));
    uint32_t gltf = PICTURE_NONE, look = (flags & VISD_FLAG_DOUBLE_SIDED ? BOTH_SIDES : 0) | (flags & clear ? GLASS : 0);
    bool hidden = flags & VISD_FLAG_HIDDEN;
    if (!hidden && mesh != PICTURE_NONE && p->meshes[mesh].parts) {
        gltf = shown(p, &p->meshes[mesh], look);
    } else if (!hidden && box && fits(box)) {
        const double place[12] = {box[3] - box[0], 0, 0, box[0], 0, box[4] - box[1], 0, box[1], 0, 0, box[5] - box[2], box[2]};
        visd_transform_compose(m, m, place);
        gltf = wires(p);
    }
    fputs(p->group_count + p->object_count > 1 ? ",\n{" : "{", out);
    write_name(out, last);
    if (gltf != PICTURE_NONE) fprintf(out, "%s\"mesh\":%u", last ? "," : "", gltf);
    if (last || gltf != PICTURE_NONE) glb_write_matrix(out, m); /* begins with a comma */
    fputc('}', out);
    return true;
}

/* ---- the document ---- */

/* The nodes below each group, and at the end those below none, one after the other: below[first[g]] up to below[first[g + 1]]. */
static bool sort_children(const struct picture *p, uint32_t **first, uint32_t **below)
{
    uint32_t nodes = p->group_count + p->object_count, roots = p->group_count;
    *first = calloc(p->group_count + 3ull, sizeof(**first));
    *below = malloc((nodes + 1ull) * sizeof(**below));
    if (!*first || !*below) return false;
    uint32_t *count = *first + 2; /* so that after counting and filling, first[g] is where g begins */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < nodes; i++) {
            uint32_t above = i < p->group_count ? p->groups[i].parent : p->parents[i - p->group_count];
            if (above == PICTURE_NONE) above = roots;
            if (pass == 0) count[above]++;
            else (*below)[(*first)[above + 1]++] = i;
        }
        for (uint32_t g = 0; pass == 0 && g < roots; g++) count[g + 1] += count[g];
    }
    return true;
}

static void write_numbers(FILE *out, const char *key, const uint32_t *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i) fputc(',', out);
        else fprintf(out, "\"%s\":[", key);
        fprintf(out, "%u", at[i]);
    }
    if (count) fputc(']', out);
}

bool picture_write(struct picture *p)
{
    FILE *out = p->file->stream[GLB_JSON];
    uint32_t *first = NULL, *below = NULL;
    bool good = sort_children(p, &first, &below);
    if (good) {
        fputs("{\"asset\":{\"version\":\"2.0\",\"generator\":\"visctl\"},\"scene\":0,\"scenes\":[{", out);
        write_numbers(out, "nodes", below + first[p->group_count], first[p->group_count + 1] - first[p->group_count]);
        fputs("}]", out);
        if (p->group_count + p->object_count) fputs(",\n\"nodes\":[\n", out);
        for (uint32_t g = 0; g < p->group_count; g++) {
            const struct picture_group *group = &p->groups[g];
            uint32_t children = first[g + 1] - first[g];
            fputs(g ? ",\n{" : "{", out);
            write_name(out, group->name ? group->name : "");
            glb_write_matrix(out, group->transform);
            if (children) fputc(',', out);
            write_numbers(out, "children", below + first[g], children);
            fputc('}', out);
        }
        glb_write_stream(p->file, GLB_NODES, GLB_JSON);
        if (p->group_count + p->object_count) fputc(']', out);
        if (p->gltf_meshes) {
            fprintf(out, ",\n\"materials\":[%s],\n\"meshes\":[\n", glb_materials);
            glb_write_stream(p->file, GLB_MESHES, GLB_JSON);
            fputc(']', out);
        }
        if (p->file->accessors) {
            fputs(",\n\"accessors\":[\n", out);
            glb_write_stream(p->file, GLB_ACCESSORS, GLB_JSON);
            fputs("],\n\"bufferViews\":[\n", out);
            glb_write_stream(p->file, GLB_VIEWS, GLB_JSON);
            fputc(']', out);
        }
        if (p->file->bin_bytes) fprintf(out, ",\n\"buffers\":[{\"byteLength\":%llu}]", (unsigned long long)p->file->bin_bytes);
        fputc('}', out);
    }
    free(first);
    free(below);
    return good;
}
