/* Building batches: what the program puts is encoded at once into parts of a few MiB, its columns cut where a part is full.
 *
 * A part that is full goes to batch_send.c, which streams it; so a batch of any size costs the client a few parts of memory.
 * Putting waits while too many parts are unacknowledged. */
#include <stdlib.h>

#include "internal.h"

#define PART_BYTES ((size_t)4 << 20)
#define PARTS_WAITING 4 /* unsent or unacknowledged parts before putting waits */
#define ITEM_OVERHEAD 1024 /* bytes: more than all keys and headers of one item */

enum visd_err visd_client_batch_create(struct visd_client_batch **out, struct visd_client *c, uint32_t scene)
{
    struct visd_client_batch *b;
    enum visd_err err = client_check_epoch(c, c->epoch);
    *out = NULL;
    if (err != VISD_ERR_OK) return err;
    b = calloc(1, sizeof(*b));
    if (!b) return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for a batch");
    b->client = c;
    b->scene = scene;
    b->epoch = c->epoch;
    b->tail = &b->parts;
    b->next = c->batches;
    c->batches = b;
    *out = b;
    return VISD_ERR_OK;
}

void visd_client_batch_if_revision(struct visd_client_batch *b, uint64_t revision)
{
    b->has_if_revision = true;
    b->if_revision = revision;
}

void visd_client_batch_new_only(struct visd_client_batch *b, bool on) { b->new_only = on; }

void visd_client_batch_transient(struct visd_client_batch *b) { b->transient = true; }

void visd_client_batch_progress(const struct visd_client_batch *b, uint64_t *put, uint64_t *acknowledged)
{
    *put = b->put;
    *acknowledged = b->acknowledged;
}

/* ---- parts ---- */

static enum visd_err no_memory(struct visd_client_batch *b)
{
    return client_fail(b->client, VISD_ERR_NO_MEMORY, "no memory for a batch; %llu bytes have been put", (unsigned long long)b->put);
}

/* Is it still open to more? */
static enum visd_err check_open(struct visd_client_batch *b)
{
    struct visd_client *c = b->client;
    if (!c) return VISD_ERR_DISCONNECTED;
    if (b->phase == BATCH_FAILED) {
        c->failure = b->failure;
        return b->failure.err;
    }
    if (b->commit) return client_fail(c, VISD_ERR_BAD_VALUE, "nothing can be put into a batch that is being committed");
    return VISD_ERR_OK;
}

/* Room for an item of some bytes and values: the part being filled, or a new one. */
static enum visd_err room(struct visd_client_batch *b, size_t bytes, size_t values)
{
    struct part *p = b->filling;
    unsigned waiting = 0;
    enum visd_err err;
    if (p && (p->items.size == 0 || (p->items.size + bytes <= PART_BYTES && p->count < VISD_MAX_ITEMS &&
                                     b->filling_values + values <= VISD_MAX_VALUES - 64)))
        return VISD_ERR_OK;
    if (p) { /* full: now the daemon may have it */
        b->filling = NULL;
        batch_pump(b->client);
        for (;;) {
            if ((err = check_open(b)) != VISD_ERR_OK) return err;
            waiting = 0;
            for (const struct part *q = b->parts; q; q = q->next) waiting++;
            if (waiting < PARTS_WAITING || b->client->turn != b) break; /* without the turn nothing is sent: it all stays here */
            if ((err = call_wait(b->client, deadline_of(b->client->request_timeout_ms))) != VISD_ERR_OK) return err;
        }
    }
    p = calloc(1, sizeof(*p));
    if (!p) return no_memory(b);
    p->number = b->next_part++;
    *b->tail = p;
    b->tail = &p->next;
    b->filling = p;
    b->filling_values = 0;
    return VISD_ERR_OK;
}

static enum visd_err put_one(struct visd_client_batch *b, const struct visd_item *item, size_t bytes)
{
    struct visd_refused why;
    enum visd_err err;
    size_t before;
    if (bytes + ITEM_OVERHEAD > b->client->request_bytes)
        return client_fail(b->client, VISD_ERR_TOO_BIG,
                           "an item of %zu bytes does not fit a message of %zu (limit message_bytes); cut it into several", bytes,
                           b->client->request_bytes);
    if ((err = room(b, bytes + ITEM_OVERHEAD, 64)) != VISD_ERR_OK) return err;
    before = b->filling->items.size;
    err = visd_encode_item(item, &b->filling->items, &b->filling_values, &why);
    if (err != VISD_ERR_OK) return client_fail(b->client, err, "%s", why.text);
    b->filling->count++;
    b->put += b->filling->items.size - before;
    return VISD_ERR_OK;
}

/* An item that could not be put spoils the batch: half of what was meant must not be committed. */
static enum visd_err put(struct visd_client_batch *b, const struct visd_item *item, size_t bytes)
{
    enum visd_err err = check_open(b);
    if (err != VISD_ERR_OK) return err;
    err = put_one(b, item, bytes);
    if (err != VISD_ERR_OK && b->phase != BATCH_FAILED) batch_fail(b);
    return err;
}

/* ---- names ---- */

