/* cull: a camera in, a line out. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../camera/cameras.h"
#include "cli.h"
#include "commands.h"

/* Under grade all there is no list: all that is not hidden is meant. It is fetched once a revision. */
struct everything {
    uint64_t revision;
    uint64_t *ids;
    size_t count, room;
    bool known;
};

static int fetch_everything(struct cli *cli, uint32_t scene, struct everything *all)
{
    uint32_t first = 0;
    all->count = 0;
    do {
        struct visd_client_page page;
        if (visd_client_object_page(cli->client, scene, first, 0, 0, &page) != VISD_ERR_OK) return cli_fail_client(cli, "listing objects");
        if (all->count + page.count > all->room) {
            all->room = (all->count + page.count) * 2;
            uint64_t *moved = realloc(all->ids, all->room * sizeof(*moved));
            if (!moved) {
                visd_client_page_finish(&page);
                return cli_fail(cli, "out of memory for a list of all objects");
            }
            all->ids = moved;
        }
        for (size_t i = 0; i < page.count; i++)
            if (!(page.flags && page.flags[i] & (VISD_FLAG_HIDDEN | VISD_FLAG_OCCLUDER_ONLY))) all->ids[all->count++] = page.ids[i];
        all->revision = page.revision;
        first = page.next;
        visd_client_page_finish(&page);
    } while (first);
    all->known = true;
    return CLI_DONE;
}

static void print_stats(FILE *out, const struct visd_client_counts *c)
{
    const struct { const char *name; unsigned long long value; } rows[] = {
        {"tested", c->tested}, {"in_frustum", c->in_frustum}, {"listed", c->listed}, {"occluded", c->occluded}, {"forced", c->forced},
        {"drawn_1", c->drawn_1}, {"drawn_2", c->drawn_2}, {"over_budget", c->over_budget}, {"dropped_small", c->dropped_small}, {"hidden", c->hidden},
        {"triangles_1", c->triangles_1}, {"triangles_2", c->triangles_2}, {"triangles_in_frustum", c->triangles_in_frustum},
        {"triangles_listed", c->triangles_listed}, {"samples_all", c->samples_all}, {"pixels_covered", c->pixels_covered},
        {"frustum_ns", c->frustum_ns}, {"select_ns", c->select_ns}, {"depth_ns", c->depth_ns}, {"pyramid_ns", c->pyramid_ns}, {"test_ns", c->test_ns},
        {"mark_ns", c->mark_ns}, {"compact_ns", c->compact_ns},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) fprintf(out, "%s\"%s\":%llu", i ? "," : "", rows[i].name, rows[i].value);
}

static void print_result(FILE *out, size_t frame, const struct visd_client_result *r, const struct everything *all, bool delta)
{
    const char *method = visd_client_method_name(r->method), *grade = visd_client_grade_name(r->grade);
    fprintf(out, "{\"frame\":%zu,\"visible\":", frame);
    cli_put_ids(out, r->all ? all->ids : r->ids, r->all ? all->count : r->count);
    if (r->samples) {
        fputs(",\"samples\":[", out);
        for (size_t i = 0; i < r->count; i++)
            if (r->samples[i] == UINT32_MAX) fprintf(out, "%snull", i ? "," : "");
            else fprintf(out, "%s%u", i ? "," : "", r->samples[i]);
        fputc(']', out);
    }
    fprintf(out, ",\"grade\":\"%s\",\"method\":\"%s\",\"revision\":%llu,\"lag\":%u,\"stats\":{", grade ? grade : "?", method ? method : "?",
            (unsigned long long)r->revision, r->lag);
    if (r->has_counts) print_stats(out, &r->counts);
    const struct visd_client_times *t = &r->times;
    fprintf(out, "%s\"answer_ms\":%.3f,\"device_ms\":%.3f}", r->has_counts ? "," : "", (double)(t->arrived - t->sent) / 1e6,
            t->gpu_end > t->gpu_start ? (double)(t->gpu_end - t->gpu_start) / 1e6 : 0.0);
    if (r->all) fputs(",\"all\":true", out);
    if (r->degraded) {
        fputs(",\"degraded\":", out);
        cli_put_string(out, r->why, strlen(r->why));
    }
    if (delta) {
        fprintf(out, ",\"delta\":%s", r->delta ? "true" : "false");
        if (r->delta) {
            fputs(",\"added\":", out);
            cli_put_ids(out, r->added, r->added_count);
            fputs(",\"removed\":", out);
            cli_put_ids(out, r->removed, r->removed_count);
        }
    }
    fputs("}\n", out);
}

