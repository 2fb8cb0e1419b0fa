/* See fill.h. */
#include "fill.h"

#include <string.h>

static bool make_scene(struct cli *cli, const char *name, double metres_per_unit, struct visd_client_scene *out)
{
    if (visd_client_scene_create(cli->client, name, metres_per_unit, true, out) == VISD_ERR_OK) return true;
    cli_fail_client(cli, "making the scene");
    return false;
}

/* The highest id of the scene's meshes or groups. The daemon refuses an object whose id is taken; a mesh or a group it would replace. */
static bool highest(struct cli *cli, const struct visd_client_scene *scene, bool groups, bool *any, uint64_t *id)
{
    struct visd_client_page page = {0};
    uint32_t first = 0;
    do {
        enum visd_err err = groups ? visd_client_group_page(cli->client, scene->scene, first, 0, 0, &page)
                                   : visd_client_mesh_page(cli->client, scene->scene, first, 0, &page);
        if (err != VISD_ERR_OK) {
            cli_fail_client(cli, "looking for ids that are taken");
            return false;
        }
        for (size_t i = 0; i < page.count; i++) {
            if (!*any || page.ids[i] > *id) *id = page.ids[i];
            *any = true;
        }
        first = page.next;
        visd_client_page_finish(&page);
    } while (first);
    return true;
}

static bool base_is_free(struct cli *cli, const struct visd_client_scene *scene, uint64_t base)
{
    uint64_t id = 0;
    bool any = false;
    if ((scene->groups && !highest(cli, scene, true, &any, &id)) || (scene->meshes && !highest(cli, scene, false, &any, &id))) return false;
    if (!any || id < base) return true;
    cli_fail(cli, "--id-base %llu: scene \"%s\" has meshes or groups with ids up to %llu, which would be replaced; give a number above that; the scene is as it was",
             (unsigned long long)base, scene->name, (unsigned long long)id);
    return false;
}

bool fill_begin(struct cli *cli, const char *name, double metres_per_unit, uint64_t id_base, struct fill *out)
{
    struct visd_client_scene *scene = &out->scene;
    *out = (struct fill){0};
    if (!cli_connect(cli)) return false;
    enum visd_err err = visd_client_scene_find(cli->client, name, scene);
    if (err == VISD_ERR_NOT_FOUND) {
        out->made = true;
        return make_scene(cli, name, metres_per_unit, scene);
    }
    if (err != VISD_ERR_OK) {
        cli_fail_client(cli, "looking for the scene");
        return false;
    }
    if ((scene->objects || scene->groups || scene->meshes) && !cli_flag(cli, "id-base"))
        cli_fail(cli, "scene \"%s\" is not empty, and ids might clash; give --id-base N above the ids in it, or take another scene", name);
    else if (metres_per_unit != 0 && metres_per_unit != scene->metres_per_unit)
        cli_fail(cli, "a unit is %g m in the file, and %g m in scene \"%s\"; take another scene", metres_per_unit, scene->metres_per_unit, name);
    else
        return !(scene->groups || scene->meshes) || base_is_free(cli, scene, id_base);
    return false;
}

enum visd_err fill_commit(struct fill *fill, struct visd_client_batch *batch, struct visd_client_committed *out)
{
    enum visd_err err = VISD_ERR_OK;
    fill->unanswered = true;
    for (int tries = 0; tries < 3 && fill->unanswered; tries++) {
        err = visd_client_batch_commit(batch, out);
        fill->unanswered = err == VISD_ERR_TIMEOUT || err == VISD_ERR_DISCONNECTED;
    }
    return err;
}

void fill_print(const char *key, const char *name, const struct fill_totals *totals)
{
    printf("{\"%s\": ", key);
    cli_put_string(stdout, name, strlen(name));
    printf(", \"objects\": %llu, \"meshes\": %llu, \"triangles\": %llu, \"seconds\": %.3f}\n", (unsigned long long)totals->objects,
           (unsigned long long)totals->meshes, (unsigned long long)totals->triangles, (double)(cli_now_ns() - totals->since_ns) / 1e9);
}

int fill_end(struct cli *cli, const struct fill *fill, enum visd_err err, const struct visd_why *why, const struct fill_totals *totals)
{
    cli_progress(NULL, 0, 0);
    if (fill->unanswered) /* a scene that was made for it stays: all of it may be in there */
        return cli_fail(cli, "%s; whether it was applied is not known: visctl scene info \"%s\" shows what the scene holds", why->text, fill->scene.name);
    if (err != VISD_ERR_OK) {
        int status = cli_fail(cli, "%s; the scene is as it was", why->text);
        if (fill->made) visd_client_scene_remove(cli->client, fill->scene.scene);
        return status;
    }
    fill_print("scene", fill->scene.name, totals);
    return CLI_DONE;
}
