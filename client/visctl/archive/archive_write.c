/* Writing an archive; see archive.h. Records go to a stream as they come; only what the glTF layer needs of meshes and groups is kept.
 *
 * Rows name each other by id. Ids of meshes and groups are looked up in tables that are sorted once, before the first row that needs
 * them. */
#include <stdlib.h>
#include <string.h>

#include "../model/glb_container.h"
#include "../model/grow.h"
#include "archive.h"
#include "archive_format.h"
#include "archive_picture.h"

struct known {
    uint64_t id;
    uint32_t number;
};

struct table {
    struct known *at;
    uint32_t count, room;
    bool sorted;
};

struct visd_archive_writer {
    struct glb_file file;
    struct picture picture;
    struct archive_head head;
    struct table meshes, groups;
    uint64_t *parents; /* of groups: ids */
    uint32_t parents_room;
    FILE *names;   /* the spare stream */
    bool resolved; /* all groups are in, and know their parents */
};

/* ---- tables ---- */

static bool table_add(struct table *t, uint64_t id)
{
    struct known *rows = visd_grown(t->at, t->count, &t->room, sizeof(*rows));
    if (!rows) return false;
    t->at = rows;
    rows[t->count] = (struct known){.id = id, .number = t->count};
    t->count++;
    return true;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct known *)a)->id, y = ((const struct known *)b)->id;
    return (x > y) - (x < y);
}

static const struct known *table_find(struct table *t, uint64_t id)
{
    struct known key = {.id = id};
    if (!t->sorted && t->count) qsort(t->at, t->count, sizeof(*t->at), by_id);
    t->sorted = true;
    return t->count ? bsearch(&key, t->at, t->count, sizeof(*t->at), by_id) : NULL;
}

static enum visd_err stranger(struct visd_archive_writer *w, const char *what, uint64_t id, const char *of, uint64_t whose, struct visd_why *why)
{
    return visd_why(why, VISD_ERR_BAD_VALUE, "%.200s: %s %llu has the %s %llu, which the scene has not; the file was not written", w->file.path, of,
                    (unsigned long long)whose, what, (unsigned long long)id);
}

/* ---- the file ---- */

enum visd_err visd_archive_create(struct visd_archive_writer **out, const char *path, double metres_per_unit, struct visd_why *why)
{
    struct visd_archive_writer *w = calloc(1, sizeof(*w));
    *out = NULL;
    if (!w) return visd_why_memory(why, "the file");
    picture_init(&w->picture, &w->file);
    w->head = (struct archive_head){.magic = ARCHIVE_MAGIC, .version = ARCHIVE_VERSION, .metres_per_unit = metres_per_unit};
    enum visd_err err = glb_file_open(&w->file, path, why);
    if (err != VISD_ERR_OK) {
        visd_archive_destroy(w);
        return err;
    }
    w->names = w->file.stream[GLB_SPARE];
    fwrite(&w->head, sizeof(w->head), 1, w->file.stream[GLB_MORE]); /* its place: the counts follow at the end */
    fputc(0, w->names); /* the empty name */
    w->head.name_bytes = 1;
    *out = w;
    return VISD_ERR_OK;
}

void visd_archive_destroy(struct visd_archive_writer *w)
{
    if (!w) return;
    picture_finish(&w->picture);
    glb_file_close(&w->file);
    free(w->meshes.at);
    free(w->groups.at);
    free(w->parents);
    free(w);
}

static void put_record(struct visd_archive_writer *w, const void *record, size_t bytes)
{
    fwrite(record, bytes, 1, w->file.stream[GLB_MORE]);
}

/* The name of a page's row, put behind the others. */
static const char *put_name(struct visd_archive_writer *w, const struct visd_client_page *page, size_t row, uint32_t *at, uint32_t *bytes)
{
    const char *name = page->names + page->name_offsets[row];
    *bytes = page->name_offsets[row + 1] - page->name_offsets[row];
    *at = 0;
    if (*bytes) {
        *at = (uint32_t)w->head.name_bytes; /* past 4 GiB the file is refused at its end */
        fwrite(name, 1, *bytes, w->names);
        fputc(0, w->names);
        w->head.name_bytes += *bytes + 1;
    }
    return name;
}

enum visd_err visd_archive_put_mesh(struct visd_archive_writer *w, const struct visd_client_mesh *mesh, struct visd_why *why)
{
    struct archive_mesh record = {.id = mesh->id, .at = w->file.bin_bytes, .vertices = (uint32_t)mesh->vertices, .triangles = (uint32_t)mesh->triangles,
        .parts = (uint32_t)mesh->parts, .deviation = mesh->deviation};
    if (!table_add(&w->meshes, mesh->id)) return visd_why_memory(why, "meshes");
    glb_put_bin(&w->file, mesh->positions, mesh->vertices * 12);
    glb_put_bin(&w->file, mesh->indices, mesh->triangles * 12);
    glb_put_bin(&w->file, mesh->part, record.parts * sizeof(*mesh->part));
    put_record(w, &record, sizeof(record));
    w->head.meshes++;
    if (!picture_add_mesh(&w->picture, mesh, record.at)) return visd_why_memory(why, "meshes");
    return glb_file_good(&w->file) ? VISD_ERR_OK : glb_file_fault(&w->file, why);
}

