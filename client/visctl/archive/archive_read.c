/* Reading an archive; see archive.h. Nothing is believed: first the container, then the digest, then every place that a record names. After
 * open, getters read without checks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/digest.h"
#include "../model/file.h"
#include "../model/glb_container.h"
#include "archive.h"
#include "archive_format.h"

#define FILE_BYTES_MAX UINT32_MAX /* what a GLB's header can say */

struct reading {
    struct visd_archive *to;
    const char *name;
    size_t size;
    const unsigned char *own; /* the chunk */
    size_t own_size, bin_size;
    struct visd_why *why;
};

static enum visd_err damaged(struct reading *r, const char *what)
{
    return visd_why(r->why, VISD_ERR_BAD_VALUE, "%.120s: %s; the file is damaged, or was changed after it was exported", r->name, what);
}

/* ---- the container ---- */

static enum visd_err find_chunks(struct reading *r)
{
    const unsigned char *bytes = r->to->bin = r->to->file; /* a file without data: nothing is read there */
    struct glb_header header = {.length = GLB_HEADER_BYTES};
    struct glb_chunk chunk;
    if (!glb_is(bytes, r->size)) return visd_why(r->why, VISD_ERR_BAD_MESSAGE, "%.120s: not a GLB file, so not an exported scene", r->name);
    if (!glb_header_of(bytes, r->size, &header) || header.length > r->size)
        return visd_why(r->why, VISD_ERR_BAD_VALUE, "%.120s: truncated, it ends at byte %zu of %u", r->name, r->size, header.length);
    if (header.version != 2 || header.length != r->size || r->size % 4) return damaged(r, "its header does not fit its length");
    size_t at = GLB_HEADER_BYTES;
    for (int i = 0; at < r->size; i++) {
        if (!glb_chunk_at(bytes, r->size, &at, &chunk)) return damaged(r, "it ends inside the header of a chunk");
        if (chunk.length > chunk.left || chunk.length % 4) return damaged(r, "a chunk is longer than the file");
        if (i == 1 && chunk.type == GLB_CHUNK_BIN) {
            r->to->bin = chunk.bytes;
            r->bin_size = chunk.length;
        } else if (chunk.type == GLB_CHUNK_VISD) {
            if (chunk.length != chunk.left) return damaged(r, "something follows the scene");
            r->own = chunk.bytes;
            r->own_size = chunk.length;
        }
        at += chunk.length;
    }
    return r->own ? VISD_ERR_OK
                  : visd_why(r->why, VISD_ERR_BAD_MESSAGE, "%.120s: a GLB, but not one that scene export wrote; visctl load reads it", r->name);
}

/* ---- the scene ---- */

static enum visd_err check_digest(struct reading *r)
{
    struct visd_byte_digest digest = {0};
    uint64_t said;
    visd_byte_digest_add(&digest, r->to->file, r->size - sizeof(said));
    memcpy(&said, r->to->file + r->size - sizeof(said), sizeof(said));
    return said == visd_byte_digest_end(&digest) ? VISD_ERR_OK : damaged(r, "its digest is wrong");
}

/* Takes count records of a size from what is left. */
static bool take(const unsigned char **at, size_t *left, uint64_t count, size_t size, const unsigned char **out)
{
    if (count > *left / size) return false;
    *out = *at;
    *at += count * size;
    *left -= count * size;
    return true;
}

static enum visd_err split(struct reading *r)
{
    struct archive_head head;
    struct visd_archive *a = r->to;
    const unsigned char *at = r->own + sizeof(head), *names;
    if (r->own_size < sizeof(head) + ARCHIVE_DIGEST_BYTES) return damaged(r, "its scene is too short");
    memcpy(&head, r->own, sizeof(head));
    size_t left = r->own_size - sizeof(head) - ARCHIVE_DIGEST_BYTES;
    if (memcmp(head.magic, ARCHIVE_MAGIC, sizeof(head.magic)) != 0) return damaged(r, "its scene does not begin as one");
    if (head.version != ARCHIVE_VERSION)
        return visd_why(r->why, VISD_ERR_NOT_SUPPORTED, "%.120s: exported as version %u, this visctl reads %u; use a newer one", r->name, head.version,
                        ARCHIVE_VERSION);
    enum visd_err err = check_digest(r);
    if (err != VISD_ERR_OK) return err;
    if (!take(&at, &left, head.meshes, sizeof(struct archive_mesh), &a->mesh_records) ||
        !take(&at, &left, head.groups, sizeof(struct archive_group), &a->group_records) ||
        !take(&at, &left, head.objects, sizeof(struct archive_object), &a->object_records) || !take(&at, &left, head.name_bytes, 1, &names) || left ||
        !head.name_bytes || names[0])
        return damaged(r, "its counts do not fit its length");
    if (!(head.metres_per_unit > 0 && isfinite(head.metres_per_unit))) return damaged(r, "its unit is no length");
    a->metres_per_unit = head.metres_per_unit;
    a->meshes = head.meshes;
    a->groups = head.groups;
    a->objects = head.objects;
    a->names = (const char *)names;
    return VISD_ERR_OK;
}

