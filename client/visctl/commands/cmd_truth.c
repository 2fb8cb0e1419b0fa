/* bench truth: flies cameras, and holds each answer against a file that says what can be seen.
 *
 * A line of truth is {"frame": N, "visible": {"ID": samples, ...}, "robust": [ids]}; "robust" are the ids that stay seen when the sample
 * grid moves a little: none of them may be missing from an answer. A file of answers from another device, as
 * "visctl cull --out" writes it, is compared id by id on request. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../camera/cameras.h"
#include "cli.h"
#include "commands.h"
#include "proto/limits.h"

struct ids {
    uint64_t *at; /* ascending */
    size_t count;
};

/* A file of JSON lines, one for each camera. */
struct lines {
    const char *path;
    FILE *file;
    char *line;
    size_t room, number;
};

struct tally {
    size_t answers, lacking, missed, all;
    uint64_t listed, seen;             /* perspective cameras */
    uint64_t listed_ortho, seen_ortho; /* the others */
    size_t differ, differ_seen;        /* ids in one of the two lists only, and those of them that the truth holds */
    uint64_t first_missed;
    size_t first_frame;
};

static bool holds(const struct ids *list, uint64_t id)
{
    return list->count && bsearch(&id, list->at, list->count, sizeof(id), cli_by_id);
}

static void ids_finish(struct ids *list)
{
    free(list->at);
    *list = (struct ids){0};
}

static bool ids_take(struct ids *out, size_t count)
{
    out->at = malloc((count ? count : 1) * sizeof(*out->at));
    out->count = out->at ? count : 0;
    return out->at;
}

static bool ids_of_array(struct ids *out, const json_t *array)
{
    size_t i;
    const json_t *value;
    if (!json_is_array(array) || !ids_take(out, json_array_size(array))) return false;
    json_array_foreach(array, i, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
        out->at[i] = (uint64_t)json_integer_value(value);
    }
    qsort(out->at, out->count, sizeof(*out->at), cli_by_id);
    return true;
}

/* {"ID": samples}: samples are a count. */
static bool ids_of_keys(struct ids *out, json_t *object)
{
    size_t i = 0;
    const char *key;
    json_t *value;
    if (!json_is_object(object) || !ids_take(out, json_object_size(object))) return false;
    json_object_foreach(object, key, value)
    {
        if (!cli_parse_number(key, &out->at[i++]) || !json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > VISD_MAX_IMAGE_SAMPLES)
            return false;
    }
    qsort(out->at, out->count, sizeof(*out->at), cli_by_id);
    return true;
}

/* The next line as JSON, NULL at the end and after telling what is wrong with it. */
static json_t *next(struct cli *cli, struct lines *lines)
{
    json_error_t fault;
    ssize_t length = getline(&lines->line, &lines->room, lines->file);
    lines->number++;
    if (length < 0) {
        if (ferror(lines->file)) cli_fail(cli, "%s: %s", lines->path, strerror(errno));
        else cli_fail(cli, "%s: ends at line %zu, with cameras left", lines->path, lines->number);
        return NULL;
    }
    json_t *row = json_loadb(lines->line, (size_t)length, 0, &fault);
    const json_t *frame = json_object_get(row, "frame");
    if (!row) {
        cli_fail(cli, "%s line %zu: not JSON: %s", lines->path, lines->number, fault.text);
    } else if (frame && !(json_is_integer(frame) && json_integer_value(frame) >= 0 && (size_t)json_integer_value(frame) == lines->number - 1)) {
        cli_fail(cli, "%s line %zu: its \"frame\" is not %zu, that of its camera; lines go with cameras one by one", lines->path, lines->number, lines->number - 1);
        json_decref(row);
        row = NULL;
    }
    return row;
}

