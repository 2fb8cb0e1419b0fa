/* One camera: the scene is laid out relative to the eye in double precision, then handed to Embree as floats, so that a
 * scene far from the origin is cast as exactly as one near it. Rays start on the near plane and end on the far one. */
#include "oracle.h"

#include <embree3/rtcore.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct face { /* of each triangle given to Embree */
    uint32_t object;
    uint8_t mirrored, sides, clear;
};

#define MAX_CLEAR 256 /* faces that hide nothing, along one ray */

struct cast {
    struct RTCIntersectContext context; /* first: the filter gets a pointer to it */
    const struct scene *scene;
    const struct camera *camera;
    const struct face *face;
    double eye[3];
    double inverse[16]; /* clip to eye-relative world, row-major */
    uint32_t clears;
    struct { uint32_t object; float t; } clear[MAX_CLEAR];
};

static bool invert(const double *m, double *out)
{
    double a[4][8];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            a[i][j] = m[i * 4 + j];
            a[i][4 + j] = i == j;
        }
    for (int c = 0; c < 4; c++) {
        int best = c;
        for (int r = c + 1; r < 4; r++)
            if (fabs(a[r][c]) > fabs(a[best][c]))
                best = r;
        if (a[best][c] == 0)
            return false;
        for (int j = 0; j < 8; j++) {
            double swap = a[c][j];
            a[c][j] = a[best][j];
            a[best][j] = swap;
        }
        double scale = 1 / a[c][c];
        for (int j = 0; j < 8; j++)
            a[c][j] *= scale;
        for (int r = 0; r < 4; r++) {
            double f = a[r][c];
            for (int j = 0; r != c && j < 8; j++)
                a[r][j] -= f * a[c][j];
        }
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            out[i * 4 + j] = a[i][4 + j];
    return true;
}

/* The eye, as the point that the view's rotation maps to -translation, and the inverse of proj * rotation. */
static bool look(struct cast *cast)
{
    const struct camera *camera = cast->camera;
    double view[16], inverse[16], rotation[16] = {0}, clip[16];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            view[r * 4 + c] = camera->view[c * 4 + r];
    if (!invert(view, inverse))
        return false;
    for (int r = 0; r < 3; r++) {
        cast->eye[r] = inverse[r * 4 + 3];
        for (int c = 0; c < 3; c++)
            rotation[r * 4 + c] = view[r * 4 + c];
    }
    rotation[15] = 1;
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            clip[r * 4 + c] = 0;
            for (int k = 0; k < 4; k++)
                clip[r * 4 + c] += camera->proj[k * 4 + r] * rotation[k * 4 + c];
        }
    return invert(clip, cast->inverse);
}

static void unproject(const struct cast *cast, double x, double y, double z, double out[4])
{
    for (int r = 0; r < 4; r++)
        out[r] = cast->inverse[r * 4] * x + cast->inverse[r * 4 + 1] * y + cast->inverse[r * 4 + 2] * z + cast->inverse[r * 4 + 3];
}

/* The ray through a point of the picture; py runs downwards from row 0. */
static bool aim(const struct cast *cast, double px, double py, struct RTCRayHit *out)
{
    const struct camera *camera = cast->camera;
    static const double near_z[] = {0, 1, -1}, far_z[] = {1, 0, 1};
    double x = 2 * px / camera->width - 1;
    double y = 2 * py / camera->height - 1;
    if (!camera->y_down)
        y = -y;
    double near[4], far[4], direction[3], length = 0, reach;
    unproject(cast, x, y, near_z[camera->depth], near);
    unproject(cast, x, y, far_z[camera->depth], far);
    if (near[3] == 0)
        return false;
    bool endless = fabs(far[3]) <= 1e-12 * sqrt(far[0] * far[0] + far[1] * far[1] + far[2] * far[2]);
    for (int i = 0; i < 3; i++) {
        near[i] /= near[3];
        direction[i] = endless ? far[i] * (near[3] < 0 ? -1 : 1) : far[i] / far[3] - near[i];
        length += direction[i] * direction[i];
    }
    length = sqrt(length);
    reach = endless ? INFINITY : length;
    memset(out, 0, sizeof(*out));
    out->ray.org_x = (float)near[0];
    out->ray.org_y = (float)near[1];
    out->ray.org_z = (float)near[2];
    out->ray.dir_x = (float)(direction[0] / length);
    out->ray.dir_y = (float)(direction[1] / length);
    out->ray.dir_z = (float)(direction[2] / length);
    out->ray.tfar = (float)reach;
    out->ray.mask = UINT32_MAX;
    out->hit.geomID = RTC_INVALID_GEOMETRY_ID;
    out->hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    return length > 0;
}

