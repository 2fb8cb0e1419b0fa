/* See scale.h. Peers fly the same stretches of the path in turn, each with a view and a connection of its own: histories do not mix,
 * and the daemon counts each one's bytes. Not camera by camera: a device that waits for the others would lower its clocks. */
#include "scale.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench/frustum_loop.h"
#include "../bench/spread.h"
#include "../generate/generate.h"
#include "daemon_sink.h"
#include "fill.h"
#include "interrupt.h"
#include "scene_read.h"

#define LEAST_FRAMES 4u
#define WARM_NS 500000000u /* clocks of a graphics card rise that slowly */
#define WARM_FRAMES 100u
#define STRETCHES 6u /* of the path, evenly spread: where there is no time for all of it, all kinds of places are seen */

struct scale_scene {
    struct visd_bench_point about; /* what and the way in; the rest is zero */
    struct visd_client_scene scene;
    struct visd_frustum_loop loop;
    double device_before; /* bytes on the device, before it was there, and the view that flies through it */
    double share;
};

/* ---- the scene ---- */

static double stat_of(struct cli *cli, const char *name)
{
    struct visd_client_number *numbers = NULL;
    size_t count = 0;
    double value = 0;
    if (visd_client_ping(cli->client, &(struct visd_client_pong){0}) != VISD_ERR_OK || visd_client_stats(cli->client, &numbers, &count) != VISD_ERR_OK) return 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(numbers[i].name, name) == 0) value = numbers[i].value;
    visd_client_free(numbers);
    return value;
}

static void bytes_of(struct cli *cli, const struct visd_client *client, double *in, double *out)
{
    struct visd_client_peer *peers = NULL;
    size_t count = 0;
    *in = *out = 0;
    if (visd_client_peers(cli->client, &peers, &count) != VISD_ERR_OK) return;
    for (size_t i = 0; i < count; i++)
        if (peers[i].has_id && memcmp(peers[i].id, visd_client_about(client)->id, sizeof(peers[i].id)) == 0)
            *in += (double)peers[i].bytes_in, *out += (double)peers[i].bytes_out;
    visd_client_free(peers);
}

/* Passes everything on, until the user interrupts. */
struct stopping_sink {
    struct visd_sink sink, *to;
};

static enum visd_err stop_mesh(struct visd_sink *sink, const struct visd_model_mesh *mesh, struct visd_why *why)
{
    struct visd_sink *to = ((struct stopping_sink *)sink)->to;
    return to->ops->mesh(to, mesh, why);
}

static enum visd_err stop_group(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why)
{
    struct visd_sink *to = ((struct stopping_sink *)sink)->to;
    return to->ops->group(to, group, why);
}

static enum visd_err stop_object(struct visd_sink *sink, const struct visd_model_object *object, struct visd_why *why)
{
    struct visd_sink *to = ((struct stopping_sink *)sink)->to;
    return interrupt_came() ? visd_why(why, VISD_ERR_BUSY, "interrupted") : to->ops->object(to, object, why);
}

static enum visd_err stop_finish(struct visd_sink *sink, struct visd_why *why)
{
    struct visd_sink *to = ((struct stopping_sink *)sink)->to;
    return to->ops->finish(to, why);
}

static const struct visd_sink_ops stopping_ops = {stop_mesh, stop_group, stop_object, stop_finish};

static void show_progress(void *context, uint64_t done, uint64_t all)
{
    cli_progress(context, done, all);
}

static int fill_scene(struct cli *cli, const struct scale_plan *plan, struct scale_scene *s)
{
    struct visd_generate_params params = {.kind = s->about.kind, .seed = plan->seed, .objects = s->about.objects, .share = s->share,
                                          .progress = show_progress, .context = "generating"};
    struct stopping_sink stopping = {.sink.ops = &stopping_ops};
    struct visd_why why = {{0}};
    struct fill fill;
    char name[64];
    double before, after, sent;
    snprintf(name, sizeof(name), "bench-scale-%d", (int)getpid());
    bytes_of(cli, cli->client, &before, &sent);
    uint64_t since = cli_now_ns();
    if (!fill_begin(cli, name, 0, &fill)) return CLI_FAILED;
    enum visd_err err = daemon_sink_create(&stopping.to, cli->client, &fill, 0, &why);
    if (err == VISD_ERR_OK) err = visd_generate(&params, &stopping.sink, &why);
    daemon_sink_destroy(stopping.to);
    if (err != VISD_ERR_OK) return fill_end(cli, &fill, err, &why, &(struct fill_totals){0});
    s->about.load_seconds = (double)(cli_now_ns() - since) / 1e9;
    cli_progress(NULL, 0, 0);
    s->scene = fill.scene;
    bytes_of(cli, cli->client, &after, &sent);
    if (visd_client_scene_info(cli->client, fill.scene.scene, &s->scene) != VISD_ERR_OK) return cli_fail_client(cli, "looking at the scene");
    s->about.triangles = s->scene.triangles;
    s->about.wire_bytes = (after - before) / (double)s->about.objects;
    s->about.host_bytes = (double)s->scene.bytes_host / (double)s->about.objects;
    return scene_read(cli, &s->scene, &s->about.hash, &s->loop);
}

