/* See load_file.h. */
#include "load_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../import/foreign.h"
#include "../import/gltf.h"

static const struct {
    const char *name;
    double metres;
} units[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"in", 0.0254}, {"ft", 0.3048}};

/* --unit; false after telling the user. Not given: *out stays. */
static bool read_unit(const struct cli *cli, double *out)
{
    const char *text = cli_text(cli, "unit");
    char *end;
    if (!text) return true;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcasecmp(text, units[i].name) == 0) *out = units[i].metres;
    if (*out != 0) return true;
    double metres = strtod(text, &end);
    if (*text && !*end && metres >= 1e-9 && metres <= 1e9) {
        *out = metres;
        return true;
    }
    cli_misuse(cli, "--unit must be m, cm, mm, in, ft, or how many metres a unit of the file is, not \"%s\"", text);
    return false;
}

static bool read_up(const struct cli *cli, char *out)
{
    const char *text = cli_text(cli, "up");
    if (!text) return true;
    if (strlen(text) != 1 || !strchr("xyzXYZ", *text)) {
        cli_misuse(cli, "--up must be x, y or z, not \"%s\"", text);
        return false;
    }
    *out = (char)(*text | 0x20);
    return true;
}

/* The format to read it as; NULL: our own reader's, which also says of any other file what it is not. */
static const char *format_of(const char *path, const char *wanted)
{
    char name[16];
    if (!wanted) return visd_foreign_format_of(path);
    snprintf(name, sizeof(name), ".%s", wanted);
    return visd_foreign_format_of(name);
}

int load_file(struct cli *cli, const char *path, struct visd_model *model)
{
    static const char *const foreign_only[] = {"unit", "up", "partial", "import-memory", "import-seconds"};
    struct visd_foreign_options foreign = {.partial = cli_flag(cli, "partial")};
    struct visd_gltf_options gltf = {.scene = cli_text(cli, "gltf-scene")};
    struct visd_why why = {{0}};
    const char *wanted = cli_text(cli, "format"), *format = format_of(path, wanted);
    if (!read_unit(cli, &foreign.metres_per_unit) || !read_up(cli, &foreign.up) ||
        !cli_number(cli, "import-memory", 64, 1 << 24, &foreign.memory_mib) ||
        !cli_number(cli, "import-seconds", 1, 1 << 24, &foreign.seconds))
        return CLI_USAGE;
    if (wanted && !format && strcasecmp(wanted, "gltf") != 0 && strcasecmp(wanted, "glb") != 0)
        return cli_misuse(cli, "there is no format \"%s\": glb, gltf, obj, stl, ply, 3mf, fbx, dae, ifc", wanted);
    if (format && gltf.scene) return cli_misuse(cli, "--gltf-scene is for glTF files");
    for (size_t i = 0; i < sizeof(foreign_only) / sizeof(*foreign_only); i++)
        if (!format && cli_flag(cli, foreign_only[i]))
            return cli_misuse(cli, "--%s is not for glTF files, which say all that is needed", foreign_only[i]);

    cli_progress("reading", 0, 1);
    enum visd_err err = format ? visd_foreign_read(model, path, format, &foreign, &why) : visd_gltf_read(model, path, &gltf, &why);
    bool faulty = err == VISD_ERR_BAD_MESSAGE || err == VISD_ERR_BAD_VALUE; /* else the text itself says what to do */
    if (err != VISD_ERR_OK) return cli_fail(cli, "%s; nothing was loaded%s", why.text, faulty ? "; repair the file or export it again, as glTF 2.0" : "");
    cli_progress(NULL, 0, 0);
    for (uint32_t i = 0; i < model->warning_count; i++) fprintf(stderr, "visctl load: note: %s\n", model->warnings[i]);
    if (model->warnings_dropped) fprintf(stderr, "visctl load: note: %u more notes like these\n", model->warnings_dropped);
    return CLI_DONE;
}
