/* DAE (COLLADA): what the library passes over is looked for by name. Indices and counts it checks itself, and unit and axes it applies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "importer.h"
#include "xml_tags.h"

struct dae {
    const char **ids; /* of geometries that are meshes with something in them, and of controllers */
    size_t *lengths;
    uint64_t count;
};

static struct xml_tags tags_of(const struct import *im)
{
    return (struct xml_tags){.at = (const char *)im->source.bytes, .end = (const char *)im->source.bytes + im->source.size};
}

static bool is_primitive(const struct xml_tags *x)
{
    static const char *const names[] = {"triangles", "polylist", "polygons", "tristrips", "trifans", "lines", "linestrips"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (xml_is(x, names[i])) return true;
    return false;
}

static bool knows(const struct dae *d, const char *id, size_t length)
{
    for (uint64_t i = 0; i < d->count; i++)
        if (d->lengths[i] == length && memcmp(d->ids[i], id, length) == 0) return true;
    return false;
}

static void find_geometries(struct import *im, struct dae *d)
{
    const char *id = NULL;
    size_t length = 0;
    uint64_t room = 0;
    for (struct xml_tags x = tags_of(im); xml_next(&x);) room += !x.closes && (xml_is(&x, "geometry") || xml_is(&x, "controller"));
    d->ids = claim(im, room * sizeof(*d->ids));
    d->lengths = claim(im, room * sizeof(*d->lengths));
    for (struct xml_tags x = tags_of(im); xml_next(&x);) {
        bool controller = !x.closes && xml_is(&x, "controller");
        if (!x.closes && (controller || xml_is(&x, "geometry")) && !xml_attribute(&x, "id", &id, &length)) id = NULL;
        if (!x.closes && id && (controller || is_primitive(&x)) && d->count < room) {
            d->ids[d->count] = id;
            d->lengths[d->count++] = length;
            id = NULL;
        }
        if (x.closes && xml_is(&x, "geometry")) id = NULL;
    }
}

/* Indices that no count speaks for are passed over. */
static void check_counts(struct import *im)
{
    bool none = false;
    for (struct xml_tags x = tags_of(im); xml_next(&x);) {
        uint64_t count = 0;
        if (is_primitive(&x)) none = !x.closes && (!xml_number(&x, "count", &count) || !count);
        if (!none || x.closes || x.empty || !xml_is(&x, "p")) continue;
        const char *at = x.at;
        while (at < x.end && strchr(" \t\r\n", *at) && *at) at++;
        if (at < x.end && *at != '<') refuse(im, "a <p> holds indices, and the count around it is 0 or missing");
    }
}

/* The library takes the document's unit and axis for all of it. */
static void check_assets(struct import *im)
{
    const char *unit = NULL, *up = NULL;
    size_t unit_length = 0;
    for (struct xml_tags x = tags_of(im); xml_next(&x);) {
        const char *meter = "1";
        size_t length = 1;
        if (x.closes) continue;
        if (xml_is(&x, "unit")) {
            xml_attribute(&x, "meter", &meter, &length);
            if (unit && (length != unit_length || memcmp(meter, unit, length) != 0)) cannot(im, "it has parts in different units; export it in one");
            unit = meter;
            unit_length = length;
        } else if (xml_is(&x, "up_axis")) {
            if (up && x.at < x.end && *up != *x.at) cannot(im, "it has parts with different up axes; export it with one");
            up = x.at;
        }
    }
}

void look_dae(struct import *im)
{
    struct dae d = {0};
    check_assets(im);
    check_counts(im);
    find_geometries(im, &d);
    for (struct xml_tags x = tags_of(im); xml_next(&x);) {
        const char *url = "";
        size_t length = 0;
        if (x.closes) continue;
        if (xml_is(&x, "skew")) cannot(im, "a <skew> is not read; write it as a <matrix>");
        bool shape = xml_is(&x, "instance_geometry") || xml_is(&x, "instance_controller");
        if (!shape && !xml_is(&x, "instance_node")) continue;
        if (!xml_attribute(&x, "url", &url, &length) || !length || *url != '#')
            lacks(im, "\"%.*s\" is in another file, which is not read", (int)(length > 80 ? 80 : length), url);
        else if (shape && !knows(&d, url + 1, length - 1))
            lacks(im, "geometry \"%.*s\" is no mesh, or is missing", (int)(length > 80 ? 80 : length), url);
    }
}

/* What the library calls a node without a name. */
static void name_nodes(struct aiNode *node)
{
    static const char made[] = "$ColladaAutoName$_";
    if (strncmp(node->mName.data, made, sizeof(made) - 1) == 0) {
        char number[32];
        snprintf(number, sizeof(number), "%.30s", node->mName.data + sizeof(made) - 1);
        node->mName.length = (ai_uint32)snprintf(node->mName.data, sizeof(node->mName.data), "node %s", number);
    }
    for (unsigned i = 0; i < node->mNumChildren; i++) name_nodes(node->mChildren[i]);
}

void check_dae(struct import *im)
{
    name_nodes(im->scene->mRootNode);
    if (strstr(im->log_error, "Unable to")) lacks(im, "%s", im->log_error);
}
