/* snapshot: one camera, one picture. */
#include <stdlib.h>
#include <string.h>

#include "../camera/cameras.h"
#include "cli.h"
#include "commands.h"
#include "shots.h"

int cmd_snapshot(struct cli *cli)
{
    static const char *const names[] = {"depth", "pyramid", "ids", "boxes"};
    const char *file = cli_text(cli, "camera"), *out = cli_text(cli, "out"), *name = cli_text(cli, "what");
    struct visd_client_view_options options;
    struct visd_client_camera *cameras = NULL;
    struct visd_client_view *view = NULL;
    struct visd_client_scene scene;
    struct visd_why why = {{0}};
    struct shot shot = {0};
    uint64_t frame = 0;
    size_t count = 0;
    int what = 0, method;
    if (!file || !out) return cli_misuse(cli, "--camera and --out are needed");
    while (name && what < 4 && strcmp(name, names[what]) != 0) what++;
    if (what == 4) return cli_misuse(cli, "--what must be depth, pyramid, ids or boxes, not \"%s\"", name);
    if (!cli_method(cli, &method) || !cli_number(cli, "frame", 0, VISD_CAMERAS_MAX, &frame)) return CLI_USAGE;
    if (method == VISD_CULL_FRUSTUM && what < 2) return cli_misuse(cli, "method frustum makes no depth; take --method hiz, or --what ids or boxes");
    if (visd_cameras_read(file, &cameras, &count, &why) != VISD_ERR_OK) return cli_fail(cli, "%s", why.text);

    int status = CLI_FAILED;
    visd_client_view_options_init(&options);
    options.method = method;
    options.name = "visctl snapshot";
    if (frame >= count) {
        cli_fail(cli, "%s has %zu cameras, and there is no number %llu; --frame takes 0 to %zu", file, count, (unsigned long long)frame, count - 1);
    } else if (cli_find_scene(cli, cli->operand[0], &scene)) {
        if (visd_client_view_open(cli->client, scene.scene, &options, &view) != VISD_ERR_OK)
            cli_fail_client(cli, "opening a view");
        else if ((status = shot_take(cli, view, scene.scene, &cameras[frame], &shot)) == CLI_DONE)
            status = shot_write(cli, &shot, what, out);
        if (status == CLI_DONE && cli->json) {
            printf("{\"picture\": ");
            cli_put_string(stdout, out, strlen(out));
            printf(", \"listed\": %zu}\n", shot.listed_count);
        }
    }
    shot_finish(&shot);
    visd_client_view_close(view);
    free(cameras);
    return status;
}
