/* visctl: loads, looks at and tries out the scenes of a visd daemon. Here: finding the command and its arguments, and help. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "visd_version.h"

static const struct cli_option common[] = {
    {"connect", "URL", "where the daemon listens; default ipc://$XDG_RUNTIME_DIR/visd.sock, else ipc:///run/visd/visd.sock"},
    {"json", NULL, "output for programs: JSON, an object a line"},
    {"help", NULL, "this page"},
    {"version", NULL, "the version of this program"},
    {NULL, NULL, NULL},
};

static void print_options(const struct cli_option *options)
{
    for (; options && options->name; options++) {
        char left[48];
        snprintf(left, sizeof(left), "--%s%s%s", options->name, options->value ? " " : "", options->value ? options->value : "");
        printf("  %-22s %s\n", left, options->about);
    }
}

/* How it is written. */
static const char *usage(const struct cli_command *c)
{
    static char text[80];
    snprintf(text, sizeof(text), "%s%s%s", c->name, *c->operands ? " " : "", c->operands);
    return text;
}

/* A command's line in a list of commands. */
static void print_line(const struct cli_command *c)
{
    printf("  %-34s %s\n", usage(c), c->summary);
}

static int print_help(const struct cli_command *command)
{
    if (command) {
        printf("visctl %s\n\n%s\n", usage(command), command->summary);
        if (command->more) printf("%s\n", command->more);
        puts("\nOptions:");
        print_options(command->options);
        print_options(common);
        printf("\nExample:\n  %s\n", command->example);
        return CLI_DONE;
    }
    puts("visctl [--connect URL] COMMAND ... [--json]\n\nLoads, looks at and tries out the scenes of a visd daemon.\n\nCommands:");
    for (const struct cli_command *c = cli_commands; c->name; c++) print_line(c);
    puts("\nvisctl COMMAND --help says more, with an example. Exit status: 0 done, 1 refused or failed, 2 used wrongly.");
    return CLI_DONE;
}

/* Help on a word that several commands begin with ("scene"); false: none does. */
static bool print_family(const char *word)
{
    size_t length = strlen(word);
    bool any = false;
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        if (strncmp(c->name, word, length) != 0 || c->name[length] != ' ') continue;
        if (!any) printf("visctl %s ...\n\nCommands:\n", word);
        any = true;
        print_line(c);
    }
    if (any) printf("\nvisctl %s COMMAND --help says more, with an example.\n", word);
    return any;
}

/* The command that the words name; *used: how many of them. */
static const struct cli_command *find(char **words, int count, int *used)
{
    for (const struct cli_command *c = cli_commands; c->name; c++) {
        const char *second = strchr(c->name, ' ');
        size_t first = second ? (size_t)(second - c->name) : strlen(c->name);
        if (count < 1 || strlen(words[0]) != first || strncmp(words[0], c->name, first) != 0) continue;
        if (second && (count < 2 || strcmp(words[1], second + 1) != 0)) continue;
        *used = second ? 2 : 1;
        return c;
    }
    return NULL;
}

static int unknown(const struct cli *cli, char **words, int count)
{
    static const char *const later[] = {"top", "explain", "pick", "audit", "bench"};
    if (strcmp(words[0], "bench") == 0 && count < 2) return cli_misuse(cli, "bench is followed by what to measure: flight, scale or truth");
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
        if (strcmp(words[0], later[i]) == 0)
            return cli_fail(cli, "%s%s%s: not supported yet; visctl --help lists what is", words[0], count > 1 && i == 4 ? " " : "",
                            count > 1 && i == 4 ? words[1] : "");
    if (strcmp(words[0], "scene") == 0) return cli_misuse(cli, "scene is followed by ls, info, rm, export or import");
    return cli_misuse(cli, "there is no command \"%s\"", words[0]);
}

static const struct cli_option *option_named(const struct cli_command *command, const char *name, size_t length)
{
    const struct cli_option *lists[2] = {common, command ? command->options : NULL};
    for (int l = 0; l < 2; l++)
        for (const struct cli_option *o = lists[l]; o && o->name; o++)
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    return NULL;
}

/* Sorts the arguments into words and options. The command is known from the words, but options may stand before it, so
 * common options are understood first and all others once it is known. */
static int sort_arguments(struct cli *cli, int argc, char **argv, char **words, int *count)
{
    bool only_words = false;
    for (int pass = 0; pass < 2; pass++) {
        *count = cli->given_count = 0;
        only_words = false;
        for (int i = 1; i < argc; i++) {
            char *word = argv[i];
            if (only_words || strncmp(word, "--", 2) != 0) {
                words[(*count)++] = word;
                continue;
            }
            if (word[2] == 0) {
                only_words = true;
                continue;
            }
            char *name = word + 2, *equals = strchr(name, '=');
            const struct cli_option *option = option_named(cli->command, name, equals ? (size_t)(equals - name) : strlen(name));
            if (!option && pass == 0) continue;
            if (!option) return cli_misuse(cli, "there is no option %s", word);
            char *value = equals ? equals + 1 : NULL;
            if (value && !option->value) return cli_misuse(cli, "--%s takes no value", option->name);
            if (option->value && !value) {
                if (++i == argc) return cli_misuse(cli, "--%s needs a value: %s", option->name, option->value);
                value = argv[i];
            }
            cli->given[cli->given_count * 2] = (char *)option->name;
            cli->given[cli->given_count * 2 + 1] = value;
            cli->given_count++;
        }
        int used;
        if (pass == 0) cli->command = find(words, *count, &used);
        if (!cli->command) break;
    }
    return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv, char **words)
{
    int count = 0, used = 0;
    int status = sort_arguments(cli, argc, argv, words, &count);
    if (status != CLI_DONE) return status;
    if (cli_flag(cli, "version")) {
        puts("visctl " VISD_VERSION);
        return CLI_DONE;
    }
    if (cli_flag(cli, "help") || count == 0) {
        if (count == 1 && !cli->command && print_family(words[0])) return CLI_DONE;
        if (count > 0 && !cli->command) return unknown(cli, words, count);
        if (count == 0 && !cli_flag(cli, "help")) return cli_misuse(cli, "a command is missing");
        return print_help(cli->command);
    }
    if (!cli->command) return unknown(cli, words, count);
    find(words, count, &used);
    cli->operand = words + used;
    cli->operands = count - used;
    cli->json = cli_flag(cli, "json");
    if (cli->operands < cli->command->least || (cli->command->most >= 0 && cli->operands > cli->command->most))
        return cli_misuse(cli, "it takes %s", *cli->command->operands ? cli->command->operands : "no words of its own");

    char *folder = getenv("XDG_RUNTIME_DIR"), standard[512];
    snprintf(standard, sizeof(standard), "ipc://%s/visd.sock", folder && *folder ? folder : "/run/visd");
    cli->url = cli_text(cli, "connect");
    if (!cli->url) cli->url = standard;
    status = cli->command->run(cli);
    visd_client_close(cli->client);
    cli_progress(NULL, 0, 0);
    if (fflush(stdout) != 0 && status == CLI_DONE) status = cli_fail(cli, "standard output takes no more; free some space, or write elsewhere");
    return status;
}

int main(int argc, char **argv)
{
    struct cli cli = {0};
    char **words = calloc((size_t)argc + 1, sizeof(*words));
    cli.given = calloc((size_t)argc * 2 + 2, sizeof(*cli.given));
    int status = CLI_FAILED;
    if (words && cli.given) status = run(&cli, argc, argv, words);
    free(words);
    free(cli.given);
    return status;
}