int scale_scene_make(struct cli *cli, const struct scale_plan *plan, const char *kind, uint64_t objects, double share, struct scale_scene **out)
{
    struct scale_scene *s = calloc(1, sizeof(*s));
    *out = NULL;
    if (!s) return cli_fail(cli, "out of memory");
    s->about = (struct visd_bench_point){.kind = kind, .seed = plan->seed, .objects = objects, .share = share};
    s->share = share;
    s->scene.scene = UINT32_MAX;
    s->device_before = stat_of(cli, "device_bytes") + plan->view_bytes;
    int status = fill_scene(cli, plan, s);
    if (status == CLI_DONE)
        *out = s;
    else
        scale_scene_remove(cli, s);
    return status;
}

void scale_scene_remove(struct cli *cli, struct scale_scene *scene)
{
    if (!scene) return;
    if (scene->scene.scene != UINT32_MAX) visd_client_scene_remove(cli->client, scene->scene.scene);
    visd_frustum_loop_finish(&scene->loop);
    free(scene);
}

/* ---- flying ---- */

enum { OURS, PROFILE, STEPWISE, COARSE, DELTA, PEERS };

static const struct {
    const char *name;
    uint32_t want;
    bool delta;
} ways[PEERS] = {
    [OURS] = {"bench scale", 0, false},
    [PROFILE] = {"bench scale, pass by pass", VISD_GET_PROFILE, false},
    [STEPWISE] = {"bench scale, a dispatch a level", VISD_GET_STEPWISE, false},
    [COARSE] = {"bench scale, 2 x 2 texels", VISD_GET_COARSE, false},
    [DELTA] = {"bench scale, changes only", 0, true},
};

struct peer {
    struct visd_client *client;
    struct visd_client_view *view;
    struct visd_spread latency, in_frustum, listed, drawn, gpu, pass[VISD_PASSES];
    double bytes_in, bytes_out; /* when measuring began */
    size_t flown, degraded;     /* frames since then */
};

struct flight {
    struct peer peers[PEERS];
    struct visd_spread cpu, cpu_listed;
};

/* On a device without timestamps the passes are timed in frames of their own, and a dispatch a level is what it does anyhow. */
static bool flies(const struct scale_plan *plan, int way)
{
    return way == PROFILE ? plan->wall : way == STEPWISE ? !plan->wall : true;
}

static int open_peer(struct cli *cli, const struct scale_plan *plan, const struct scale_scene *scene, int way, struct peer *peer)
{
    struct visd_client_failure why = {0};
    struct visd_client_view_options options;
    visd_client_view_options_init(&options);
    options.method = plan->method;
    options.name = ways[way].name;
    if (visd_client_connect(&peer->client, cli->url, &(struct visd_client_options){.name = ways[way].name}, &why) != VISD_ERR_OK)
        return cli_fail(cli, "%s", why.text);
    if (visd_client_view_open(peer->client, scene->scene.scene, &options, &peer->view) != VISD_ERR_OK)
        return cli_fail(cli, "opening a view: %s", visd_client_why(peer->client)->text);
    return CLI_DONE;
}

static bool count_frame(struct peer *peer, const struct visd_client_result *r)
{
    const struct visd_client_counts *c = &r->counts;
    const uint64_t ns[VISD_PASSES] = {c->frustum_ns, c->select_ns, c->depth_ns, c->pyramid_ns, c->test_ns, c->mark_ns, c->compact_ns};
    double sum = 0;
    bool good = visd_spread_add(&peer->latency, (double)(r->times.arrived - r->times.sent) / 1e6);
    if (r->all || r->degraded) peer->degraded++;
    if (!r->has_counts) return good;
    good &= visd_spread_add(&peer->in_frustum, c->in_frustum) && visd_spread_add(&peer->listed, c->listed) &&
            visd_spread_add(&peer->drawn, (double)(c->triangles_1 + c->triangles_2));
    for (int p = 0; p < VISD_PASSES; p++) {
        good &= visd_spread_add(&peer->pass[p], (double)ns[p] / 1e6);
        sum += (double)ns[p] / 1e6;
    }
    return good && visd_spread_add(&peer->gpu, sum);
}

