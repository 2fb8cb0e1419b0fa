/* bench flight: flies cameras through a scene, and says what culling saved, how late the answers came and where the time went.
 *
 * Latency is taken from plain frames only, and so is the time of each pass, by device timestamps. Every 30th camera is asked
 * a second time for what costs extra: the samples of all that is in the frustum (for the depth complexity) and, on lavapipe,
 * whose timestamps are not times, the passes: each is submitted alone and timed by the clock on the wall. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../bench/point.h"
#include "../bench/spread.h"
#include "../camera/cameras.h"
#include "../camera/tour.h"
#include "cli.h"
#include "commands.h"
#include "scene_read.h"
#include "shots.h"

#define EVERY 30u

struct flight {
    const char *scene;
    uint64_t objects, hash;
    int method;
    size_t frames, plain, timed, degraded;
    struct visd_spread latency_ms; /* of plain frames */
    uint64_t in_frustum, listed, triangles_in_frustum, triangles_listed, over_budget;
    uint64_t samples_all, pixels_covered;
    uint64_t pass_ns[VISD_PASSES];
    size_t telling;         /* the frame for pictures: much is seen in it, and much hidden */
    double most;
    bool wall;
};

static void count_passes(struct flight *f, const struct visd_client_counts *c)
{
    const uint64_t ns[VISD_PASSES] = {c->frustum_ns, c->select_ns, c->depth_ns, c->pyramid_ns, c->test_ns, c->mark_ns, c->compact_ns};
    f->timed++;
    for (int p = 0; p < VISD_PASSES; p++) f->pass_ns[p] += ns[p];
}

static bool count_plain(struct flight *f, size_t i, const struct visd_client_result *r)
{
    const struct visd_client_counts *c = &r->counts;
    if (!visd_spread_add(&f->latency_ms, (double)(r->times.arrived - r->times.sent) / 1e6)) return false;
    f->plain++;
    if (r->all || r->degraded) f->degraded++;
    if (!r->has_counts) return true;
    f->in_frustum += c->in_frustum;
    f->listed += c->listed;
    f->triangles_in_frustum += c->triangles_in_frustum;
    f->triangles_listed += c->triangles_listed;
    f->over_budget += c->over_budget;
    if (!f->wall) count_passes(f, c);
    double score = (double)c->occluded * (double)c->listed * (double)c->listed;
    if (score > f->most) {
        f->most = score;
        f->telling = i;
    }
    return true;
}

static void count_probe(struct flight *f, const struct visd_client_result *r)
{
    const struct visd_client_counts *c = &r->counts;
    if (!r->has_counts) return;
    f->samples_all += c->samples_all;
    f->pixels_covered += c->pixels_covered;
    if (f->wall) count_passes(f, c);
}

static int fly(struct cli *cli, struct flight *f, struct visd_client_view *view, const struct visd_client_camera *cameras, size_t count)
{
    struct visd_client_frame frame;
    struct visd_client_result result;
    for (size_t i = 0; i < count; i++) {
        for (int probe = 0; probe < (i % EVERY == (count < EVERY ? count : EVERY) / 2 ? 2 : 1); probe++) {
            visd_client_frame_init(&frame, view);
            frame.camera = cameras[i];
            if (probe) frame.want = VISD_GET_IDS | VISD_GET_STATS | VISD_GET_COVERAGE | (f->wall ? VISD_GET_PROFILE : 0);
            if (visd_client_cull(cli->client, &frame, &result) != VISD_ERR_OK) return cli_fail_client(cli, "flying");
            if (result.err != VISD_ERR_OK) return cli_fail(cli, "camera %zu: %s", i, result.text ? result.text : "refused");
            if (probe)
                count_probe(f, &result);
            else if (!count_plain(f, i, &result))
                return cli_fail(cli, "out of memory for %zu frames", count);
        }
        f->frames++;
        cli_progress("flying", i + 1, count);
    }
    cli_progress(NULL, 0, 0);
    return CLI_DONE;
}

static void print_json(struct flight *f, const char *device)
{
    printf("{\"bench\": \"flight\", \"scene\": ");
    cli_put_string(stdout, f->scene, strlen(f->scene));
    printf(", \"scene_hash\": \"%016llx\", \"device\": ", (unsigned long long)f->hash);
    cli_put_string(stdout, device, strlen(device));
    printf(", \"method\": \"%s\", \"frames\": %zu, \"objects\": %llu, \"in_frustum\": %.1f, \"listed\": %.1f, "
           "\"triangles_saved\": %.4f, \"depth_complexity\": %.3f, "
           "\"p50_ms\": %.3f, \"p95_ms\": %.3f, \"p99_ms\": %.3f, \"degraded\": %zu, \"pass_times\": \"%s\", \"pass_ms\": {",
           visd_client_method_name(f->method), f->frames, (unsigned long long)f->objects, cli_ratio(f->in_frustum, f->plain), cli_ratio(f->listed, f->plain),
           1 - cli_ratio(f->triangles_listed, f->triangles_in_frustum), cli_ratio(f->samples_all, f->pixels_covered), visd_spread_at(&f->latency_ms, 0.5), visd_spread_at(&f->latency_ms, 0.95),
           visd_spread_at(&f->latency_ms, 0.99), f->degraded, f->wall ? "wall" : "device");
    for (int p = 0; p < VISD_PASSES; p++) printf("%s\"%s\": %.3f", p ? ", " : "", visd_pass_names[p], cli_ratio(f->pass_ns[p], f->timed) / 1e6);
    puts("}}");
}

