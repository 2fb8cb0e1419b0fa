/* Filling a batch: columns are copied out of the message, which may lie anywhere, and looked at once.
 *
 * What can be told from the item alone is refused here; what depends on the scene waits for the commit. */
#include "batch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "names.h"
#include "refuse.h"

#define COUNT_MAX ((uint64_t)VISD_SCENE_MAX_SLOTS)
#define MARGIN_MAX 4095.0f

enum visd_err visd_batch_create(struct visd_batch **out, struct visd_segment *segment)
{
    struct visd_batch *b = calloc(1, sizeof(*b));
    if (!b)
        return VISD_ERR_NO_MEMORY;
    b->segment = segment;
    *out = b;
    return VISD_ERR_OK;
}

void visd_batch_destroy(struct visd_batch *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++) {
        visd_segment_free(b->segment, b->item[i].block);
        free(b->item[i].data);
    }
    free(b->item);
    free(b);
}

size_t visd_batch_bytes(const struct visd_batch *b)
{
    return b->bytes + b->room * sizeof(*b->item) + sizeof(*b);
}

/* ---- copying ---- */

struct column {
    const void *from;
    const void **to;  /* in the item */
    uint64_t bytes;
};

/* Columns in falling order of their alignment, so that each is aligned after the one before. */
static enum visd_err copy_columns(struct item *item, const struct column *column, size_t columns, struct visd_refusal *why)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < columns; i++)
        bytes += column[i].from ? column[i].bytes : 0;
    item->data = malloc(bytes ? bytes : 1);
    if (!item->data)
        return refuse_memory(why);
    item->bytes = bytes;
    unsigned char *at = item->data;
    for (size_t i = 0; i < columns; i++) {
        if (!column[i].from)
            continue;
        if (column[i].bytes)
            memcpy(at, column[i].from, column[i].bytes);
        *column[i].to = at;
        at += column[i].bytes;
    }
    return VISD_ERR_OK;
}

static enum visd_err add_item(struct visd_batch *b, struct item *item, struct visd_refusal *why)
{
    if (!grow(&b->item, &b->room, b->count + 1, sizeof(*b->item)))
        return refuse_memory(why);
    b->bytes += item->bytes;
    b->item[b->count++] = *item;
    return VISD_ERR_OK;
}

/* ---- checks ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum visd_err check_twice(const struct item *item, uint64_t place, const char *what, struct visd_refusal *why)
{
    bool rising = true;
    for (uint64_t i = 1; i < item->count && rising; i++)
        rising = item->ids[i] > item->ids[i - 1];
    if (rising)
        return VISD_ERR_OK;
    uint64_t *sorted = malloc(item->count * sizeof(*sorted));
    if (!sorted)
        return refuse_memory(why);
    memcpy(sorted, item->ids, item->count * sizeof(*sorted));
    qsort(sorted, item->count, sizeof(*sorted), by_value);
    uint64_t i = 1;
    while (i < item->count && sorted[i] != sorted[i - 1])
        i++;
    uint64_t id = i < item->count ? sorted[i] : 0;
    free(sorted);
    return i == item->count ? VISD_ERR_OK : refuse_id(why, VISD_ERR_BAD_VALUE, place, id, "%s %" PRIu64 " is named twice in one item", what, id);
}

static enum visd_err check_names(const struct item *item, uint64_t bytes, uint64_t place, struct visd_refusal *why)
{
    if (!item->names && !item->name_offsets)
        return VISD_ERR_OK;
    if (!item->names || !item->name_offsets)
        return refuse(why, VISD_ERR_BAD_VALUE, place, "names and name_offsets go together; send both or neither");
    const uint32_t *offset = item->name_offsets;
    if (offset[item->count] > bytes)
        return refuse(why, VISD_ERR_BAD_VALUE, place, "name_offsets end at %" PRIu32 ", but names has %" PRIu64 " bytes", offset[item->count], bytes);
    for (uint64_t i = 0; i < item->count; i++) {
        if (offset[i] > offset[i + 1] || offset[i + 1] > bytes)
            return refuse_id(why, VISD_ERR_BAD_VALUE, place, item->ids[i],
                "name_offsets fall at %" PRIu64 " (id %" PRIu64 "); they must rise", i, item->ids[i]);
        uint32_t length = offset[i + 1] - offset[i];
        if (length > VISD_SCENE_ITEM_NAME_MAX || !names_are_utf8(item->names + offset[i], length))
            return refuse_id(why, VISD_ERR_BAD_VALUE, place, item->ids[i], "the name of id %" PRIu64 " is not UTF-8, has a NUL in it, or is longer than %d bytes",
                item->ids[i], VISD_SCENE_ITEM_NAME_MAX);
    }
    return VISD_ERR_OK;
}

static bool usable(double x) /* finite, and no farther out than what can be told in float */
{
    return x > -VISD_SCENE_UNBOUNDED && x < VISD_SCENE_UNBOUNDED;
}

