/* Solid shapes, put together vertex by vertex; see shapes.h. */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float turn = 6.28318530718f;

static bool room_for(struct visd_shape *s, void **rows, uint32_t *room, uint32_t wanted, size_t row_bytes)
{
    if (s->failed) return false;
    if (wanted <= *room) return true;
    uint32_t more = *room ? *room * 2 : 256;
    if (more < wanted) more = wanted;
    void *moved = realloc(*rows, more * row_bytes);
    if (!moved) {
        s->failed = true;
        return false;
    }
    *rows = moved;
    *room = more;
    return true;
}

void visd_shape_part(struct visd_shape *s, enum visd_model_sides sides, bool see_through)
{
    struct visd_model_mesh *mesh = &s->mesh;
    if (!room_for(s, (void **)&mesh->parts, &s->part_room, mesh->part_count + 1, sizeof(*mesh->parts))) return;
    if (mesh->part_count && mesh->parts[mesh->part_count - 1].count == 0) mesh->part_count--;
    mesh->parts[mesh->part_count++] = (struct visd_model_part){mesh->index_count, 0, sides, see_through};
}

static uint32_t vertex(struct visd_shape *s, float x, float y, float z)
{
    struct visd_model_mesh *mesh = &s->mesh;
    if (!room_for(s, (void **)&mesh->positions, &s->vertex_room, mesh->vertices + 1, 3 * sizeof(float))) return 0;
    float *at = mesh->positions + (size_t)mesh->vertices * 3;
    at[0] = x, at[1] = y, at[2] = z;
    return mesh->vertices++;
}

static void triangle(struct visd_shape *s, uint32_t a, uint32_t b, uint32_t c)
{
    struct visd_model_mesh *mesh = &s->mesh;
    if (!mesh->part_count) visd_shape_part(s, VISD_MODEL_SIDES_SINGLE, false);
    if (!room_for(s, (void **)&mesh->indices, &s->index_room, mesh->index_count + 3, sizeof(uint32_t))) return;
    uint32_t *at = mesh->indices + mesh->index_count;
    at[0] = a, at[1] = b, at[2] = c;
    mesh->index_count += 3;
    mesh->parts[mesh->part_count - 1].count += 3;
}

static void quad(struct visd_shape *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    triangle(s, a, b, c);
    triangle(s, a, c, d);
}

void visd_shape_quad(struct visd_shape *s, const float a[3], const float b[3], const float c[3], const float d[3])
{
    uint32_t v0 = vertex(s, a[0], a[1], a[2]), v1 = vertex(s, b[0], b[1], b[2]);
    uint32_t v2 = vertex(s, c[0], c[1], c[2]), v3 = vertex(s, d[0], d[1], d[2]);
    quad(s, v0, v1, v2, v3);
}

void visd_shape_box(struct visd_shape *s, float x0, float y0, float z0, float x1, float y1, float z1)
{
    static const unsigned char faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    uint32_t v[8];
    for (uint32_t i = 0; i < 8; i++) v[i] = vertex(s, i & 1 ? x1 : x0, i & 2 ? y1 : y0, i & 4 ? z1 : z0);
    for (uint32_t f = 0; f < 6; f++) quad(s, v[faces[f][0]], v[faces[f][1]], v[faces[f][2]], v[faces[f][3]]);
}

/* Each corner of the box becomes three vertices, one a face; faces, edges and corners are then closed between them. */
void visd_shape_soft_box(struct visd_shape *s, float x0, float y0, float z0, float x1, float y1, float z1, float cut)
{
    static const unsigned char faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    uint32_t v[8][3];
    for (uint32_t i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++) { /* v[i][axis] lies in the face across that axis */
            float p[3] = {i & 1 ? x1 : x0, i & 2 ? y1 : y0, i & 4 ? z1 : z0};
            for (int k = 0; k < 3; k++)
                if (k != axis) p[k] += i >> k & 1 ? -cut : cut;
            v[i][axis] = vertex(s, p[0], p[1], p[2]);
        }
    for (uint32_t f = 0; f < 6; f++)
        quad(s, v[faces[f][0]][f / 2], v[faces[f][1]][f / 2], v[faces[f][2]][f / 2], v[faces[f][3]][f / 2]);
    for (uint32_t a = 0; a < 8; a++)
        for (int k = 0; k < 3; k++) {
            uint32_t b = a | 1u << k; /* an edge along axis k */
            if (b == a) continue;
            int i = (k + 1) % 3, j = (k + 2) % 3;
            /* Outside is where both other coordinates lean: the sense of the face follows from their signs. */
            if ((a >> i & 1) != (a >> j & 1))
                quad(s, v[a][i], v[b][i], v[b][j], v[a][j]);
            else
                quad(s, v[a][j], v[b][j], v[b][i], v[a][i]);
        }
    for (uint32_t i = 0; i < 8; i++) {
        bool even = ((i & 1) + (i >> 1 & 1) + (i >> 2 & 1)) % 2 == 0;
        triangle(s, v[i][0], v[i][even ? 2 : 1], v[i][even ? 1 : 2]);
    }
}

