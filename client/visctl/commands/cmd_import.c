/* scene import: an archive into one batch of a daemon's scene: all of it arrives, or nothing.
 *
 * Groups are put twice: first by their ids alone, which fixes their order, then with all that they are, now that every parent is
 * known. What only some objects have (a box of their own, a cost, a draw) is set after they were added, so that the others keep the daemon's
 * defaults, and the order is that of the file. */
#include <stddef.h>
#include <string.h>

#include "../archive/archive.h"
#include "cli.h"
#include "commands.h"
#include "fill.h"

#define ROWS 1024u

struct importing {
    const struct visd_archive *archive;
    struct visd_client *client;
    struct visd_client_batch *batch;
    uint64_t base, done;
    /* Columns of up to ROWS rows. */
    struct visd_archive_row row[ROWS];
    uint64_t ids[ROWS], meshes[ROWS], groups[ROWS];
    double transforms[ROWS * 12], boxes[ROWS * 6], costs[ROWS];
    uint32_t flags[ROWS], layers[ROWS], batch_keys[ROWS], draws[ROWS * 5];
    float margins[ROWS];
    const char *names[ROWS];
};

static uint64_t moved(const struct importing *m, uint64_t id)
{
    return id == VISD_NO_ID ? id : id + m->base;
}

/* False where the base would carry an id past the end of its numbers. */
static bool base_fits(const struct visd_archive *a, uint64_t base)
{
    struct visd_archive_row row;
    struct visd_client_mesh mesh;
    bool fits = true;
    if (base == 0) return true;
    for (uint64_t i = 0; i < a->meshes && fits; i++) visd_archive_mesh(a, i, &mesh), fits = mesh.id < VISD_NO_ID - base;
    for (uint64_t i = 0; i < a->groups && fits; i++) visd_archive_group(a, i, &row), fits = row.id < VISD_NO_ID - base;
    for (uint64_t i = 0; i < a->objects && fits; i++) visd_archive_object(a, i, &row), fits = row.id <= UINT64_MAX - base;
    return fits;
}

static void progress(struct importing *m, uint64_t more)
{
    m->done += more;
    cli_progress("importing", m->done, m->archive->meshes + m->archive->groups + m->archive->objects);
}

static enum visd_err put_meshes(struct importing *m)
{
    enum visd_err err = VISD_ERR_OK;
    for (uint64_t i = 0; i < m->archive->meshes && err == VISD_ERR_OK; i++) {
        struct visd_client_mesh mesh;
        visd_archive_mesh(m->archive, i, &mesh);
        mesh.id += m->base;
        err = visd_client_batch_mesh_put(m->batch, &mesh);
        progress(m, 1);
    }
    return err;
}

/* ---- rows ---- */

/* The next rows, at most ROWS, as columns; how many. */
static size_t fetch(struct importing *m, void (*get)(const struct visd_archive *, uint64_t, struct visd_archive_row *), uint64_t first, uint64_t all)
{
    size_t count = all - first < ROWS ? (size_t)(all - first) : ROWS;
    for (size_t i = 0; i < count; i++) {
        struct visd_archive_row *row = &m->row[i];
        get(m->archive, first + i, row);
        m->ids[i] = row->id + m->base;
        m->meshes[i] = moved(m, row->mesh);
        m->groups[i] = moved(m, row->group);
        m->flags[i] = row->flags;
        m->layers[i] = row->layers;
        m->batch_keys[i] = row->batch_key;
        m->margins[i] = row->margin;
        m->names[i] = row->name;
        memcpy(m->transforms + i * 12, row->transform, sizeof(row->transform));
    }
    return count;
}

static enum visd_err put_groups(struct importing *m)
{
    enum visd_err err = VISD_ERR_OK;
    for (int pass = 0; pass < 2; pass++) {
        visd_client_batch_new_only(m->batch, pass == 0); /* the second pass is about the groups of the first */
        for (uint64_t first = 0, n; first < m->archive->groups && err == VISD_ERR_OK; first += n) {
            struct visd_client_groups groups = {.count = n = fetch(m, visd_archive_group, first, m->archive->groups), .ids = m->ids};
            if (pass == 1) {
                groups.parents = m->groups;
                groups.transforms = m->transforms;
                groups.flags = m->flags;
                groups.names = m->names;
                progress(m, n);
            }
            err = visd_client_batch_group_put(m->batch, &groups);
        }
    }
    return err;
}

/* Of the rows fetched last, those that were given something: their ids, and that field of them as a column. How many. */
static size_t gather(struct importing *m, size_t rows, uint32_t what, size_t field, size_t bytes, void *column)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (!(m->row[i].given & what)) continue;
        memcpy((char *)column + count * bytes, (const char *)&m->row[i] + field, bytes);
        m->ids[count++] = m->row[i].id + m->base;
    }
    return count;
}

