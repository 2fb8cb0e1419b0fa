/* Meshes and their materials: primitives of any mode become the parts of one triangle mesh.
 *
 * Only vertices that something draws are kept: exporters often let many meshes share one large vertex buffer, and a box round all
 * of it would be far too wide. Points and lines keep their vertices, so that the box covers them, and
 * give no triangles, so that they occlude nothing. Neighbouring parts that look alike become one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draco.h"
#include "gltf_document.h"
#include "proto/limits.h"

enum { MODE_TRIANGLES = 4, MODE_STRIP = 5, MODE_FAN = 6 };

enum visd_err gltf_material(struct gltf_document *d, uint32_t material, struct gltf_surface *out)
{
    *out = (struct gltf_surface){.sides = VISD_MODEL_SIDES_SINGLE};
    if (material == VISD_MODEL_NONE) return VISD_ERR_OK;
    const json_t *object = gltf_at(d, GLTF_MATERIALS, material), *transmission;
    struct gltf_place place = gltf_place("materials[%u]", material);
    bool double_sided = false;
    const char *alpha = "OPAQUE";
    double transmitted = 0;
    enum visd_err err = gltf_get_bool(d, place.text, object, "doubleSided", &double_sided);
    if (err == VISD_ERR_OK) err = gltf_get_string(d, place.text, object, "alphaMode", &alpha);
    if (err == VISD_ERR_OK) err = gltf_get_extension(d, place.text, object, "KHR_materials_transmission", &transmission);
    if (err == VISD_ERR_OK) err = gltf_get_number(d, place.text, transmission, "transmissionFactor", &transmitted);
    if (err != VISD_ERR_OK) return err;
    bool blend = strcmp(alpha, "BLEND") == 0, mask = strcmp(alpha, "MASK") == 0;
    if (!blend && !mask && strcmp(alpha, "OPAQUE") != 0)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "alphaMode \"%.20s\" is none of glTF's", alpha);
    if (double_sided) out->sides = VISD_MODEL_SIDES_DOUBLE;
    out->see_through = blend || mask || transmitted > 0;
    return VISD_ERR_OK;
}

/* The surface of a primitive. Which of its variants a client shows is not known: it takes what hides least. */
static enum visd_err surface(struct gltf_document *d, const char *place, const json_t *primitive, struct gltf_surface *out)
{
    uint32_t material = VISD_MODEL_NONE;
    const json_t *variants, *mappings = NULL;
    enum visd_err err = gltf_get_index(d, place, primitive, "material", GLTF_MATERIALS, &material);
    if (err == VISD_ERR_OK) err = gltf_material(d, material, out);
    if (err == VISD_ERR_OK) err = gltf_get_extension(d, place, primitive, "KHR_materials_variants", &variants);
    if (err == VISD_ERR_OK) err = gltf_get_array(d, place, variants, "mappings", &mappings);
    for (size_t i = 0; i < json_array_size(mappings) && err == VISD_ERR_OK; i++) {
        struct gltf_surface other;
        uint32_t number = VISD_MODEL_NONE;
        err = gltf_get_index(d, place, json_array_get(mappings, i), "material", GLTF_MATERIALS, &number);
        if (err == VISD_ERR_OK) err = gltf_material(d, number, &other);
        if (err != VISD_ERR_OK) break;
        out->see_through |= other.see_through;
        if (out->sides != other.sides) out->sides = VISD_MODEL_SIDES_UNKNOWN;
    }
    return err;
}

/* One primitive's vertices as they stand in the file, or as Draco unpacked them. */
struct primitive {
    struct gltf_accessor positions, indices;
    bool indexed;
    struct visd_draco_mesh packed;
    bool is_packed;
    uint32_t mode, vertices, corners;
};

struct builder {
    struct visd_model_mesh mesh;
    uint32_t vertex_room, index_room, part_room;
};

static bool room_for(void **rows, uint32_t *room, uint64_t wanted, size_t row_bytes)
{
    if (wanted <= *room) return true;
    uint64_t more = *room + (uint64_t)*room / 2;
    if (more < 64) more = 64;
    if (more < wanted) more = wanted;
    if (more > UINT32_MAX) return false;
    void *moved = realloc(*rows, more * row_bytes);
    if (!moved) return false;
    *rows = moved;
    *room = (uint32_t)more;
    return true;
}

static uint32_t corner(const struct primitive *p, uint32_t i)
{
    return p->is_packed ? p->packed.indices[i] : p->indexed ? gltf_accessor_index(&p->indices, i) : i;
}

