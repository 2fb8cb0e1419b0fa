/* A mesh from the wire into its block of the segment: checked first, copied once.
 *
 * Nothing here trusts a number: counts are checked against each other before memory is taken, every index against
 * the vertices, every part against the indices. Bounds are over all vertices, referenced or not: a client may well
 * draw the loose ones as points or lines. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "refuse.h"

#define MESH_MAX_VERTICES (UINT32_MAX - 1)
#define MESH_MAX_INDICES ((uint64_t)UINT32_MAX - 3)

static int by_first(const void *a, const void *b)
{
    uint32_t x = ((const struct visd_mesh_part *)a)->first, y = ((const struct visd_mesh_part *)b)->first;
    return (x > y) - (x < y);
}

static enum visd_err check_counts(uint64_t id, const struct visd_mesh_columns *c, uint64_t item, struct visd_refusal *why)
{
    if (id == VISD_ID_NONE)
        return refuse_id(why, VISD_ERR_BAD_VALUE, item, id, "mesh id %" PRIu64 " means \"no mesh\"; choose another", id);
    if (c->vertices > MESH_MAX_VERTICES || c->indices_count > MESH_MAX_INDICES || c->parts_count > c->indices_count / 3 + 1)
        return refuse_id(why, VISD_ERR_TOO_BIG, item, id, "mesh %" PRIu64 " has more vertices, indices or parts than a mesh may have; split it", id);
    if (c->indices_count % 3 != 0)
        return refuse_id(why, VISD_ERR_BAD_VALUE, item, id, "mesh %" PRIu64 " has %" PRIu64 " indices, which is not a multiple of 3; send triangles",
            id, c->indices_count);
    if ((c->vertices && !c->positions) || (c->indices_count && !c->indices))
        return refuse_id(why, VISD_ERR_BAD_VALUE, item, id, "mesh %" PRIu64 " lacks its positions or indices", id);
    if (!(c->deviation >= 0 && c->deviation < VISD_SCENE_UNBOUNDED))
        return refuse_id(why, VISD_ERR_BAD_VALUE, item, id, "mesh %" PRIu64 " has a deviation that is negative or not finite", id);
    return VISD_ERR_OK;
}

static enum visd_err check_parts(uint64_t id, const struct visd_mesh_part *parts, uint64_t count, uint64_t indices, uint64_t item,
    struct visd_refusal *why)
{
    for (uint64_t i = 0; i < count; i++) {
        const struct visd_mesh_part *p = &parts[i];
        if (p->first % 3 != 0 || p->count % 3 != 0 || (uint64_t)p->first + p->count > indices)
            return refuse_id(why, VISD_ERR_BAD_VALUE, item, id,
                "mesh %" PRIu64 ", part %" PRIu64 ": its range is not whole triangles inside the mesh's indices", id, i);
        if (p->sides > VISD_SIDES_DOUBLE || p->see_through > 1)
            return refuse_id(why, VISD_ERR_BAD_VALUE, item, id,
                "mesh %" PRIu64 ", part %" PRIu64 ": sides must be 0 (unknown), 1 (single) or 2 (double), see-through 0 or 1", id, i);
    }
    if (count < 2)
        return VISD_ERR_OK;
    struct visd_mesh_part *sorted = malloc(count * sizeof(*sorted));
    if (!sorted)
        return refuse_memory(why);
    memcpy(sorted, parts, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_first);
    uint64_t end = 0;
    bool overlap = false;
    for (uint64_t i = 0; i < count && !overlap; i++) {
        if (sorted[i].count == 0)
            continue;
        overlap = sorted[i].first < end;
        end = (uint64_t)sorted[i].first + sorted[i].count;
    }
    free(sorted);
    return !overlap ? VISD_ERR_OK : refuse_id(why, VISD_ERR_BAD_VALUE, item, id,
        "mesh %" PRIu64 " has parts that overlap; each triangle belongs to one part", id);
}

/* positions and indices as copied into the block */
static enum visd_err check_data(uint64_t id, struct visd_mesh_block *head, uint64_t item, struct visd_refusal *why)
{
    const float *position = (const float *)(head + 1);
    const uint32_t *index = (const uint32_t *)(position + (size_t)3 * head->vertices);
    for (uint32_t v = 0; v < head->vertices; v++) {
        for (int k = 0; k < 3; k++) {
            float x = position[(size_t)3 * v + (size_t)k];
            if (!(fabsf(x) < (float)VISD_SCENE_UNBOUNDED))
                return refuse_id(why, VISD_ERR_BAD_VALUE, item, id, "mesh %" PRIu64 ", vertex %" PRIu32 ": its position is not finite or beyond 1e30", id, v);
            if (v == 0 || x < head->min[k])
                head->min[k] = x;
            if (v == 0 || x > head->max[k])
                head->max[k] = x;
        }
    }
    uint32_t highest = 0;
    for (uint32_t i = 0; i < head->indices; i++)
        highest = index[i] > highest ? index[i] : highest;
    if (head->indices && highest >= head->vertices)
        return refuse_id(why, VISD_ERR_BAD_VALUE, item, id, "mesh %" PRIu64 " has index %" PRIu32 ", but only %" PRIu32 " vertices", id, highest,
            head->vertices);
    return VISD_ERR_OK;
}

static float deviation_up(double x)
{
    float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

enum visd_err mesh_block_build(struct visd_segment *segment, uint64_t id, const struct visd_mesh_columns *c, uint64_t item,
    uint64_t *block, uint64_t *bytes, struct visd_refusal *why)
{
    enum visd_err err = check_counts(id, c, item, why);
    if (err != VISD_ERR_OK)
        return err;
    uint64_t parts = c->parts ? c->parts_count : 1;
    uint64_t p_bytes = c->vertices * 12, i_bytes = c->indices_count * 4, part_bytes = parts * sizeof(struct visd_mesh_part);
    *bytes = sizeof(struct visd_mesh_block) + p_bytes + i_bytes + part_bytes;
    if (visd_segment_alloc(segment, *bytes, block) != VISD_ERR_OK)
        return refuse_memory(why);

    struct visd_mesh_block *head = visd_segment_at(segment, *block);
    unsigned char *at = (unsigned char *)(head + 1);
    memset(head, 0, sizeof(*head));
    head->vertices = (uint32_t)c->vertices;
    head->indices = (uint32_t)c->indices_count;
    head->parts = (uint32_t)parts;
    head->deviation = deviation_up(c->deviation);
    if (p_bytes)
        memcpy(at, c->positions, p_bytes);
    if (i_bytes)
        memcpy(at + p_bytes, c->indices, i_bytes);
    struct visd_mesh_part *part = (struct visd_mesh_part *)(void *)(at + p_bytes + i_bytes);
    if (c->parts && part_bytes)
        memcpy(part, c->parts, part_bytes);
    else if (!c->parts)
        *part = (struct visd_mesh_part){ .count = head->indices };

    err = check_data(id, head, item, why);
    if (err == VISD_ERR_OK)
        err = check_parts(id, part, parts, c->indices_count, item, why);
    if (err != VISD_ERR_OK) {
        visd_segment_free(segment, *block);
        *block = 0;
    }
    return err;
}
