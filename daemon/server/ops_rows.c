/* Listings of what a scene holds, page by page, in slot order: objects, groups and meshes; and one mesh whole.
 *
 * A page is columns, as on the wire. Each column that was asked for is one array; all are freed alike. Between two pages the scene
 * may change; the reply names the revision that a page belongs to. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

#define PAGE_ROWS 16384u /* rows of a page, whatever is asked for: a page must not hold up the loop */

#define OF_MESHES 0x80000000u /* asks for the columns that only meshes have; no bit of the wire */

enum column {
    IDS, FIRST, SECOND, FLAGS, TRIANGLES, WORLD_BOXES, BOXES, TRANSFORMS, MARGINS, LAYERS, COSTS, BATCH_KEYS, DRAWS, GIVEN, VERTICES, USERS, COLUMNS
};

/* bytes a row, and the bit that asks for it; 0: always there */
static const struct {
    uint32_t bytes, bit;
} shapes[COLUMNS] = {
    [IDS] = {8, 0},
    [FIRST] = {8, 0}, /* an object's mesh, a group's parent */
    [SECOND] = {8, 0}, /* an object's group */
    [FLAGS] = {4, 0},
    [TRIANGLES] = {4, 0},
    [WORLD_BOXES] = {48, VISD_WIRE_COLUMN_WORLD_BOXES},
    [BOXES] = {48, VISD_WIRE_COLUMN_BOXES},
    [TRANSFORMS] = {96, VISD_WIRE_COLUMN_TRANSFORMS},
    [MARGINS] = {4, VISD_WIRE_COLUMN_DRAWING},
    [LAYERS] = {4, VISD_WIRE_COLUMN_DRAWING},
    [COSTS] = {8, VISD_WIRE_COLUMN_DRAWING},
    [BATCH_KEYS] = {4, VISD_WIRE_COLUMN_DRAWING},
    [DRAWS] = {20, VISD_WIRE_COLUMN_DRAWING},
    [GIVEN] = {4, VISD_WIRE_COLUMN_GIVEN},
    [VERTICES] = {4, OF_MESHES},
    [USERS] = {4, OF_MESHES},
};

struct page {
    uint32_t columns; /* bits asked for */
    uint8_t *at[COLUMNS];
    uint32_t *name_offsets;
    char *names;
    size_t name_bytes, name_room;
};

static void page_finish(struct page *page)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        free(page->at[i]);
    free(page->name_offsets);
    free(page->names);
}

static bool page_init(struct page *page, uint32_t rows, uint32_t columns)
{
    *page = (struct page){.columns = columns};
    page->name_offsets = calloc((size_t)rows + 1, sizeof(*page->name_offsets));
    bool good = page->name_offsets != NULL;
    for (unsigned i = 0; i < COLUMNS; i++)
        if (!shapes[i].bit || columns & shapes[i].bit)
            good &= (page->at[i] = malloc((size_t)rows * shapes[i].bytes)) != NULL;
    return good;
}

/* A column that was not asked for is left alone. */
static void page_put(struct page *page, enum column column, uint32_t row, const void *value)
{
    if (page->at[column])
        memcpy(page->at[column] + (size_t)row * shapes[column].bytes, value, shapes[column].bytes);
}

static bool page_name(struct page *page, uint32_t row, const char *name, uint32_t bytes)
{
    if (page->name_bytes + bytes > page->name_room) {
        size_t room = (page->name_bytes + bytes) * 2 + 1024;
        char *names = realloc(page->names, room);
        if (!names)
            return false;
        page->names = names;
        page->name_room = room;
    }
    if (bytes)
        memcpy(page->names + page->name_bytes, name, bytes);
    page->name_bytes += bytes;
    page->name_offsets[row + 1] = (uint32_t)page->name_bytes;
    return true;
}

static struct visd_bin bin_of(const struct page *page, enum column column, uint32_t rows)
{
    return visd_bin_of(page->at[column], rows);
}