static int fly_peer(struct cli *cli, const struct scale_plan *plan, int way, struct peer *peer, const struct visd_client_camera *camera, bool count)
{
    struct visd_client_frame frame;
    struct visd_client_result result;
    visd_client_frame_init(&frame, peer->view);
    frame.camera = *camera;
    peer->flown++;
    frame.delta = ways[way].delta;
    frame.want = VISD_GET_IDS | VISD_GET_STATS | ways[way].want;
    if (plan->wall && way == COARSE) frame.want |= VISD_GET_PROFILE;
    if (visd_client_cull(peer->client, &frame, &result) != VISD_ERR_OK) return cli_fail(cli, "flying: %s", visd_client_why(peer->client)->text);
    if (result.err != VISD_ERR_OK) return cli_fail(cli, "flying: %s", result.text ? result.text : "refused");
    return !count || count_frame(peer, &result) ? CLI_DONE : cli_fail(cli, "out of memory for results");
}

static int fly_loop(struct cli *cli, struct scale_scene *scene, struct flight *f, const struct visd_client_camera *camera)
{
    uint64_t since = cli_now_ns();
    size_t listed = visd_frustum_loop_run(&scene->loop, camera);
    double ms = (double)(cli_now_ns() - since) / 1e6;
    return visd_spread_add(&f->cpu, ms) && visd_spread_add(&f->cpu_listed, (double)listed) ? CLI_DONE : cli_fail(cli, "out of memory for results");
}

/* The first camera, which brings the scene onto the device, one more for each peer, then half a second of others. What a round of all takes
 * says how many frames there is time for: *frames. */
static int warm_up(struct cli *cli, const struct scale_plan *plan, struct scale_scene *scene, struct flight *f, const struct visd_client_camera *cameras,
                   size_t count, size_t *frames)
{
    int status = fly_peer(cli, plan, OURS, &f->peers[OURS], &cameras[0], false);
    if (!(scene->about.device_bytes > 0)) {
        double bytes = (stat_of(cli, "device_bytes") - scene->device_before) / (double)scene->about.objects;
        scene->about.device_bytes = bytes > 0 ? bytes : 0;
    }
    uint64_t begun = cli_now_ns(), last = begun, now = begun;
    for (size_t n = 0; n < WARM_FRAMES && status == CLI_DONE && (n < 2 || now - begun < WARM_NS); n++) {
        last = now;
        for (int way = 0; way < PEERS && status == CLI_DONE; way++)
            if (flies(plan, way)) status = fly_peer(cli, plan, way, &f->peers[way], &cameras[n % count], false);
        if (status == CLI_DONE && interrupt_came()) status = cli_fail(cli, "interrupted");
        now = cli_now_ns();
        cli_progress("warming up", now - begun < WARM_NS ? now - begun : WARM_NS, WARM_NS);
    }
    double each = (double)(now - last) / 1e9, room = each > 0 ? plan->seconds / each : (double)plan->frames;
    *frames = room < (double)plan->frames ? (size_t)room : plan->frames;
    if (*frames < LEAST_FRAMES) *frames = LEAST_FRAMES;
    return status;
}

/* All peers fly it, a different one first each time; the camera before it is flown, too, and not counted: history is as in a longer flight. */
static int fly_stretch(struct cli *cli, const struct scale_plan *plan, struct scale_scene *scene, struct flight *f, const struct visd_client_camera *cameras,
                       size_t count, size_t number, size_t first, size_t length)
{
    int status = CLI_DONE;
    for (size_t turn = 0; turn < PEERS; turn++) {
        int way = (int)((number + turn) % PEERS);
        for (size_t i = 0; i <= length && flies(plan, way) && status == CLI_DONE; i++) {
            status = fly_peer(cli, plan, way, &f->peers[way], &cameras[(first + count + i - 1) % count], i > 0);
            if (status == CLI_DONE && interrupt_came()) status = cli_fail(cli, "interrupted");
        }
    }
    for (size_t i = 0; i < length && status == CLI_DONE; i++) status = fly_loop(cli, scene, f, &cameras[(first + i) % count]);
    return status;
}

