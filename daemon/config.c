/* The table of keys, and the two places that they are read from: the file first, then the flags; see config.h. */
#include "daemon/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 4096 /* bytes, its end not counted */

struct told {
    char *why;
    size_t size;
};

typedef bool key_set(struct visd_config *config, const char *value, struct told *told);

struct key {
    const char *name;
    const char *meta; /* NULL: a flag that needs no value */
    key_set *set;
    const char *help;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct told *told, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(told->why, told->size, format, args);
    va_end(args);
    return false;
}

static bool put_text(char **slot, const char *value, struct told *told)
{
    char *copy = strdup(value);
    if (!copy)
        return refuse(told, "out of memory");
    free(*slot);
    *slot = copy;
    return true;
}

static bool set_listen(struct visd_config *config, const char *value, struct told *told)
{
    if (config->listens == VISD_CONFIG_MAX_LISTEN)
        return refuse(told, "at most %d URLs can be listened on", VISD_CONFIG_MAX_LISTEN);
    if (!strstr(value, "://"))
        return refuse(told, "'%s' is not a URL; write for example ipc:///run/visd/visd.sock", value);
    if (!put_text(&config->listen[config->listens], value, told))
        return false;
    config->listens++;
    return true;
}

static bool set_device(struct visd_config *config, const char *value, struct told *told)
{
    bool digits = *value && strlen(value) <= 3 && strspn(value, "0123456789") == strlen(value);
    if (!digits && strcmp(value, "auto") != 0 && strcmp(value, "cpu") != 0)
        return refuse(told, "'%s' is not a device; give auto, cpu or a number from 0", value);
    return put_text(&config->device, value, told);
}

static bool set_worker(struct visd_config *config, const char *value, struct told *told)
{
    if (strcmp(value, "thread") == 0)
        config->worker = VISD_WORKER_THREAD;
    else if (strcmp(value, "process") == 0)
        config->worker = VISD_WORKER_PROCESS;
    else
        return refuse(told, "'%s' is not a kind of worker; give thread or process", value);
    return true;
}

static bool set_state_dir(struct visd_config *config, const char *value, struct told *told)
{
    return put_text(&config->state_dir, value, told);
}

static bool set_http(struct visd_config *config, const char *value, struct told *told)
{
    return put_text(&config->http, value, told);
}

static bool set_tls_cert_key(struct visd_config *config, const char *value, struct told *told)
{
    return put_text(&config->tls_cert_key, value, told);
}

static bool set_tls_ca(struct visd_config *config, const char *value, struct told *told)
{
    return put_text(&config->tls_ca, value, told);
}

static bool set_socket_mode(struct visd_config *config, const char *value, struct told *told)
{
    char *end = NULL;
    unsigned long mode = strtoul(value, &end, 8);
    if (!isdigit((unsigned char)*value) || *end || mode > 0777)
        return refuse(told, "'%s' is not a file mode; give an octal number such as 0660", value);
    config->socket_mode = (unsigned)mode;
    return true;
}

static bool parse_count(uint64_t *out, const char *value, struct told *told)
{
    char *end = NULL;
    errno = 0;
    unsigned long long count = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno)
        return refuse(told, "'%s' is not a whole number", value);
    *out = count;
    return true;
}

static bool set_triangles(struct visd_config *config, const char *value, struct told *told)
{
    return parse_count(&config->triangles, value, told);
}

static bool set_samples(struct visd_config *config, const char *value, struct told *told)
{
    return parse_count(&config->samples, value, told);
}

static bool set_validate(struct visd_config *config, const char *value, struct told *told)
{
    if (strcmp(value, "yes") == 0)
        config->validate = true;
    else if (strcmp(value, "no") == 0)
        config->validate = false;
    else
        return refuse(told, "'%s' is neither yes nor no", value);
    return true;
}

static bool set_log_level(struct visd_config *config, const char *value, struct told *told)
{
    if (!visd_log_level_parse(value, &config->log_level))
        return refuse(told, "'%s' is not a log level; give err, warn, info or debug", value);
    return true;
}

static const struct key keys[] = {
    {"listen", "URL", set_listen, "where to listen: ipc://PATH, tcp://ADDR:PORT, tls+tcp://ADDR:PORT; may be repeated"},
    {"device", "auto|cpu|N", set_device, "the Vulkan device: the best one, a software one, or by number (default auto)"},
    {"worker", "thread|process", set_worker, "where the device is driven (default thread; process is not supported yet)"},
    {"state-dir", "DIR|none", set_state_dir, "where scenes are kept across restarts (default none; DIR is not supported yet)"},
    {"http", "ADDR:PORT", set_http, "where browsers are served (not supported yet)"},
    {"socket-mode", "OCTAL", set_socket_mode, "file mode of ipc sockets (default 0660)"},
    {"tls-cert-key", "FILE", set_tls_cert_key, "PEM file with the certificate and key for tls+tcp://"},
    {"tls-ca", "FILE", set_tls_ca, "PEM file; clients on tls+tcp:// must show a certificate that it signed"},
    {"triangles", "N", set_triangles, "occluder triangles drawn a submission (default: the device's)"},
    {"samples", "N", set_samples, "occluder rectangle samples drawn a submission (default: the device's)"},
    {"validate", NULL, set_validate, "run with Vulkan's validation layers (slow)"},
    {"log-level", "L", set_log_level, "err, warn, info or debug (default info)"},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const struct key *find_key(const char *name, size_t length)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == length && strncmp(keys[i].name, name, length) == 0)
            return &keys[i];
    return NULL;
}