#define GATHER(m, rows, what, field, column) gather(m, rows, what, offsetof(struct visd_archive_row, field), sizeof((m)->row->field), column)

static enum visd_err set_given(struct importing *m, size_t rows)
{
    struct visd_client_objects boxed = {.count = GATHER(m, rows, VISD_GIVEN_BOX, box, m->boxes), .ids = m->ids, .boxes = m->boxes};
    enum visd_err err = visd_client_batch_object_set(m->batch, &boxed);
    if (err != VISD_ERR_OK) return err;
    struct visd_client_objects costly = {.count = GATHER(m, rows, VISD_GIVEN_COST, cost, m->costs), .ids = m->ids, .costs = m->costs};
    err = visd_client_batch_object_set(m->batch, &costly);
    if (err != VISD_ERR_OK) return err;
    struct visd_client_objects drawn = {.count = GATHER(m, rows, VISD_GIVEN_DRAW, draw, m->draws), .ids = m->ids, .draws = m->draws};
    return visd_client_batch_object_set(m->batch, &drawn);
}

static enum visd_err put_objects(struct importing *m)
{
    enum visd_err err = VISD_ERR_OK;
    for (uint64_t first = 0, n; first < m->archive->objects && err == VISD_ERR_OK; first += n) {
        n = fetch(m, visd_archive_object, first, m->archive->objects);
        bool keyed = false; /* the daemon keeps no keys where all are 0 */
        for (size_t i = 0; i < n; i++) keyed |= m->batch_keys[i] != 0;
        err = visd_client_batch_object_add(m->batch, &(struct visd_client_objects){
            .count = n, .ids = m->ids, .transforms = m->transforms, .flags = m->flags, .margins = m->margins, .layers = m->layers, .meshes = m->meshes,
            .groups = m->groups, .batch_keys = keyed ? m->batch_keys : NULL, .names = m->names});
        if (err == VISD_ERR_OK) err = set_given(m, n);
        progress(m, n);
    }
    return err;
}

static enum visd_err put_all(struct importing *m, struct fill *fill, struct visd_why *why)
{
    enum visd_err err = fill_batch(m->client, fill, &m->batch);
    if (err == VISD_ERR_OK) err = put_meshes(m);
    if (err == VISD_ERR_OK) err = put_groups(m);
    if (err == VISD_ERR_OK) err = put_objects(m);
    if (err == VISD_ERR_OK) err = fill_commit(fill, m->batch, NULL);
    if (err != VISD_ERR_OK) visd_why(why, err, "%s", visd_client_why(m->client)->text);
    visd_client_batch_destroy(m->batch);
    return err;
}

static int import_archive(struct cli *cli, const struct visd_archive *archive, const char *name, uint64_t base, uint64_t since)
{
    static struct importing importing;
    struct visd_client_scene before, after;
    struct visd_why why;
    struct fill fill;
    if (!fill_begin(cli, name, archive->metres_per_unit, &fill)) return CLI_FAILED;
    before = after = fill.scene;
    importing.archive = archive;
    importing.client = cli->client;
    importing.base = base;
    enum visd_err err = put_all(&importing, &fill, &why);
    if (err == VISD_ERR_OK) visd_client_scene_info(cli->client, fill.scene.scene, &after);
    return fill_end(cli, &fill, err, &why,
                    &(struct fill_totals){archive->objects, archive->meshes, after.triangles - before.triangles, since});
}

int cmd_scene_import(struct cli *cli)
{
    const char *name = cli->operand[0], *path = cli->operand[1];
    uint64_t base = 0, since = cli_now_ns();
    struct visd_archive archive;
    struct visd_why why;
    if (!*name) return cli_misuse(cli, "the scene's name is empty");
    if (!cli_number(cli, "id-base", 0, UINT64_MAX / 2, &base)) return CLI_USAGE;
    cli_progress("reading", 0, 1);
    enum visd_err err = visd_archive_open(&archive, path, &why);
    if (err != VISD_ERR_OK) return cli_fail(cli, "%s; nothing was imported%s", why.text, err == VISD_ERR_BAD_VALUE ? "; fetch the file or export it again" : "");
    cli_progress(NULL, 0, 0);
    int status = base_fits(&archive, base) ? import_archive(cli, &archive, name, base, since)
                                           : cli_fail(cli, "--id-base %llu carries ids of the file past 64 bits; take a lower one; nothing was imported",
                                                      (unsigned long long)base);
    visd_archive_close(&archive);
    return status;
}