static void position(const struct primitive *p, uint32_t vertex, float out[3])
{
    if (p->is_packed)
        memcpy(out, p->packed.positions + (size_t)vertex * 3, 3 * sizeof(float));
    else
        gltf_accessor_floats(&p->positions, vertex, out);
}

static enum visd_err open_packed(struct gltf_document *d, const char *place, const json_t *draco, struct primitive *p)
{
    const unsigned char *at;
    size_t size, stride;
    uint32_t view = VISD_MODEL_NONE;
    uint64_t id = UINT64_MAX;
    const json_t *attributes;
    char what[160];
    enum visd_err err = gltf_get_index(d, place, draco, "bufferView", GLTF_VIEWS, &view);
    if (err == VISD_ERR_OK) err = gltf_get_object(d, place, draco, "attributes", &attributes);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place, attributes, "POSITION", UINT32_MAX, &id);
    if (err != VISD_ERR_OK) return err;
    if (view == VISD_MODEL_NONE || id == UINT64_MAX)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "KHR_draco_mesh_compression lacks its bufferView or attributes.POSITION");
    if (p->mode != MODE_TRIANGLES && p->mode != MODE_STRIP)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "KHR_draco_mesh_compression does not allow mode %u", p->mode);
    if ((err = gltf_view(d, view, &at, &size, &stride)) != VISD_ERR_OK) return err;
    if (!visd_draco_decode(&p->packed, at, size, (uint32_t)id, p->positions.normalized, VISD_MAX_MESH_VERTICES, VISD_MAX_MESH_TRIANGLES, what,
                           sizeof(what)))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "Draco: %s", what);
    p->is_packed = true;
    p->mode = MODE_TRIANGLES; /* Draco gives a list of triangles, whatever it was made from */
    if (p->packed.vertices != p->vertices || (p->indexed && p->packed.index_count != p->corners))
        visd_model_warn(d->model, "%s: Draco holds %u vertices and %u indices, the accessors say %u and %u; Draco's are taken", place,
                        p->packed.vertices, p->packed.index_count, p->vertices, p->corners);
    p->vertices = p->packed.vertices;
    p->corners = p->packed.index_count;
    return VISD_ERR_OK;
}

/* An accessor whose data Draco replaces still says its type, but has no bytes that count. */
static enum visd_err open_described(struct gltf_document *d, struct gltf_accessor *a, uint32_t number)
{
    const json_t *object = gltf_at(d, GLTF_ACCESSORS, number);
    struct gltf_place place = gltf_place("accessors[%u]", number);
    uint64_t count = 0;
    enum visd_err err = gltf_get_uint(d, place.text, object, "count", UINT32_MAX - 1, &count);
    if (err == VISD_ERR_OK) err = gltf_get_bool(d, place.text, object, "normalized", &a->normalized);
    a->count = (uint32_t)count;
    return err;
}

static enum visd_err open_primitive(struct gltf_document *d, const char *place, const json_t *primitive, struct primitive *p)
{
    const json_t *attributes, *draco;
    uint32_t positions = VISD_MODEL_NONE, indices = VISD_MODEL_NONE;
    uint64_t mode = MODE_TRIANGLES;
    enum visd_err err = gltf_get_object(d, place, primitive, "attributes", &attributes);
    if (err == VISD_ERR_OK) err = gltf_get_index(d, place, attributes, "POSITION", GLTF_ACCESSORS, &positions);
    if (err == VISD_ERR_OK) err = gltf_get_index(d, place, primitive, "indices", GLTF_ACCESSORS, &indices);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place, primitive, "mode", MODE_FAN, &mode);
    if (err == VISD_ERR_OK) err = gltf_get_extension(d, place, primitive, "KHR_draco_mesh_compression", &draco);
    if (err != VISD_ERR_OK) return err;
    p->mode = (uint32_t)mode;
    if (positions == VISD_MODEL_NONE) { /* glTF allows it, and nothing can be drawn */
        visd_model_warn(d->model, "%s has no POSITION: it draws nothing", place);
        return VISD_ERR_OK;
    }
    p->indexed = indices != VISD_MODEL_NONE;
    if (draco) {
        err = open_described(d, &p->positions, positions);
        if (err == VISD_ERR_OK && p->indexed) err = open_described(d, &p->indices, indices);
        p->vertices = p->positions.count;
        p->corners = p->indices.count;
        return err == VISD_ERR_OK ? open_packed(d, place, draco, p) : err;
    }
    if ((err = gltf_accessor_open(d, &p->positions, positions)) != VISD_ERR_OK) return err;
    if (p->positions.components != 3 || p->positions.component_type == 5125)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "POSITION (accessors[%u]) must be VEC3 of floats, bytes or shorts", positions);
    p->vertices = p->corners = p->positions.count;
    if (!p->indexed) return VISD_ERR_OK;
    if ((err = gltf_accessor_open(d, &p->indices, indices)) != VISD_ERR_OK) return err;
    if (!gltf_accessor_is_index(&p->indices))
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "indices (accessors[%u]) must be SCALAR of unsigned bytes, shorts or ints", indices);
    p->corners = p->indices.count;
    return VISD_ERR_OK;
}

