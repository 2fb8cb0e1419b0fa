/* The store of objects: chunks, slots, generations; see objects.h. */
#include "objects.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

static uint64_t id_of(const void *owner, uint32_t slot)
{
    return objects_at(owner, slot)->id;
}

void objects_init(struct objects *o)
{
    memset(o, 0, sizeof(*o));
    ids_init(&o->ids, id_of, o);
}

void objects_finish(struct objects *o)
{
    for (size_t i = 0; i < o->chunks; i++) {
        free(o->chunk[i]->transform);
        free(o->chunk[i]->name);
        free(o->chunk[i]->extras);
        free(o->chunk[i]);
    }
    free(o->chunk);
    slots_finish(&o->slots);
    ids_finish(&o->ids);
    memset(o, 0, sizeof(*o));
}

static void *part(struct objects *o, size_t size)
{
    void *p = calloc(CHUNK_SLOTS, size);
    if (p)
        o->bytes += CHUNK_SLOTS * size;
    return p;
}

uint32_t objects_add(struct objects *o, uint64_t id)
{
    uint32_t slot = slots_take(&o->slots);
    if (slot == NO_SLOT)
        return NO_SLOT;
    if (slot >> CHUNK_SHIFT == o->chunks) { /* lowest first: never further than the next chunk */
        struct chunk *chunk = grow(&o->chunk, &o->room, o->chunks + 1, sizeof(*o->chunk)) ? calloc(1, sizeof(*chunk)) : NULL;
        if (!chunk)
            goto error;
        o->bytes += sizeof(*chunk);
        o->chunk[o->chunks++] = chunk;
    }
    struct object *ob = objects_at(o, slot);
    uint32_t generation = ob->generation + 1 ? ob->generation + 1 : 1;
    *ob = (struct object){ .id = id, .flags = OBJECT_LIVE | OBJECT_FRESH, .layers = UINT32_MAX, .mesh = NO_SLOT,
        .group = NO_SLOT, .generation = generation, .in_mesh = { NO_SLOT, NO_SLOT }, .in_group = { NO_SLOT, NO_SLOT } };
    struct extras *extras = objects_extras(o, slot);
    if (extras)
        memset(extras, 0, sizeof(*extras));
    uint64_t *name = objects_name(o, slot);
    if (name)
        *name = 0;
    if (!ids_insert(&o->ids, id, slot))
        goto error;
    return slot;
error:
    slots_give(&o->slots, slot);
    return NO_SLOT;
}

void objects_hide(struct objects *o, uint32_t slot)
{
    struct object *ob = objects_at(o, slot);
    ids_remove(&o->ids, ob->id);
    ob->flags &= ~(uint32_t)OBJECT_LIVE;
}

void objects_unhide(struct objects *o, uint32_t slot)
{
    struct object *ob = objects_at(o, slot);
    bool in = ids_insert(&o->ids, ob->id, slot); /* was in before, so there is room */
    assert(in);
    (void)in;
    ob->flags |= OBJECT_LIVE;
}

void objects_release(struct objects *o, uint32_t slot)
{
    objects_at(o, slot)->flags = 0;
    slots_give(&o->slots, slot);
}

double *objects_transform(const struct objects *o, uint32_t slot)
{
    struct chunk *c = objects_chunk(o, slot);
    return c->transform ? c->transform[slot & (CHUNK_SLOTS - 1)] : NULL;
}

double *objects_transform_make(struct objects *o, uint32_t slot)
{
    struct chunk *c = objects_chunk(o, slot);
    if (!c->transform)
        c->transform = part(o, sizeof(*c->transform));
    return objects_transform(o, slot);
}

struct extras *objects_extras(const struct objects *o, uint32_t slot)
{
    struct chunk *c = objects_chunk(o, slot);
    return c->extras ? &c->extras[slot & (CHUNK_SLOTS - 1)] : NULL;
}

struct extras *objects_extras_make(struct objects *o, uint32_t slot)
{
    struct chunk *c = objects_chunk(o, slot);
    if (!c->extras)
        c->extras = part(o, sizeof(*c->extras));
    return objects_extras(o, slot);
}

uint64_t *objects_name(const struct objects *o, uint32_t slot)
{
    struct chunk *c = objects_chunk(o, slot);
    return c->name ? &c->name[slot & (CHUNK_SLOTS - 1)] : NULL;
}

uint64_t *objects_name_make(struct objects *o, uint32_t slot)
{
    struct chunk *c = objects_chunk(o, slot);
    if (!c->name)
        c->name = part(o, sizeof(*c->name));
    return objects_name(o, slot);
}

size_t objects_bytes(const struct objects *o)
{
    return o->bytes + o->room * sizeof(*o->chunk) + o->ids.room * sizeof(*o->ids.entry) + slots_bytes(&o->slots);
}