static void print_table(struct flight *f, const char *device)
{
    printf("%s, %zu frames, method %s, on %s\n", f->scene, f->frames, visd_client_method_name(f->method), device);
    printf("  objects                 %12llu   scene %016llx\n", (unsigned long long)f->objects, (unsigned long long)f->hash);
    printf("  in the frustum          %12.0f   a frame\n", cli_ratio(f->in_frustum, f->plain));
    printf("  listed                  %12.0f   a frame\n", cli_ratio(f->listed, f->plain));
    printf("  triangles saved         %11.1f%%   of those in the frustum\n",
           f->triangles_in_frustum ? 100 - 100 * cli_ratio(f->triangles_listed, f->triangles_in_frustum) : 0);
    printf("  depth complexity        %12.1f   samples of all in the frustum, a covered pixel\n", cli_ratio(f->samples_all, f->pixels_covered));
    printf("  camera to answer, ms    %12.2f   p50\n", visd_spread_at(&f->latency_ms, 0.5));
    printf("                          %12.2f   p95\n", visd_spread_at(&f->latency_ms, 0.95));
    printf("                          %12.2f   p99\n", visd_spread_at(&f->latency_ms, 0.99));
    for (int p = 0; p < VISD_PASSES; p++)
        printf("  %-23s %12.3f   ms%s\n", visd_pass_names[p], cli_ratio(f->pass_ns[p], f->timed) / 1e6,
               p ? "" : f->wall ? ", each pass alone, by wall clock" : ", by device timestamps");
    if (f->degraded) printf("  degraded                %12zu   frames were answered with less than was asked for\n", f->degraded);
}

static int write_pictures(struct cli *cli, const struct flight *f, struct visd_client_view *view, uint32_t scene, const struct visd_client_camera *camera,
                          const char *folder)
{
    static const char *const names[] = {"depth", "pyramid", "ids", "boxes"};
    struct shot shot = {0};
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cli_fail(cli, "%s: %s", folder, strerror(errno));
    int status = shot_take(cli, view, scene, camera, &shot);
    for (int what = 0; what < 4 && status == CLI_DONE; what++) {
        char path[1024];
        cli_progress("pictures", (uint64_t)what, 4);
        if (snprintf(path, sizeof(path), "%s/%s-%s.png", folder, f->scene, names[what]) >= (int)sizeof(path))
            status = cli_fail(cli, "%s: the name is too long", folder);
        if (status == CLI_DONE) status = shot_write(cli, &shot, what, path);
        if (status == CLI_DONE && !cli->json) {
            cli_progress(NULL, 0, 0);
            printf("  picture                 %s\n", path);
        }
    }
    shot_finish(&shot);
    return status;
}

/* The cameras of --cameras, or a tour of the scene's box. */
static int get_cameras(struct cli *cli, const struct visd_client_scene *scene, struct visd_client_camera **out, size_t *count)
{
    const char *file = cli_text(cli, "cameras");
    uint32_t width = 960, height = 540;
    uint64_t wanted = 300;
    struct visd_why why = {{0}};
    if (file) return visd_cameras_read(file, out, count, &why) == VISD_ERR_OK ? CLI_DONE : cli_fail(cli, "%s", why.text);
    if (!cli_number(cli, "count", 1, VISD_CAMERAS_MAX, &wanted) || !cli_size(cli, &width, &height)) return CLI_USAGE;
    if (!scene->has_bounds) return cli_fail(cli, "scene \"%s\" has no bounds to fly round; give --cameras", scene->name);
    *count = (size_t)wanted;
    *out = malloc(*count * sizeof(**out));
    if (!*out) return cli_fail(cli, "out of memory for cameras");
    visd_camera_tour(*out, *count, scene->min, scene->max, width, height);
    return CLI_DONE;
}

int cmd_bench_flight(struct cli *cli)
{
    const char *folder = cli_text(cli, "pictures");
    struct visd_client_view_options options;
    struct visd_client_camera *cameras = NULL;
    struct visd_client_view *view = NULL;
    struct visd_client_scene scene;
    struct flight f = {0};
    size_t count = 0;
    if (!cli_method(cli, &f.method)) return CLI_USAGE;
    if (!cli_find_scene(cli, cli->operand[0], &scene)) return CLI_FAILED;
    int status = get_cameras(cli, &scene, &cameras, &count);
    if (status != CLI_DONE) return status;
    const char *device = visd_client_about(cli->client)->device;
    f.scene = scene.name;
    f.objects = scene.objects;
    f.wall = cli_software_device(device);
    visd_client_view_options_init(&options);
    options.method = f.method;
    options.name = "visctl bench flight";
    status = scene_read(cli, &scene, &f.hash, NULL);
    if (status == CLI_DONE && visd_client_view_open(cli->client, scene.scene, &options, &view) != VISD_ERR_OK)
        status = cli_fail_client(cli, "opening a view");
    if (status == CLI_DONE) status = fly(cli, &f, view, cameras, count);
    if (status == CLI_DONE) (cli->json ? print_json : print_table)(&f, device);
    if (status == CLI_DONE && folder) status = write_pictures(cli, &f, view, scene.scene, &cameras[f.telling], folder);
    visd_client_view_close(view);
    visd_spread_finish(&f.latency_ms);
    free(cameras);
    return status;
}