static void drop_listens(struct visd_config *config)
{
    for (unsigned i = 0; i < config->listens; i++) {
        free(config->listen[i]);
        config->listen[i] = NULL;
    }
    config->listens = 0;
}

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* What a file has said so far: where each key was given, 0: not yet. */
struct reading {
    const char *path;
    unsigned number; /* of the line */
    unsigned given[KEYS];
};

static bool take_line(struct visd_config *config, struct reading *at, char *line, struct told *told)
{
    char reason[512];
    struct told inner = {reason, sizeof(reason)};
    char *text = trim(line);
    if (*text == '\0' || *text == '#')
        return true;
    char *equals = strchr(text, '=');
    if (!equals)
        return refuse(told, "%s:%u: '%s' is not of the form 'key = value'", at->path, at->number, text);
    *equals = '\0';
    char *name = trim(text), *value = trim(equals + 1);
    const struct key *key = find_key(name, strlen(name));
    if (!key)
        return refuse(told, "%s:%u: unknown key '%s'", at->path, at->number, name);
    unsigned *given = &at->given[key - keys];
    if (*given && key->set != set_listen)
        return refuse(told, "%s:%u: %s is given in line %u already; keep one of the two", at->path, at->number, name, *given);
    *given = at->number;
    if (*value == '\0')
        return refuse(told, "%s:%u: %s has no value", at->path, at->number, name);
    if (!key->set(config, value, &inner))
        return refuse(told, "%s:%u: %s: %s", at->path, at->number, name, reason);
    return true;
}

enum line_end { LINE_TAKEN, LINE_NONE, LINE_REFUSED };

/* The next line, without its end. */
static enum line_end next_line(FILE *file, struct reading *at, char line[MAX_LINE + 1], struct told *told)
{
    size_t length = 0;
    int c = getc(file);
    if (c == EOF)
        return LINE_NONE;
    at->number++;
    for (; c != EOF && c != '\n'; c = getc(file)) {
        if (c == '\0') {
            refuse(told, "%s:%u: the line holds a NUL byte; the file must be plain text", at->path, at->number);
            return LINE_REFUSED;
        }
        if (length == MAX_LINE) {
            refuse(told, "%s:%u: the line is longer than %d bytes; make it shorter", at->path, at->number, MAX_LINE);
            return LINE_REFUSED;
        }
        line[length++] = (char)c;
    }
    line[length] = '\0';
    return LINE_TAKEN;
}

static bool read_file(struct visd_config *config, const char *path, struct told *told)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return refuse(told, "cannot open the config file '%s': %s", path, strerror(errno));
    char line[MAX_LINE + 1];
    struct reading at = {.path = path};
    bool good = true;
    enum line_end end = LINE_TAKEN;
    while (good && (end = next_line(file, &at, line, told)) == LINE_TAKEN)
        good = take_line(config, &at, line, told);
    if (good && end == LINE_NONE && ferror(file))
        good = refuse(told, "cannot read the config file '%s': %s", path, strerror(errno));
    fclose(file);
    return good && end == LINE_NONE;
}

/* Splits argv[*at] into a name and a value, which may be the next argument. */
static bool next_flag(int argc, char **argv, int *at, const char **name, size_t *length, const char **value, struct told *told)
{
    const char *arg = argv[*at];
    if (strncmp(arg, "--", 2) != 0)
        return refuse(told, "unexpected argument '%s'", arg);
    *name = arg + 2;
    const char *equals = strchr(*name, '=');
    *length = equals ? (size_t)(equals - *name) : strlen(*name);
    *value = equals ? equals + 1 : NULL;
    const struct key *key = find_key(*name, *length);
    bool is_config = *length == 6 && strncmp(*name, "config", 6) == 0;
    if (!key && !is_config)
        return refuse(told, "unknown flag '--%.*s'", (int)*length, *name);
    if (!*value && key && !key->meta)
        *value = "yes";
    if (!*value) {
        if (*at + 1 >= argc)
            return refuse(told, "--%.*s needs a value: %s", (int)*length, *name, key ? key->meta : "FILE");
        *value = argv[++*at];
    }
    return true;
}

