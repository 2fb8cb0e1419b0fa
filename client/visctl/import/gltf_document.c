/* The document as a whole: GLB container, JSON, versions, extensions, and typed access to fields. */
#include "gltf_document.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/glb_container.h"

/* Extensions that a file may require of us: those that we read, and those that change looks but no shape. */
static const char *const known_extensions[] = {
    "KHR_draco_mesh_compression", "KHR_mesh_quantization", "EXT_mesh_gpu_instancing", "EXT_meshopt_compression",
    "KHR_lights_punctual", "KHR_texture_transform", "KHR_texture_basisu", "KHR_xmp_json_ld", "EXT_texture_webp", "EXT_texture_avif",
    "EXT_lights_image_based", "MSFT_texture_dds", "KHR_materials_anisotropy", "KHR_materials_clearcoat", "KHR_materials_dispersion",
    "KHR_materials_emissive_strength", "KHR_materials_ior", "KHR_materials_iridescence", "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen", "KHR_materials_specular", "KHR_materials_transmission", "KHR_materials_unlit", "KHR_materials_variants",
    "KHR_materials_volume",
};

static const struct {
    const char *key;
    uint32_t limit;
} arrays[GLTF_ARRAYS] = {
    [GLTF_SCENES] = {"scenes", 1u << 20},       [GLTF_NODES] = {"nodes", 32u << 20},     [GLTF_MESHES] = {"meshes", 4u << 20},
    [GLTF_MATERIALS] = {"materials", 4u << 20}, [GLTF_ACCESSORS] = {"accessors", 32u << 20}, [GLTF_VIEWS] = {"bufferViews", 32u << 20},
    [GLTF_BUFFERS] = {"buffers", 1u << 20},     [GLTF_SKINS] = {"skins", 4u << 20},      [GLTF_ANIMATIONS] = {"animations", 4u << 20},
};

struct gltf_place gltf_place(const char *format, ...)
{
    struct gltf_place place;
    va_list args;
    va_start(args, format);
    vsnprintf(place.text, sizeof(place.text), format, args);
    va_end(args);
    return place;
}

enum visd_err gltf_refuse(struct gltf_document *d, enum visd_err err, const char *place, const char *format, ...)
{
    char what[320];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    const char *base = strrchr(d->name, '/');
    return visd_why(d->why, err, "%.120s: %s%s%s", base ? base + 1 : d->name, place, *place ? ": " : "", what);
}

enum visd_err gltf_charge(struct gltf_document *d, const char *place, uint64_t bytes)
{
    if (bytes > GLTF_MAX_PIECE || bytes > GLTF_MAX_BYTES - d->held)
        return gltf_refuse(d, VISD_ERR_TOO_BIG, place, "asks for %llu bytes more, past the limits of %llu for one piece and %llu for a file; split the model",
                           (unsigned long long)bytes, GLTF_MAX_PIECE, GLTF_MAX_BYTES);
    d->held += bytes;
    return VISD_ERR_OK;
}

void gltf_release(struct gltf_document *d, uint64_t bytes)
{
    d->held -= bytes;
}

/* ---- fields ---- */

static enum visd_err mistyped(struct gltf_document *d, const char *place, const char *key, const char *wanted)
{
    return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "%s must be %s", key, wanted);
}

enum visd_err gltf_get_uint(struct gltf_document *d, const char *place, const json_t *object, const char *key, uint64_t max, uint64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return VISD_ERR_OK;
    double real = json_number_value(value);
    if (!json_is_number(value) || real < 0 || real != floor(real) || real > 9007199254740992.0)
        return mistyped(d, place, key, "a whole number, 0 or more");
    uint64_t number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : (uint64_t)real;
    if (number > max)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "%s is %llu, at most %llu is possible here", key, (unsigned long long)number,
                           (unsigned long long)max);
    *out = number;
    return VISD_ERR_OK;
}

enum visd_err gltf_get_index(struct gltf_document *d, const char *place, const json_t *object, const char *key, enum gltf_array array,
                             uint32_t *out)
{
    uint64_t number = UINT64_MAX;
    enum visd_err err = gltf_get_uint(d, place, object, key, UINT64_MAX - 1, &number);
    if (err != VISD_ERR_OK || number == UINT64_MAX) return err;
    if (number >= d->count[array])
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "%s is %llu, but the file has %u %s", key, (unsigned long long)number, d->count[array],
                           arrays[array].key);
    *out = (uint32_t)number;
    return VISD_ERR_OK;
}