/* Names of rows first to first + count as one text with offsets; memory is the caller's arena. */
static bool names_of(struct visd_arena *arena, const char *const *names, size_t first, size_t count, struct visd_bin *text,
                     struct visd_bin *offsets)
{
    uint32_t *at = visd_arena_take(arena, count + 1, sizeof(*at));
    char *bytes;
    size_t total = 0;
    if (!at) return false;
    for (size_t i = 0; i < count; i++) {
        at[i] = (uint32_t)total;
        if (names[first + i]) total += strlen(names[first + i]);
    }
    at[count] = (uint32_t)total;
    bytes = visd_arena_take(arena, total + 1, 1);
    if (!bytes) return false;
    for (size_t i = 0; i < count; i++)
        if (names[first + i]) memcpy(bytes + at[i], names[first + i], at[i + 1] - at[i]);
    *text = visd_bin_of(bytes, total);
    *offsets = visd_bin_of(at, count + 1);
    return true;
}

/* How many rows from first fit one part, at row_size bytes each and their names; *bytes is what they take. */
static size_t rows_that_fit(const char *const *names, size_t first, size_t count, size_t row_size, size_t *bytes)
{
    size_t n = 0;
    *bytes = 0;
    while (first + n < count) {
        size_t row = row_size + (names ? 4 + (names[first + n] ? strlen(names[first + n]) : 0) : 0);
        if (n && *bytes + row > PART_BYTES - 2 * ITEM_OVERHEAD) break;
        *bytes += row;
        n++;
    }
    return n;
}

/* ---- items ---- */

#define COLUMN(item, field, column, first, n, width) \
    if (column) (item).has_##field = true, (item).field = visd_bin_of((column) + (first) * (width), n)

static size_t objects_row_size(const struct visd_client_objects *o)
{
    return 8u + (o->boxes ? 48 : 0) + (o->transforms ? 96 : 0) + (o->flags ? 4 : 0) + (o->flag_masks ? 4 : 0) +
           (o->margins ? 4 : 0) + (o->layers ? 4 : 0) + (o->meshes ? 8 : 0) + (o->groups ? 8 : 0) + (o->costs ? 8 : 0) +
           (o->batch_keys ? 4 : 0) + (o->draws ? 20 : 0);
}

/* object_add and object_set have the same columns, but for flag_masks. */
#define OBJECT_COLUMNS(item, o, first, n)                   \
    do {                                                    \
        (item).ids = visd_bin_of((o)->ids + (first), n);    \
        COLUMN(item, boxes, (o)->boxes, first, n, 6);       \
        COLUMN(item, transforms, (o)->transforms, first, n, 12); \
        COLUMN(item, flags, (o)->flags, first, n, 1);       \
        COLUMN(item, margins, (o)->margins, first, n, 1);   \
        COLUMN(item, layers, (o)->layers, first, n, 1);     \
        COLUMN(item, meshes, (o)->meshes, first, n, 1);     \
        COLUMN(item, groups, (o)->groups, first, n, 1);     \
        COLUMN(item, costs, (o)->costs, first, n, 1);       \
        COLUMN(item, batch_keys, (o)->batch_keys, first, n, 1); \
        COLUMN(item, draws, (o)->draws, first, n, 5);       \
    } while (0)

static enum visd_err put_objects(struct visd_client_batch *b, const struct visd_client_objects *o, enum visd_item_kind kind)
{
    size_t row_size = objects_row_size(o), bytes;
    enum visd_err err = check_open(b);
    if (err == VISD_ERR_OK && o->count && !o->ids) err = client_fail(b->client, VISD_ERR_BAD_VALUE, "objects need ids");
    for (size_t first = 0, n; err == VISD_ERR_OK && first < o->count; first += n) {
        struct visd_item item = {.kind = kind};
        struct visd_arena arena = {0};
        bool named = true;
        n = rows_that_fit(o->names, first, o->count, row_size, &bytes);
        if (kind == VISD_ITEM_OBJECT_ADD) {
            OBJECT_COLUMNS(item.object_add, o, first, n);
            item.object_add.has_names = item.object_add.has_name_offsets = o->names != NULL;
            if (o->names) named = names_of(&arena, o->names, first, n, &item.object_add.names, &item.object_add.name_offsets);
        } else {
            OBJECT_COLUMNS(item.object_set, o, first, n);
            COLUMN(item.object_set, flag_masks, o->flag_masks, first, n, 1);
            item.object_set.has_names = item.object_set.has_name_offsets = o->names != NULL;
            if (o->names) named = names_of(&arena, o->names, first, n, &item.object_set.names, &item.object_set.name_offsets);
        }
        err = named ? put(b, &item, bytes) : no_memory(b);
        visd_arena_finish(&arena);
    }
    return err;
}

enum visd_err visd_client_batch_object_add(struct visd_client_batch *b, const struct visd_client_objects *o)
{
    return put_objects(b, o, VISD_ITEM_OBJECT_ADD);
}
enum visd_err visd_client_batch_object_set(struct visd_client_batch *b, const struct visd_client_objects *o)
{
    return put_objects(b, o, VISD_ITEM_OBJECT_SET);
}

