/* See foreign.h. The child gets nothing of ours but a pipe to tell its stream on and a scrap of memory for what its libraries say as they die. */
#include "foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../importer/stream.h"
#include "stream_read.h"

#define PROGRAM "visctl-import"
#define LAST_WORDS (64u << 10) /* bytes of standard error that are kept */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_MEMORY 0 /* a sanitizer reserves terabytes of addresses */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LIMIT_MEMORY 0
#endif
#endif
#ifndef LIMIT_MEMORY
#define LIMIT_MEMORY 1
#endif

const char *const visd_foreign_formats[] = {"obj", "stl", "ply", "3mf", "fbx", "dae", "ifc", NULL};

const char *visd_foreign_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && visd_foreign_formats[i]; i++)
        if (strcasecmp(dot + 1, visd_foreign_formats[i]) == 0) return visd_foreign_formats[i];
    return NULL;
}

struct child {
    char program[4096];
    char metres[40], up[2];
    char *argv[12];
    rlim_t memory, seconds;
    pid_t pid;
    int stream, words; /* our end of the pipe; what it wrote to standard output and error */
};

static enum visd_err find_program(struct child *c, struct visd_why *why)
{
    ssize_t n = readlink("/proc/self/exe", c->program, sizeof(c->program) - sizeof(PROGRAM));
    char *slash = n > 0 ? memrchr(c->program, '/', (size_t)n) : NULL;
    if (!slash) return visd_why(why, VISD_ERR_IO, "/proc/self/exe does not say where this program lies, and " PROGRAM " beside it; mount /proc");
    memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
    if (access(c->program, X_OK) == 0) return VISD_ERR_OK;
    return visd_why(why, VISD_ERR_IO, "%.300s: %s; it reads files like this one: install it beside visctl, or convert the file to glTF", c->program,
                    strerror(errno));
}

/* After fork: calls that are safe there, and no way back. */
static _Noreturn void become(const struct child *c, int out, pid_t parent)
{
    const struct rlimit none = {0, 0}, words = {LAST_WORDS, LAST_WORDS}, memory = {c->memory, c->memory}, seconds = {c->seconds, c->seconds + 1};
    int nothing = open("/dev/null", O_RDONLY);
    bool ready = nothing >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && setrlimit(RLIMIT_CORE, &none) == 0 &&
                 setrlimit(RLIMIT_FSIZE, &words) == 0 && setrlimit(RLIMIT_CPU, &seconds) == 0 &&
                 (!LIMIT_MEMORY || setrlimit(RLIMIT_AS, &memory) == 0);
    /* The two that go to low numbers are moved out of the way first, whatever numbers they have. */
    out = fcntl(out, F_DUPFD, 10);
    int said = fcntl(c->words, F_DUPFD, 10);
    ready = ready && dup2(nothing, 0) == 0 && dup2(said, 1) == 1 && dup2(said, 2) == 2 && dup2(out, VISD_STREAM_FD) == VISD_STREAM_FD;
    if (ready && close_range(VISD_STREAM_FD + 1, ~0u, 0) == 0) execv(c->program, c->argv);
    static const char text[] = "it cannot be started";
    (void)!write(2, text, sizeof(text) - 1);
    _exit(126);
}

static enum visd_err start(struct child *c, struct visd_why *why)
{
    int ends[2];
    c->words = memfd_create("visctl-import says", MFD_CLOEXEC);
    if (c->words < 0 || pipe2(ends, O_CLOEXEC) != 0) return visd_why(why, VISD_ERR_IO, "starting " PROGRAM ": %s", strerror(errno));
    pid_t parent = getpid();
    c->pid = fork();
    if (c->pid == 0) become(c, ends[1], parent);
    int number = errno;
    close(ends[1]);
    c->stream = ends[0];
    return c->pid > 0 ? VISD_ERR_OK : visd_why(why, VISD_ERR_IO, "starting " PROGRAM ": %s", strerror(number));
}

static size_t read_pipe(void *context, void *to, size_t size)
{
    const struct child *c = context;
    size_t n = 0;
    while (n < size) {
        ssize_t got = read(c->stream, (char *)to + n, size - n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        n += (size_t)got;
    }
    return n;
}

/* The last line of what it wrote to standard error, "" for none. */
static void last_words(const struct child *c, char *out, size_t room)
{
    char text[4096];
    off_t size = lseek(c->words, 0, SEEK_END), from = size > (off_t)sizeof(text) - 1 ? size - (off_t)sizeof(text) + 1 : 0;
    ssize_t n = pread(c->words, text, sizeof(text) - 1, from);
    *out = 0;
    while (n > 0 && text[n - 1] == '\n') n--;
    if (n <= 0) return;
    text[n] = 0;
    const char *line = strrchr(text, '\n');
    snprintf(out, room, ": %.180s", line ? line + 1 : text);
}

/* What became of a child that ended without having said why. */
static enum visd_err epitaph(const struct child *c, const char *path, int status, struct visd_why *why)
{
    char said[200];
    last_words(c, said, sizeof(said));
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        if (number == SIGXCPU)
            return visd_why(why, VISD_ERR_TOO_BIG, "%.200s: the importer was not done after %llu s of work; --import-seconds allows more", path,
                            (unsigned long long)c->seconds);
        if (number == SIGKILL) return visd_why(why, VISD_ERR_NO_MEMORY, "%.200s: the importer was killed, perhaps for want of memory", path);
        return visd_why(why, VISD_ERR_BAD_VALUE, "%.200s: the importer crashed on it (signal %d, %s)%s", path, number, strsignal(number), said);
    }
    return visd_why(why, VISD_ERR_BAD_VALUE, "%.200s: the importer broke off (exit status %d)%s", path, WEXITSTATUS(status), said);
}

static enum visd_err hear(struct child *c, struct visd_model *model, const char *path, struct visd_why *why)
{
    struct visd_why heard = {{0}};
    bool told = false;
    enum visd_err err = visd_stream_read(model, &(struct visd_stream_source){read_pipe, c}, path, &told, &heard);
    bool early = err != VISD_ERR_OK && !told && (err != VISD_ERR_BAD_MESSAGE || read_pipe(c, &(char){0}, 1) == 1);
    if (early) kill(c->pid, SIGKILL); /* it has more to say, and we have heard enough */
    int status = 0;
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {}
    bool died = !early && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (died && !told) err = epitaph(c, path, status, &heard);
    if (err != VISD_ERR_OK) {
        visd_model_finish(model);
        *why = heard;
    }
    return err;
}

enum visd_err visd_foreign_read(struct visd_model *model, const char *path, const char *format, const struct visd_foreign_options *options,
                                struct visd_why *why)
{
    struct child c = {.stream = -1, .words = -1};
    uint64_t mib = options->memory_mib ? options->memory_mib : VISD_FOREIGN_MEMORY_MIB;
    enum visd_err err = find_program(&c, why);
    if (err != VISD_ERR_OK) return err;
    c.memory = (rlim_t)mib << 20;
    c.seconds = options->seconds ? options->seconds : VISD_FOREIGN_SECONDS;
    snprintf(c.metres, sizeof(c.metres), "%.17g", options->metres_per_unit);
    c.up[0] = options->up ? options->up : '-';
    char *const argv[] = {PROGRAM, (char *)format, c.metres, c.up, options->partial ? "partial" : "whole", (char *)path, NULL};
    memcpy(c.argv, argv, sizeof(argv));
    err = start(&c, why);
    if (err == VISD_ERR_OK) err = hear(&c, model, path, why);
    if (c.stream >= 0) close(c.stream);
    if (c.words >= 0) close(c.words);
    return err;
}