static bool take_guard(const struct cli *cli, double *metres, double *degrees)
{
    const char *text = cli_text(cli, "guard");
    int end = 0;
    if (!text) return true;
    if (sscanf(text, "%lf,%lf%n", metres, degrees, &end) == 2 && !text[end] && isfinite(*metres) && isfinite(*degrees) && *metres >= 0 && *degrees >= 0)
        return true;
    cli_misuse(cli, "--guard must be METRES,DEGREES, as 0.5,10, not \"%s\"", text);
    return false;
}

static int fly(struct cli *cli, const struct visd_client_scene *scene, struct visd_client_view *view, const struct visd_client_frame *pattern,
               const struct visd_client_camera *cameras, size_t count, FILE *out)
{
    struct everything all = {0};
    int status = CLI_DONE;
    for (size_t i = 0; i < count && status == CLI_DONE && !ferror(out); i++) {
        struct visd_client_frame frame = *pattern;
        struct visd_client_result result;
        frame.view = view;
        frame.camera = cameras[i];
        if (out != stdout) cli_progress("culling", i, count);
        if (visd_client_cull(cli->client, &frame, &result) != VISD_ERR_OK) {
            char doing[48];
            snprintf(doing, sizeof(doing), "camera %zu", i);
            status = cli_fail_client(cli, doing);
        } else if (result.err != VISD_ERR_OK) {
            status = cli_fail(cli, "camera %zu: %s", i, result.text ? result.text : "refused");
        } else {
            if (result.all && (!all.known || all.revision != result.revision)) {
                char reason[256]; /* listing dispatches, and what the result points to is then gone */
                snprintf(reason, sizeof(reason), "%s", result.why ? result.why : "");
                status = fetch_everything(cli, scene->scene, &all);
                result.why = reason;
                if (status == CLI_DONE) print_result(out, i, &result, &all, pattern->delta);
                continue;
            }
            if (status == CLI_DONE) print_result(out, i, &result, &all, pattern->delta);
        }
    }
    free(all.ids);
    return status;
}

int cmd_cull(struct cli *cli)
{
    const char *file = cli_text(cli, "cameras"), *path = cli_text(cli, "out");
    struct visd_client_camera *cameras = NULL;
    struct visd_client_view_options options;
    struct visd_client_scene scene;
    struct visd_client_view *view = NULL;
    struct visd_client_frame frame;
    struct visd_why why = {{0}};
    uint64_t lag = 0;
    size_t count = 0;
    int method, status = CLI_FAILED;
    visd_client_frame_init(&frame, NULL);
    if (!file) return cli_misuse(cli, "--cameras is missing: a file of cameras, or - for standard input");
    if (!cli_method(cli, &method) || !cli_number(cli, "lag", 0, 64, &lag) || !take_guard(cli, &frame.guard_metres, &frame.guard_degrees)) return CLI_USAGE;
    frame.lag = (uint32_t)lag;
    frame.fresh = cli_flag(cli, "fresh");
    frame.delta = cli_flag(cli, "delta");
    frame.want = VISD_GET_IDS | VISD_GET_STATS | (cli_flag(cli, "profile") ? VISD_GET_PROFILE : 0) | (cli_flag(cli, "coverage") ? VISD_GET_COVERAGE : 0) |
                 (cli_flag(cli, "samples") ? VISD_GET_SAMPLES : 0);
    if (cli_flag(cli, "samples") && method != VISD_CULL_BOX && method != VISD_CULL_EXACT) return cli_misuse(cli, "--samples is for the methods box and exact");

    if (visd_cameras_read(file, &cameras, &count, &why) != VISD_ERR_OK) return cli_fail(cli, "%s", why.text);
    visd_client_view_options_init(&options);
    options.method = method;
    options.name = "visctl cull";
    FILE *out = NULL;
    if (!cli_find_scene(cli, cli->operand[0], &scene)) goto done;
    if (visd_client_view_open(cli->client, scene.scene, &options, &view) != VISD_ERR_OK) {
        cli_fail_client(cli, "opening a view");
        goto done;
    }
    out = path ? fopen(path, "we") : stdout;
    if (!out) {
        cli_fail(cli, "%s: %s", path, strerror(errno));
        goto done;
    }
    status = fly(cli, &scene, view, &frame, cameras, count, out);
    if (path && fclose(out) != 0 && status == CLI_DONE) status = cli_fail(cli, "%s: %s", path, strerror(errno));
done:
    visd_client_view_close(view);
    free(cameras);
    return status;
}
