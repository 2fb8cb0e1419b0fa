/* scene export: the daemon's rows and meshes, page by page, into an archive.
 *
 * Pages and meshes are read one after the other, and others may change the scene meanwhile. Every page says which revision it
 * belongs to: only when all agree has one revision been read. Else it is read again. */
#include <string.h>

#include "../archive/archive.h"
#include "cli.h"
#include "commands.h"
#include "fill.h"

#define TRIES 5

enum outcome { READ_WHOLE, CHANGED, FAILED }; /* FAILED: the user has been told */

struct exporting {
    struct cli *cli;
    struct visd_client_scene scene;
    struct visd_archive_writer *writer;
    uint64_t done;
};

static enum outcome told(struct exporting *e, const struct visd_why *why)
{
    cli_fail(e->cli, "%s", why->text);
    return FAILED;
}

/* Something could not be read: because it is gone, with the revision that it belonged to? */
static enum outcome unread(struct exporting *e, enum visd_err err, const char *doing)
{
    struct visd_client_failure why = *visd_client_why(e->cli->client);
    struct visd_client_scene now;
    if (err == VISD_ERR_NOT_FOUND && visd_client_scene_info(e->cli->client, e->scene.scene, &now) == VISD_ERR_OK && now.revision != e->scene.revision)
        return CHANGED;
    cli_fail(e->cli, "%s: %s; the file was not written", doing, why.text);
    return FAILED;
}

static void progress(struct exporting *e, uint64_t more)
{
    e->done += more;
    cli_progress("exporting", e->done, e->scene.meshes + e->scene.groups + e->scene.objects);
}

static enum outcome put_mesh(struct exporting *e, uint64_t id)
{
    struct visd_client_mesh_copy copy;
    struct visd_why why;
    enum visd_err err = visd_client_mesh_get(e->cli->client, e->scene.scene, id, &copy);
    if (err != VISD_ERR_OK) return unread(e, err, "reading a mesh");
    err = visd_archive_put_mesh(e->writer, &copy.mesh, &why);
    visd_client_mesh_finish(&copy);
    progress(e, 1);
    return err == VISD_ERR_OK ? READ_WHOLE : told(e, &why);
}

static enum outcome put_meshes(struct exporting *e, const struct visd_client_page *page)
{
    enum outcome outcome = READ_WHOLE;
    for (size_t i = 0; i < page->count && outcome == READ_WHOLE; i++) outcome = put_mesh(e, page->ids[i]);
    return outcome;
}

static enum outcome put_groups(struct exporting *e, const struct visd_client_page *page)
{
    struct visd_why why;
    progress(e, page->count);
    return visd_archive_put_groups(e->writer, page, &why) == VISD_ERR_OK ? READ_WHOLE : told(e, &why);
}

static enum outcome put_objects(struct exporting *e, const struct visd_client_page *page)
{
    struct visd_why why;
    progress(e, page->count);
    return visd_archive_put_objects(e->writer, page, &why) == VISD_ERR_OK ? READ_WHOLE : told(e, &why);
}

static enum visd_err mesh_page(struct visd_client *c, uint32_t scene, uint32_t first, uint32_t count, uint32_t columns, struct visd_client_page *out)
{
    (void)columns; /* meshes have no optional ones */
    return visd_client_mesh_page(c, scene, first, count, out);
}

static const struct listing {
    const char *doing;
    enum visd_err (*read)(struct visd_client *, uint32_t scene, uint32_t first, uint32_t count, uint32_t columns, struct visd_client_page *);
    uint32_t columns;
    enum outcome (*put)(struct exporting *, const struct visd_client_page *);
} listings[] = {
    {"listing meshes", mesh_page, 0, put_meshes},
    {"listing groups", visd_client_group_page, VISD_ARCHIVE_GROUP_COLUMNS, put_groups},
    {"listing objects", visd_client_object_page, VISD_ARCHIVE_OBJECT_COLUMNS, put_objects},
};

static enum outcome read_listing(struct exporting *e, const struct listing *listing)
{
    uint32_t first = 0;
    enum outcome outcome = READ_WHOLE;
    do {
        struct visd_client_page page;
        enum visd_err err = listing->read(e->cli->client, e->scene.scene, first, 0, listing->columns, &page);
        if (err != VISD_ERR_OK) return unread(e, err, listing->doing);
        first = page.next;
        outcome = page.revision == e->scene.revision ? listing->put(e, &page) : CHANGED;
        visd_client_page_finish(&page);
    } while (first && outcome == READ_WHOLE);
    return outcome;
}

/* In the order of the table: the pages of groups and objects, read after the meshes, speak for the meshes too. */
static enum outcome read_scene(struct exporting *e)
{
    enum outcome outcome = READ_WHOLE;
    for (size_t i = 0; i < sizeof(listings) / sizeof(*listings) && outcome == READ_WHOLE; i++) outcome = read_listing(e, &listings[i]);
    return outcome;
}

static enum outcome try_once(struct exporting *e, const char *name, const char *path)
{
    struct visd_why why;
    e->done = 0;
    if (!cli_find_scene(e->cli, name, &e->scene)) return FAILED;
    if (visd_archive_create(&e->writer, path, e->scene.metres_per_unit, &why) != VISD_ERR_OK) return told(e, &why);
    enum outcome outcome = read_scene(e);
    if (outcome == READ_WHOLE && visd_archive_finish(e->writer, &why) != VISD_ERR_OK) outcome = told(e, &why);
    visd_archive_destroy(e->writer);
    cli_progress(NULL, 0, 0);
    return outcome;
}

int cmd_scene_export(struct cli *cli)
{
    const char *name = cli->operand[0], *path = cli_text(cli, "out");
    struct exporting e = {.cli = cli};
    uint64_t since = cli_now_ns();
    if (!path || !*path) return cli_misuse(cli, "--out is missing: the file to write");
    if (strcmp(path, "-") == 0) return cli_misuse(cli, "--out must be a file: it appears under its name only when it is whole");
    enum outcome outcome = CHANGED;
    for (int i = 0; i < TRIES && outcome == CHANGED; i++) outcome = try_once(&e, name, path);
    if (outcome == FAILED) return CLI_FAILED;
    if (outcome == CHANGED)
        return cli_fail(cli, "scene \"%s\" changed each of the %d times that it was read; stop who changes it, and try again; the file was not written",
                        name, TRIES);
    fill_print("file", path, &(struct fill_totals){e.scene.objects, e.scene.meshes, e.scene.triangles, since});
    return CLI_DONE;
}