static void close_primitive(struct gltf_document *d, struct primitive *p)
{
    if (p->is_packed) {
        free(p->packed.positions);
        free(p->packed.indices);
        return;
    }
    gltf_accessor_close(d, &p->positions);
    gltf_accessor_close(d, &p->indices);
}

/* Appends the vertices that the primitive's corners name, in the order of first use. numbers[i - low] becomes the new
 * number of its vertex i. */
static enum visd_err add_vertices(struct gltf_document *d, const char *place, struct builder *b, const struct primitive *p, uint32_t low,
                                  uint32_t *numbers)
{
    struct visd_model_mesh *mesh = &b->mesh;
    for (uint32_t i = 0; i < p->corners; i++) {
        uint32_t vertex = corner(p, i);
        if (numbers[vertex - low] != UINT32_MAX) continue;
        if (mesh->vertices == VISD_MAX_MESH_VERTICES)
            return gltf_refuse(d, VISD_ERR_TOO_BIG, place, "more than %d vertices in one mesh; split it", VISD_MAX_MESH_VERTICES);
        if (!room_for((void **)&mesh->positions, &b->vertex_room, mesh->vertices + 1ull, 3 * sizeof(float))) return visd_why_memory(d->why, "a mesh");
        float *at = mesh->positions + (size_t)mesh->vertices * 3;
        position(p, vertex, at);
        if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
            return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "the position of vertex %u is not finite", vertex);
        numbers[vertex - low] = mesh->vertices++;
    }
    return VISD_ERR_OK;
}

static enum visd_err add_triangles(struct gltf_document *d, const char *place, struct builder *b, const struct primitive *p, uint32_t low,
                                   const uint32_t *numbers, const struct gltf_surface *look)
{
    struct visd_model_mesh *mesh = &b->mesh;
    uint32_t triangles = p->mode == MODE_TRIANGLES ? p->corners / 3 : p->corners < 3 ? 0 : p->corners - 2, first = mesh->index_count;
    if (triangles > VISD_MAX_MESH_TRIANGLES - mesh->index_count / 3)
        return gltf_refuse(d, VISD_ERR_TOO_BIG, place, "more than %d triangles in one mesh; split it", VISD_MAX_MESH_TRIANGLES);
    if (!room_for((void **)&mesh->indices, &b->index_room, mesh->index_count + triangles * 3ull, sizeof(uint32_t)))
        return visd_why_memory(d->why, "a mesh");
    for (uint32_t t = 0; t < triangles; t++) {
        uint32_t c[3];
        if (p->mode == MODE_TRIANGLES) {
            c[0] = t * 3, c[1] = t * 3 + 1, c[2] = t * 3 + 2;
        } else if (p->mode == MODE_STRIP) {
            c[0] = t, c[1] = t + 1 + t % 2, c[2] = t + 2 - t % 2;
        } else {
            c[0] = t + 1, c[1] = t + 2, c[2] = 0;
        }
        for (int k = 0; k < 3; k++) c[k] = numbers[corner(p, c[k]) - low];
        /* Strips are joined by triangles without an area, which draw nothing. */
        if (p->mode == MODE_STRIP && (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])) continue;
        memcpy(mesh->indices + mesh->index_count, c, sizeof(c));
        mesh->index_count += 3;
    }
    uint32_t count = mesh->index_count - first;
    if (count == 0) return VISD_ERR_OK;
    struct visd_model_part *last = mesh->part_count ? &mesh->parts[mesh->part_count - 1] : NULL;
    if (last && last->sides == look->sides && last->see_through == look->see_through) {
        last->count += count;
        return VISD_ERR_OK;
    }
    if (mesh->part_count == VISD_MAX_MESH_PARTS)
        return gltf_refuse(d, VISD_ERR_TOO_BIG, place, "more than %d parts in one mesh; split it", VISD_MAX_MESH_PARTS);
    if (!room_for((void **)&mesh->parts, &b->part_room, mesh->part_count + 1ull, sizeof(*mesh->parts))) return visd_why_memory(d->why, "a mesh");
    mesh->parts[mesh->part_count++] = (struct visd_model_part){first, count, look->sides, look->see_through};
    return VISD_ERR_OK;
}