enum visd_err visd_client_batch_group_put(struct visd_client_batch *b, const struct visd_client_groups *g)
{
    size_t row_size = 8u + (g->parents ? 8 : 0) + (g->transforms ? 96 : 0) + (g->flags ? 4 : 0), bytes;
    enum visd_err err = check_open(b);
    if (err == VISD_ERR_OK && g->count && !g->ids) err = client_fail(b->client, VISD_ERR_BAD_VALUE, "groups need ids");
    for (size_t first = 0, n; err == VISD_ERR_OK && first < g->count; first += n) {
        struct visd_item item = {.kind = VISD_ITEM_GROUP_PUT};
        struct visd_arena arena = {0};
        bool named = true;
        n = rows_that_fit(g->names, first, g->count, row_size, &bytes);
        item.group_put.groups = visd_bin_of(g->ids + first, n);
        item.group_put.has_new = item.group_put.new = b->new_only;
        COLUMN(item.group_put, parents, g->parents, first, n, 1);
        COLUMN(item.group_put, transforms, g->transforms, first, n, 12);
        COLUMN(item.group_put, flags, g->flags, first, n, 1);
        item.group_put.has_names = item.group_put.has_name_offsets = g->names != NULL;
        if (g->names) named = names_of(&arena, g->names, first, n, &item.group_put.names, &item.group_put.name_offsets);
        err = named ? put(b, &item, bytes) : no_memory(b);
        visd_arena_finish(&arena);
    }
    return err;
}

enum visd_err visd_client_batch_mesh_put(struct visd_client_batch *b, const struct visd_client_mesh *m)
{
    struct visd_item item = {.kind = VISD_ITEM_MESH_PUT};
    item.mesh_put.mesh = m->id;
    item.mesh_put.has_new = item.mesh_put.new = b->new_only;
    item.mesh_put.positions = visd_bin_of(m->positions, m->vertices);
    item.mesh_put.indices = visd_bin_of(m->indices, m->triangles);
    item.mesh_put.has_parts = m->part != NULL;
    item.mesh_put.parts = visd_bin_of(m->part, m->parts);
    item.mesh_put.has_deviation = m->deviation != 0;
    item.mesh_put.deviation = m->deviation;
    return put(b, &item, (m->vertices + m->triangles) * 12 + m->parts * sizeof(*m->part));
}

enum visd_err visd_client_batch_portal_put(struct visd_client_batch *b, const struct visd_client_portals *p)
{
    struct visd_item item = {.kind = VISD_ITEM_PORTAL_PUT};
    size_t points = p->count ? p->point_offsets[p->count] : 0;
    if (!p->count) return check_open(b);
    item.portal_put.portals = visd_bin_of(p->ids, p->count);
    item.portal_put.from = visd_bin_of(p->from, p->count);
    item.portal_put.to = visd_bin_of(p->to, p->count);
    item.portal_put.open = visd_bin_of(p->open, p->count);
    item.portal_put.points = visd_bin_of(p->points, points);
    item.portal_put.point_offsets = visd_bin_of(p->point_offsets, p->count + 1);
    return put(b, &item, p->count * 29 + points * 12);
}

/* Removals are all alike: one column of ids, which is the item's first field. */
static enum visd_err put_ids(struct visd_client_batch *b, enum visd_item_kind kind, const uint64_t *ids, size_t count)
{
    const size_t most = (PART_BYTES - 2 * ITEM_OVERHEAD) / sizeof(*ids);
    enum visd_err err = check_open(b);
    for (size_t first = 0, n; err == VISD_ERR_OK && first < count; first += n) {
        struct visd_item item = {.kind = kind};
        n = count - first < most ? count - first : most;
        switch (kind) {
        case VISD_ITEM_MESH_REMOVE: item.mesh_remove.meshes = visd_bin_of(ids + first, n); break;
        case VISD_ITEM_GROUP_REMOVE: item.group_remove.groups = visd_bin_of(ids + first, n); break;
        case VISD_ITEM_PORTAL_REMOVE: item.portal_remove.portals = visd_bin_of(ids + first, n); break;
        default: item.object_remove.ids = visd_bin_of(ids + first, n); break;
        }
        err = put(b, &item, n * sizeof(*ids));
    }
    return err;
}

enum visd_err visd_client_batch_mesh_remove(struct visd_client_batch *b, const uint64_t *ids, size_t count)
{
    return put_ids(b, VISD_ITEM_MESH_REMOVE, ids, count);
}
enum visd_err visd_client_batch_group_remove(struct visd_client_batch *b, const uint64_t *ids, size_t count)
{
    return put_ids(b, VISD_ITEM_GROUP_REMOVE, ids, count);
}
enum visd_err visd_client_batch_object_remove(struct visd_client_batch *b, const uint64_t *ids, size_t count)
{
    return put_ids(b, VISD_ITEM_OBJECT_REMOVE, ids, count);
}
enum visd_err visd_client_batch_portal_remove(struct visd_client_batch *b, const uint64_t *ids, size_t count)
{
    return put_ids(b, VISD_ITEM_PORTAL_REMOVE, ids, count);
}
