/* Lines to stderr, and the valve that lets a few through where a peer could cause thousands; see log.h. */
#include "daemon/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALVE_BURST 10u
#define VALVE_INTERVAL_NS 1000000000ull

static const struct {
    const char *name;
    int priority; /* syslog's number */
} levels[] = {
    [VISD_LOG_ERR] = {"err", 3},
    [VISD_LOG_WARN] = {"warn", 4},
    [VISD_LOG_INFO] = {"info", 6},
    [VISD_LOG_DEBUG] = {"debug", 7},
};

enum visd_log_level visd_log_level_now = VISD_LOG_INFO;
static bool to_journal;

/* systemd names the journal's stream as "device:inode"; stderr may have been sent elsewhere since. */
static bool stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long dev = 0, ino = 0;
    struct stat st;
    return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
           st.st_dev == (dev_t)dev && st.st_ino == (ino_t)ino;
}

void visd_log_init(enum visd_log_level level)
{
    visd_log_level_now = level;
    to_journal = stderr_is_journal();
}

void visd_log_write(enum visd_log_level level, const char *format, ...)
{
    char line[1024];
    int head = to_journal ? snprintf(line, sizeof(line), "<%d>", levels[level].priority)
                          : snprintf(line, sizeof(line), "visd: %s: ", levels[level].name);
    va_list args;
    va_start(args, format);
    int body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, args);
    va_end(args);
    if (body < 0)
        return;
    size_t length = strlen(line);
    for (size_t i = (size_t)head; i < length; i++) /* a peer's text must not forge lines or drive a terminal */
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = ' ';
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* nowhere left to report to */
}

bool visd_log_level_parse(const char *text, enum visd_log_level *out)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        if (strcmp(text, levels[i].name) == 0) {
            *out = (enum visd_log_level)i;
            return true;
        }
    return false;
}

bool visd_log_valve_open(struct visd_log_valve *valve, unsigned long long now_ns, unsigned *silenced)
{
    if (valve->filled_ns == 0) {
        valve->tokens = VALVE_BURST;
        valve->filled_ns = now_ns;
    }
    unsigned long long due = (now_ns - valve->filled_ns) / VALVE_INTERVAL_NS;
    if (due) {
        valve->tokens = due >= VALVE_BURST - valve->tokens ? VALVE_BURST : valve->tokens + (unsigned)due;
        valve->filled_ns += due * VALVE_INTERVAL_NS;
    }
    if (valve->tokens == 0) {
        valve->silenced++;
        return false;
    }
    valve->tokens--;
    *silenced = valve->silenced;
    valve->silenced = 0;
    return true;
}