enum visd_err visd_archive_put_groups(struct visd_archive_writer *w, const struct visd_client_page *page, struct visd_why *why)
{
    for (size_t i = 0; i < page->count; i++) {
        struct archive_group record = {.id = page->ids[i], .parent = page->parents[i], .flags = page->flags[i]};
        const char *name = put_name(w, page, i, &record.name_at, &record.name_bytes);
        memcpy(record.transform, page->transforms + i * 12, sizeof(record.transform));
        put_record(w, &record, sizeof(record));
        uint64_t *parents = visd_grown(w->parents, w->groups.count, &w->parents_room, sizeof(*parents));
        if (!parents) return visd_why_memory(why, "groups");
        w->parents = parents;
        parents[w->groups.count] = record.parent;
        if (!table_add(&w->groups, record.id) || !picture_add_group(&w->picture, record.transform, record.flags, name, record.name_bytes))
            return visd_why_memory(why, "groups");
        w->head.groups++;
    }
    return glb_file_good(&w->file) ? VISD_ERR_OK : glb_file_fault(&w->file, why);
}

/* Groups may come before their parents; once all are in, each is told who is above it. */
static enum visd_err resolve(struct visd_archive_writer *w, struct visd_why *why)
{
    for (uint32_t i = 0; i < w->groups.count && !w->resolved; i++) {
        const struct known *parent = w->parents[i] == VISD_NO_ID ? NULL : table_find(&w->groups, w->parents[i]);
        if (!parent && w->parents[i] != VISD_NO_ID) return stranger(w, "parent", w->parents[i], "group number", i, why);
        picture_set_parent(&w->picture, i, parent ? parent->number : PICTURE_NONE);
    }
    w->resolved = true;
    return VISD_ERR_OK;
}

static enum visd_err put_object(struct visd_archive_writer *w, const struct visd_client_page *page, size_t i, struct visd_why *why)
{
    const struct known *mesh = page->meshes[i] == VISD_NO_ID ? NULL : table_find(&w->meshes, page->meshes[i]);
    const struct known *group = page->groups[i] == VISD_NO_ID ? NULL : table_find(&w->groups, page->groups[i]);
    struct archive_object record = {.id = page->ids[i], .mesh = page->meshes[i], .group = page->groups[i], .flags = page->flags[i],
        .layers = page->layers[i], .batch_key = page->batch_keys[i], .margin = page->margins[i], .given = page->given[i]};
    if (!mesh && record.mesh != VISD_NO_ID) return stranger(w, "mesh", record.mesh, "object", record.id, why);
    if (!group && record.group != VISD_NO_ID) return stranger(w, "group", record.group, "object", record.id, why);
    memcpy(record.transform, page->transforms + i * 12, sizeof(record.transform));
    if (record.given & VISD_GIVEN_BOX) memcpy(record.box, page->boxes + i * 6, sizeof(record.box));
    if (record.given & VISD_GIVEN_COST) record.cost = page->costs[i];
    if (record.given & VISD_GIVEN_DRAW) memcpy(record.draw, page->draws + i * 5, sizeof(record.draw));
    if (!(record.given & VISD_GIVEN_UNBOUNDED)) record.flags &= ~(uint32_t)VISD_FLAG_UNBOUNDED;
    const char *name = put_name(w, page, i, &record.name_at, &record.name_bytes);
    put_record(w, &record, sizeof(record));
    w->head.objects++;
    return picture_add_object(&w->picture, mesh ? mesh->number : PICTURE_NONE, group ? group->number : PICTURE_NONE, record.flags, record.transform,
                              record.given & VISD_GIVEN_BOX ? record.box : NULL, name, record.name_bytes)
               ? VISD_ERR_OK
               : visd_why_memory(why, "objects");
}

enum visd_err visd_archive_put_objects(struct visd_archive_writer *w, const struct visd_client_page *page, struct visd_why *why)
{
    enum visd_err err = resolve(w, why);
    for (size_t i = 0; i < page->count && err == VISD_ERR_OK; i++) err = put_object(w, page, i, why);
    return err != VISD_ERR_OK || glb_file_good(&w->file) ? err : glb_file_fault(&w->file, why);
}

enum visd_err visd_archive_finish(struct visd_archive_writer *w, struct visd_why *why)
{
    enum visd_err err = resolve(w, why);
    if (err != VISD_ERR_OK) return err;
    if (!picture_write(&w->picture)) return visd_why_memory(why, "the file");
    for (; w->head.name_bytes % 8; w->head.name_bytes++) fputc(0, w->names);
    glb_write_stream(&w->file, GLB_SPARE, GLB_MORE);
    bool good = fseeko(w->file.stream[GLB_MORE], 0, SEEK_SET) == 0;
    put_record(w, &w->head, sizeof(w->head));
    return good ? glb_file_finish(&w->file, GLB_CHUNK_VISD, why) : glb_file_fault(&w->file, why);
}
