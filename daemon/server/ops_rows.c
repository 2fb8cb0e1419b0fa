/* Listings of what a scene holds, page by page, in slot order: objects, groups and meshes; and one mesh whole.
 *
 * A page is columns, as on the wire. Each column that was asked for is one array; all are freed alike. Between two pages the scene
 * may change; the reply names the revision that a page belongs to. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

#define PAGE_ROWS 16384u         /* rows of a page, whatever is asked for: a page must not hold up the loop */
#define PAGE_NAMES (16u << 20)   /* bytes of names after which it ends, for the same reason; with the longest that a request can carry it fits a reply */
_Static_assert(PAGE_NAMES + VISD_MAX_MESSAGE_BYTES + PAGE_ROWS * 512u < VISD_MAX_REPLY_BYTES, "a page fits a reply");

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
    [VERTICES] = {4, 0},
    [USERS] = {4, 0},
};

struct page {
    uint32_t columns; /* bits asked for */
    uint32_t rows;    /* so far */
    uint32_t next;    /* slot of the next page's first; 0: there is none */
    uint64_t revision;
    uint8_t *at[COLUMNS];
    uint32_t *name_offsets;
    char *names;
    size_t name_bytes, name_room;
};

/* What can be listed, and how a row of it comes into a page, and a page into a reply. */
struct listing {
    uint32_t served;    /* bits that may be asked for */
    uint32_t unasked;   /* bits, if none are named */
    uint32_t has;       /* 1 << column */
    uint32_t (*next)(const struct visd_scene *scene, uint32_t slot);
    bool (*put)(struct page *page, const struct visd_scene *scene, uint32_t slot); /* false: no memory */
    void (*reply)(const struct page *page, struct visd_message *out);
};

static void page_finish(struct page *page)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        free(page->at[i]);
    free(page->name_offsets);
    free(page->names);
}

static bool page_init(struct page *page, const struct listing *of, uint32_t rows, uint32_t columns)
{
    bool good = true;
    *page = (struct page){.columns = columns};
    if (columns & VISD_WIRE_COLUMN_NAMES)
        good = (page->name_offsets = calloc((size_t)rows + 1, sizeof(*page->name_offsets))) != NULL;
    for (unsigned i = 0; i < COLUMNS; i++)
        if (of->has >> i & 1 && (!shapes[i].bit || columns & shapes[i].bit))
            good &= (page->at[i] = malloc((size_t)rows * shapes[i].bytes)) != NULL;
    return good;
}

/* A column that was not asked for is left alone. */
static void page_put(struct page *page, enum column column, const void *value)
{
    if (page->at[column])
        memcpy(page->at[column] + (size_t)page->rows * shapes[column].bytes, value, shapes[column].bytes);
}

static bool page_name(struct page *page, const char *name, uint32_t bytes)
{
    if (!page->name_offsets)
        return true;
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
    page->name_offsets[page->rows + 1] = (uint32_t)page->name_bytes;
    return true;
}

static struct visd_bin bin_of(const struct page *page, enum column column)
{
    return visd_bin_of(page->at[column], page->rows);
}

static struct visd_bin name_offsets_of(const struct page *page)
{
    return visd_bin_of(page->name_offsets, (size_t)page->rows + 1);
}

/* ---- objects ---- */

static uint32_t given_of(const struct visd_object_row *object)
{
    return (object->gave_box ? VISD_WIRE_GIVEN_BOX : 0u) | (object->gave_cost ? VISD_WIRE_GIVEN_COST : 0u) |
           (object->has_draw ? VISD_WIRE_GIVEN_DRAW : 0u) | (object->gave_unbounded ? VISD_WIRE_GIVEN_UNBOUNDED : 0u);
}

static bool put_object(struct page *page, const struct visd_scene *scene, uint32_t slot)
{
    struct visd_object_row object;
    visd_scene_object_row(scene, slot, &object);
    double box[6] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY};
    uint32_t flags = object.flags & VISD_OBJECT_WIRE_MASK, triangles = (uint32_t)object.triangles, given = given_of(&object);
    page_put(page, IDS, &object.id);
    page_put(page, FIRST, &object.mesh);
    page_put(page, SECOND, &object.group);
    page_put(page, FLAGS, &flags);
    page_put(page, TRIANGLES, &triangles);
    page_put(page, BOXES, object.has_box ? object.box : box);
    if (!(object.flags & VISD_OBJECT_UNBOUNDED)) {
        memcpy(box, object.min, sizeof(object.min));
        memcpy(box + 3, object.max, sizeof(object.max));
    }
    page_put(page, WORLD_BOXES, box);
    page_put(page, TRANSFORMS, object.transform);
    page_put(page, MARGINS, &object.margin);
    page_put(page, LAYERS, &object.layers);
    page_put(page, COSTS, &object.cost);
    page_put(page, BATCH_KEYS, &object.batch_key);
    page_put(page, DRAWS, object.draw);
    page_put(page, GIVEN, &given);
    return page_name(page, object.name, object.name_bytes);
}