/* Checks what listings have in common; 0: refused. */
static uint32_t page_rows(struct call *call, struct scene_slot *slot, uint32_t scene, uint32_t count, uint32_t columns, uint32_t served)
{
    const char *name = visd_msg_name(call->in->type);
    if (!slot)
        call_refuse(call, VISD_ERR_NOT_FOUND, "%s: there is no scene %u", name, scene);
    else if (count == 0)
        call_refuse(call, VISD_ERR_BAD_VALUE, "%s: count is 0; ask for at least one row", name);
    else if (columns & ~served)
        call_refuse(call, VISD_ERR_BAD_VALUE, "%s: it has no columns 0x%x", name, columns & ~served);
    else
        return count < PAGE_ROWS ? count : PAGE_ROWS;
    return 0;
}

/* ---- objects ---- */

static uint32_t given_of(const struct visd_object_row *object)
{
    return (object->gave_box ? VISD_WIRE_GIVEN_BOX : 0u) | (object->gave_cost ? VISD_WIRE_GIVEN_COST : 0u) |
           (object->has_draw ? VISD_WIRE_GIVEN_DRAW : 0u) | (object->gave_unbounded ? VISD_WIRE_GIVEN_UNBOUNDED : 0u);
}

static bool put_object(struct page *page, uint32_t row, const struct visd_object_row *object)
{
    double box[6] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY};
    uint32_t flags = object->flags & VISD_OBJECT_WIRE_MASK, triangles = (uint32_t)object->triangles, given = given_of(object);
    page_put(page, IDS, row, &object->id);
    page_put(page, FIRST, row, &object->mesh);
    page_put(page, SECOND, row, &object->group);
    page_put(page, FLAGS, row, &flags);
    page_put(page, TRIANGLES, row, &triangles);
    page_put(page, BOXES, row, object->has_box ? object->box : box);
    if (!(object->flags & VISD_OBJECT_UNBOUNDED)) {
        memcpy(box, object->min, sizeof(object->min));
        memcpy(box + 3, object->max, sizeof(object->max));
    }
    page_put(page, WORLD_BOXES, row, box);
    page_put(page, TRANSFORMS, row, object->transform);
    page_put(page, MARGINS, row, &object->margin);
    page_put(page, LAYERS, row, &object->layers);
    page_put(page, COSTS, row, &object->cost);
    page_put(page, BATCH_KEYS, row, &object->batch_key);
    page_put(page, DRAWS, row, object->draw);
    page_put(page, GIVEN, row, &given);
    return page_name(page, row, object->name, object->name_bytes);
}

static void reply_objects(struct call *call, const struct page *page, uint32_t count, uint32_t next, uint64_t revision)
{
    struct visd_message out;
    struct visd_msg_object_rows *reply = &out.object_rows;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_OBJECT_ROWS;
    reply->revision = revision;
    reply->next = next;
    reply->ids = bin_of(page, IDS, count);
    reply->flags = bin_of(page, FLAGS, count);
    reply->meshes = bin_of(page, FIRST, count);
    reply->groups = bin_of(page, SECOND, count);
    reply->triangles = bin_of(page, TRIANGLES, count);
    reply->has_world_boxes = page->at[WORLD_BOXES] != NULL;
    reply->world_boxes = bin_of(page, WORLD_BOXES, count);
    reply->has_boxes = page->at[BOXES] != NULL;
    reply->boxes = bin_of(page, BOXES, count);
    reply->has_transforms = page->at[TRANSFORMS] != NULL;
    reply->transforms = bin_of(page, TRANSFORMS, count);
    if (page->columns & VISD_WIRE_COLUMN_DRAWING) {
        reply->has_margins = reply->has_layers = reply->has_costs = reply->has_batch_keys = reply->has_draws = true;
        reply->margins = bin_of(page, MARGINS, count);
        reply->layers = bin_of(page, LAYERS, count);
        reply->costs = bin_of(page, COSTS, count);
        reply->batch_keys = bin_of(page, BATCH_KEYS, count);
        reply->draws = bin_of(page, DRAWS, count);
    }
    reply->has_given = page->at[GIVEN] != NULL;
    reply->given = bin_of(page, GIVEN, count);
    if (page->columns & VISD_WIRE_COLUMN_NAMES) {
        reply->has_names = reply->has_name_offsets = true;
        reply->names = visd_bin_of(page->names, page->name_bytes);
        reply->name_offsets = visd_bin_of(page->name_offsets, (size_t)count + 1);
    }
    call_reply(call, &out);
}

