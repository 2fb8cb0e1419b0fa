/* set and watch; stats and clients. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"

#define IDS_MAX (16u << 20)

static const struct {
    const char *name;
    uint32_t mask, flags;
} actions[] = {
    {"hide", VISD_FLAG_HIDDEN, VISD_FLAG_HIDDEN},
    {"show", VISD_FLAG_HIDDEN, 0},
    {"xray", VISD_FLAG_XRAY, VISD_FLAG_XRAY},
    {"ghost", VISD_FLAG_GHOSTED, VISD_FLAG_GHOSTED},
    {"solid", VISD_FLAG_XRAY | VISD_FLAG_GHOSTED, 0},
    {"see-through", VISD_FLAG_SEE_THROUGH, VISD_FLAG_SEE_THROUGH},
    {"opaque", VISD_FLAG_SEE_THROUGH, 0},
    {"pin", VISD_FLAG_PINNED, VISD_FLAG_PINNED},
    {"unpin", VISD_FLAG_PINNED, 0},
    {"helper", VISD_FLAG_HELPER, VISD_FLAG_HELPER},
    {"no-helper", VISD_FLAG_HELPER, 0},
    {"occluder-only", VISD_FLAG_OCCLUDER_ONLY, VISD_FLAG_OCCLUDER_ONLY},
    {"no-occluder-only", VISD_FLAG_OCCLUDER_ONLY, 0},
    {"section-exempt", VISD_FLAG_SECTION_EXEMPT, VISD_FLAG_SECTION_EXEMPT},
    {"no-section-exempt", VISD_FLAG_SECTION_EXEMPT, 0},
};

/* "7" or "7-12", into a growing list. Returns an exit status. */
static int take_ids(const struct cli *cli, const char *word, uint64_t **ids, size_t *count)
{
    char low[32];
    const char *dash = strchr(word, '-');
    uint64_t first, last;
    size_t length = dash ? (size_t)(dash - word) : strlen(word);
    if (length >= sizeof(low)) return cli_misuse(cli, "\"%s\" is no id and no range of ids", word);
    memcpy(low, word, length);
    low[length] = 0;
    if (!cli_parse_number(low, &first) || !cli_parse_number(dash ? dash + 1 : low, &last) || last < first)
        return cli_misuse(cli, "\"%s\" is no id and no range of ids", word);
    if (last - first >= IDS_MAX - *count) return cli_fail(cli, "\"%s\": more than %u ids at once; change them in portions", word, IDS_MAX);
    uint64_t *moved = realloc(*ids, (*count + (size_t)(last - first) + 1) * sizeof(*moved));
    if (!moved) return cli_fail(cli, "out of memory; change fewer ids at once");
    *ids = moved;
    for (uint64_t id = first;; id++) {
        moved[(*count)++] = id;
        if (id == last) break;
    }
    return CLI_DONE;
}

static int refused(struct cli *cli, const char *scene)
{
    const struct visd_client_failure *why = visd_client_why(cli->client);
    if (why->err != VISD_ERR_NOT_FOUND) return cli_fail_client(cli, "changing objects");
    return cli_fail(cli, "changing objects: %s; nothing was changed; visctl objects \"%s\" lists what there is", why->text, scene);
}

static int apply(struct cli *cli, const struct visd_client_scene *scene, const uint64_t *ids, size_t count, uint32_t mask, uint32_t flags)
{
    enum { PIECE = 4096 };
    uint32_t masks[PIECE], values[PIECE];
    struct visd_client_batch *batch;
    struct visd_client_committed done;
    for (int i = 0; i < PIECE; i++) masks[i] = mask, values[i] = flags;
    enum visd_err err = visd_client_batch_create(&batch, cli->client, scene->scene);
    for (size_t i = 0; i < count && err == VISD_ERR_OK; i += PIECE) {
        size_t n = count - i < PIECE ? count - i : PIECE;
        err = visd_client_batch_object_set(batch, &(struct visd_client_objects){.count = n, .ids = ids + i, .flags = values, .flag_masks = masks});
    }
    if (err == VISD_ERR_OK) err = visd_client_batch_commit(batch, &done);
    int status = err == VISD_ERR_OK ? CLI_DONE : refused(cli, scene->name);
    visd_client_batch_destroy(batch);
    if (err == VISD_ERR_OK && cli->json) printf("{\"changed\": %zu, \"revision\": %llu}\n", count, (unsigned long long)done.revision);
    return status;
}

int cmd_set(struct cli *cli)
{
    const char *action = cli->operand[cli->operands - 1];
    struct visd_client_scene scene;
    uint64_t *ids = NULL;
    size_t count = 0, a = 0;
    while (a < sizeof(actions) / sizeof(*actions) && strcmp(actions[a].name, action) != 0) a++;
    if (a == sizeof(actions) / sizeof(*actions)) return cli_misuse(cli, "there is no action \"%s\"", action);
    int status = CLI_DONE;
    for (int i = 1; i + 1 < cli->operands && status == CLI_DONE; i++) status = take_ids(cli, cli->operand[i], &ids, &count);
    if (status == CLI_DONE && !cli_find_scene(cli, cli->operand[0], &scene)) status = CLI_FAILED;
    if (status == CLI_DONE) status = apply(cli, &scene, ids, count, actions[a].mask, actions[a].flags);
    free(ids);
    return status;
}

