/* link: visd_daemon visd_proto */
/* Flags and the config file: what is taken, what is refused, and with which words. Log levels and the valve. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"

#define ARGS(...) ((char *[]){"visd", __VA_ARGS__, NULL}), (int)(sizeof((char *[]){"visd", __VA_ARGS__}) / sizeof(char *))

static char why[512];

static enum visd_config_result parse(struct visd_config *config, char **argv, int argc)
{
    why[0] = '\0';
    return visd_config_init(config, argc, argv, why, sizeof(why));
}

static void write_bytes(char *path, const char *bytes, size_t size)
{
    strcpy(path, "/tmp/test_config_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static void write_file(char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static void defaults(void **state)
{
    struct visd_config config;
    (void)state;
    setenv("RUNTIME_DIRECTORY", "/run/here", 1);
    assert_int_equal(visd_config_init(&config, 1, (char *[]){"visd", NULL}, why, sizeof(why)), VISD_CONFIG_RUN);
    unsetenv("RUNTIME_DIRECTORY");
    assert_int_equal(config.listens, 1);
    assert_string_equal(config.listen[0], "ipc:///run/here/visd.sock");
    assert_string_equal(config.device, "auto");
    assert_string_equal(config.state_dir, "none");
    assert_int_equal(config.worker, VISD_WORKER_THREAD);
    assert_int_equal(config.socket_mode, 0660);
    assert_int_equal(config.log_level, VISD_LOG_INFO);
    assert_false(config.validate);
    assert_int_equal(visd_config_check(&config, why, sizeof(why)), VISD_ERR_OK);
    visd_config_finish(&config);
}

static void flags(void **state)
{
    struct visd_config config;
    (void)state;
    assert_int_equal(parse(&config, ARGS("--listen", "ipc:///a", "--listen=tcp://127.0.0.1:1", "--device", "2", "--validate", "--triangles=5",
                                         "--samples", "7", "--socket-mode", "0600", "--log-level", "debug")),
                     VISD_CONFIG_RUN);
    assert_int_equal(config.listens, 2);
    assert_string_equal(config.listen[1], "tcp://127.0.0.1:1");
    assert_string_equal(config.device, "2");
    assert_true(config.validate);
    assert_int_equal(config.triangles, 5);
    assert_int_equal(config.samples, 7);
    assert_int_equal(config.socket_mode, 0600);
    assert_int_equal(config.log_level, VISD_LOG_DEBUG);
    visd_config_finish(&config);
}

static void file_and_flags(void **state)
{
    struct visd_config config;
    char path[64];
    (void)state;
    write_file(path, "# a comment\n\n  listen = ipc:///from/file\nlisten=ipc:///second\ndevice = cpu\nvalidate = yes\nsocket-mode = 0666\n");
    assert_int_equal(parse(&config, ARGS("--config", path, "--device=auto")), VISD_CONFIG_RUN);
    assert_int_equal(config.listens, 2);
    assert_string_equal(config.listen[0], "ipc:///from/file");
    assert_string_equal(config.device, "auto"); /* the flag wins */
    assert_true(config.validate);
    assert_int_equal(config.socket_mode, 0666);
    visd_config_finish(&config);
    assert_int_equal(parse(&config, ARGS("--listen", "ipc:///flag", "--config", path)), VISD_CONFIG_RUN);
    assert_int_equal(config.listens, 1); /* the flags' URLs replace the file's */
    assert_string_equal(config.listen[0], "ipc:///flag");
    visd_config_finish(&config);
    unlink(path);
}