enum visd_err gltf_get_numbers(struct gltf_document *d, const char *place, const json_t *object, const char *key, size_t count, double *out,
                               bool *present)
{
    const json_t *value = json_object_get(object, key);
    *present = value != NULL;
    if (!value) return VISD_ERR_OK;
    if (!json_is_array(value) || json_array_size(value) != count)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "%s must be %zu numbers", key, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        if (!json_is_number(number) || !isfinite(json_number_value(number)))
            return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "%s[%zu] must be a finite number", key, i);
        out[i] = json_number_value(number);
    }
    return VISD_ERR_OK;
}

enum visd_err gltf_get_number(struct gltf_document *d, const char *place, const json_t *object, const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return VISD_ERR_OK;
    if (!json_is_number(value) || !isfinite(json_number_value(value))) return mistyped(d, place, key, "a finite number");
    *out = json_number_value(value);
    return VISD_ERR_OK;
}

enum visd_err gltf_get_bool(struct gltf_document *d, const char *place, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return VISD_ERR_OK;
    if (!json_is_boolean(value)) return mistyped(d, place, key, "true or false");
    *out = json_is_true(value);
    return VISD_ERR_OK;
}

enum visd_err gltf_get_string(struct gltf_document *d, const char *place, const json_t *object, const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return VISD_ERR_OK;
    if (!json_is_string(value)) return mistyped(d, place, key, "a string");
    *out = json_string_value(value);
    return VISD_ERR_OK;
}

enum visd_err gltf_get_object(struct gltf_document *d, const char *place, const json_t *object, const char *key, const json_t **out)
{
    *out = json_object_get(object, key);
    return !*out || json_is_object(*out) ? VISD_ERR_OK : mistyped(d, place, key, "an object");
}

enum visd_err gltf_get_array(struct gltf_document *d, const char *place, const json_t *object, const char *key, const json_t **out)
{
    *out = json_object_get(object, key);
    return !*out || json_is_array(*out) ? VISD_ERR_OK : mistyped(d, place, key, "an array");
}

enum visd_err gltf_get_extension(struct gltf_document *d, const char *place, const json_t *object, const char *name, const json_t **out)
{
    const json_t *extensions;
    *out = NULL;
    enum visd_err err = gltf_get_object(d, place, object, "extensions", &extensions);
    if (err != VISD_ERR_OK || !extensions) return err;
    return gltf_get_object(d, place, extensions, name, out);
}

const json_t *gltf_at(const struct gltf_document *d, enum gltf_array array, uint32_t index)
{
    return json_array_get(d->array[array], index);
}

/* ---- the container ---- */

/* Finds the JSON text, and the BIN chunk of a GLB. */
static enum visd_err open_container(struct gltf_document *d, const unsigned char *bytes, size_t size, const char **text, size_t *text_size)
{
    struct glb_header header;
    struct glb_chunk chunk;
    if (!glb_is(bytes, size)) {
        size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        *text = (const char *)bytes + mark;
        *text_size = size - mark;
        return VISD_ERR_OK;
    }
    if (!glb_header_of(bytes, size, &header)) return gltf_refuse(d, VISD_ERR_BAD_VALUE, "GLB header", "the file ends inside it");
    if (header.version != 2)
        return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, "GLB header", "container version %u, only 2 is read; convert it to glTF 2.0", header.version);
    if (header.length != size)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, "GLB header", "says %u bytes, but the file has %zu%s", header.length, size,
                           header.length > size ? ": it is truncated" : "");
    size_t at = GLB_HEADER_BYTES;
    for (int i = 0; at < size; i++) {
        struct gltf_place place = gltf_place("GLB chunk %d", i);
        if (!glb_chunk_at(bytes, size, &at, &chunk)) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "the file ends inside its header");
        if (chunk.length > chunk.left)
            return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "says %u bytes, but %zu are left in the file", chunk.length, chunk.left);
        if (i == 0) {
            if (chunk.type != GLB_CHUNK_JSON) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "must be the JSON chunk");
            *text = (const char *)chunk.bytes;
            *text_size = chunk.length;
        } else if (i == 1 && chunk.type == GLB_CHUNK_BIN) {
            d->bin = chunk.bytes;
            d->bin_size = chunk.length;
        } else if (chunk.type == GLB_CHUNK_VISD) {
            visd_model_warn(d->model, "visctl scene export wrote it: only what it shows is loaded, with new ids; scene import reads all of it");
        }
        at += chunk.length;
    }
    if (!*text) return gltf_refuse(d, VISD_ERR_BAD_VALUE, "GLB header", "no JSON chunk follows it");
    return VISD_ERR_OK;
}

