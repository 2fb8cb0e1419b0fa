/* The table of meshes; see meshes.h. */
#include "meshes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "objects.h"

static uint64_t id_of(const void *owner, uint32_t slot)
{
    return ((const struct meshes *)owner)->mesh[slot].id;
}

void meshes_init(struct meshes *m)
{
    memset(m, 0, sizeof(*m));
    ids_init(&m->ids, id_of, m);
}

void meshes_finish(struct meshes *m)
{
    free(m->mesh);
    slots_finish(&m->slots);
    slots_finish(&m->device);
    ids_finish(&m->ids);
    memset(m, 0, sizeof(*m));
}

uint32_t meshes_add(struct meshes *m, uint64_t id)
{
    uint32_t slot = slots_take(&m->slots);
    if (slot == NO_SLOT)
        return NO_SLOT;
    if (!grow(&m->mesh, &m->room, (size_t)slot + 1, sizeof(*m->mesh)))
        goto error;
    m->mesh[slot] = (struct mesh){ .id = id, .first_user = NO_SLOT, .live = true };
    if (!ids_insert(&m->ids, id, slot))
        goto error;
    return slot;
error:
    slots_give(&m->slots, slot);
    return NO_SLOT;
}

static void count(struct meshes *m, uint32_t slot, bool in)
{
    const struct mesh *mesh = &m->mesh[slot];
    uint64_t sign = in ? 1 : UINT64_MAX; /* wrapping: plus or minus */
    m->triangles += sign * mesh->version.triangles;
    m->placed += sign * mesh->version.triangles * mesh->users;
    m->bytes += sign * mesh->version.bytes;
}

void meshes_hide(struct meshes *m, uint32_t slot)
{
    count(m, slot, false);
    ids_remove(&m->ids, m->mesh[slot].id);
    m->mesh[slot].live = false;
}

void meshes_unhide(struct meshes *m, uint32_t slot)
{
    bool in = ids_insert(&m->ids, m->mesh[slot].id, slot); /* was in before, so there is room */
    assert(in);
    (void)in;
    m->mesh[slot].live = true;
    count(m, slot, true);
}

void meshes_release(struct meshes *m, uint32_t slot)
{
    slots_give(&m->slots, slot);
}

struct version meshes_swap(struct meshes *m, uint32_t slot, struct version version)
{
    struct version former = m->mesh[slot].version;
    count(m, slot, false);
    m->mesh[slot].version = version;
    count(m, slot, true);
    return former;
}

size_t meshes_bytes(const struct meshes *m)
{
    return m->room * sizeof(*m->mesh) + m->ids.room * sizeof(*m->ids.entry) + slots_bytes(&m->slots) + slots_bytes(&m->device);
}
