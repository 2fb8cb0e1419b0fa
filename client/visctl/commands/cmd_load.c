/* load and generate: both tell a scene to a sink, and end with the same line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../camera/cameras.h"
#include "../export/glb.h"
#include "../generate/generate.h"
#include "cli.h"
#include "commands.h"
#include "daemon_sink.h"
#include "fill.h"
#include "load_file.h"

static void show_progress(void *context, uint64_t done, uint64_t all)
{
    cli_progress(context, done, all);
}

static int end_sink(struct cli *cli, const struct fill *fill, struct visd_sink *sink, enum visd_err err, uint64_t since_ns, const struct visd_why *why)
{
    struct daemon_sink_totals told = {0};
    if (sink) told = daemon_sink_totals(sink);
    daemon_sink_destroy(sink);
    struct fill_totals totals = {.objects = told.objects, .meshes = told.meshes, .triangles = told.triangles, .since_ns = since_ns};
    return fill_end(cli, fill, err, why, &totals);
}

int cmd_load(struct cli *cli)
{
    const char *file = cli->operand[0], *name = cli_text(cli, "scene");
    uint64_t id_base = 0, since = cli_now_ns();
    struct visd_why why = {{0}};
    struct visd_model model;
    struct fill fill;
    if (!name || !*name) return cli_misuse(cli, "--scene is missing: the name of the scene to load into");
    if (!cli_number(cli, "id-base", 0, UINT64_MAX / 2, &id_base)) return CLI_USAGE;

    visd_model_init(&model);
    int status = load_file(cli, file, &model);
    if (status != CLI_DONE) return status;

    status = CLI_FAILED;
    if (fill_begin(cli, name, 0, &fill)) {
        struct visd_sink *sink = NULL;
        enum visd_err err = daemon_sink_create(&sink, cli->client, &fill, id_base, &why);
        if (err == VISD_ERR_OK) err = visd_model_send(&model, sink, id_base, show_progress, "loading", &why);
        status = end_sink(cli, &fill, sink, err, since, &why);
    }
    visd_model_finish(&model);
    return status;
}

/* ---- generate ---- */

/* Counts what a file is told, on the way into it. */
struct counting_sink {
    struct visd_sink sink, *to;
    uint64_t objects, meshes, triangles;
    uint32_t mesh_triangles[256];
};

static enum visd_err count_mesh(struct visd_sink *sink, const struct visd_model_mesh *mesh, struct visd_why *why)
{
    struct counting_sink *s = (struct counting_sink *)sink;
    if (s->meshes < 256) s->mesh_triangles[s->meshes] = mesh->index_count / 3;
    s->meshes++;
    return s->to->ops->mesh(s->to, mesh, why);
}

static enum visd_err count_group(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why)
{
    struct counting_sink *s = (struct counting_sink *)sink;
    return s->to->ops->group(s->to, group, why);
}

static enum visd_err count_object(struct visd_sink *sink, const struct visd_model_object *object, struct visd_why *why)
{
    struct counting_sink *s = (struct counting_sink *)sink;
    s->objects++;
    if (object->mesh < 256) s->triangles += s->mesh_triangles[object->mesh];
    return s->to->ops->object(s->to, object, why);
}

static enum visd_err count_finish(struct visd_sink *sink, struct visd_why *why)
{
    struct counting_sink *s = (struct counting_sink *)sink;
    return s->to->ops->finish(s->to, why);
}

static const struct visd_sink_ops counting_ops = {count_mesh, count_group, count_object, count_finish};

static int generate_file(struct cli *cli, const struct visd_generate_params *params, const char *path, uint64_t since)
{
    struct counting_sink counting = {.sink.ops = &counting_ops};
    struct visd_why why = {{0}};
    enum visd_err err = visd_glb_create(&counting.to, path, &why);
    if (err == VISD_ERR_OK) err = visd_generate(params, &counting.sink, &why);
    visd_glb_destroy(counting.to);
    cli_progress(NULL, 0, 0);
    if (err != VISD_ERR_OK) return cli_fail(cli, "%s", why.text);
    fill_print("file", path, &(struct fill_totals){counting.objects, counting.meshes, counting.triangles, since});
    return CLI_DONE;
}