static enum visd_err check_asset(struct gltf_document *d)
{
    const json_t *asset;
    const char *version = NULL, *minimum = NULL;
    enum visd_err err = gltf_get_object(d, "", d->root, "asset", &asset);
    if (err != VISD_ERR_OK) return err;
    if (!asset) return gltf_refuse(d, VISD_ERR_BAD_MESSAGE, "asset", "is missing: this is not glTF 2.0");
    if ((err = gltf_get_string(d, "asset", asset, "version", &version)) != VISD_ERR_OK) return err;
    if ((err = gltf_get_string(d, "asset", asset, "minVersion", &minimum)) != VISD_ERR_OK) return err;
    if (!version) return gltf_refuse(d, VISD_ERR_BAD_MESSAGE, "asset", "version is missing: this is not glTF 2.0");
    if (strncmp(version, "2.", 2) != 0 || (minimum && strcmp(minimum, "2.0") != 0))
        return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, "asset", "glTF %.20s is not read, only 2.0; convert it to 2.0", minimum ? minimum : version);
    return VISD_ERR_OK;
}

static enum visd_err check_extensions(struct gltf_document *d)
{
    const json_t *required;
    enum visd_err err = gltf_get_array(d, "", d->root, "extensionsRequired", &required);
    if (err != VISD_ERR_OK) return err;
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (!name) return gltf_refuse(d, VISD_ERR_BAD_VALUE, "extensionsRequired", "must hold strings");
        size_t k = 0, all = sizeof(known_extensions) / sizeof(*known_extensions);
        while (k < all && strcmp(name, known_extensions[k]) != 0) k++;
        if (k == all)
            return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, "extensionsRequired", "%.80s is not read; export the file without it", name);
    }
    return VISD_ERR_OK;
}

enum visd_err gltf_document_open(struct gltf_document *d, const unsigned char *bytes, size_t size)
{
    const char *text = NULL;
    size_t text_size = 0;
    enum visd_err err = open_container(d, bytes, size, &text, &text_size);
    if (err != VISD_ERR_OK) return err;
    size_t blank = 0;
    while (blank < text_size && text[blank] && strchr(" \t\r\n", text[blank])) blank++;
    if (blank < text_size && text[blank] != '{' && text[blank] != '[')
        return gltf_refuse(d, VISD_ERR_BAD_MESSAGE, "the first bytes",
                           "are neither those of GLB nor of JSON: this is not glTF; --format names another format");
    json_error_t fault;
    d->root = json_loadb(text, text_size, JSON_REJECT_DUPLICATES, &fault);
    if (!d->root)
        return gltf_refuse(d, json_error_code(&fault) == json_error_out_of_memory ? VISD_ERR_NO_MEMORY : VISD_ERR_BAD_MESSAGE, "JSON",
                           "line %d, column %d: %.160s", fault.line, fault.column, fault.text);
    if (!json_is_object(d->root)) return gltf_refuse(d, VISD_ERR_BAD_MESSAGE, "JSON", "must be an object: this is not glTF");
    if ((err = check_asset(d)) != VISD_ERR_OK || (err = check_extensions(d)) != VISD_ERR_OK) return err;

    for (int a = 0; a < GLTF_ARRAYS; a++) {
        json_t *array = json_object_get(d->root, arrays[a].key);
        if (array && !json_is_array(array)) return mistyped(d, "", arrays[a].key, "an array");
        d->array[a] = array ? json_incref(array) : json_array();
        if (!d->array[a]) return visd_why_memory(d->why, "the document");
        if (json_array_size(d->array[a]) > arrays[a].limit)
            return gltf_refuse(d, VISD_ERR_TOO_BIG, arrays[a].key, "more than %u; split the model", arrays[a].limit);
        d->count[a] = (uint32_t)json_array_size(d->array[a]);
        for (uint32_t i = 0; i < d->count[a]; i++)
            if (!json_is_object(json_array_get(d->array[a], i)))
                return gltf_refuse(d, VISD_ERR_BAD_VALUE, gltf_place("%s[%u]", arrays[a].key, i).text, "must be an object");
    }
    d->buffers = calloc(d->count[GLTF_BUFFERS] + 1, sizeof(*d->buffers));
    d->views = calloc(d->count[GLTF_VIEWS] + 1, sizeof(*d->views));
    return d->buffers && d->views ? VISD_ERR_OK : visd_why_memory(d->why, "the document");
}

void gltf_document_close(struct gltf_document *d)
{
    for (uint32_t i = 0; d->buffers && i < d->count[GLTF_BUFFERS]; i++) free(d->buffers[i].owned);
    for (uint32_t i = 0; d->views && i < d->count[GLTF_VIEWS]; i++) free(d->views[i].owned);
    free(d->buffers);
    free(d->views);
    for (int a = 0; a < GLTF_ARRAYS; a++) json_decref(d->array[a]);
    json_decref(d->root);
    d->buffers = d->views = NULL;
    d->root = NULL;
}
