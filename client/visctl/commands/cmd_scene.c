/* scene ls, info, rm; objects. */
#include <stdlib.h>
#include <string.h>

#include "../model/model.h"
#include "cli.h"
#include "commands.h"

static void print_scene_json(const struct visd_client_scene *s)
{
    printf("{\"scene\": ");
    cli_put_string(stdout, s->name, strlen(s->name));
    printf(", \"number\": %u, \"revision\": %llu, \"objects\": %llu, \"groups\": %llu, \"meshes\": %llu, \"triangles\": %llu, \"metres_per_unit\": %.17g",
           s->scene, (unsigned long long)s->revision, (unsigned long long)s->objects, (unsigned long long)s->groups, (unsigned long long)s->meshes,
           (unsigned long long)s->triangles, s->metres_per_unit);
    printf(", \"bytes_host\": %llu, \"bytes_device\": %llu, \"bounds\": ", (unsigned long long)s->bytes_host, (unsigned long long)s->bytes_device);
    if (s->has_bounds)
        printf("[[%.9g, %.9g, %.9g], [%.9g, %.9g, %.9g]]}\n", s->min[0], s->min[1], s->min[2], s->max[0], s->max[1], s->max[2]);
    else
        puts("null}");
}

int cmd_scene_ls(struct cli *cli)
{
    struct visd_client_scene *scenes = NULL;
    size_t count = 0;
    if (!cli_connect(cli)) return CLI_FAILED;
    if (visd_client_scene_list(cli->client, &scenes, &count) != VISD_ERR_OK) return cli_fail_client(cli, "listing scenes");
    if (!cli->json) printf("%-24s %9s %10s %8s %12s %9s\n", "SCENE", "REVISION", "OBJECTS", "MESHES", "TRIANGLES", "HOST MiB");
    for (size_t i = 0; i < count; i++) {
        const struct visd_client_scene *s = &scenes[i];
        if (cli->json)
            print_scene_json(s);
        else
            printf("%-24s %9llu %10llu %8llu %12llu %9.1f\n", s->name, (unsigned long long)s->revision, (unsigned long long)s->objects,
                   (unsigned long long)s->meshes, (unsigned long long)s->triangles, (double)s->bytes_host / 1048576);
    }
    visd_client_free(scenes);
    return CLI_DONE;
}

int cmd_scene_info(struct cli *cli)
{
    struct visd_client_scene s;
    if (!cli_find_scene(cli, cli->operand[0], &s)) return CLI_FAILED;
    if (cli->json) {
        print_scene_json(&s);
        return CLI_DONE;
    }
    printf("scene      %s\nrevision   %llu\nobjects    %llu\ngroups     %llu\nmeshes     %llu\ntriangles  %llu\n", s.name, (unsigned long long)s.revision,
           (unsigned long long)s.objects, (unsigned long long)s.groups, (unsigned long long)s.meshes, (unsigned long long)s.triangles);
    printf("unit       %g m\nhost       %.1f MiB\n", s.metres_per_unit, (double)s.bytes_host / 1048576);
    if (s.bytes_device) printf("device     %.1f MiB\n", (double)s.bytes_device / 1048576);
    if (s.has_bounds) printf("bounds     %.6g %.6g %.6g to %.6g %.6g %.6g\n", s.min[0], s.min[1], s.min[2], s.max[0], s.max[1], s.max[2]);
    printf("ids        %s\n", s.ids32 ? "32 bits" : "64 bits");
    return CLI_DONE;
}

int cmd_scene_rm(struct cli *cli)
{
    struct visd_client_scene s;
    if (!cli_find_scene(cli, cli->operand[0], &s)) return CLI_FAILED;
    if (visd_client_scene_remove(cli->client, s.scene) != VISD_ERR_OK) return cli_fail_client(cli, "removing the scene");
    if (cli->json) {
        printf("{\"removed\": ");
        cli_put_string(stdout, s.name, strlen(s.name));
        puts("}");
    }
    return CLI_DONE;
}

/* ---- objects ---- */

static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {VISD_FLAG_HIDDEN, "hidden"},           {VISD_FLAG_SEE_THROUGH, "see_through"},     {VISD_FLAG_XRAY, "xray"},
    {VISD_FLAG_GHOSTED, "ghosted"},         {VISD_FLAG_HELPER, "helper"},               {VISD_FLAG_OCCLUDER_ONLY, "occluder_only"},
    {VISD_FLAG_PINNED, "pinned"},           {VISD_FLAG_UNBOUNDED, "unbounded"},         {VISD_FLAG_SECTION_EXEMPT, "section_exempt"},
    {VISD_FLAG_SINGLE_SIDED, "single_sided"}, {VISD_FLAG_DOUBLE_SIDED, "double_sided"},
};

static void print_reference(const char *key, const uint64_t *column, size_t row)
{
    if (column && column[row] != VISD_NO_ID)
        printf(", \"%s\": %llu", key, (unsigned long long)column[row]);
    else
        printf(", \"%s\": null", key);
}

static void print_object(const struct visd_client_page *page, size_t row)
{
    printf("{\"id\": %llu", (unsigned long long)page->ids[row]);
    size_t length = page->names ? page->name_offsets[row + 1] - page->name_offsets[row] : 0;
    if (length) {
        char path[2048], name[1024];
        if (length >= sizeof(path)) length = sizeof(path) - 1;
        memcpy(path, page->names + page->name_offsets[row], length);
        path[length] = 0;
        visd_model_path_name(path, name, sizeof(name));
        printf(", \"name\": ");
        cli_put_string(stdout, name, strlen(name));
        printf(", \"path\": ");
        cli_put_string(stdout, path, length);
    } else {
        printf(", \"name\": null, \"path\": null");
    }
    const double *b = page->world_boxes ? page->world_boxes + row * 6 : NULL;
    bool bounded = b && b[0] <= b[3] && b[0] > -1e30 && b[3] < 1e30 && !(page->flags && page->flags[row] & VISD_FLAG_UNBOUNDED);
    if (bounded)
        printf(", \"bounds\": [[%.9g, %.9g, %.9g], [%.9g, %.9g, %.9g]]", b[0], b[1], b[2], b[3], b[4], b[5]);
    else
        printf(", \"bounds\": null");
    printf(", \"flags\": [");
    const char *comma = "";
    for (size_t f = 0; f < sizeof(flag_names) / sizeof(*flag_names); f++)
        if (page->flags && page->flags[row] & flag_names[f].flag) {
            printf("%s\"%s\"", comma, flag_names[f].name);
            comma = ", ";
        }
    putchar(']');
    print_reference("mesh", page->meshes, row);
    print_reference("group", page->groups, row);
    puts("}");
}

int cmd_objects(struct cli *cli)
{
    struct visd_client_scene s;
    if (!cli_find_scene(cli, cli->operand[0], &s)) return CLI_FAILED;
    uint32_t first = 0;
    do {
        struct visd_client_page page;
        if (visd_client_object_page(cli->client, s.scene, first, 0, VISD_COLUMN_NAMES | VISD_COLUMN_WORLD_BOXES, &page) != VISD_ERR_OK)
            return cli_fail_client(cli, "listing objects");
        for (size_t i = 0; i < page.count; i++) print_object(&page, i);
        first = page.next;
        visd_client_page_finish(&page);
    } while (first && !ferror(stdout));
    return CLI_DONE;
}