/* After the last camera nothing may follow but empty lines. */
static int check_end(struct cli *cli, struct lines *lines)
{
    ssize_t length;
    while ((length = getline(&lines->line, &lines->room, lines->file)) >= 0) {
        lines->number++;
        if (strspn(lines->line, " \t\r\n") < (size_t)length)
            return cli_fail(cli, "%s line %zu: there are no more cameras; is it the file of other ones?", lines->path, lines->number);
    }
    return ferror(lines->file) ? cli_fail(cli, "%s: %s", lines->path, strerror(errno)) : CLI_DONE;
}

static bool next_truth(struct cli *cli, struct lines *lines, struct ids *visible, struct ids *robust)
{
    json_t *row = next(cli, lines);
    if (!row) return false;
    bool good = ids_of_keys(visible, json_object_get(row, "visible")) && ids_of_array(robust, json_object_get(row, "robust"));
    json_decref(row);
    if (!good) cli_fail(cli, "%s line %zu: wants {\"visible\": {\"ID\": samples}, \"robust\": [ids]}", lines->path, lines->number);
    return good;
}

static bool next_answer(struct cli *cli, struct lines *lines, struct ids *listed)
{
    json_t *row = next(cli, lines);
    if (!row) return false;
    bool good = ids_of_array(listed, json_object_get(row, "visible"));
    json_decref(row);
    if (!good) cli_fail(cli, "%s line %zu: wants {\"visible\": [ids]}, as visctl cull --out writes it", lines->path, lines->number);
    return good;
}

static void count_missed(struct tally *t, const struct ids *got, const struct ids *robust, size_t frame)
{
    size_t before = t->missed;
    for (size_t i = 0; i < robust->count; i++) {
        if (holds(got, robust->at[i])) continue;
        if (t->missed++ == 0) {
            t->first_missed = robust->at[i];
            t->first_frame = frame;
        }
    }
    t->lacking += t->missed != before;
}

/* Ids of one that the other has not. */
static void count_differing(struct tally *t, const struct ids *one, const struct ids *other, const struct ids *visible)
{
    for (size_t i = 0; i < one->count; i++) {
        if (holds(other, one->at[i])) continue;
        t->differ++;
        t->differ_seen += holds(visible, one->at[i]);
    }
}

static int fly(struct cli *cli, struct visd_client_view *view, const struct visd_client_camera *cameras, size_t count, struct lines *truth,
               struct lines *other, struct tally *t)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < count && status == CLI_DONE; i++) {
        struct visd_client_frame frame;
        struct visd_client_result result;
        struct ids visible = {0}, robust = {0}, got = {0}, theirs = {0};
        visd_client_frame_init(&frame, view);
        frame.camera = cameras[i];
        frame.fresh = cli_flag(cli, "fresh");
        cli_progress("comparing", i, count);
        if (visd_client_cull(cli->client, &frame, &result) != VISD_ERR_OK)
            status = cli_fail_client(cli, "culling");
        else if (result.err != VISD_ERR_OK)
            status = cli_fail(cli, "camera %zu: %s", i, result.text ? result.text : "refused");
        else if (!next_truth(cli, truth, &visible, &robust) || (other && !next_answer(cli, other, &theirs)))
            status = CLI_FAILED;
        else if (!ids_take(&got, result.all ? 0 : result.count))
            status = cli_fail(cli, "out of memory for a list of ids");
        if (status == CLI_DONE && result.all) {
            t->all++; /* nothing is missing from it, and it says nothing about culling */
        } else if (status == CLI_DONE) {
            bool perspective = cameras[i].proj[11] != 0;
            if (got.count) memcpy(got.at, result.ids, got.count * sizeof(*got.at));
            qsort(got.at, got.count, sizeof(*got.at), cli_by_id);
            *(perspective ? &t->listed : &t->listed_ortho) += got.count;
            *(perspective ? &t->seen : &t->seen_ortho) += visible.count;
            count_missed(t, &got, &robust, i);
            if (other) {
                count_differing(t, &got, &theirs, &visible);
                count_differing(t, &theirs, &got, &visible);
            }
        }
        t->answers += status == CLI_DONE;
        ids_finish(&visible);
        ids_finish(&robust);
        ids_finish(&got);
        ids_finish(&theirs);
    }
    cli_progress(NULL, 0, 0);
    if (status == CLI_DONE) status = check_end(cli, truth);
    if (status == CLI_DONE && other) status = check_end(cli, other);
    return status;
}