static bool finite_number(double x)
{
    return x - x == 0;
}

static bool bad_box(const struct item *it, uint64_t i)
{
    const double *b = it->boxes[i];
    for (int k = 0; k < 3; k++)
        if (!finite_number(b[k]) || !finite_number(b[3 + k]) || b[k] > b[3 + k])
            return true;
    return false;
}

static bool bad_transform(const struct item *it, uint64_t i)
{
    for (int k = 0; k < 12; k++)
        if (!usable(it->transforms[i][k]))
            return true;
    return false;
}

static bool bad_object_flags(const struct item *it, uint64_t i)
{
    uint32_t f = it->flags[i], sides = VISD_OBJECT_SINGLE_SIDED | VISD_OBJECT_DOUBLE_SIDED;
    return (f & ~(uint32_t)VISD_OBJECT_WIRE_MASK) || (f & sides) == sides;
}

static bool bad_group_flags(const struct item *it, uint64_t i)
{
    return it->flags[i] & ~(uint32_t)VISD_GROUP_FLAGS;
}

static bool bad_margin(const struct item *it, uint64_t i)
{
    return !(it->margins[i] >= 0 && it->margins[i] <= MARGIN_MAX);
}

static bool bad_cost(const struct item *it, uint64_t i)
{
    return !(it->costs[i] >= 0 && finite_number(it->costs[i]));
}

static bool bad_group_id(const struct item *it, uint64_t i)
{
    return it->ids[i] == VISD_ID_NONE;
}

/* One pass a column; all ids that a reason holds for are named together. */
static enum visd_err check_column(const struct item *it, const void *column, bool (*bad)(const struct item *, uint64_t), uint64_t place,
    const char *reason, struct visd_refusal *why)
{
    struct blame blame = { .count = 0 };
    if (!column)
        return VISD_ERR_OK;
    for (uint64_t i = 0; i < it->count; i++)
        if (bad(it, i))
            blame_note(&blame, it->ids[i]);
    bool groups = it->kind == ITEM_GROUP_PUT;
    return blame.count == 0 ? VISD_ERR_OK : blame_refuse(&blame, why, place, groups ? "group" : "object", groups ? "groups" : "objects", reason);
}

static enum visd_err check_count(uint64_t count, const void *ids, uint64_t place, struct visd_refusal *why)
{
    if (count > COUNT_MAX)
        return refuse(why, VISD_ERR_TOO_BIG, place, "%" PRIu64 " rows in one item are too many; split it", count);
    if (count && !ids)
        return refuse(why, VISD_ERR_BAD_VALUE, place, "the item has no ids");
    return VISD_ERR_OK;
}

#define TRY(call) do { err = (call); if (err != VISD_ERR_OK) goto error; } while (0)

/* ---- objects ---- */

static enum visd_err object_item(struct visd_batch *b, enum item_kind kind, const struct visd_object_columns *c, struct visd_refusal *why)
{
    uint64_t n = c->count, place = b->count;
    struct item it = { .kind = kind, .count = n };
    enum visd_err err = check_count(n, c->ids, place, why);
    if (err != VISD_ERR_OK)
        return err;
    if (c->flag_masks && (!c->flags || kind != ITEM_OBJECT_SET))
        return refuse(why, VISD_ERR_BAD_VALUE, place, "flag_masks go with the flags of objects that are changed");
    const struct column columns[] = {
        { c->ids ? c->ids : "", (const void **)&it.ids, n * 8 },
        { c->boxes, (const void **)&it.boxes, n * 48 },
        { c->transforms, (const void **)&it.transforms, n * 96 },
        { c->meshes, (const void **)&it.meshes, n * 8 },
        { c->groups, (const void **)&it.groups, n * 8 },
        { c->costs, (const void **)&it.costs, n * 8 },
        { c->flags, (const void **)&it.flags, n * 4 },
        { c->flag_masks, (const void **)&it.flag_masks, n * 4 },
        { c->margins, (const void **)&it.margins, n * 4 },
        { c->layers, (const void **)&it.layers, n * 4 },
        { c->batch_keys, (const void **)&it.batch_keys, n * 4 },
        { c->draws, (const void **)&it.draws, n * 20 },
        { c->name_offsets, (const void **)&it.name_offsets, (n + 1) * 4 },
        { c->names || !c->name_offsets || c->name_bytes ? c->names : "", (const void **)&it.names, c->name_bytes },
    };
    TRY(copy_columns(&it, columns, sizeof(columns) / sizeof(columns[0]), why));
    TRY(check_column(&it, it.boxes, bad_box, place, "with a box that is not finite or has min above max; correct it and send the batch again", why));
    TRY(check_column(&it, it.transforms, bad_transform, place,
        "with a transform that is not finite or beyond 1e30; correct it and send the batch again", why));
    TRY(check_column(&it, it.flags, bad_object_flags, place, "with unknown flags, or single- and double-sided at once", why));
    TRY(check_column(&it, it.margins, bad_margin, place, "with a margin that is not between 0 and 4095 pixels", why));
    TRY(check_column(&it, it.costs, bad_cost, place, "with a cost that is negative or not finite", why));
    TRY(check_names(&it, c->name_bytes, place, why));
    if (kind == ITEM_OBJECT_SET)
        TRY(check_twice(&it, place, "object", why));
    TRY(add_item(b, &it, why));
    return VISD_ERR_OK;
error:
    free(it.data);
    return err;
}

