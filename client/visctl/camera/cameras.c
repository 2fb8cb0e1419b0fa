/* Cameras from and to JSON lines; see cameras.h. */
#include "cameras.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const depth_names[] = {"zero_to_one", "reversed", "neg_one_to_one"};
static const char *const y_names[] = {"up", "down"};

/* visd_client_camera_init without the library, so that cameras can be read where there is no daemon. */
static void defaults(struct visd_client_camera *camera)
{
    memset(camera, 0, sizeof(*camera));
    for (int i = 0; i < 4; i++) camera->view[i * 5] = camera->proj[i * 5] = 1;
    camera->samples = 1;
    camera->layers = UINT32_MAX;
}

static bool numbers(const json_t *value, size_t count, double *out)
{
    if (!json_is_array(value) || json_array_size(value) != count) return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        if (!json_is_number(number) || !isfinite(json_number_value(number))) return false;
        out[i] = json_number_value(number);
    }
    return true;
}

static bool whole(const json_t *value, uint32_t *out)
{
    double number = json_number_value(value);
    if (!json_is_number(value) || number != floor(number) || number < 0 || number > UINT32_MAX) return false;
    *out = (uint32_t)number;
    return true;
}

static bool named(const json_t *value, const char *const *names, int count, int *out)
{
    for (int i = 0; i < count; i++)
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static bool planes(const json_t *value, struct visd_client_camera *out)
{
    if (!json_is_array(value) || json_array_size(value) > VISD_CLIP_PLANES) return false;
    out->planes = (uint32_t)json_array_size(value);
    for (uint32_t i = 0; i < out->planes; i++)
        if (!numbers(json_array_get(value, i), 4, out->plane[i])) return false;
    return true;
}

/* NULL, or what the key's value should have been; "" for a key that means nothing. */
static const char *take(const char *key, const json_t *value, struct visd_client_camera *out)
{
    if (strcmp(key, "view") == 0) return numbers(value, 16, out->view) ? NULL : "16 finite numbers, column-major";
    if (strcmp(key, "proj") == 0) return numbers(value, 16, out->proj) ? NULL : "16 finite numbers, column-major";
    if (strcmp(key, "width") == 0) return whole(value, &out->width) ? NULL : "a whole number of pixels";
    if (strcmp(key, "height") == 0) return whole(value, &out->height) ? NULL : "a whole number of pixels";
    if (strcmp(key, "depth") == 0) return named(value, depth_names, 3, &out->depth) ? NULL : "zero_to_one, reversed or neg_one_to_one";
    if (strcmp(key, "y") == 0) return named(value, y_names, 2, &out->y) ? NULL : "up or down";
    if (strcmp(key, "samples") == 0) return whole(value, &out->samples) ? NULL : "1, 2, 4 or 8";
    if (strcmp(key, "clip_planes") == 0) return planes(value, out) ? NULL : "at most 8 lists of 4 finite numbers";
    if (strcmp(key, "layers") == 0) return whole(value, &out->layers) ? NULL : "a mask of 32 bits, as a number";
    if (strcmp(key, "caps") == 0) {
        out->caps = json_is_true(value);
        return json_is_boolean(value) ? NULL : "true or false";
    }
    if (strcmp(key, "min_pixels") == 0) {
        out->min_pixels = json_number_value(value);
        return json_is_number(value) && out->min_pixels >= 0 && isfinite(out->min_pixels) ? NULL : "a number, 0 or more";
    }
    return "";
}

enum visd_err visd_camera_parse(struct visd_client_camera *out, const char *line, size_t length, const char *where, struct visd_why *why)
{
    json_error_t fault;
    defaults(out);
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &fault);
    if (!object) return visd_why(why, VISD_ERR_BAD_VALUE, "%.160s: not JSON: %.160s", where, fault.text);
    enum visd_err err = VISD_ERR_OK;
    if (!json_is_object(object)) err = visd_why(why, VISD_ERR_BAD_VALUE, "%.160s: a camera is a JSON object", where);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const char *wanted = err == VISD_ERR_OK ? take(key, value, out) : NULL;
        if (wanted && *wanted)
            err = visd_why(why, VISD_ERR_BAD_VALUE, "%.160s: %s must be %s", where, key, wanted);
        else if (wanted)
            err = visd_why(why, VISD_ERR_BAD_VALUE, "%.160s: unknown key \"%.40s\"; a camera has view, proj, width, height, depth, y, samples, clip_planes, caps, layers, min_pixels", where, key);
    }
    static const char *const needed[] = {"view", "proj", "width", "height"};
    for (int i = 0; i < 4 && err == VISD_ERR_OK; i++)
        if (!json_object_get(object, needed[i])) err = visd_why(why, VISD_ERR_BAD_VALUE, "%.160s: %s is missing", where, needed[i]);
    json_decref(object);
    return err;
}

