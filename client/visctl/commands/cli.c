/* Options, sizes, connecting, progress and failures, alike for all commands; see cli.h. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *cli_text(const struct cli *cli, const char *option)
{
    for (int i = cli->given_count - 1; i >= 0; i--) /* the last one given holds */
        if (strcmp(cli->given[i * 2], option) == 0) return cli->given[i * 2 + 1] ? cli->given[i * 2 + 1] : "";
    return NULL;
}

bool cli_flag(const struct cli *cli, const char *option)
{
    return cli_text(cli, option) != NULL;
}

bool cli_parse_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno) return false;
    *out = value;
    return true;
}

bool cli_number(const struct cli *cli, const char *option, uint64_t least, uint64_t most, uint64_t *out)
{
    const char *text = cli_text(cli, option);
    uint64_t value;
    if (!text) return true;
    if (!cli_parse_number(text, &value) || value < least || value > most) {
        cli_misuse(cli, "--%s must be a whole number from %llu to %llu, not \"%s\"", option, (unsigned long long)least, (unsigned long long)most, text);
        return false;
    }
    *out = value;
    return true;
}

bool cli_real(const struct cli *cli, const char *option, double least, double most, double *out)
{
    const char *text = cli_text(cli, option);
    char *end = NULL;
    if (!text) return true;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most)) {
        cli_misuse(cli, "--%s must be a number from %g to %g, not \"%s\"", option, least, most, text);
        return false;
    }
    *out = value;
    return true;
}

bool cli_size(const struct cli *cli, uint32_t *width, uint32_t *height)
{
    const char *text = cli_text(cli, "size");
    unsigned w, h;
    int end = 0;
    if (!text) return true;
    if (sscanf(text, "%5ux%5u%n", &w, &h, &end) != 2 || text[end] || w < 1 || h < 1 || w > 16384 || h > 16384) {
        cli_misuse(cli, "--size must be WIDTHxHEIGHT, each from 1 to 16384, not \"%s\"", text);
        return false;
    }
    *width = w;
    *height = h;
    return true;
}

/* One line whatever names are in it, and nothing that a terminal obeys. */
static void tell(const struct cli *cli, char *text)
{
    cli_progress(NULL, 0, 0);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    fprintf(stderr, "visctl%s%s: %s\n", cli->command ? " " : "", cli->command ? cli->command->name : "", text);
}

int cli_fail(const struct cli *cli, const char *format, ...)
{
    char text[1280];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tell(cli, text);
    return CLI_FAILED;
}

int cli_fail_client(const struct cli *cli, const char *doing)
{
    const struct visd_client_failure *why = visd_client_why(cli->client);
    return cli_fail(cli, "%s: %s", doing, why->text);
}

int cli_misuse(const struct cli *cli, const char *format, ...)
{
    char text[640], all[768];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(all, sizeof(all), "%s; see visctl %s%s--help", text, cli->command ? cli->command->name : "", cli->command ? " " : "");
    tell(cli, all);
    return CLI_USAGE;
}

bool cli_connect(struct cli *cli)
{
    struct visd_client_failure why = {0};
    if (cli->client) return true;
    if (visd_client_connect(&cli->client, cli->url, &(struct visd_client_options){.name = "visctl"}, &why) == VISD_ERR_OK) return true;
    cli_fail(cli, "%s; --connect URL names another place", why.text);
    return false;
}

bool cli_find_scene(struct cli *cli, const char *name, struct visd_client_scene *out)
{
    if (!cli_connect(cli)) return false;
    enum visd_err err = visd_client_scene_find(cli->client, name, out);
    if (err == VISD_ERR_NOT_FOUND)
        cli_fail(cli, "there is no scene \"%s\"; visctl scene ls shows what there is", name);
    else if (err != VISD_ERR_OK)
        cli_fail_client(cli, "looking for the scene");
    return err == VISD_ERR_OK;
}

bool cli_method(const struct cli *cli, int *out)
{
    const char *name = cli_text(cli, "method");
    *out = name ? visd_client_method_number(name) : VISD_CULL_HIZ;
    if (*out >= 0) return true;
    cli_misuse(cli, "there is no method \"%s\": frustum, hiz, box, exact, query, auto", name);
    return false;
}

void cli_progress(const char *doing, uint64_t done, uint64_t all)
{
    static uint64_t last;
    static bool shown;
    if (!isatty(STDERR_FILENO)) return;
    if (!doing) {
        if (shown) fputs("\r\033[K", stderr);
        shown = false;
        last = 0;
        return;
    }
    uint64_t now = cli_now_ns();
    if (shown && now - last < 100000000u) return;
    last = now;
    shown = true;
    int filled = all ? (int)(20 * (done < all ? done : all) / all) : 0;
    fprintf(stderr, "\r\033[K%s  [%.*s%*s] %llu of %llu", doing, filled, "====================", 20 - filled, "", (unsigned long long)done,
            (unsigned long long)all);
    fflush(stderr);
}

bool cli_software_device(const char *device)
{
    return strstr(device, "llvmpipe") || strstr(device, "lavapipe") || strstr(device, "cpu");
}

uint64_t cli_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double cli_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

int cli_by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The length of the UTF-8 sequence at text, 0 if it is none. */
static size_t sequence(const unsigned char *text, size_t left)
{
    size_t n = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : text[0] >= 0xf0 && text[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] >= 0xa0) || (text[0] == 0xf4 && text[1] >= 0x90);
    return overlong || outside ? 0 : n;
}

void cli_put_string(FILE *file, const char *text, size_t length)
{
    fputc('"', file);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = sequence((const unsigned char *)text + i, length - i);
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(file, "\\u%04x", c);
        else if (n == 0)
            fputs("\\ufffd", file);
        else
            fwrite(text + i, 1, n, file);
        i += n ? n : 1;
    }
    fputc('"', file);
}

void cli_put_ids(FILE *file, const uint64_t *ids, size_t count)
{
    fputc('[', file);
    for (size_t i = 0; i < count; i++) fprintf(file, "%s%llu", i ? "," : "", (unsigned long long)ids[i]);
    fputc(']', file);
}
