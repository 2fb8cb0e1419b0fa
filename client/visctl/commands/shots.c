/* See shots.h. */
#include "shots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/transform.h"
#include "../picture/picture.h"

#define GAP 8u /* pixels between the levels of a pyramid */

/* ---- images ---- */

static int fetch(struct cli *cli, const struct shot *shot, int what, uint32_t level, struct visd_client_image *out)
{
    if (visd_client_snapshot(shot->view, what, level, out) == VISD_ERR_OK) return CLI_DONE;
    return cli_fail_client(cli, "taking a picture");
}

static int fetch_depth(struct cli *cli, const struct shot *shot, struct visd_client_image *out)
{
    int status = fetch(cli, shot, VISD_SHOW_DEPTH, 0, out);
    if (status == CLI_DONE && (out->kind != VISD_PIXELS_F32 || out->width != shot->camera.width || out->height != shot->camera.height)) {
        visd_client_image_finish(out);
        status = cli_fail(cli, "the daemon's depth image is not of this camera");
    }
    return status;
}

static int save(struct cli *cli, const struct visd_picture *picture, const char *path)
{
    struct visd_why why = {{0}};
    return visd_picture_write_png(picture, path, &why) == VISD_ERR_OK ? CLI_DONE : cli_fail(cli, "%s", why.text);
}

static int begin(struct cli *cli, struct visd_picture *picture, uint32_t width, uint32_t height)
{
    struct visd_why why = {{0}};
    return visd_picture_init(picture, width, height, &why) == VISD_ERR_OK ? CLI_DONE : cli_fail(cli, "%s", why.text);
}

static int draw_depth(struct cli *cli, const struct shot *shot, struct visd_picture *picture)
{
    struct visd_client_image depth;
    int status = fetch_depth(cli, shot, &depth);
    if (status != CLI_DONE) return status;
    status = begin(cli, picture, depth.width, depth.height);
    if (status == CLI_DONE) visd_picture_depth(picture, &shot->camera, depth.pixels);
    visd_client_image_finish(&depth);
    return status;
}

/* The whole image at the left, the levels above it stacked at its right. The daemon has as many as it needs, and refuses the next. */
static int draw_pyramid(struct cli *cli, const struct shot *shot, struct visd_picture *picture)
{
    struct visd_client_image level;
    uint32_t x = 0, y = 0, n = 0;
    int status = fetch(cli, shot, VISD_SHOW_PYRAMID, 0, &level);
    if (status != CLI_DONE) return status;
    uint32_t width = level.width, height = level.height, below = 0;
    for (uint32_t w = width, h = height; w > 1 || h > 1;) {
        w = (w + 1) / 2, h = (h + 1) / 2;
        below += h + GAP;
    }
    struct visd_picture_range range = visd_picture_depth_range(&shot->camera, level.pixels, (size_t)width * height);
    status = begin(cli, picture, width + GAP + (width + 1) / 2, below > height ? below : height);
    while (status == CLI_DONE) {
        if (level.kind == VISD_PIXELS_F32) visd_picture_level(picture, &shot->camera, range, level.pixels, level.width, level.height, x, y);
        if (n == 0)
            x = width + GAP;
        else
            y += level.height + GAP;
        bool last = level.width <= 1 && level.height <= 1;
        visd_client_image_finish(&level);
        if (last) return CLI_DONE;
        enum visd_err err = visd_client_snapshot(shot->view, VISD_SHOW_PYRAMID, ++n, &level);
        if (err == VISD_ERR_BAD_VALUE) return CLI_DONE;
        if (err != VISD_ERR_OK) status = cli_fail_client(cli, "taking a picture");
    }
    visd_client_image_finish(&level);
    return status;
}

static int draw_ids(struct cli *cli, const struct shot *shot, struct visd_picture *picture)
{
    struct visd_client_image depth, image;
    int status = fetch_depth(cli, shot, &depth);
    if (status != CLI_DONE) return status;
    status = fetch(cli, shot, VISD_SHOW_IDS, 0, &image);
    if (status == CLI_DONE) {
        size_t count = (size_t)image.width * image.height;
        uint64_t *ids = malloc(count * sizeof(*ids) + 1);
        if (!ids) status = cli_fail(cli, "out of memory for a picture");
        for (size_t i = 0; ids && i < count; i++) {
            uint32_t number = 0;
            if (image.kind == VISD_PIXELS_U64) {
                memcpy(&ids[i], (const char *)image.pixels + i * 8, 8);
                continue;
            }
            memcpy(&number, (const char *)image.pixels + i * 4, 4);
            /* A plain number's 0 is something only where there is depth. */
            bool nothing = number == UINT32_MAX || (number == 0 && !(i < (size_t)depth.width * depth.height && ((const float *)depth.pixels)[i] > 0));
            ids[i] = nothing ? UINT64_MAX : number;
        }
        if (status == CLI_DONE) status = begin(cli, picture, image.width, image.height);
        if (status == CLI_DONE)
            visd_picture_ids(picture, &shot->camera, ids, image.width == depth.width && image.height == depth.height ? depth.pixels : NULL);
        free(ids);
        visd_client_image_finish(&image);
    }
    visd_client_image_finish(&depth);
    return status;
}

/* ---- boxes ---- */

struct groups { /* sorted by id */
    struct group_row { uint64_t id, parent; double transform[12]; } *rows;
    size_t count;
};