enum visd_err visd_cameras_read(const char *path, struct visd_client_camera **out, size_t *count, struct visd_why *why)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "re");
    *out = NULL;
    *count = 0;
    if (!file) return visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
    struct visd_client_camera *cameras = NULL;
    size_t room = 0, line_room = 0, number = 0;
    char *line = NULL;
    ssize_t length;
    enum visd_err err = VISD_ERR_OK;
    while (err == VISD_ERR_OK && (length = getline(&line, &line_room, file)) >= 0) {
        char where[192];
        number++;
        while (length && line[length - 1] && strchr(" \t\r\n", line[length - 1])) length--;
        if (length == 0) continue;
        if (*count == room) {
            size_t more = room ? room * 2 : 64;
            if (*count >= VISD_CAMERAS_MAX) {
                err = visd_why(why, VISD_ERR_TOO_BIG, "%.200s: more than %u cameras; split it", path, VISD_CAMERAS_MAX);
                break;
            }
            if (more > VISD_CAMERAS_MAX) more = VISD_CAMERAS_MAX;
            struct visd_client_camera *moved = realloc(cameras, more * sizeof(*cameras));
            if (!moved) {
                err = visd_why_memory(why, "cameras");
                break;
            }
            cameras = moved;
            room = more;
        }
        snprintf(where, sizeof(where), "%.120s line %zu", standard ? "standard input" : path, number);
        err = visd_camera_parse(&cameras[*count], line, (size_t)length, where, why);
        if (err == VISD_ERR_OK) ++*count;
    }
    if (err == VISD_ERR_OK && ferror(file)) err = visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
    if (err == VISD_ERR_OK && *count == 0) err = visd_why(why, VISD_ERR_BAD_VALUE, "%.200s: holds no camera", path);
    free(line);
    if (!standard) fclose(file);
    if (err != VISD_ERR_OK) {
        free(cameras);
        cameras = NULL;
        *count = 0;
    }
    *out = cameras;
    return err;
}

static void write_numbers(FILE *file, const char *key, const double *values, int count) /* JSON has no -0 */
{
    fprintf(file, "%s[", key);
    for (int i = 0; i < count; i++) fprintf(file, "%s%.17g", i ? ", " : "", values[i] == 0 ? 0 : values[i]);
    fputc(']', file);
}

enum visd_err visd_camera_write(FILE *file, const struct visd_client_camera *camera, struct visd_why *why)
{
    write_numbers(file, "{\"view\": ", camera->view, 16);
    write_numbers(file, ", \"proj\": ", camera->proj, 16);
    fprintf(file, ", \"width\": %u, \"height\": %u", camera->width, camera->height);
    if (camera->depth) fprintf(file, ", \"depth\": \"%s\"", depth_names[camera->depth]);
    if (camera->y) fprintf(file, ", \"y\": \"%s\"", y_names[camera->y]);
    if (camera->samples != 1) fprintf(file, ", \"samples\": %u", camera->samples);
    for (uint32_t i = 0; i < camera->planes; i++) write_numbers(file, i ? ", " : ", \"clip_planes\": [", camera->plane[i], 4);
    if (camera->planes) fputc(']', file);
    if (camera->caps) fputs(", \"caps\": true", file);
    if (camera->layers != UINT32_MAX) fprintf(file, ", \"layers\": %u", camera->layers);
    if (camera->min_pixels > 0) fprintf(file, ", \"min_pixels\": %.17g", camera->min_pixels);
    fputs("}\n", file);
    return ferror(file) ? visd_why(why, VISD_ERR_IO, "writing cameras: %s", strerror(errno)) : VISD_ERR_OK;
}

void visd_camera_look(struct visd_client_camera *out, const double eye[3], const double target[3], double degrees, double near,
                      uint32_t width, uint32_t height)
{
    double back[3], right[3], up[3], length = 0;
    for (int k = 0; k < 3; k++) back[k] = eye[k] - target[k];
    length = sqrt(back[0] * back[0] + back[1] * back[1] + back[2] * back[2]);
    for (int k = 0; k < 3; k++) back[k] /= length;
    length = sqrt(back[0] * back[0] + back[2] * back[2]);
    right[0] = back[2] / length, right[1] = 0, right[2] = -back[0] / length;
    up[0] = back[1] * right[2], up[1] = back[2] * right[0] - back[0] * right[2], up[2] = -back[1] * right[0];
    defaults(out);
    const double *rows[3] = {right, up, back};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) out->view[k * 4 + i] = rows[i][k];
        out->view[12 + i] = -(rows[i][0] * eye[0] + rows[i][1] * eye[1] + rows[i][2] * eye[2]);
    }
    double scale = 1 / tan(degrees * 3.14159265358979323846 / 360);
    memset(out->proj, 0, sizeof(out->proj));
    out->proj[0] = scale * height / width;
    out->proj[5] = scale;
    out->proj[11] = -1;
    out->proj[14] = near;
    out->depth = VISD_DEPTH_REVERSED;
    out->width = width;
    out->height = height;
}