static void ring(struct visd_shape *s, uint32_t *out, float x, float z, float y, float radius, uint32_t sides)
{
    for (uint32_t i = 0; i < sides; i++) {
        float angle = turn * (float)i / (float)sides;
        out[i] = vertex(s, x + radius * cosf(angle), y, z + radius * sinf(angle));
    }
}

#define MAX_SIDES 64

void visd_shape_lathe(struct visd_shape *s, float x, float z, const float (*profile)[2], uint32_t count, uint32_t sides)
{
    uint32_t low[MAX_SIDES], high[MAX_SIDES];
    if (sides > MAX_SIDES) sides = MAX_SIDES;
    ring(s, low, x, z, profile[0][1], profile[0][0], sides);
    for (uint32_t p = 1; p < count; p++) {
        ring(s, high, x, z, profile[p][1], profile[p][0], sides);
        for (uint32_t i = 0; i < sides; i++) {
            uint32_t j = (i + 1) % sides;
            if (profile[p - 1][0] == 0)
                triangle(s, low[i], high[i], high[j]);
            else if (profile[p][0] == 0)
                triangle(s, low[i], high[i], low[j]);
            else
                quad(s, low[i], high[i], high[j], low[j]);
        }
        memcpy(low, high, sizeof(low));
    }
}

void visd_shape_cone(struct visd_shape *s, float x, float z, float y0, float r0, float y1, float r1, uint32_t sides)
{
    const float profile[4][2] = {{0, y0}, {r0, y0}, {r1, y1}, {0, y1}};
    uint32_t first = r0 == 0 ? 1 : 0, last = r1 == 0 ? 3 : 4;
    visd_shape_lathe(s, x, z, profile + first, last - first, sides);
}

void visd_shape_ball(struct visd_shape *s, float x, float y, float z, float rx, float ry, float rz, uint32_t rings, uint32_t sides)
{
    float profile[MAX_SIDES + 1][2];
    if (rings > MAX_SIDES) rings = MAX_SIDES;
    for (uint32_t i = 0; i <= rings; i++) {
        float angle = turn / 2 * (float)i / (float)rings;
        profile[i][0] = i == 0 || i == rings ? 0 : sinf(angle);
        profile[i][1] = -cosf(angle);
    }
    uint32_t first = s->mesh.vertices;
    visd_shape_lathe(s, 0, 0, profile, rings + 1, sides);
    for (uint32_t v = first; v < s->mesh.vertices; v++) {
        float *at = s->mesh.positions + (size_t)v * 3;
        at[0] = x + at[0] * rx, at[1] = y + at[1] * ry, at[2] = z + at[2] * rz;
    }
}

void visd_shape_bar(struct visd_shape *s, const float from[3], const float to[3], float radius, uint32_t sides)
{
    float axis[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    float length = sqrtf(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (length == 0) return;
    for (int k = 0; k < 3; k++) axis[k] /= length;
    /* Any direction across the axis, and the one across both, so that (side, axis, across) turns like (x, y, z). */
    float side[3] = {axis[1], -axis[0], 0};
    if (fabsf(axis[2]) > 0.9f) side[0] = 0, side[1] = axis[2], side[2] = -axis[1];
    float n = sqrtf(side[0] * side[0] + side[1] * side[1] + side[2] * side[2]);
    for (int k = 0; k < 3; k++) side[k] /= n;
    float across[3] = {side[1] * axis[2] - side[2] * axis[1], side[2] * axis[0] - side[0] * axis[2], side[0] * axis[1] - side[1] * axis[0]};
    uint32_t first = s->mesh.vertices;
    visd_shape_cone(s, 0, 0, 0, radius, length, radius, sides);
    for (uint32_t v = first; v < s->mesh.vertices; v++) {
        float *at = s->mesh.positions + (size_t)v * 3, p[3] = {at[0], at[1], at[2]};
        for (int k = 0; k < 3; k++) at[k] = from[k] + p[0] * side[k] + p[1] * axis[k] + p[2] * across[k];
    }
}

enum visd_err visd_shape_take(struct visd_shape *s, struct visd_model_mesh *out, struct visd_why *why)
{
    *out = s->mesh;
    bool failed = s->failed;
    memset(s, 0, sizeof(*s));
    if (out->part_count && out->parts[out->part_count - 1].count == 0) out->part_count--;
    if (failed) {
        visd_model_mesh_free(out);
        return visd_why_memory(why, "a mesh");
    }
    visd_model_mesh_box(out);
    return VISD_ERR_OK;
}