static int fetch_groups(struct cli *cli, uint32_t scene, struct groups *out)
{
    uint32_t first = 0;
    do {
        struct visd_client_page page;
        if (visd_client_group_page(cli->client, scene, first, 0, VISD_COLUMN_TRANSFORMS, &page) != VISD_ERR_OK) return cli_fail_client(cli, "listing groups");
        struct group_row *moved = realloc(out->rows, (out->count + page.count + 1) * sizeof(*moved));
        if (moved) out->rows = moved;
        for (size_t i = 0; moved && i < page.count; i++) {
            struct group_row *row = &out->rows[out->count++];
            row->id = page.ids[i];
            row->parent = page.parents ? page.parents[i] : VISD_NO_ID;
            memcpy(row->transform, page.transforms + i * 12, sizeof(row->transform));
        }
        first = page.next;
        visd_client_page_finish(&page);
        if (!moved) return cli_fail(cli, "out of memory for a list of groups");
    } while (first);
    qsort(out->rows, out->count, sizeof(*out->rows), cli_by_id);
    return CLI_DONE;
}

static void draw_box(struct visd_picture *picture, const struct shot *shot, const struct groups *groups, const struct visd_client_page *page, size_t row,
                     const float *depth)
{
    double world[12], corners[8][3];
    const double *box = page->boxes + row * 6;
    if (page->flags && page->flags[row] & VISD_FLAG_UNBOUNDED) return;
    memcpy(world, page->transforms + row * 12, sizeof(world));
    uint64_t group = page->groups ? page->groups[row] : VISD_NO_ID;
    for (size_t depth_left = groups->count; group != VISD_NO_ID && depth_left > 0; depth_left--) {
        const struct group_row *at = bsearch(&group, groups->rows, groups->count, sizeof(*groups->rows), cli_by_id);
        if (!at) break;
        visd_transform_compose(world, at->transform, world);
        group = at->parent;
    }
    for (int i = 0; i < 8; i++) {
        double p[3] = {box[i & 1 ? 3 : 0], box[i & 2 ? 4 : 1], box[i & 4 ? 5 : 2]};
        visd_transform_point(corners[i], world, p);
    }
    uint8_t colour[3];
    visd_picture_id_colour(page->ids[row], colour);
    visd_picture_box(picture, &shot->camera, corners, depth, colour);
}

static int draw_boxes(struct cli *cli, const struct shot *shot, struct visd_picture *picture)
{
    struct visd_client_image depth;
    struct groups groups = {0};
    int status = fetch_depth(cli, shot, &depth);
    if (status != CLI_DONE) return status;
    status = begin(cli, picture, depth.width, depth.height);
    if (status == CLI_DONE) {
        visd_picture_depth(picture, &shot->camera, depth.pixels);
        for (size_t i = 0; i < (size_t)picture->width * picture->height * 3; i++) picture->rgb[i] = (uint8_t)(picture->rgb[i] * 6 / 10); /* wires stand out */
        status = fetch_groups(cli, shot->scene, &groups);
    }
    uint64_t *sorted = malloc(shot->listed_count * sizeof(*sorted) + 1);
    if (!sorted && status == CLI_DONE) status = cli_fail(cli, "out of memory for a picture");
    if (sorted) memcpy(sorted, shot->listed, shot->listed_count * sizeof(*sorted));
    if (sorted) qsort(sorted, shot->listed_count, sizeof(*sorted), cli_by_id);
    uint32_t first = 0;
    while (status == CLI_DONE) {
        struct visd_client_page page;
        if (visd_client_object_page(cli->client, shot->scene, first, 0, VISD_COLUMN_BOXES | VISD_COLUMN_TRANSFORMS, &page) != VISD_ERR_OK) {
            status = cli_fail_client(cli, "listing objects");
            break;
        }
        for (size_t i = 0; i < page.count; i++)
            if (bsearch(&page.ids[i], sorted, shot->listed_count, sizeof(*sorted), cli_by_id)) draw_box(picture, shot, &groups, &page, i, depth.pixels);
        first = page.next;
        visd_client_page_finish(&page);
        if (!first) break;
    }
    free(sorted);
    free(groups.rows);
    visd_client_image_finish(&depth);
    return status;
}

/* ---- the door ---- */

int shot_write(struct cli *cli, const struct shot *shot, int what, const char *path)
{
    static int (*const draw[])(struct cli *, const struct shot *, struct visd_picture *) = {
        [VISD_SHOW_DEPTH] = draw_depth, [VISD_SHOW_PYRAMID] = draw_pyramid, [VISD_SHOW_IDS] = draw_ids, [VISD_SHOW_BOXES] = draw_boxes};
    struct visd_picture picture = {0};
    int status = draw[what](cli, shot, &picture);
    if (status == CLI_DONE) status = save(cli, &picture, path);
    visd_picture_finish(&picture);
    return status;
}

int shot_take(struct cli *cli, struct visd_client_view *view, uint32_t scene, const struct visd_client_camera *camera, struct shot *out)
{
    struct visd_client_frame frame;
    struct visd_client_result result;
    *out = (struct shot){.view = view, .camera = *camera, .scene = scene};
    visd_client_frame_init(&frame, view);
    frame.camera = *camera;
    frame.fresh = true;
    if (visd_client_cull(cli->client, &frame, &result) != VISD_ERR_OK) return cli_fail_client(cli, "culling the camera");
    if (result.err != VISD_ERR_OK) return cli_fail(cli, "culling the camera: %s", result.text ? result.text : "refused");
    if (result.all) return cli_fail(cli, "the daemon has no device now, and so no picture: %s; try again when it is back", result.why ? result.why : "");
    uint64_t *copy = malloc(result.count * sizeof(*copy) + 1);
    if (!copy) return cli_fail(cli, "out of memory for a list");
    if (result.count) memcpy(copy, result.ids, result.count * sizeof(*copy));
    out->listed = copy;
    out->listed_count = result.count;
    return CLI_DONE;
}

void shot_finish(struct shot *shot)
{
    free((void *)shot->listed);
    shot->listed = NULL;
}