static void reply_objects(const struct page *page, struct visd_message *out)
{
    struct visd_msg_object_rows *reply = &out->object_rows;
    out->type = VISD_MSG_OBJECT_ROWS;
    reply->revision = page->revision;
    reply->next = page->next;
    reply->ids = bin_of(page, IDS);
    reply->flags = bin_of(page, FLAGS);
    reply->meshes = bin_of(page, FIRST);
    reply->groups = bin_of(page, SECOND);
    reply->triangles = bin_of(page, TRIANGLES);
    reply->has_world_boxes = page->at[WORLD_BOXES] != NULL;
    reply->world_boxes = bin_of(page, WORLD_BOXES);
    reply->has_boxes = page->at[BOXES] != NULL;
    reply->boxes = bin_of(page, BOXES);
    reply->has_transforms = page->at[TRANSFORMS] != NULL;
    reply->transforms = bin_of(page, TRANSFORMS);
    if (page->columns & VISD_WIRE_COLUMN_DRAWING) {
        reply->has_margins = reply->has_layers = reply->has_costs = reply->has_batch_keys = reply->has_draws = true;
        reply->margins = bin_of(page, MARGINS);
        reply->layers = bin_of(page, LAYERS);
        reply->costs = bin_of(page, COSTS);
        reply->batch_keys = bin_of(page, BATCH_KEYS);
        reply->draws = bin_of(page, DRAWS);
    }
    reply->has_given = page->at[GIVEN] != NULL;
    reply->given = bin_of(page, GIVEN);
    if (page->columns & VISD_WIRE_COLUMN_NAMES) {
        reply->has_names = reply->has_name_offsets = true;
        reply->names = visd_bin_of(page->names, page->name_bytes);
        reply->name_offsets = name_offsets_of(page);
    }
}

/* ---- groups ---- */

static bool put_group(struct page *page, const struct visd_scene *scene, uint32_t slot)
{
    struct visd_group_row group;
    visd_scene_group_row(scene, slot, &group);
    page_put(page, IDS, &group.id);
    page_put(page, FIRST, &group.parent);
    page_put(page, FLAGS, &group.flags);
    page_put(page, TRANSFORMS, group.transform);
    return page_name(page, group.name, group.name_bytes);
}

static void reply_groups(const struct page *page, struct visd_message *out)
{
    struct visd_msg_group_rows *reply = &out->group_rows;
    out->type = VISD_MSG_GROUP_ROWS;
    reply->revision = page->revision;
    reply->next = page->next;
    reply->groups = bin_of(page, IDS);
    reply->parents = bin_of(page, FIRST);
    reply->flags = bin_of(page, FLAGS);
    reply->has_transforms = page->at[TRANSFORMS] != NULL;
    reply->transforms = bin_of(page, TRANSFORMS);
    if (page->columns & VISD_WIRE_COLUMN_NAMES) {
        reply->has_names = reply->has_name_offsets = true;
        reply->names = visd_bin_of(page->names, page->name_bytes);
        reply->name_offsets = name_offsets_of(page);
    }
}

/* ---- meshes ---- */

static bool put_mesh(struct page *page, const struct visd_scene *scene, uint32_t slot)
{
    struct visd_mesh_row mesh;
    visd_scene_mesh_row(scene, slot, &mesh);
    page_put(page, IDS, &mesh.id);
    page_put(page, VERTICES, &mesh.vertices);
    page_put(page, TRIANGLES, &mesh.triangles);
    page_put(page, USERS, &mesh.objects);
    return true;
}

static void reply_meshes(const struct page *page, struct visd_message *out)
{
    struct visd_msg_mesh_rows *reply = &out->mesh_rows;
    out->type = VISD_MSG_MESH_ROWS;
    reply->revision = page->revision;
    reply->next = page->next;
    reply->meshes = bin_of(page, IDS);
    reply->vertices = bin_of(page, VERTICES);
    reply->triangles = bin_of(page, TRIANGLES);
    reply->objects = bin_of(page, USERS);
}