/* ---- watch ---- */

static void print_event(const struct cli *cli, const struct visd_client_event *e)
{
    static const char *const kinds[] = {"revision", "removed", "device", "missed"}, *const states[] = {"ready", "starting", "lost", "none"};
    if (cli->json) {
        printf("{\"event\": \"%s\", \"name\": ", kinds[e->kind]);
        cli_put_string(stdout, e->name, strlen(e->name));
        printf(", \"epoch\": %llu, \"revision\": %llu, \"missed\": %llu, \"why\": ", (unsigned long long)e->epoch, (unsigned long long)e->revision,
               (unsigned long long)e->missed);
        cli_put_string(stdout, e->why, strlen(e->why));
        puts("}");
    } else if (e->kind == VISD_EVENT_REVISION) {
        printf("%s  revision %llu\n", e->name, (unsigned long long)e->revision);
    } else if (e->kind == VISD_EVENT_REMOVED) {
        printf("%s  removed\n", e->name);
    } else if (e->kind == VISD_EVENT_DEVICE) {
        printf("device %s  %s%s%s\n", e->name, e->state < 4 ? states[e->state] : "?", *e->why ? ": " : "", e->why);
    } else if (e->missed) {
        printf("%llu events were missed\n", (unsigned long long)e->missed);
    } else {
        puts("the connection was lost, and events with it");
    }
    fflush(stdout);
}

int cmd_watch(struct cli *cli)
{
    const char *name = strcmp(cli->operand[0], "-") == 0 ? NULL : cli->operand[0];
    struct visd_client_scene scene;
    if (name && !cli_find_scene(cli, name, &scene)) return CLI_FAILED;
    if (!cli_connect(cli)) return CLI_FAILED;
    if (visd_client_subscribe(cli->client, name) != VISD_ERR_OK) return cli_fail_client(cli, "subscribing");
    while (!ferror(stdout)) {
        struct visd_client_event event;
        enum visd_err err = visd_client_next_event(cli->client, 1000, &event);
        if (err == VISD_ERR_TIMEOUT) continue;
        if (err != VISD_ERR_OK) return cli_fail_client(cli, "waiting for events");
        print_event(cli, &event);
    }
    return CLI_DONE;
}

/* ---- stats, clients ---- */

int cmd_stats(struct cli *cli)
{
    struct visd_client_number *numbers = NULL;
    size_t count = 0;
    if (!cli_connect(cli)) return CLI_FAILED;
    if (visd_client_stats(cli->client, &numbers, &count) != VISD_ERR_OK) return cli_fail_client(cli, "asking for counters");
    if (cli->json) putchar('{');
    for (size_t i = 0; i < count; i++) {
        if (cli->json) {
            printf("%s", i ? ", " : "");
            cli_put_string(stdout, numbers[i].name, strlen(numbers[i].name));
            printf(": %.17g", numbers[i].value);
        } else {
            printf("%-32s %.15g\n", numbers[i].name, numbers[i].value);
        }
    }
    if (cli->json) puts("}");
    visd_client_free(numbers);
    return CLI_DONE;
}

int cmd_clients(struct cli *cli)
{
    struct visd_client_peer *peers = NULL;
    size_t count = 0;
    if (!cli_connect(cli)) return CLI_FAILED;
    if (visd_client_peers(cli->client, &peers, &count) != VISD_ERR_OK) return cli_fail_client(cli, "asking for clients");
    if (!cli->json) printf("%-10s %-20s %-8s %-8s %10s %8s %6s\n", "CONNECTION", "NAME", "USER", "PROCESS", "REQUESTS", "REFUSED", "VIEWS");
    for (size_t i = 0; i < count; i++) {
        const struct visd_client_peer *p = &peers[i];
        if (cli->json) {
            printf("{\"connection\": %" PRIu64 ", \"name\": ", p->connection);
            cli_put_string(stdout, p->name, strlen(p->name));
            printf(", \"peer\": ");
            cli_put_string(stdout, p->peer, strlen(p->peer));
            if (p->has_user) printf(", \"uid\": %u, \"pid\": %u", p->uid, p->pid);
            printf(", \"requests\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"bytes_in\": %" PRIu64 ", \"bytes_out\": %" PRIu64 ", \"views\": %" PRIu64 "}\n",
                   p->requests, p->refused, p->bytes_in, p->bytes_out, p->views);
        } else if (p->has_user) {
            printf("%-10" PRIu64 " %-20s %-8u %-8u %10" PRIu64 " %8" PRIu64 " %6" PRIu64 "\n", p->connection, p->name, p->uid, p->pid,
                   p->requests, p->refused, p->views);
        } else {
            printf("%-10" PRIu64 " %-20s %-8s %-8s %10" PRIu64 " %8" PRIu64 " %6" PRIu64 "\n", p->connection, p->name, "-", "-",
                   p->requests, p->refused, p->views);
        }
    }
    visd_client_free(peers);
    return CLI_DONE;
}