static void take_figures(struct cli *cli, const struct scale_plan *plan, struct flight *f, struct visd_bench_point *out)
{
    struct peer *ours = &f->peers[OURS], *timed = &f->peers[plan->wall ? PROFILE : OURS];
    double in, sent;
    out->in_frustum = visd_spread_at(&ours->in_frustum, 0.5);
    out->listed = visd_spread_at(&ours->listed, 0.5);
    out->triangles_drawn = visd_spread_at(&ours->drawn, 0.5);
    for (int p = 0; p < VISD_PASSES; p++) out->pass_ms[p] = visd_spread_at(&timed->pass[p], 0.5);
    out->gpu_ms = visd_spread_at(&timed->gpu, 0.5);
    out->p50_ms = visd_spread_at(&ours->latency, 0.5);
    out->p95_ms = visd_spread_at(&ours->latency, 0.95);
    out->p99_ms = visd_spread_at(&ours->latency, 0.99);
    bytes_of(cli, ours->client, &in, &sent);
    out->request_bytes = (in - ours->bytes_in) / (double)ours->flown;
    out->answer_bytes = (sent - ours->bytes_out) / (double)ours->flown;
    bytes_of(cli, f->peers[DELTA].client, &in, &sent);
    out->delta_bytes = (sent - f->peers[DELTA].bytes_out) / (double)f->peers[DELTA].flown;
    for (int way = 0; way < PEERS; way++) out->degraded += f->peers[way].degraded;
    out->cpu_ms = visd_spread_at(&f->cpu, 0.5);
    out->cpu_listed = visd_spread_at(&f->cpu_listed, 0.5);
    out->stepwise_pyramid_ms = visd_spread_at(&f->peers[STEPWISE].pass[3], 0.5);
    out->stepwise_p50_ms = visd_spread_at(&f->peers[STEPWISE].latency, 0.5);
    out->coarse_test_ms = visd_spread_at(&f->peers[COARSE].pass[4], 0.5);
    out->coarse_listed = visd_spread_at(&f->peers[COARSE].listed, 0.5);
}

static void close_peers(struct flight *f)
{
    for (int way = 0; way < PEERS; way++) {
        struct peer *peer = &f->peers[way];
        visd_client_close(peer->client);
        struct visd_spread *all[] = {&peer->latency, &peer->in_frustum, &peer->listed, &peer->drawn, &peer->gpu};
        for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) visd_spread_finish(all[i]);
        for (int p = 0; p < VISD_PASSES; p++) visd_spread_finish(&peer->pass[p]);
    }
    visd_spread_finish(&f->cpu);
    visd_spread_finish(&f->cpu_listed);
}

int scale_view_bytes(struct cli *cli, const struct scale_plan *plan, uint32_t width, uint32_t height, double *out)
{
    struct visd_client_camera *cameras = NULL;
    struct scale_scene *scene = NULL;
    struct visd_why why = {{0}};
    struct peer peer = {0};
    size_t count = 1;
    if (visd_generate_cameras(&(struct visd_generate_params){.kind = "grid", .objects = 1}, width, height, &count, &cameras, &why) != VISD_ERR_OK)
        return cli_fail(cli, "%s", why.text);
    int status = scale_scene_make(cli, plan, "grid", 1, 0, &scene);
    if (status == CLI_DONE) status = open_peer(cli, plan, scene, OURS, &peer);
    if (status == CLI_DONE) status = fly_peer(cli, plan, OURS, &peer, cameras, false);
    if (status == CLI_DONE) *out = stat_of(cli, "device_bytes") - scene->device_before;
    visd_client_close(peer.client);
    scale_scene_remove(cli, scene);
    free(cameras);
    return status;
}

int scale_point(struct cli *cli, const struct scale_plan *plan, struct scale_scene *scene, uint32_t width, uint32_t height, struct visd_bench_point *out)
{
    struct visd_generate_params params = {.kind = scene->about.kind, .seed = plan->seed, .objects = scene->about.objects, .share = scene->share};
    struct visd_client_camera *cameras = NULL;
    struct visd_why why = {{0}};
    struct flight f = {0};
    size_t count = plan->frames, frames = 0;
    int status = CLI_DONE;
    if (visd_generate_cameras(&params, width, height, &count, &cameras, &why) != VISD_ERR_OK) return cli_fail(cli, "%s", why.text);
    for (int way = 0; way < PEERS && status == CLI_DONE; way++)
        if (flies(plan, way)) status = open_peer(cli, plan, scene, way, &f.peers[way]);
    if (status == CLI_DONE) status = warm_up(cli, plan, scene, &f, cameras, count, &frames);
    for (int way = 0; way < PEERS && status == CLI_DONE; way++)
        if (flies(plan, way)) {
            bytes_of(cli, f.peers[way].client, &f.peers[way].bytes_in, &f.peers[way].bytes_out);
            f.peers[way].flown = 0;
        }
    size_t stretches = frames / LEAST_FRAMES < STRETCHES ? frames / LEAST_FRAMES : STRETCHES, length = frames / stretches;
    for (size_t i = 0; i < stretches && status == CLI_DONE; i++) {
        status = fly_stretch(cli, plan, scene, &f, cameras, count, i, i * count / stretches, length);
        cli_progress("flying", i + 1, stretches);
    }
    cli_progress(NULL, 0, 0);
    *out = scene->about;
    out->width = width, out->height = height;
    out->frames = stretches * length;
    if (status == CLI_DONE) take_figures(cli, plan, &f, out);
    close_peers(&f);
    free(cameras);
    return status;
}
