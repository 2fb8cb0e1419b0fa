/* Lists of the objects that use a mesh, and of those in a group: doubly linked through the rows. */
#include "commit.h"

static void enter(struct objects *o, uint32_t slot, uint32_t *first, size_t twins)
{
    struct twins *t = (struct twins *)(void *)((char *)objects_at(o, slot) + twins);
    t->prev = NO_SLOT;
    t->next = *first;
    if (t->next != NO_SLOT)
        ((struct twins *)(void *)((char *)objects_at(o, t->next) + twins))->prev = slot;
    *first = slot;
}

static void leave(struct objects *o, uint32_t slot, uint32_t *first, size_t twins)
{
    struct twins *t = (struct twins *)(void *)((char *)objects_at(o, slot) + twins);
    if (t->prev != NO_SLOT)
        ((struct twins *)(void *)((char *)objects_at(o, t->prev) + twins))->next = t->next;
    else
        *first = t->next;
    if (t->next != NO_SLOT)
        ((struct twins *)(void *)((char *)objects_at(o, t->next) + twins))->prev = t->prev;
    t->next = t->prev = NO_SLOT;
}

void object_link_mesh(struct visd_scene *s, uint32_t slot, uint32_t mesh)
{
    struct object *ob = objects_at(&s->objects, slot);
    if (ob->mesh != NO_SLOT) {
        struct mesh *m = &s->meshes.mesh[ob->mesh];
        leave(&s->objects, slot, &m->first_user, offsetof(struct object, in_mesh));
        m->users--;
        s->meshes.placed -= m->version.triangles;
    }
    ob->mesh = mesh;
    if (mesh != NO_SLOT) {
        struct mesh *m = &s->meshes.mesh[mesh];
        enter(&s->objects, slot, &m->first_user, offsetof(struct object, in_mesh));
        m->users++;
        s->meshes.placed += m->version.triangles;
    }
}

void object_link_group(struct visd_scene *s, uint32_t slot, uint32_t group)
{
    struct object *ob = objects_at(&s->objects, slot);
    if (ob->group != NO_SLOT)
        leave(&s->objects, slot, &s->groups.group[ob->group].first_object, offsetof(struct object, in_group));
    ob->group = group;
    if (group != NO_SLOT)
        enter(&s->objects, slot, &s->groups.group[group].first_object, offsetof(struct object, in_group));
}
