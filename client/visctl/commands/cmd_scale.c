/* bench scale: how cost grows with the number of objects, with the size of the picture, and with the share that is seen. Scenes are
 * made for it, and removed. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../generate/generate.h"
#include "commands.h"
#include "interrupt.h"
#include "proto/limits.h"
#include "scale.h"

#define LIST 16               /* most values of an option */
#define SHARES_KIND "curtain" /* the kind of scene that is made for a share */

struct sweeps {
    const char *kinds[LIST];
    double objects[LIST], widths[LIST], heights[LIST], shares[LIST];
    size_t kind_count, object_count, size_count, share_count;
    uint64_t curtain; /* objects of the scene that shares are measured in */
};

struct bench {
    struct cli *cli;
    struct scale_plan plan;
    struct sweeps sweeps;
    const char *server, *folder;
    FILE *file; /* JSON lines, in the folder */
    struct visd_bench_point *points;
    size_t count, room;
};

/* ---- what is asked for ---- */

/* 20, 0.1, 10k, 1M; with an x between two of them, a size. NULL: it is none. Else what follows. */
static const char *read_number(const char *at, double *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*at)) return NULL;
    *out = strtod(at, &end);
    if (*end == 'k') *out *= 1e3, end++;
    else if (*end == 'M') *out *= 1e6, end++;
    return end;
}

/* "a,b,c" into one array, or "axb,cxd" into two. */
static bool read_list(const struct cli *cli, const char *option, const char *otherwise, double least, double most, double *first, double *second, size_t *count)
{
    const char *text = cli_text(cli, option), *at = text ? text : otherwise;
    *count = 0;
    while (*at) {
        double *into = first;
        for (int half = 0; half < (second ? 2 : 1); half++, into = second) {
            const char *next = *count < LIST && (!half || *at == 'x') ? read_number(at + half, &into[*count]) : NULL;
            if (!next || !(into[*count] >= least && into[*count] <= most) || (*next && *next != ',' && !(second && !half && *next == 'x'))) {
                cli_misuse(cli, "--%s must be at most %d %s from %.10g to %.10g with commas between them, as %s, not \"%s\"", option, LIST,
                           second ? "sizes" : "numbers", least, most, otherwise, text);
                return false;
            }
            at = next;
        }
        ++*count;
        if (*at == ',') at++;
    }
    return true;
}

static bool read_kinds(const struct cli *cli, struct sweeps *out)
{
    const char *text = cli_text(cli, "kinds"), *at = text ? text : "grid,office";
    while (*at) {
        size_t length = strcspn(at, ",");
        const struct visd_generate_kind *kind = visd_generate_kinds();
        while (kind->name && (strlen(kind->name) != length || strncmp(kind->name, at, length) != 0)) kind++;
        if (!kind->name || strcmp(kind->name, SHARES_KIND) == 0 || out->kind_count == LIST) {
            cli_misuse(cli, "--kinds must be some of office, city, mall, random and grid with commas between them, not \"%s\"", text);
            return false;
        }
        out->kinds[out->kind_count++] = kind->name;
        at += length + (at[length] == ',');
    }
    return true;
}

static bool read_options(struct bench *b)
{
    const struct cli *cli = b->cli;
    uint64_t frames = 300;
    b->plan.seed = 1;
    b->plan.seconds = 60;
    b->sweeps.curtain = 100000;
    if (!cli_method(cli, &b->plan.method) || !read_kinds(cli, &b->sweeps) ||
        !read_list(cli, "objects", "1k,10k,100k,1M,10M", 100, VISD_MAX_OBJECTS, b->sweeps.objects, NULL, &b->sweeps.object_count) ||
        !read_list(cli, "sizes", "1920x1080,256x256,512x512,1280x720,2560x1440,3840x2160", 1, VISD_MAX_IMAGE_SIDE, b->sweeps.widths, b->sweeps.heights,
                   &b->sweeps.size_count) ||
        !read_list(cli, "shares", "0.1,1,3,10,30,100", 0.001, 100, b->sweeps.shares, NULL, &b->sweeps.share_count) ||
        !cli_number(cli, "seed", 0, UINT64_MAX, &b->plan.seed) || !cli_number(cli, "frames", 4, 100000, &frames) ||
        !cli_number(cli, "share-objects", 100, VISD_MAX_OBJECTS, &b->sweeps.curtain) || !cli_real(cli, "seconds", 0, 1e6, &b->plan.seconds))
        return false;
    b->plan.frames = (size_t)frames;
    if (!b->sweeps.size_count) cli_misuse(cli, "--sizes must name a size");
    return b->sweeps.size_count > 0;
}