/* ---- pages ---- */

static const struct listing objects = {
    .served = VISD_WIRE_COLUMN_NAMES | VISD_WIRE_COLUMN_WORLD_BOXES | VISD_WIRE_COLUMN_BOXES | VISD_WIRE_COLUMN_TRANSFORMS |
              VISD_WIRE_COLUMN_DRAWING | VISD_WIRE_COLUMN_GIVEN,
    .unasked = VISD_WIRE_COLUMN_NAMES | VISD_WIRE_COLUMN_WORLD_BOXES,
    .has = 1u << IDS | 1u << FIRST | 1u << SECOND | 1u << FLAGS | 1u << TRIANGLES | 1u << WORLD_BOXES | 1u << BOXES | 1u << TRANSFORMS |
           1u << MARGINS | 1u << LAYERS | 1u << COSTS | 1u << BATCH_KEYS | 1u << DRAWS | 1u << GIVEN,
    .next = visd_scene_next_object, .put = put_object, .reply = reply_objects,
};
static const struct listing groups = {
    .served = VISD_WIRE_COLUMN_NAMES | VISD_WIRE_COLUMN_TRANSFORMS,
    .unasked = VISD_WIRE_COLUMN_NAMES | VISD_WIRE_COLUMN_TRANSFORMS,
    .has = 1u << IDS | 1u << FIRST | 1u << FLAGS | 1u << TRANSFORMS,
    .next = visd_scene_next_group, .put = put_group, .reply = reply_groups,
};
static const struct listing meshes = {
    .has = 1u << IDS | 1u << VERTICES | 1u << TRIANGLES | 1u << USERS,
    .next = visd_scene_next_mesh, .put = put_mesh, .reply = reply_meshes,
};

/* columns: NULL: none are named */
static void list(struct call *call, const struct listing *of, uint32_t wire, uint32_t first, uint32_t count, const uint32_t *columns)
{
    const struct scene_slot *slot = call_scene(call, wire);
    const char *name = visd_msg_name(call->in->type);
    uint32_t asked = columns ? *columns : of->unasked, rows = count < PAGE_ROWS ? count : PAGE_ROWS;
    struct page page;
    if (!slot)
        return;
    if (count == 0) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "%s: count is 0; ask for at least one row", name);
        return;
    }
    if (asked & ~of->served) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "%s: it has no columns 0x%x", name, asked & ~of->served);
        return;
    }
    bool good = page_init(&page, of, rows, asked);
    uint32_t at = of->next(slot->scene, first);
    for (; good && at != VISD_SLOT_NONE && page.rows < rows && page.name_bytes < PAGE_NAMES; at = of->next(slot->scene, at + 1)) {
        good = of->put(&page, slot->scene, at);
        page.rows++;
    }
    page.next = at == VISD_SLOT_NONE ? 0 : at;
    page.revision = visd_scene_revision(slot->scene);
    if (good) {
        struct visd_message out;
        memset(&out, 0, sizeof(out));
        of->reply(&page, &out);
        call_reply(call, &out);
    } else {
        call_refuse(call, VISD_ERR_NO_MEMORY, "%s: no memory for a page of %u rows; ask for fewer", name, rows);
    }
    page_finish(&page);
}

void op_objects(struct call *call)
{
    const struct visd_msg_objects *in = &call->in->objects;
    list(call, &objects, in->scene, in->first, in->count, in->has_columns ? &in->columns : NULL);
}

void op_groups(struct call *call)
{
    const struct visd_msg_groups *in = &call->in->groups;
    list(call, &groups, in->scene, in->first, in->count, in->has_columns ? &in->columns : NULL);
}

void op_meshes(struct call *call)
{
    const struct visd_msg_meshes *in = &call->in->meshes;
    list(call, &meshes, in->scene, in->first, in->count, NULL);
}

/* ---- one mesh ---- */

/* Answered from the segment, where the mesh lies for the worker: it is copied once, into the reply. */
void op_mesh_get(struct call *call)
{
    const struct visd_msg_mesh_get *in = &call->in->mesh_get;
    const struct scene_slot *slot = call_scene(call, in->scene);
    struct visd_message out;
    struct visd_msg_mesh_data *reply = &out.mesh_data;
    struct visd_mesh_row mesh;
    if (!slot)
        return;
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