void op_objects(struct call *call)
{
    const struct visd_msg_objects *in = &call->in->objects;
    const uint32_t served = VISD_WIRE_COLUMN_NAMES | VISD_WIRE_COLUMN_WORLD_BOXES | VISD_WIRE_COLUMN_BOXES | VISD_WIRE_COLUMN_TRANSFORMS |
                            VISD_WIRE_COLUMN_DRAWING | VISD_WIRE_COLUMN_GIVEN;
    uint32_t columns = in->has_columns ? in->columns : VISD_WIRE_COLUMN_NAMES | VISD_WIRE_COLUMN_WORLD_BOXES;
    struct scene_slot *slot = scene_find(call->server, in->scene);
    uint32_t rows = page_rows(call, slot, in->scene, in->count, columns, served), count = 0;
    struct page page;
    if (!rows)
        return;
    bool good = page_init(&page, rows, columns);
    uint32_t at = visd_scene_next_object(slot->scene, in->first);
    for (; good && at != VISD_SLOT_NONE && count < rows; at = visd_scene_next_object(slot->scene, at + 1)) {
        struct visd_object_row object;
        visd_scene_object_row(slot->scene, at, &object);
        good = put_object(&page, count++, &object);
    }
    if (good)
        reply_objects(call, &page, count, at == VISD_SLOT_NONE ? 0 : at, visd_scene_revision(slot->scene));
    else
        call_refuse(call, VISD_ERR_NO_MEMORY, "objects: no memory for a page of %u rows; ask for fewer", rows);
    page_finish(&page);
}

/* ---- groups ---- */

static void reply_groups(struct call *call, const struct page *page, uint32_t count, uint32_t next, uint64_t revision)
{
    struct visd_message out;
    struct visd_msg_group_rows *reply = &out.group_rows;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_GROUP_ROWS;
    reply->revision = revision;
    reply->next = next;
    reply->groups = bin_of(page, IDS, count);
    reply->parents = bin_of(page, FIRST, count);
    reply->flags = bin_of(page, FLAGS, count);
    reply->has_transforms = page->at[TRANSFORMS] != NULL;
    reply->transforms = bin_of(page, TRANSFORMS, count);
    if (page->columns & VISD_WIRE_COLUMN_NAMES) {
        reply->has_names = reply->has_name_offsets = true;
        reply->names = visd_bin_of(page->names, page->name_bytes);
        reply->name_offsets = visd_bin_of(page->name_offsets, (size_t)count + 1);
    }
    call_reply(call, &out);
}

void op_groups(struct call *call)
{
    const struct visd_msg_groups *in = &call->in->groups;
    const uint32_t served = VISD_WIRE_COLUMN_NAMES | VISD_WIRE_COLUMN_TRANSFORMS;
    uint32_t columns = in->has_columns ? in->columns : served;
    struct scene_slot *slot = scene_find(call->server, in->scene);
    uint32_t rows = page_rows(call, slot, in->scene, in->count, columns, served), count = 0;
    struct page page;
    if (!rows)
        return;
    bool good = page_init(&page, rows, columns);
    uint32_t at = visd_scene_next_group(slot->scene, in->first);
    for (; good && at != VISD_SLOT_NONE && count < rows; at = visd_scene_next_group(slot->scene, at + 1), count++) {
        struct visd_group_row group;
        visd_scene_group_row(slot->scene, at, &group);
        page_put(&page, IDS, count, &group.id);
        page_put(&page, FIRST, count, &group.parent);
        page_put(&page, FLAGS, count, &group.flags);
        page_put(&page, TRANSFORMS, count, group.transform);
        good = page_name(&page, count, group.name, group.name_bytes);
    }
    if (good)
        reply_groups(call, &page, count, at == VISD_SLOT_NONE ? 0 : at, visd_scene_revision(slot->scene));
    else
        call_refuse(call, VISD_ERR_NO_MEMORY, "groups: no memory for a page of %u rows; ask for fewer", rows);
    page_finish(&page);
}