static void bad_files(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"device = cpu\n\nsped = 9\n", ":3: unknown key 'sped'"},
        {"device cpu\n", ":1: 'device cpu' is not of the form 'key = value'"},
        {"device =\n", ":1: device has no value"},
        {"\ndevice = gpu\n", ":2: device: 'gpu' is not a device"},
        {"validate = maybe\n", ":1: validate: 'maybe' is neither yes nor no"},
        {"config = other\n", ":1: unknown key 'config'"},
        {"socket-mode = 0999\n", "is not a file mode"},
        {"triangles = -1\n", "is not a whole number"},
        {"triangles = 99999999999999999999999\n", "is not a whole number"},
        {"listen = /run/visd.sock\n", "is not a URL"},
        {"device = cpu\n# again\ndevice = cpu\n", ":3: device is given in line 1 already"},
    };
    struct visd_config config;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[64];
        write_file(path, cases[i].text);
        assert_int_equal(parse(&config, ARGS("--config", path)), VISD_CONFIG_USAGE);
        if (!strstr(why, cases[i].says))
            fail_msg("'%s' does not say '%s'", why, cases[i].says);
        unlink(path);
    }
    assert_int_equal(parse(&config, ARGS("--config", "/nowhere/at/all")), VISD_CONFIG_USAGE);
    assert_non_null(strstr(why, "cannot open the config file '/nowhere/at/all'"));
}

/* Whatever ends it, and whatever it says: a line is taken as it stands or not at all. */
static void long_line(void **state)
{
    struct visd_config config;
    char path[64], text[9000];
    (void)state;
    for (int more = 0; more <= 1; more++)
        for (int end = 0; end <= 1; end++) {
            size_t size = 8 + 4096 + (size_t)more;
            memset(text, '#', sizeof(text)); /* a comment too */
            memcpy(text, "#first#\n", 8);
            text[size] = '\n';
            write_bytes(path, text, size + (size_t)end);
            assert_int_equal(parse(&config, ARGS("--config", path)), more ? VISD_CONFIG_USAGE : VISD_CONFIG_RUN);
            if (more)
                assert_non_null(strstr(why, ":2: the line is longer than 4096 bytes"));
            visd_config_finish(&config);
            unlink(path);
        }
}

static void nul_bytes(void **state)
{
    static const char text[] = "device = cpu\nlog-level = err\0or\n", last[] = "device = cpu\0";
    struct visd_config config;
    char path[64];
    (void)state;
    write_bytes(path, text, sizeof(text) - 1);
    assert_int_equal(parse(&config, ARGS("--config", path)), VISD_CONFIG_USAGE);
    assert_non_null(strstr(why, ":2: the line holds a NUL byte"));
    unlink(path);
    write_bytes(path, last, sizeof(last) - 1);
    assert_int_equal(parse(&config, ARGS("--config", path)), VISD_CONFIG_USAGE);
    assert_non_null(strstr(why, ":1: the line holds a NUL byte"));
    unlink(path);
}

/* Who names a certificate believes that it guards something. */
static void tls_without_listener(void **state)
{
    struct visd_config config;
    (void)state;
    assert_int_equal(parse(&config, ARGS("--listen", "ipc:///a", "--tls-ca", "ca.pem")), VISD_CONFIG_RUN);
    assert_int_equal(visd_config_check(&config, why, sizeof(why)), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why, "--tls-ca is given, but nothing listens on tls+tcp://"));
    visd_config_finish(&config);
    assert_int_equal(parse(&config, ARGS("--listen", "tcp://127.0.0.1:1", "--tls-cert-key", "key.pem")), VISD_CONFIG_RUN);
    assert_int_equal(visd_config_check(&config, why, sizeof(why)), VISD_ERR_BAD_VALUE);
    visd_config_finish(&config);
    assert_int_equal(parse(&config, ARGS("--listen", "ipc:///a", "--listen", "tls+tcp://127.0.0.1:1", "--tls-cert-key", "key.pem")), VISD_CONFIG_RUN);
    assert_int_equal(visd_config_check(&config, why, sizeof(why)), VISD_ERR_OK);
    visd_config_finish(&config);
}

