/* What all commands share: their arguments, their connection, their manners.
 *
 * A command is a row of a table: name, words for its help, options, and a function that returns an exit status. Results go to
 * standard output; one line about a failure goes to standard error: what, why, what to do. Progress is shown on a
 * terminal only. One thread. */
#ifndef VISD_VISCTL_COMMANDS_CLI_H
#define VISD_VISCTL_COMMANDS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <visd/client.h>

#include "../model/why.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli_option {
    const char *name;  /* without the dashes; NULL ends the list */
    const char *value; /* what its value is called; NULL: it takes none */
    const char *about;
};

struct cli;
struct cli_command {
    const char *name;     /* may be two words: "scene ls" */
    const char *summary;  /* one line */
    const char *operands; /* as in "SCENE ID... ACTION" */
    const char *more;     /* further lines of help, or NULL */
    const char *example;
    const struct cli_option *options;
    int least, most;      /* operands; most -1: any number */
    int (*run)(struct cli *cli);
};

struct cli {
    const struct cli_command *command;
    const char *url;
    bool json;
    char **operand;
    int operands;
    char **given; /* options as they came: name, value (NULL for none), ... */
    int given_count;
    struct visd_client *client; /* once connected */
};

/* The value of an option, NULL if it was not given; flags: "" if given. */
const char *cli_text(const struct cli *cli, const char *option);
bool cli_flag(const struct cli *cli, const char *option);
/* A whole number option. False after telling the user that it is none, or out of range: return CLI_USAGE. Not given: *out stays. */
bool cli_number(const struct cli *cli, const char *option, uint64_t least, uint64_t most, uint64_t *out);
/* The same for any number. */
bool cli_real(const struct cli *cli, const char *option, double least, double most, double *out);
/* --size WxH, as it was if not given. */
bool cli_size(const struct cli *cli, uint32_t *width, uint32_t *height);
bool cli_parse_number(const char *text, uint64_t *out);

/* Tells what failed, on one line, and returns CLI_FAILED. */
int cli_fail(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for what the daemon refused or did not answer: the client's own words. doing: "opening the view". */
int cli_fail_client(const struct cli *cli, const char *doing);
/* Tells how the command is used wrongly, and returns CLI_USAGE. */
int cli_misuse(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Connects to the daemon, once. False after telling the user: return CLI_FAILED. */
bool cli_connect(struct cli *cli);
/* Connects, and finds a scene by name. The same. */
bool cli_find_scene(struct cli *cli, const char *name, struct visd_client_scene *out);
/* The method that --method names, hiz without. The same, but return CLI_USAGE. */
bool cli_method(const struct cli *cli, int *out);

/* A line that shows how far something is, at most ten times a second, only on a terminal. doing NULL wipes it. */
void cli_progress(const char *doing, uint64_t done, uint64_t all);

uint64_t cli_now_ns(void); /* monotonic */

/* Whether the daemon's device is a software one, whose timestamps are not times. */
bool cli_software_device(const char *device);

double cli_ratio(uint64_t a, uint64_t b);        /* a / b; 0 where b is 0 */
int cli_by_id(const void *a, const void *b);     /* order for qsort and bsearch, of what begins with a u64 id: rising */

/* JSON output. */
void cli_put_string(FILE *file, const char *text, size_t length); /* quoted and escaped; bytes that are no UTF-8 are replaced */
void cli_put_ids(FILE *file, const uint64_t *ids, size_t count);  /* as an array */

extern const struct cli_command cli_commands[]; /* the last has no name */

#endif