#define GIVEN_ALL (VISD_GIVEN_BOX | VISD_GIVEN_COST | VISD_GIVEN_DRAW | VISD_GIVEN_UNBOUNDED)

/* A name lies inside the names, and ends with its only zero. */
static bool name_fits(const struct visd_archive *a, size_t names, uint32_t at, uint32_t bytes)
{
    return at < names && bytes < names - at && strnlen(a->names + at, (size_t)bytes + 1) == bytes;
}

static enum visd_err check_records(struct reading *r)
{
    const struct visd_archive *a = r->to;
    size_t names = (size_t)((const char *)r->own + r->own_size - ARCHIVE_DIGEST_BYTES - a->names);
    for (uint64_t i = 0; i < a->meshes; i++) {
        struct archive_mesh m;
        memcpy(&m, a->mesh_records + i * sizeof(m), sizeof(m));
        uint64_t bytes = (uint64_t)m.vertices * 12 + (uint64_t)m.triangles * 12 + (uint64_t)m.parts * 16;
        if (m.at % 4 || m.at > r->bin_size || bytes > r->bin_size - m.at) return damaged(r, "a mesh lies outside its data");
    }
    for (uint64_t i = 0; i < a->groups; i++) {
        struct archive_group g;
        memcpy(&g, a->group_records + i * sizeof(g), sizeof(g));
        if (!name_fits(a, names, g.name_at, g.name_bytes)) return damaged(r, "the name of a group lies outside the names");
    }
    for (uint64_t i = 0; i < a->objects; i++) {
        struct archive_object o;
        memcpy(&o, a->object_records + i * sizeof(o), sizeof(o));
        if (!name_fits(a, names, o.name_at, o.name_bytes)) return damaged(r, "the name of an object lies outside the names");
        if (o.given & ~(uint32_t)GIVEN_ALL) return damaged(r, "an object was given something that this visctl does not know");
    }
    return VISD_ERR_OK;
}

enum visd_err visd_archive_open_memory(struct visd_archive *out, unsigned char *bytes, size_t size, const char *name, struct visd_why *why)
{
    const char *base = strrchr(name, '/');
    struct reading r = {.to = out, .name = base ? base + 1 : name, .size = size, .why = why};
    *out = (struct visd_archive){.file = bytes};
    enum visd_err err = find_chunks(&r);
    if (err == VISD_ERR_OK) err = split(&r);
    if (err == VISD_ERR_OK) err = check_records(&r);
    if (err != VISD_ERR_OK) visd_archive_close(out);
    return err;
}

enum visd_err visd_archive_open(struct visd_archive *out, const char *path, struct visd_why *why)
{
    unsigned char *bytes;
    size_t size;
    *out = (struct visd_archive){0};
    enum visd_err err = visd_file_read(path, FILE_BYTES_MAX, &bytes, &size, why);
    if (err == VISD_ERR_OK) return visd_archive_open_memory(out, bytes, size, path, why);
    free(bytes);
    return err;
}

void visd_archive_close(struct visd_archive *a)
{
    free(a->file);
    *a = (struct visd_archive){0};
}

/* ---- rows ---- */

void visd_archive_mesh(const struct visd_archive *a, uint64_t number, struct visd_client_mesh *out)
{
    struct archive_mesh m;
    memcpy(&m, a->mesh_records + number * sizeof(m), sizeof(m));
    const unsigned char *at = a->bin + m.at;
    *out = (struct visd_client_mesh){.id = m.id, .vertices = m.vertices, .triangles = m.triangles, .parts = m.parts, .deviation = m.deviation};
    out->positions = (const float *)(const void *)at;
    out->indices = (const uint32_t *)(const void *)(at + m.vertices * 12ull);
    out->part = (const struct visd_client_part *)(const void *)(at + m.vertices * 12ull + m.triangles * 12ull);
}

void visd_archive_group(const struct visd_archive *a, uint64_t number, struct visd_archive_row *out)
{
    struct archive_group g;
    memcpy(&g, a->group_records + number * sizeof(g), sizeof(g));
    *out = (struct visd_archive_row){.id = g.id, .mesh = VISD_NO_ID, .group = g.parent, .flags = g.flags, .name = a->names + g.name_at};
    memcpy(out->transform, g.transform, sizeof(out->transform));
}

void visd_archive_object(const struct visd_archive *a, uint64_t number, struct visd_archive_row *out)
{
    struct archive_object o;
    memcpy(&o, a->object_records + number * sizeof(o), sizeof(o));
    *out = (struct visd_archive_row){.id = o.id, .mesh = o.mesh, .group = o.group, .flags = o.flags, .layers = o.layers, .batch_key = o.batch_key,
        .margin = o.margin, .given = o.given, .cost = o.cost, .name = a->names + o.name_at};
    memcpy(out->transform, o.transform, sizeof(out->transform));
    memcpy(out->box, o.box, sizeof(out->box));
    memcpy(out->draw, o.draw, sizeof(out->draw));
}