static int generate_scene(struct cli *cli, const struct visd_generate_params *params, const char *name, uint64_t since)
{
    struct visd_sink *sink = NULL;
    struct visd_why why = {{0}};
    struct fill fill;
    if (!fill_begin(cli, name, 0, &fill)) return CLI_FAILED;
    enum visd_err err = daemon_sink_create(&sink, cli->client, &fill, params->id_base, &why);
    if (err == VISD_ERR_OK) err = visd_generate(params, sink, &why);
    return end_sink(cli, &fill, sink, err, since, &why);
}

static int write_cameras(struct cli *cli, const struct visd_generate_params *params, const char *path, FILE *file, size_t count, uint32_t width,
                         uint32_t height)
{
    struct visd_client_camera *cameras = NULL;
    struct visd_why why = {{0}};
    int status = CLI_DONE;
    if (ftruncate(fileno(file), 0) != 0 && errno != EINVAL) status = cli_fail(cli, "%s: %s", path, strerror(errno)); /* EINVAL: a pipe or a device */
    else if (visd_generate_cameras(params, width, height, &count, &cameras, &why) != VISD_ERR_OK) status = cli_fail(cli, "%s", why.text);
    for (size_t i = 0; i < count && status == CLI_DONE; i++)
        if (visd_camera_write(file, &cameras[i], &why) != VISD_ERR_OK) status = cli_fail(cli, "%s: %s", path, why.text);
    if (fclose(file) != 0 && status == CLI_DONE) status = cli_fail(cli, "%s: %s", path, strerror(errno));
    free(cameras);
    return status;
}

int cmd_generate(struct cli *cli)
{
    const char *scene = cli_text(cli, "scene"), *out = cli_text(cli, "out"), *cameras_out = cli_text(cli, "cameras-out");
    uint64_t since = cli_now_ns(), count = 0;
    uint32_t width = 960, height = 540;
    struct visd_generate_params params = {.kind = cli->operand[0], .seed = 1, .progress = show_progress, .context = "generating"};
    const struct visd_generate_kind *kind = visd_generate_kinds();
    while (kind->name && strcmp(kind->name, params.kind) != 0) kind++;
    if (!kind->name) return cli_misuse(cli, "there is no kind \"%s\": office, city, mall, random, grid, curtain", params.kind);
    if (scene && out) return cli_misuse(cli, "--scene and --out exclude each other");
    if (!scene && !out && !cameras_out) return cli_misuse(cli, "one of --scene, --out and --cameras-out is needed");
    if (!cli_number(cli, "seed", 0, UINT64_MAX, &params.seed) || !cli_number(cli, "id-base", 0, UINT64_MAX / 2, &params.id_base) ||
        !cli_number(cli, "objects", 1, UINT32_MAX, &params.objects) || !cli_number(cli, "cameras", 1, VISD_CAMERAS_MAX, &count) ||
        !cli_real(cli, "share", 0.001, 100, &params.share) || !cli_size(cli, &width, &height))
        return CLI_USAGE;
    if (params.share > 0 && strcmp(params.kind, "curtain") != 0) return cli_misuse(cli, "--share is for the curtain");
    if (out && cli_flag(cli, "id-base")) return cli_misuse(cli, "--id-base is for --scene: a file's ids begin at 0");

    /* Opened first: a path that cannot be written is found before a scene is made. What was there stays until there is something to write. */
    FILE *flight = cameras_out ? fopen(cameras_out, "axe") : NULL;
    bool made = flight != NULL;
    if (cameras_out && !made && errno == EEXIST) flight = fopen(cameras_out, "ae");
    if (cameras_out && !flight) return cli_fail(cli, "%s: %s; nothing was generated", cameras_out, strerror(errno));
    int status = CLI_DONE;
    if (out) status = generate_file(cli, &params, out, since);
    if (scene) status = generate_scene(cli, &params, scene, since);
    if (flight && status == CLI_DONE)
        status = write_cameras(cli, &params, cameras_out, flight, count, width, height);
    else if (flight)
        fclose(flight);
    if (made && status != CLI_DONE) unlink(cameras_out);
    return status;
}