static enum visd_err add_primitive(struct gltf_document *d, const char *place, struct builder *b, const struct primitive *p,
                                   const struct gltf_surface *look)
{
    if (p->corners > 3u * VISD_MAX_MESH_TRIANGLES)
        return gltf_refuse(d, VISD_ERR_TOO_BIG, place, "more than %d triangles in one mesh; split it", VISD_MAX_MESH_TRIANGLES);
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < p->corners; i++) {
        uint32_t vertex = corner(p, i);
        if (vertex >= p->vertices)
            return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "index %u is %u, but there are %u vertices", i, vertex, p->vertices);
        if (vertex < low) low = vertex;
        if (vertex > high) high = vertex;
    }
    if (p->corners == 0) return VISD_ERR_OK;
    uint64_t bytes = ((uint64_t)high - low + 1) * sizeof(uint32_t);
    enum visd_err err = gltf_charge(d, place, bytes);
    if (err != VISD_ERR_OK) return err;
    uint32_t *numbers = malloc(bytes);
    if (!numbers) {
        err = visd_why_memory(d->why, "a mesh");
    } else {
        memset(numbers, 0xff, bytes);
        err = add_vertices(d, place, b, p, low, numbers);
        if (err == VISD_ERR_OK && p->mode >= MODE_TRIANGLES) err = add_triangles(d, place, b, p, low, numbers, look);
        if (p->mode == MODE_TRIANGLES && p->corners % 3)
            visd_model_warn(d->model, "%s: %u vertices left over after the last whole triangle; they are not drawn", place, p->corners % 3);
        free(numbers);
    }
    gltf_release(d, bytes);
    return err;
}

/* Takes the built mesh into the model, and says what became of it. */
static enum visd_err finish_mesh(struct gltf_document *d, const char *place, struct builder *b, struct gltf_mesh *out)
{
    struct visd_model_mesh *mesh = &b->mesh;
    visd_model_mesh_box(mesh);
    for (int k = 0; k < 3; k++) {
        out->min[k] = mesh->vertices ? mesh->min[k] : 0;
        out->max[k] = mesh->vertices ? mesh->max[k] : 0;
    }
    out->see_through = mesh->part_count > 0;
    for (uint32_t i = 0; i < mesh->part_count; i++) out->see_through &= mesh->parts[i].see_through == 1;
    out->read = true;
    if (!mesh->vertices) visd_model_warn(d->model, "%s draws nothing", place);
    if (!mesh->index_count) return VISD_ERR_OK;
    enum visd_err err = gltf_charge(d, place, mesh->vertices * 12ull + mesh->index_count * 4ull);
    if (err != VISD_ERR_OK) return err;
    out->mesh = d->model->mesh_count;
    return visd_model_take_mesh(d->model, mesh, d->why);
}

enum visd_err gltf_mesh_read(struct gltf_document *d, uint32_t number, struct gltf_mesh *out)
{
    const json_t *object = gltf_at(d, GLTF_MESHES, number), *primitives;
    struct gltf_place where = gltf_place("meshes[%u]", number);
    struct builder b = {0};
    *out = (struct gltf_mesh){.mesh = VISD_MODEL_NONE};
    enum visd_err err = gltf_get_array(d, where.text, object, "primitives", &primitives);
    if (err != VISD_ERR_OK) return err;
    if (!json_array_size(primitives)) return gltf_refuse(d, VISD_ERR_BAD_VALUE, where.text, "has no primitives");
    for (size_t i = 0; i < json_array_size(primitives) && err == VISD_ERR_OK; i++) {
        const json_t *primitive = json_array_get(primitives, i), *targets;
        struct gltf_place place = gltf_place("%s.primitives[%zu]", where.text, i);
        struct gltf_surface look;
        struct primitive p = {0};
        if (!json_is_object(primitive)) {
            err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "must be an object");
            break;
        }
        err = surface(d, place.text, primitive, &look);
        if (err == VISD_ERR_OK) err = gltf_get_array(d, place.text, primitive, "targets", &targets);
        if (err == VISD_ERR_OK) err = open_primitive(d, place.text, primitive, &p);
        if (err == VISD_ERR_OK) {
            out->morphs |= json_array_size(targets) > 0;
            out->thin |= p.mode < MODE_TRIANGLES && p.corners;
            err = add_primitive(d, place.text, &b, &p, &look);
        }
        close_primitive(d, &p);
    }
    if (err == VISD_ERR_OK) err = finish_mesh(d, where.text, &b, out);
    visd_model_mesh_free(&b.mesh);
    return err;
}
