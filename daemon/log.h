/* The log: what a person must know, and nothing else. A healthy daemon writes a few lines a day.
 *
 * Lines go to stderr. When stderr is the journal each carries a "<N>" priority that the journal takes off; otherwise
 * it carries the level's name. The text reads "what: which client: why". One line, one write: lines never mix.
 * Any thread may log; the level is set once, before threads are started. */
#ifndef VISD_DAEMON_LOG_H
#define VISD_DAEMON_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum visd_log_level { VISD_LOG_ERR = 0, VISD_LOG_WARN = 1, VISD_LOG_INFO = 2, VISD_LOG_DEBUG = 3 };

extern enum visd_log_level visd_log_level_now; /* read by the macro only */

/* The test stands outside the call, so that a silent level costs one compare. */
#define visd_log(level, ...)                          \
    do {                                              \
        if ((level) <= visd_log_level_now)            \
            visd_log_write((level), __VA_ARGS__);     \
    } while (0)

/* Sets the level, and finds out whether stderr is the journal. */
void visd_log_init(enum visd_log_level level);
void visd_log_write(enum visd_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "err", "warn", "info", "debug"; false when text is none of them. */
bool visd_log_level_parse(const char *text, enum visd_log_level *out);

/* A valve for lines that a peer can provoke: at most burst lines at once, then one every interval. Returns whether
 * to log now; *silenced is then the number of lines kept back since the last one. Loop thread only. */
struct visd_log_valve {
    unsigned tokens, silenced;
    unsigned long long filled_ns;
};
bool visd_log_valve_open(struct visd_log_valve *valve, unsigned long long now_ns, unsigned *silenced);

#endif
