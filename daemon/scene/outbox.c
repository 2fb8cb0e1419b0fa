/* Jobs on their way; see outbox.h. */
#include "outbox.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive.h"
#include "grow.h"
#include "store.h"

#define LOAD_SLICES 16 /* of a load, in the worker's hands at a time: 32 MiB */

bool outbox_reserve(struct outbox *b, size_t jobs)
{
    if (b->first > 0 && b->first + b->count + jobs > b->room) {
        memmove(b->row, b->row + b->first, b->count * sizeof(*b->row));
        b->first = 0;
    }
    return grow(&b->row, &b->room, b->first + b->count + jobs, sizeof(*b->row));
}

void outbox_put(struct outbox *b, const struct out *job)
{
    assert(b->first + b->count < b->room);
    b->row[b->first + b->count++] = *job;
    if (job->kind == VISD_JOB_STAGE || job->kind == VISD_JOB_MESH_REMOVE)
        b->bytes += job->bytes;
}

static void let_go(struct visd_scene *s, const struct out *job)
{
    if (job->kind != VISD_JOB_STAGE && job->kind != VISD_JOB_MESH_REMOVE)
        return;
    visd_segment_free(s->segment, job->block);
    s->outbox.bytes -= job->bytes;
    if (job->kind == VISD_JOB_MESH_REMOVE)
        slots_give(&s->meshes.device, job->slot);
}

static void let_all_go(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    for (size_t i = 0; i < b->count; i++)
        if (!b->row[b->first + i].done)
            let_go(s, &b->row[b->first + i]);
    b->first = b->count = b->sent = 0;
}

void outbox_finish(struct visd_scene *s)
{
    let_all_go(s);
    free(s->outbox.row);
    s->outbox.row = NULL;
    s->outbox.room = 0;
}

/* ---- loading a new worker ---- */

static bool load_mesh(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    uint32_t slot = slots_next(&s->meshes.slots, b->cursor);
    if (slot == NO_SLOT) {
        b->cursor = 0;
        b->load = LOAD_OBJECTS;
        return true;
    }
    struct version *v = &s->meshes.mesh[slot].version;
    v->sent = true;
    outbox_put(b, &(struct out){ .kind = VISD_JOB_MESH_ADD, .slot = v->device, .block = v->block, .bytes = v->bytes });
    b->cursor = slot + 1;
    return true;
}

static bool load_slice(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    uint32_t slot = slots_next(&s->objects.slots, b->cursor), count = 0;
    uint64_t block;
    if (slot == NO_SLOT) {
        b->load = LOAD_APPLY;
        return true;
    }
    uint32_t left = s->objects.slots.count < VISD_SCENE_SLICE ? s->objects.slots.count : VISD_SCENE_SLICE;
    size_t bytes = left * sizeof(struct visd_object_change);
    if (visd_segment_alloc(s->segment, bytes, &block) != VISD_ERR_OK)
        return false;
    struct visd_object_change *change = visd_segment_at(s->segment, block);
    while (slot != NO_SLOT && count < left) {
        struct derived d;
        derive(s, slot, &d); /* was right when it was committed */
        change[count++] = d.change;
        b->cursor = slot + 1;
        slot = slots_next(&s->objects.slots, b->cursor);
    }
    outbox_put(b, &(struct out){ .kind = VISD_JOB_STAGE, .block = block, .bytes = bytes, .value = count });
    return true;
}

/* Queues the next job of the load, or moves it on to its next state. */
static bool load_step(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    if (!outbox_reserve(b, 1))
        return false;
    switch (b->load) {
    case LOAD_OPEN:
        outbox_put(b, &(struct out){ .kind = VISD_JOB_SCENE_OPEN });
        b->cursor = 0;
        b->load = LOAD_MESHES;
        return true;
    case LOAD_MESHES:
        return load_mesh(s);
    case LOAD_OBJECTS:
        return load_slice(s);
    case LOAD_APPLY:
        if (s->revision > 0)
            outbox_put(b, &(struct out){ .kind = VISD_JOB_APPLY, .value = s->revision, .slots = s->objects.slots.top });
        b->loaded = s->revision;
        b->load = LOAD_DONE;
        return true;
    case LOAD_DONE:
        break;
    }
    return true;
}

bool outbox_flush_load(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    while (b->load != LOAD_OPEN && b->load != LOAD_DONE)
        if (!load_step(s))
            return false;
    return true;
}

void visd_scene_reload(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    let_all_go(s);
    b->load = LOAD_OPEN;
    b->cursor = 0;
    b->applied = 0;
    b->slots = 0;
    b->faulty = false;
    for (uint32_t slot = slots_next(&s->meshes.slots, 0); slot != NO_SLOT; slot = slots_next(&s->meshes.slots, slot + 1))
        s->meshes.mesh[slot].version.sent = false;
    if (b->closing)
        b->closed = true;
}

/* ---- handing out ---- */