static bool apply_flags(struct visd_config *config, int argc, char **argv, bool only_config, struct told *told)
{
    bool listened = false;
    for (int i = 1; i < argc; i++) {
        const char *name = NULL, *value = NULL;
        size_t length = 0;
        char reason[512];
        struct told inner = {reason, sizeof(reason)};
        if (!next_flag(argc, argv, &i, &name, &length, &value, told))
            return false;
        const struct key *key = find_key(name, length);
        if (!key) {
            if (only_config && !put_text(&config->file, value, told))
                return false;
            continue;
        }
        if (only_config)
            continue;
        if (key->set == set_listen && !listened) { /* the flags' URLs replace the file's */
            drop_listens(config);
            listened = true;
        }
        if (!key->set(config, value, &inner))
            return refuse(told, "--%s: %s", key->name, reason);
    }
    return true;
}

/* systemd's RuntimeDirectory, else the user's, else the system's; visctl looks in the last two. */
static bool default_listen(struct visd_config *config, struct told *told)
{
    char url[512];
    const char *unit = getenv("RUNTIME_DIRECTORY"), *user = getenv("XDG_RUNTIME_DIR");
    if (unit && *unit)
        snprintf(url, sizeof(url), "ipc://%s/visd.sock", unit);
    else
        snprintf(url, sizeof(url), "ipc://%s/visd.sock", user && *user ? user : "/run/visd");
    return set_listen(config, url, told);
}

enum visd_config_result visd_config_init(struct visd_config *config, int argc, char **argv, char *why, size_t why_size)
{
    struct told told = {why, why_size};
    *config = (struct visd_config){.worker = VISD_WORKER_THREAD, .socket_mode = 0660, .log_level = VISD_LOG_INFO};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return VISD_CONFIG_HELP;
        if (strcmp(argv[i], "--version") == 0)
            return VISD_CONFIG_VERSION;
    }
    if (!put_text(&config->device, "auto", &told) || !put_text(&config->state_dir, "none", &told) ||
        !apply_flags(config, argc, argv, true, &told) || (config->file && !read_file(config, config->file, &told)) ||
        !apply_flags(config, argc, argv, false, &told) || (config->listens == 0 && !default_listen(config, &told))) {
        visd_config_finish(config);
        return VISD_CONFIG_USAGE;
    }
    return VISD_CONFIG_RUN;
}

void visd_config_finish(struct visd_config *config)
{
    drop_listens(config);
    free(config->device);
    free(config->state_dir);
    free(config->http);
    free(config->tls_cert_key);
    free(config->tls_ca);
    free(config->file);
    *config = (struct visd_config){0};
}

static bool listens_on_tls(const struct visd_config *config)
{
    for (unsigned i = 0; i < config->listens; i++)
        if (strncmp(config->listen[i], "tls+tcp://", strlen("tls+tcp://")) == 0)
            return true;
    return false;
}

enum visd_err visd_config_check(const struct visd_config *config, char *why, size_t why_size)
{
    struct told told = {why, why_size};
    if (config->worker == VISD_WORKER_PROCESS) {
        refuse(&told, "--worker process is not supported yet; use --worker thread");
        return VISD_ERR_NOT_SUPPORTED;
    }
    if (strcmp(config->state_dir, "none") != 0) {
        refuse(&told, "--state-dir %s is not supported yet: scenes are held in memory only; use --state-dir none", config->state_dir);
        return VISD_ERR_NOT_SUPPORTED;
    }
    if (config->http) {
        refuse(&told, "--http %s is not supported yet; leave it out", config->http);
        return VISD_ERR_NOT_SUPPORTED;
    }
    const char *tls = config->tls_cert_key ? "--tls-cert-key" : config->tls_ca ? "--tls-ca" : NULL;
    if (tls && !listens_on_tls(config)) { /* who believes that it guards something is wrong */
        refuse(&told, "%s is given, but nothing listens on tls+tcp://; add --listen tls+tcp://ADDR:PORT, or leave it out", tls);
        return VISD_ERR_BAD_VALUE;
    }
    return VISD_ERR_OK;
}

void visd_config_help(FILE *out)
{
    fputs("visd: the visibility daemon. It keeps scenes on the GPU and tells any number of programs\n"
          "which objects can be seen from a camera.\n\n"
          "Usage: visd [--listen URL]... [FLAG VALUE]...\n\n",
          out);
    for (size_t i = 0; i < KEYS; i++) {
        char flag[64];
        snprintf(flag, sizeof(flag), "--%s%s%s", keys[i].name, keys[i].meta ? " " : "", keys[i].meta ? keys[i].meta : "");
        fprintf(out, "  %-26s %s\n", flag, keys[i].help);
    }
    fputs("  --config FILE              read these keys from a file first: 'key = value' a line, # for comments\n"
          "  --version                  print the version\n"
          "  --help                     print this\n\n"
          "Without --listen: ipc://$XDG_RUNTIME_DIR/visd.sock, or ipc:///run/visd/visd.sock where that is not set.\n"
          "SIGTERM or SIGINT ends it once what is in flight is answered, within two seconds.\n"
          "Exit codes: 0 ended as asked, 1 could not start or failed, 2 usage.\n\n"
          "Examples:\n"
          "  visd --listen ipc:///tmp/visd.sock --device cpu\n"
          "  visd --listen ipc:///tmp/visd.sock --listen tcp://127.0.0.1:7878 --log-level debug\n",
          out);
}