static bool cut_away(const struct cast *cast, const struct RTCRay *ray, float t)
{
    for (uint32_t i = 0; i < cast->camera->planes; i++) {
        const double *p = cast->camera->plane[i];
        double x = cast->eye[0] + ray->org_x + (double)t * ray->dir_x;
        double y = cast->eye[1] + ray->org_y + (double)t * ray->dir_y;
        double z = cast->eye[2] + ray->org_z + (double)t * ray->dir_z;
        if (p[0] * x + p[1] * y + p[2] * z + p[3] < 0)
            return true;
    }
    return false;
}

/* Called for each hit that is nearer than the nearest so far: says which hits stop the ray. */
static void filter(const struct RTCFilterFunctionNArguments *args)
{
    struct cast *cast = (struct cast *)args->context;
    const struct RTCRay *ray = (const struct RTCRay *)args->ray;
    const struct RTCHit *hit = (const struct RTCHit *)args->hit;
    const struct face *face = &cast->face[hit->primID];
    const struct object *object = &cast->scene->object[face->object];
    float facing = hit->Ng_x * ray->dir_x + hit->Ng_y * ray->dir_y + hit->Ng_z * ray->dir_z;
    bool back = (facing > 0) != (face->mirrored != 0);
    bool clear = face->clear || (back && face->sides == SIDES_UNKNOWN);
    if ((back && face->sides == SIDES_SINGLE) || (!object->section_exempt && cut_away(cast, ray, ray->tfar))) {
        args->valid[0] = 0;
    } else if (clear) {
        args->valid[0] = 0;
        if (object->role != ROLE_OCCLUDER && cast->clears < MAX_CLEAR) {
            cast->clear[cast->clears].object = face->object;
            cast->clear[cast->clears++].t = ray->tfar;
        }
    }
}

static double determinant(const double *m)
{
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
}

static bool is_there(const struct cast *cast, const struct object *object)
{
    return object->role != ROLE_HIDDEN && (object->layers & cast->camera->layers);
}

/* All triangles as one geometry; returns the table of faces, or NULL. */
static struct face *lay_out(const struct cast *cast, RTCDevice device, RTCScene scene)
{
    size_t triangles = 0, at = 0;
    for (uint32_t o = 0; o < cast->scene->objects; o++)
        if (is_there(cast, &cast->scene->object[o]))
            triangles += cast->scene->mesh[cast->scene->object[o].mesh].indices / 3;
    struct face *face = calloc(triangles + 1, sizeof(*face));
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *vertex = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, 3 * triangles + 1);
    uint32_t *index = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, triangles);
    if (!face || !vertex || (triangles && !index)) {
        free(face);
        rtcReleaseGeometry(geometry);
        return NULL;
    }
    for (uint32_t o = 0; o < cast->scene->objects; o++) {
        const struct object *object = &cast->scene->object[o];
        const struct mesh *mesh = &cast->scene->mesh[object->mesh];
        for (uint32_t p = 0; is_there(cast, object) && p < mesh->parts; p++)
            for (uint32_t i = 0; i + 2 < mesh->part[p].count; i += 3, at++) {
                for (uint32_t k = 0; k < 3; k++) {
                    const float *v = &mesh->position[3 * mesh->index[mesh->part[p].first + i + k]];
                    for (int axis = 0; axis < 3; axis++) {
                        const double *row = &object->to_world[4 * axis];
                        vertex[9 * at + 3 * k + axis] =
                            (float)(row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + (row[3] - cast->eye[axis]));
                    }
                    index[3 * at + k] = (uint32_t)(3 * at + k);
                }
                face[at] = (struct face){o, determinant(object->to_world) < 0, (uint8_t)mesh->part[p].sides,
                                         mesh->part[p].see_through || object->role == ROLE_CLEAR};
            }
    }
    memset(&index[3 * at], 0, (triangles - at) * 12);
    rtcSetGeometryIntersectFilterFunction(geometry, filter);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    rtcCommitScene(scene);
    return face;
}