static void bad_flags(void **state)
{
    struct visd_config config;
    (void)state;
    assert_int_equal(parse(&config, ARGS("--sped", "9")), VISD_CONFIG_USAGE);
    assert_string_equal(why, "unknown flag '--sped'");
    assert_int_equal(parse(&config, ARGS("--device")), VISD_CONFIG_USAGE);
    assert_string_equal(why, "--device needs a value: auto|cpu|N");
    assert_int_equal(parse(&config, ARGS("--config")), VISD_CONFIG_USAGE);
    assert_int_equal(parse(&config, ARGS("extra")), VISD_CONFIG_USAGE);
    assert_string_equal(why, "unexpected argument 'extra'");
    assert_int_equal(parse(&config, ARGS("--log-level", "loud")), VISD_CONFIG_USAGE);
    assert_non_null(strstr(why, "--log-level: 'loud' is not a log level"));
    assert_int_equal(parse(&config, ARGS("--device=1234567")), VISD_CONFIG_USAGE);
    char *many[40] = {"visd"};
    for (int i = 1; i < 35; i++)
        many[i] = "--listen=ipc:///a";
    assert_int_equal(visd_config_init(&config, 35, many, why, sizeof(why)), VISD_CONFIG_USAGE);
    assert_non_null(strstr(why, "at most 16 URLs"));
}

static void asked_for(void **state)
{
    struct visd_config config;
    (void)state;
    assert_int_equal(parse(&config, ARGS("--nonsense", "--help")), VISD_CONFIG_HELP);
    assert_int_equal(parse(&config, ARGS("--version")), VISD_CONFIG_VERSION);
    FILE *null = fopen("/dev/null", "w");
    visd_config_help(null);
    fclose(null);
}

static void not_supported_yet(void **state)
{
    struct visd_config config;
    (void)state;
    char **cases[] = {(char *[]){"visd", "--listen=ipc:///a", "--worker=process"}, (char *[]){"visd", "--listen=ipc:///a", "--state-dir=/tmp"},
                      (char *[]){"visd", "--listen=ipc:///a", "--http=127.0.0.1:1"}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(parse(&config, cases[i], 3), VISD_CONFIG_RUN);
        assert_int_equal(visd_config_check(&config, why, sizeof(why)), VISD_ERR_NOT_SUPPORTED);
        assert_non_null(strstr(why, "not supported yet"));
        visd_config_finish(&config);
    }
}

static void levels(void **state)
{
    enum visd_log_level level;
    (void)state;
    assert_true(visd_log_level_parse("warn", &level));
    assert_int_equal(level, VISD_LOG_WARN);
    assert_false(visd_log_level_parse("warning", &level));
}

static void valve(void **state)
{
    struct visd_log_valve v = {0};
    unsigned silenced = 99, open = 0;
    (void)state;
    for (unsigned i = 0; i < 50; i++)
        open += visd_log_valve_open(&v, 5000000000ull, &silenced);
    assert_int_equal(open, 10);
    assert_true(visd_log_valve_open(&v, 6000000001ull, &silenced));
    assert_int_equal(silenced, 40);
    assert_false(visd_log_valve_open(&v, 6000000002ull, &silenced));
    assert_true(visd_log_valve_open(&v, 60000000002ull, &silenced));
}

/* What a peer sends must not make lines of its own in the log. */
static void one_line(void **state)
{
    int pipes[2], saved = dup(STDERR_FILENO);
    char text[256];
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    visd_log_init(VISD_LOG_INFO);
    visd_log(VISD_LOG_WARN, "door: %s: left", "evil\n<0>forged\x1b[2J");
    visd_log(VISD_LOG_DEBUG, "not heard");
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(pipes[1]);
    ssize_t n = read(pipes[0], text, sizeof(text) - 1);
    close(pipes[0]);
    assert_true(n > 0);
    text[n] = '\0';
    assert_string_equal(text, "visd: warn: door: evil <0>forged [2J: left\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults), cmocka_unit_test(flags),     cmocka_unit_test(file_and_flags), cmocka_unit_test(bad_files),
        cmocka_unit_test(long_line), cmocka_unit_test(nul_bytes), cmocka_unit_test(tls_without_listener),
        cmocka_unit_test(bad_flags), cmocka_unit_test(asked_for), cmocka_unit_test(not_supported_yet),
        cmocka_unit_test(levels),   cmocka_unit_test(valve),     cmocka_unit_test(one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