/* ---- meshes ---- */

static void reply_meshes(struct call *call, const struct page *page, uint32_t count, uint32_t next, uint64_t revision)
{
    struct visd_message out;
    struct visd_msg_mesh_rows *reply = &out.mesh_rows;
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_MESH_ROWS;
    reply->revision = revision;
    reply->next = next;
    reply->meshes = bin_of(page, IDS, count);
    reply->vertices = bin_of(page, VERTICES, count);
    reply->triangles = bin_of(page, TRIANGLES, count);
    reply->objects = bin_of(page, USERS, count);
    call_reply(call, &out);
}

void op_meshes(struct call *call)
{
    const struct visd_msg_meshes *in = &call->in->meshes;
    struct scene_slot *slot = scene_find(call->server, in->scene);
    uint32_t rows = page_rows(call, slot, in->scene, in->count, 0, 0), count = 0;
    struct page page;
    if (!rows)
        return;
    bool good = page_init(&page, rows, OF_MESHES);
    uint32_t at = visd_scene_next_mesh(slot->scene, in->first);
    for (; good && at != VISD_SLOT_NONE && count < rows; at = visd_scene_next_mesh(slot->scene, at + 1), count++) {
        struct visd_mesh_row mesh;
        visd_scene_mesh_row(slot->scene, at, &mesh);
        page_put(&page, IDS, count, &mesh.id);
        page_put(&page, VERTICES, count, &mesh.vertices);
        page_put(&page, TRIANGLES, count, &mesh.triangles);
        page_put(&page, USERS, count, &mesh.objects);
    }
    if (good)
        reply_meshes(call, &page, count, at == VISD_SLOT_NONE ? 0 : at, visd_scene_revision(slot->scene));
    else
        call_refuse(call, VISD_ERR_NO_MEMORY, "meshes: no memory for a page of %u rows; ask for fewer", rows);
    page_finish(&page);
}

/* Answered from the segment, where the mesh lies for the worker: it is copied once, into the reply. */
void op_mesh_get(struct call *call)
{
    const struct visd_msg_mesh_get *in = &call->in->mesh_get;
    struct scene_slot *slot = scene_find(call->server, in->scene);
    struct visd_message out;
    struct visd_msg_mesh_data *reply = &out.mesh_data;
    struct visd_mesh_row mesh;
    if (!slot) {
        call_refuse(call, VISD_ERR_NOT_FOUND, "mesh_get: there is no scene %u", in->scene);
        return;
    }
    uint32_t at = visd_scene_find_mesh(slot->scene, in->mesh);
    if (at == VISD_SLOT_NONE) {
        call_refuse(call, VISD_ERR_NOT_FOUND, "mesh_get: the scene has no mesh %" PRIu64, in->mesh);
        return;
    }
    visd_scene_mesh_row(slot->scene, at, &mesh);
    memset(&out, 0, sizeof(out));
    out.type = VISD_MSG_MESH_DATA;
    reply->mesh = mesh.id;
    reply->positions = visd_bin_of(mesh.positions, mesh.vertices);
    reply->indices = visd_bin_of(mesh.indices, mesh.triangles);
    reply->parts = visd_bin_of(mesh.part, mesh.parts);
    reply->deviation = mesh.deviation;
    call_reply(call, &out);
}
