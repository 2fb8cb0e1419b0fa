/* See fill.h. */
#include "fill.h"

#include <string.h>

static bool make_scene(struct cli *cli, const char *name, double metres_per_unit, struct visd_client_scene *out)
{
    if (visd_client_scene_create(cli->client, name, metres_per_unit, true, out) == VISD_ERR_OK) return true;
    cli_fail_client(cli, "making the scene");
    return false;
}

bool fill_begin(struct cli *cli, const char *name, double metres_per_unit, struct fill *out)
{
    struct visd_client_scene *scene = &out->scene;
    out->made = false;
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
        return true;
    return false;
}

enum visd_err fill_commit(struct visd_client_batch *batch, struct visd_client_committed *out)
{
    enum visd_err err = VISD_ERR_TIMEOUT;
    for (int tries = 0; tries < 3 && (err == VISD_ERR_TIMEOUT || err == VISD_ERR_DISCONNECTED); tries++) err = visd_client_batch_commit(batch, out);
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
    if (err != VISD_ERR_OK) {
        int status = cli_fail(cli, "%s; the scene is as it was", why->text);
        if (fill->made) visd_client_scene_remove(cli->client, fill->scene.scene);
        return status;
    }
    fill_print("scene", fill->scene.name, totals);
    return CLI_DONE;
}