static int report(struct cli *cli, const struct tally *t, const char *scene, int method, bool compared)
{
    double over = cli_ratio(t->listed, t->seen), over_ortho = cli_ratio(t->listed_ortho, t->seen_ortho);
    if (cli->json) {
        printf("{\"bench\": \"truth\", \"scene\": ");
        cli_put_string(stdout, scene, strlen(scene));
        printf(", \"method\": \"%s\", \"fresh\": %s, \"answers\": %zu, \"missed\": %zu, \"listed_over_exact\": %.3f, "
               "\"listed_over_exact_ortho\": %.3f, \"all\": %zu",
               visd_client_method_name(method), cli_flag(cli, "fresh") ? "true" : "false", t->answers, t->missed, over, over_ortho, t->all);
        if (compared) printf(", \"differ\": %zu, \"differ_seen\": %zu", t->differ, t->differ_seen);
        puts("}");
    } else {
        printf("%-22s %-7s %-4s %5zu answers %5zu missed   listed / exact %6.3f", scene, visd_client_method_name(method), cli_flag(cli, "fresh") ? "cold" : "warm",
               t->answers, t->missed, over);
        if (compared) printf("   %zu ids differ, %zu of them seen", t->differ, t->differ_seen);
        puts("");
    }
    if (t->all) return cli_fail(cli, "%zu of %zu cameras were answered with the whole scene; see visctl stats and the daemon's log", t->all, t->answers);
    if (t->missed)
        return cli_fail(cli, "%zu ids are seen and not listed, in %zu answers; the first is %llu at camera %zu", t->missed, t->lacking,
                        (unsigned long long)t->first_missed, t->first_frame);
    return CLI_DONE;
}

static bool open_lines(struct cli *cli, struct lines *lines, const char *path)
{
    lines->path = path;
    lines->file = fopen(path, "re");
    if (!lines->file) cli_fail(cli, "%s: %s", path, strerror(errno));
    return lines->file;
}

static void close_lines(struct lines *lines)
{
    if (lines->file) fclose(lines->file);
    free(lines->line);
}

int cmd_bench_truth(struct cli *cli)
{
    const char *file = cli_text(cli, "cameras"), *truth_path = cli_text(cli, "truth"), *other_path = cli_text(cli, "against");
    struct lines truth = {0}, other = {0};
    struct visd_client_camera *cameras = NULL;
    struct visd_client_view_options options;
    struct visd_client_view *view = NULL;
    struct visd_client_scene scene;
    struct visd_why why = {{0}};
    struct tally tally = {0};
    size_t count = 0;
    int method, status = CLI_FAILED;
    if (!cli_method(cli, &method)) return CLI_USAGE;
    if (!file || !truth_path) return cli_misuse(cli, "%s is missing: a file with a line for each camera", file ? "--truth" : "--cameras");
    if (visd_cameras_read(file, &cameras, &count, &why) != VISD_ERR_OK) return cli_fail(cli, "%s", why.text);
    visd_client_view_options_init(&options);
    options.method = method;
    options.name = "visctl bench truth";
    if (!open_lines(cli, &truth, truth_path) || (other_path && !open_lines(cli, &other, other_path)) || !cli_find_scene(cli, cli->operand[0], &scene))
        goto done;
    if (visd_client_view_open(cli->client, scene.scene, &options, &view) != VISD_ERR_OK) {
        cli_fail_client(cli, "opening a view");
        goto done;
    }
    status = fly(cli, view, cameras, count, &truth, other_path ? &other : NULL, &tally);
    if (status == CLI_DONE) status = report(cli, &tally, scene.name, method, other_path);
done:
    visd_client_view_close(view);
    close_lines(&truth);
    close_lines(&other);
    free(cameras);
    return status;
}
