/* See fill.h. */
#include "fill.h"

#include <string.h>

bool fill_begin(struct cli *cli, const char *name, double metres_per_unit, struct fill *out)
{
    struct visd_client_scene *scene = &out->scene;
    *out = (struct fill){0};
    if (!cli_connect(cli)) return false;
    enum visd_err err = visd_client_scene_find(cli->client, name, scene);
    if (err == VISD_ERR_NOT_FOUND) {
        /* Not one that somebody else has made since: on a failure ours is removed. */
        out->made = visd_client_scene_create(cli->client, name, metres_per_unit, false, scene) == VISD_ERR_OK;
        if (!out->made) cli_fail_client(cli, "making the scene");
        return out->made;
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

enum visd_err fill_batch(struct visd_client *client, const struct fill *fill, struct visd_client_batch **out)
{
    enum visd_err err = visd_client_batch_create(out, client, fill->scene.scene);
    if (err == VISD_ERR_OK) visd_client_batch_new_only(*out, true);
    return err;
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
        /* What another program has put into the scene that we made is not ours to remove. */
        bool stays = fill->made && visd_client_scene_remove_at(cli->client, fill->scene.scene, fill->scene.revision) == VISD_ERR_CONFLICT;
        return cli_fail(cli, stays ? "%s; scene \"%s\" stays, for another program has put something into it" : "%s; the scene is as it was", why->text,
                        fill->scene.name);
    }
    fill_print("scene", fill->scene.name, totals);
    return CLI_DONE;
}
