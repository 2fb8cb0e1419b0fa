/* See scene_read.h. */
#include "scene_read.h"

#include "../bench/scene_hash.h"

static int read_meshes(struct cli *cli, const struct visd_client_scene *scene, struct visd_scene_hash *hash)
{
    struct visd_client_page page;
    uint32_t first = 0;
    int status = CLI_DONE;
    do {
        if (visd_client_mesh_page(cli->client, scene->scene, first, 0, &page) != VISD_ERR_OK) return cli_fail_client(cli, "listing meshes");
        for (size_t i = 0; i < page.count && status == CLI_DONE; i++) {
            struct visd_client_mesh_copy copy;
            if (visd_client_mesh_get(cli->client, scene->scene, page.ids[i], &copy) != VISD_ERR_OK)
                status = cli_fail_client(cli, "fetching a mesh");
            else if (!visd_scene_hash_mesh(hash, &copy.mesh))
                status = cli_fail(cli, "out of memory for the scene's meshes");
            visd_client_mesh_finish(&copy);
        }
        first = page.next;
        visd_client_page_finish(&page);
    } while (first && status == CLI_DONE);
    return status;
}

int scene_read(struct cli *cli, const struct visd_client_scene *scene, uint64_t *out, struct visd_frustum_loop *loop)
{
    struct visd_scene_hash hash = {0};
    struct visd_client_page page;
    uint32_t first = 0;
    uint64_t done = 0;
    int status = read_meshes(cli, scene, &hash);
    while (status == CLI_DONE) {
        if (visd_client_object_page(cli->client, scene->scene, first, 0, VISD_COLUMN_WORLD_BOXES, &page) != VISD_ERR_OK) {
            status = cli_fail_client(cli, "listing objects");
            break;
        }
        if (page.revision != scene->revision)
            status = cli_fail(cli, "scene \"%s\" was changed while it was read; try again when nobody changes it", scene->name);
        visd_scene_hash_objects(&hash, &page);
        for (size_t i = 0; loop && i < page.count && status == CLI_DONE; i++)
            if (!visd_frustum_loop_add(loop, page.world_boxes + i * 6)) status = cli_fail(cli, "out of memory for the boxes of %zu objects", loop->count);
        done += page.count;
        first = page.next;
        visd_client_page_finish(&page);
        cli_progress("reading the scene", done, scene->objects);
        if (!first) break;
    }
    cli_progress(NULL, 0, 0);
    if (status == CLI_DONE && loop && !visd_frustum_loop_ready(loop)) status = cli_fail(cli, "out of memory for the list of %zu objects", loop->count);
    *out = visd_scene_hash_end(&hash);
    visd_scene_hash_finish(&hash);
    return status;
}