/* ---- doing it ---- */

static int keep(struct bench *b, const struct visd_bench_point *point)
{
    if (b->count == b->room) {
        size_t room = b->room ? b->room * 2 : 32;
        struct visd_bench_point *points = realloc(b->points, room * sizeof(*points));
        if (!points) return cli_fail(b->cli, "out of memory for results");
        b->points = points;
        b->room = room;
    }
    b->points[b->count++] = *point;
    if (b->file) {
        scale_put_json(b->file, point, &b->plan, b->server);
        fflush(b->file);
    }
    if (b->cli->json)
        scale_put_json(stdout, point, &b->plan, b->server);
    else
        scale_put_lines(stdout, point);
    fflush(stdout);
    return CLI_DONE;
}

/* One scene, at the first size or at all. */
static int measure(struct bench *b, const char *kind, uint64_t objects, double share, bool all_sizes)
{
    struct scale_scene *scene = NULL;
    struct visd_bench_point point;
    int status = scale_scene_make(b->cli, &b->plan, kind, objects, share, &scene);
    for (size_t i = 0; i < (all_sizes ? b->sweeps.size_count : 1) && status == CLI_DONE; i++) {
        status = scale_point(b->cli, &b->plan, scene, (uint32_t)b->sweeps.widths[i], (uint32_t)b->sweeps.heights[i], &point);
        if (status == CLI_DONE) status = keep(b, &point);
    }
    scale_scene_remove(b->cli, scene);
    return status;
}

/* The number of objects that sizes are swept with: a million, or the nearest below, or the least. */
static double base_objects(const struct sweeps *s)
{
    double base = 0;
    for (size_t i = 0; i < s->object_count; i++)
        if (!base || (s->objects[i] <= 1e6 ? base > 1e6 || s->objects[i] > base : base > 1e6 && s->objects[i] < base)) base = s->objects[i];
    return base;
}

static int measure_all(struct bench *b)
{
    const struct sweeps *s = &b->sweeps;
    double base = base_objects(s);
    int status = scale_view_bytes(b->cli, &b->plan, (uint32_t)s->widths[0], (uint32_t)s->heights[0], &b->plan.view_bytes);
    for (size_t k = 0; k < s->kind_count; k++)
        for (size_t i = 0; i < s->object_count && status == CLI_DONE; i++)
            status = measure(b, s->kinds[k], (uint64_t)s->objects[i], 0, s->objects[i] == base);
    for (size_t i = 0; i < s->share_count && status == CLI_DONE; i++) status = measure(b, SHARES_KIND, s->curtain, s->shares[i], false);
    if (status != CLI_DONE) return status;
    if (b->file) scale_put_costs_json(b->file, b->points, b->count, &b->plan, b->server);
    if (b->cli->json)
        scale_put_costs_json(stdout, b->points, b->count, &b->plan, b->server);
    else
        scale_put_costs(stdout, b->points, b->count);
    if (b->folder)
        status = scale_charts(b->cli, b->points, b->count, (uint64_t)base, (uint32_t)s->widths[0], (uint32_t)s->heights[0], b->folder);
    return status;
}

static int open_folder(struct bench *b)
{
    char path[1024];
    if (!b->folder) return CLI_DONE;
    if (mkdir(b->folder, 0777) != 0 && errno != EEXIST) return cli_fail(b->cli, "%s: %s", b->folder, strerror(errno));
    if (snprintf(path, sizeof(path), "%s/scale.jsonl", b->folder) >= (int)sizeof(path)) return cli_fail(b->cli, "%s: the name is too long", b->folder);
    b->file = fopen(path, "we");
    return b->file ? CLI_DONE : cli_fail(b->cli, "%s: %s", path, strerror(errno));
}

int cmd_bench_scale(struct cli *cli)
{
    struct bench b = {.cli = cli, .folder = cli_text(cli, "out")};
    if (!read_options(&b)) return CLI_USAGE;
    if (!cli_connect(cli)) return CLI_FAILED;
    b.plan.device = visd_client_about(cli->client)->device;
    b.plan.wall = cli_software_device(b.plan.device);
    b.server = visd_client_about(cli->client)->server;
    struct interrupt interrupt;
    interrupt_begin(&interrupt);
    int status = open_folder(&b);
    if (status == CLI_DONE) status = measure_all(&b);
    if (b.file && fclose(b.file) != 0 && status == CLI_DONE) status = cli_fail(cli, "%s: %s", b.folder, strerror(errno));
    interrupt_end(&interrupt);
    free(b.points);
    return status;
}
