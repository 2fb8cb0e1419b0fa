/* A scene's life, and what it says of itself as a whole. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive.h"
#include "refuse.h"
#include "store.h"

static uint64_t limit(uint64_t asked)
{
    return asked && asked < VISD_SCENE_MAX_SLOTS ? asked : VISD_SCENE_MAX_SLOTS;
}

enum visd_err visd_scene_create(struct visd_scene **out, struct visd_segment *segment, const struct visd_scene_params *params,
    struct visd_refusal *why)
{
    size_t length = params->name ? strnlen(params->name, VISD_SCENE_NAME_MAX + 1) : 0;
    double unit = params->metres_per_unit;
    if (length == 0 || length > VISD_SCENE_NAME_MAX || !names_are_utf8(params->name, length))
        return refuse(why, VISD_ERR_BAD_VALUE, UINT64_MAX, "a scene's name has 1 to %d bytes of UTF-8", VISD_SCENE_NAME_MAX);
    for (size_t i = 0; i < length; i++) /* tables and logs show it on terminals, a line each */
        if ((unsigned char)params->name[i] < ' ' || params->name[i] == 0x7f)
            return refuse(why, VISD_ERR_BAD_VALUE, UINT64_MAX, "a scene's name holds no control characters; byte %zu is one", i);
    if (!(unit >= 0) || !isfinite(unit))
        return refuse(why, VISD_ERR_BAD_VALUE, UINT64_MAX, "scene \"%.80s\": metres_per_unit must be above 0 and finite", params->name);
    if (params->number >= VISD_SEGMENT_MAX_SCENES)
        return refuse(why, VISD_ERR_TOO_BIG, UINT64_MAX, "there are %d scenes already; remove one first", VISD_SEGMENT_MAX_SCENES);
    struct visd_scene *s = calloc(1, sizeof(*s));
    if (!s)
        return refuse_memory(why);
    s->segment = segment;
    s->number = params->number;
    memcpy(s->name, params->name, length);
    s->metres_per_unit = unit > 0 ? unit : 1;
    s->max_objects = limit(params->max_objects);
    s->max_groups = limit(params->max_groups);
    s->max_meshes = limit(params->max_meshes);
    s->ids32 = true;
    objects_init(&s->objects);
    groups_init(&s->groups);
    meshes_init(&s->meshes);
    *out = s;
    return VISD_ERR_OK;
}

void visd_scene_destroy(struct visd_scene *s)
{
    if (!s)
        return;
    outbox_finish(s);
    for (uint32_t slot = slots_next(&s->meshes.slots, 0); slot != NO_SLOT; slot = slots_next(&s->meshes.slots, slot + 1))
        visd_segment_free(s->segment, s->meshes.mesh[slot].version.block);
    objects_finish(&s->objects);
    groups_finish(&s->groups);
    meshes_finish(&s->meshes);
    names_finish(&s->names);
    replies_finish(&s->replies);
    free(s);
}

uint32_t visd_scene_number(const struct visd_scene *s)
{
    return s->number;
}

uint64_t visd_scene_revision(const struct visd_scene *s)
{
    return s->revision;
}

uint64_t visd_scene_objects(const struct visd_scene *s)
{
    return s->objects.ids.count;
}

bool visd_scene_ids32(const struct visd_scene *s)
{
    return s->ids32;
}

/* ---- bounds ---- */

static void tighten(const struct visd_scene *s, uint32_t first, struct chunk *chunk)
{
    chunk->bounded = chunk->loose = false;
    for (uint32_t slot = slots_next(&s->objects.slots, first); slot < first + CHUNK_SLOTS; slot = slots_next(&s->objects.slots, slot + 1)) {
        struct derived d;
        if (!derive(s, slot, &d) || !d.counts)
            continue;
        for (int k = 0; k < 3; k++) {
            chunk->min[k] = chunk->bounded ? fmin(chunk->min[k], d.min[k]) : d.min[k];
            chunk->max[k] = chunk->bounded ? fmax(chunk->max[k], d.max[k]) : d.max[k];
        }
        chunk->bounded = true;
    }
}

static void bounds(struct visd_scene *s, struct visd_scene_info *out)
{
    for (size_t i = 0; i < s->objects.chunks; i++) {
        struct chunk *chunk = s->objects.chunk[i];
        if (chunk->loose)
            tighten(s, (uint32_t)i * CHUNK_SLOTS, chunk);
        if (!chunk->bounded)
            continue;
        for (int k = 0; k < 3; k++) {
            out->min[k] = out->bounded ? fmin(out->min[k], chunk->min[k]) : chunk->min[k];
            out->max[k] = out->bounded ? fmax(out->max[k], chunk->max[k]) : chunk->max[k];
        }
        out->bounded = true;
    }
}

void visd_scene_info(struct visd_scene *s, struct visd_scene_info *out)
{
    memset(out, 0, sizeof(*out));
    out->number = s->number;
    out->name = s->name;
    out->metres_per_unit = s->metres_per_unit;
    out->revision = s->revision;
    out->objects = s->objects.ids.count;
    out->groups = s->groups.ids.count;
    out->meshes = s->meshes.ids.count;
    out->triangles = s->meshes.placed;
    out->mesh_triangles = s->meshes.triangles;
    out->bytes_host = sizeof(*s) + objects_bytes(&s->objects) + groups_bytes(&s->groups) + meshes_bytes(&s->meshes) + names_bytes(&s->names) +
        s->outbox.room * sizeof(*s->outbox.row) + s->replies.room * sizeof(*s->replies.client);
    out->bytes_segment = s->meshes.bytes + s->outbox.bytes;
    out->ids32 = s->ids32;
    bounds(s, out);
}