enum visd_err visd_batch_object_add(struct visd_batch *b, const struct visd_object_columns *c, struct visd_refusal *why)
{
    return object_item(b, ITEM_OBJECT_ADD, c, why);
}

enum visd_err visd_batch_object_set(struct visd_batch *b, const struct visd_object_columns *c, struct visd_refusal *why)
{
    return object_item(b, ITEM_OBJECT_SET, c, why);
}

/* ---- groups ---- */

enum visd_err visd_batch_group_put(struct visd_batch *b, const struct visd_group_columns *c, struct visd_refusal *why)
{
    uint64_t n = c->count, place = b->count;
    struct item it = { .kind = ITEM_GROUP_PUT, .count = n, .new_only = c->new_only };
    enum visd_err err = check_count(n, c->groups, place, why);
    if (err != VISD_ERR_OK)
        return err;
    const struct column columns[] = {
        { c->groups ? c->groups : "", (const void **)&it.ids, n * 8 },
        { c->transforms, (const void **)&it.transforms, n * 96 },
        { c->parents, (const void **)&it.groups, n * 8 },
        { c->flags, (const void **)&it.flags, n * 4 },
        { c->name_offsets, (const void **)&it.name_offsets, (n + 1) * 4 },
        { c->names || !c->name_offsets || c->name_bytes ? c->names : "", (const void **)&it.names, c->name_bytes },
    };
    TRY(copy_columns(&it, columns, sizeof(columns) / sizeof(columns[0]), why));
    TRY(check_column(&it, it.ids, bad_group_id, place, "has the id that means \"no group\"; choose another", why));
    TRY(check_column(&it, it.transforms, bad_transform, place,
        "with a transform that is not finite or beyond 1e30; correct it and send the batch again", why));
    TRY(check_column(&it, it.flags, bad_group_flags, place, "with flags that are unknown or that groups cannot have", why));
    TRY(check_names(&it, c->name_bytes, place, why));
    TRY(check_twice(&it, place, "group", why));
    TRY(add_item(b, &it, why));
    return VISD_ERR_OK;
error:
    free(it.data);
    return err;
}

/* ---- meshes, removals ---- */

enum visd_err visd_batch_mesh_put(struct visd_batch *b, uint64_t mesh, const struct visd_mesh_columns *c, struct visd_refusal *why)
{
    struct item it = { .kind = ITEM_MESH_PUT, .count = 1, .new_only = c->new_only };
    uint64_t block_bytes;
    enum visd_err err;
    const struct column column = { &mesh, (const void **)&it.ids, sizeof(mesh) };
    TRY(copy_columns(&it, &column, 1, why));
    TRY(mesh_block_build(b->segment, mesh, c, b->count, &it.block, &block_bytes, why));
    it.bytes = block_bytes;
    TRY(add_item(b, &it, why));
    return VISD_ERR_OK;
error:
    visd_segment_free(b->segment, it.block);
    free(it.data);
    return err;
}

static enum visd_err removal(struct visd_batch *b, enum item_kind kind, const char *what, const void *ids, uint64_t count, struct visd_refusal *why)
{
    struct item it = { .kind = kind, .count = count };
    enum visd_err err = check_count(count, ids, b->count, why);
    if (err != VISD_ERR_OK)
        return err;
    const struct column column = { ids ? ids : "", (const void **)&it.ids, count * 8 };
    TRY(copy_columns(&it, &column, 1, why));
    TRY(check_twice(&it, b->count, what, why));
    TRY(add_item(b, &it, why));
    return VISD_ERR_OK;
error:
    free(it.data);
    return err;
}

enum visd_err visd_batch_mesh_remove(struct visd_batch *b, const void *ids, uint64_t count, struct visd_refusal *why)
{
    return removal(b, ITEM_MESH_REMOVE, "mesh", ids, count, why);
}

enum visd_err visd_batch_group_remove(struct visd_batch *b, const void *ids, uint64_t count, struct visd_refusal *why)
{
    return removal(b, ITEM_GROUP_REMOVE, "group", ids, count, why);
}

enum visd_err visd_batch_object_remove(struct visd_batch *b, const void *ids, uint64_t count, struct visd_refusal *why)
{
    return removal(b, ITEM_OBJECT_REMOVE, "object", ids, count, why);
}