/* Vulkan's standard sample places, in sixteenths of a pixel. */
static const uint8_t *sample_place(uint32_t samples)
{
    static const uint8_t one[] = {8, 8}, two[] = {12, 12, 4, 4}, four[] = {6, 2, 14, 6, 2, 10, 10, 14};
    static const uint8_t eight[] = {9, 5, 7, 11, 13, 9, 5, 3, 3, 13, 1, 7, 11, 15, 15, 1};
    return samples == 2 ? two : samples == 4 ? four : samples == 8 ? eight : one;
}

/* Adds 1 to count[o] for each sample, of the grid moved by (dx, dy), at which object o is seen. */
static void cast_grid(struct cast *cast, RTCScene scene, double dx, double dy, uint32_t *count)
{
    const struct camera *camera = cast->camera;
    const uint8_t *place = sample_place(camera->samples);
    for (uint32_t y = 0; y < camera->height; y++)
        for (uint32_t x = 0; x < camera->width; x++)
            for (uint32_t s = 0; s < camera->samples; s++) {
                struct RTCRayHit hit;
                if (!aim(cast, x + place[2 * s] / 16.0 + dx, y + place[2 * s + 1] / 16.0 + dy, &hit))
                    continue;
                cast->clears = 0;
                rtcIntersect1(scene, &cast->context, &hit);
                for (uint32_t i = 0; i < cast->clears; i++) {
                    bool again = cast->clear[i].t > hit.ray.tfar;
                    for (uint32_t j = 0; j < i; j++)
                        again |= cast->clear[j].object == cast->clear[i].object && cast->clear[j].t <= hit.ray.tfar;
                    count[cast->clear[i].object] += !again;
                }
                if (hit.hit.geomID == RTC_INVALID_GEOMETRY_ID)
                    continue;
                uint32_t object = cast->face[hit.hit.primID].object;
                bool counted = cast->scene->object[object].role == ROLE_OCCLUDER;
                for (uint32_t i = 0; i < cast->clears; i++)
                    counted |= cast->clear[i].object == object && cast->clear[i].t <= hit.ray.tfar;
                count[object] += !counted;
            }
}

bool camera_cast(const struct scene *scene, const struct camera *camera, unsigned frame, FILE *out)
{
    static const double shift[5][2] = {{0, 0}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    struct cast cast = {.scene = scene, .camera = camera};
    rtcInitIntersectContext(&cast.context);
    if (camera->depth > DEPTH_NEG_ONE_TO_ONE || !look(&cast)) {
        fprintf(stderr, "oracle: camera %u is singular\n", frame);
        return false;
    }
    RTCDevice device = rtcNewDevice("threads=1");
    RTCScene world = rtcNewScene(device);
    struct face *face = lay_out(&cast, device, world);
    uint32_t *count = calloc(5 * ((size_t)scene->objects + 1), sizeof(*count));
    bool good = face && count;
    cast.face = face;
    for (int g = 0; good && g < 5; g++)
        cast_grid(&cast, world, shift[g][0] / 128, shift[g][1] / 128, count + (size_t)g * scene->objects);
    const char *comma = "";
    if (good)
        fprintf(out, "{\"frame\": %u, \"visible\": {", frame);
    for (uint32_t o = 0; good && o < scene->objects; o++)
        if (count[o]) {
            fprintf(out, "%s\"%" PRIu64 "\": %u", comma, scene->object[o].id, count[o]);
            comma = ", ";
        }
    comma = "";
    if (good)
        fputs("}, \"robust\": [", out);
    for (uint32_t o = 0; good && o < scene->objects; o++) {
        bool robust = true;
        for (uint32_t g = 0; g < 5; g++)
            robust &= count[(size_t)g * scene->objects + o] != 0;
        if (robust) {
            fprintf(out, "%s%" PRIu64, comma, scene->object[o].id);
            comma = ", ";
        }
    }
    if (good)
        fputs("]}\n", out);
    free(face);
    free(count);
    rtcReleaseScene(world);
    rtcReleaseDevice(device);
    return good;
}