static void fill(const struct visd_scene *s, const struct out *o, struct visd_job *job)
{
    memset(job, 0, sizeof(*job));
    job->kind = o->kind;
    job->scene = s->number;
    job->serial = o->serial;
    if (o->kind == VISD_JOB_MESH_ADD || o->kind == VISD_JOB_MESH_REMOVE) {
        job->u.mesh.slot = o->slot;
        job->u.mesh.block = o->block;
        job->u.mesh.bytes = o->bytes;
    } else if (o->kind == VISD_JOB_STAGE) {
        job->u.stage.block = o->block;
        job->u.stage.count = (uint32_t)o->value;
    } else if (o->kind == VISD_JOB_APPLY) {
        job->u.apply.revision = o->value;
        job->u.apply.slots = o->slots;
    }
}

/* Makes a job to hand out where there is none, if there is anything to say. */
static bool have_job(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    if (b->closing && !b->closed && b->sent == b->count && b->holds == 0 && !(b->count && b->row[b->first + b->count - 1].kind == VISD_JOB_SCENE_CLOSE)) {
        if (!outbox_reserve(b, 1))
            return false;
        outbox_put(b, &(struct out){ .kind = VISD_JOB_SCENE_CLOSE });
    }
    while (b->sent == b->count && b->load != LOAD_DONE && !b->closing) {
        if (b->load == LOAD_OBJECTS && b->count >= LOAD_SLICES)
            return false; /* results will make room */
        if (!load_step(s))
            return false;
    }
    return b->sent < b->count;
}

bool visd_scene_next_job(struct visd_scene *s, uint64_t serial, struct visd_job *out)
{
    struct outbox *b = &s->outbox;
    if (!have_job(s))
        return false;
    struct out *o = &b->row[b->first + b->sent++];
    o->serial = serial;
    if (o->kind == VISD_JOB_APPLY) {
        b->applied = o->value;
        b->slots = o->slots;
    }
    fill(s, o, out);
    return true;
}

static void note_fault(struct outbox *b, const struct visd_result *r)
{
    static const char *const names[] = { [VISD_JOB_SCENE_OPEN] = "opening the scene", [VISD_JOB_MESH_ADD] = "taking a mesh",
        [VISD_JOB_MESH_REMOVE] = "removing a mesh", [VISD_JOB_STAGE] = "taking changes", [VISD_JOB_APPLY] = "applying a commit" };
    const char *what = r->kind < sizeof(names) / sizeof(names[0]) && names[r->kind] ? names[r->kind] : "a job";
    if (b->faulty)
        return; /* the first says most */
    b->faulty = true;
    snprintf(b->fault, sizeof(b->fault), "the device failed at %s: %.140s", what, r->text[0] ? r->text : visd_err_text((enum visd_err)r->err));
}

bool visd_scene_job_done(struct visd_scene *s, const struct visd_result *result)
{
    struct outbox *b = &s->outbox;
    size_t i = 0;
    while (i < b->sent && (b->row[b->first + i].done || b->row[b->first + i].serial != result->serial))
        i++;
    if (i == b->sent)
        return false;
    struct out *o = &b->row[b->first + i];
    o->done = true;
    let_go(s, o);
    if (o->kind == VISD_JOB_SCENE_CLOSE)
        b->closed = true;
    else if (result->err != VISD_ERR_OK)
        note_fault(b, result);
    while (b->sent > 0 && b->row[b->first].done) {
        b->first++;
        b->count--;
        b->sent--;
    }
    if (b->count == 0)
        b->first = 0;
    return true;
}

/* ---- state ---- */

void visd_scene_close(struct visd_scene *s)
{
    struct outbox *b = &s->outbox;
    if (b->closing)
        return;
    b->closing = true;
    /* What was handed out waits for its results; of the rest nobody needs the end. A MESH_REMOVE stays, with what
     * comes before it: its result frees the block, which the worker may be reading. */
    if (b->load == LOAD_OPEN)
        b->closed = true; /* no worker knows of it */
    while (b->count > b->sent) {
        const struct out *o = &b->row[b->first + b->count - 1];
        if (o->kind == VISD_JOB_MESH_REMOVE)
            break;
        let_go(s, o);
        b->count--;
    }
}

bool visd_scene_closed(const struct visd_scene *s)
{
    return s->outbox.closed;
}

bool visd_scene_ready(const struct visd_scene *s, uint64_t revision)
{
    return !visd_scene_loading(s) && !s->outbox.closing && s->outbox.applied >= revision;
}

bool visd_scene_loading(const struct visd_scene *s)
{
    return s->outbox.load != LOAD_DONE || s->outbox.applied < s->outbox.loaded;
}

uint32_t visd_scene_slots(const struct visd_scene *s)
{
    return s->outbox.slots;
}

const char *visd_scene_fault(const struct visd_scene *s)
{
    return s->outbox.faulty ? s->outbox.fault : NULL;
}

void visd_scene_hold(struct visd_scene *s)
{
    s->outbox.holds++;
}

void visd_scene_release(struct visd_scene *s)
{
    assert(s->outbox.holds > 0);
    s->outbox.holds--;
}
