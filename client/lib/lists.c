/* Whole lists of ids, and deltas applied to them.
 *
 * The digest of a list is a sum over its ids, so a delta's is reckoned from its base. Together with the count, and with every
 * removed id being found in the base, it proves that the list kept here is the list that the daemon has: a delta to the wrong
 * base, or one that was lost, cannot go unnoticed. The order is that of the base, without what was removed, then what was
 * added. */
#include <stdlib.h>

#include "internal.h"

struct list *list_hold(struct list *list)
{
    if (list) list->holders++;
    return list;
}

void list_drop(struct list *list)
{
    if (list && --list->holders == 0) free(list);
}

static struct list *list_create(const struct visd_msg_result *r, size_t count)
{
    struct list *list;
    if (count > (SIZE_MAX - sizeof(*list)) / sizeof(uint64_t)) return NULL;
    list = malloc(sizeof(*list) + count * sizeof(uint64_t));
    if (!list) return NULL;
    *list = (struct list){.holders = 1, .epoch = r->epoch, .frame = r->frame, .count = count};
    return list;
}

/* Ids come as u32 or as u64. */
static size_t append(uint64_t *out, bool has32, const struct visd_bin *ids32, bool has64, const struct visd_bin *ids64)
{
    if (has64) {
        if (ids64->rows) memcpy(out, ids64->at, ids64->rows * sizeof(*out));
        return ids64->rows;
    }
    if (!has32) return 0;
    for (size_t i = 0; i < ids32->rows; i++) out[i] = visd_bin_u32(ids32, i);
    return ids32->rows;
}

static size_t rows(bool has32, const struct visd_bin *ids32, bool has64, const struct visd_bin *ids64)
{
    return has64 ? ids64->rows : has32 ? ids32->rows : 0;
}

static uint64_t digest(const uint64_t *ids, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += visd_digest_of(ids[i]);
    return sum;
}

enum visd_err list_from_result(const struct visd_msg_result *r, struct list **out)
{
    size_t count = rows(r->has_ids32, &r->ids32, r->has_ids64, &r->ids64);
    struct list *list;
    *out = NULL;
    if (count != r->count) return VISD_ERR_BAD_MESSAGE;
    list = list_create(r, count);
    if (!list) return VISD_ERR_NO_MEMORY;
    append(list->ids, r->has_ids32, &r->ids32, r->has_ids64, &r->ids64);
    list->digest = digest(list->ids, count);
    if (list->digest != r->digest) {
        list_drop(list);
        return VISD_ERR_BAD_MESSAGE;
    }
    *out = list;
    return VISD_ERR_OK;
}

/* The removed ids as a set: open addressing, at most half full; VISD_NO_ID marks an empty place, so that id itself is held apart. */
struct set {
    uint64_t *at, mask;
    bool has_no_id;
};

static bool set_create(struct set *set, const uint64_t *ids, size_t count)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)count) size *= 2;
    *set = (struct set){malloc(size * sizeof(uint64_t)), size - 1, false};
    if (!set->at) return false;
    memset(set->at, 0xff, size * sizeof(uint64_t));
    for (size_t i = 0; i < count; i++) {
        uint64_t slot = visd_digest_of(ids[i]) & set->mask;
        if (ids[i] == VISD_NO_ID) {
            set->has_no_id = true;
            continue;
        }
        while (set->at[slot] != VISD_NO_ID && set->at[slot] != ids[i]) slot = (slot + 1) & set->mask;
        set->at[slot] = ids[i];
    }
    return true;
}

static bool set_has(const struct set *set, uint64_t id)
{
    if (id == VISD_NO_ID) return set->has_no_id;
    for (uint64_t slot = visd_digest_of(id) & set->mask; set->at[slot] != VISD_NO_ID; slot = (slot + 1) & set->mask)
        if (set->at[slot] == id) return true;
    return false;
}

enum visd_err list_from_delta(const struct list *base, const struct visd_msg_result *r, struct list **out)
{
    size_t removed = rows(r->has_removed32, &r->removed32, r->has_removed64, &r->removed64);
    size_t added = rows(r->has_ids32, &r->ids32, r->has_ids64, &r->ids64), n = 0;
    uint64_t *gone, sum;
    struct set set = {0};
    struct list *list;
    enum visd_err err = VISD_ERR_NO_MEMORY;
    *out = NULL;
    if (removed > base->count || base->count - removed + added != r->count) return VISD_ERR_BAD_MESSAGE;
    gone = malloc((removed + 1) * sizeof(*gone));
    list = list_create(r, base->count - removed + added);
    if (!gone || !list) goto error;
    append(gone, r->has_removed32, &r->removed32, r->has_removed64, &r->removed64);
    if (!set_create(&set, gone, removed)) goto error;
    for (size_t i = 0; i < base->count; i++) {
        if (set_has(&set, base->ids[i])) continue;
        if (n == base->count - removed) break; /* something to be removed was not there */
        list->ids[n++] = base->ids[i];
    }
    append(list->ids + (base->count - removed), r->has_ids32, &r->ids32, r->has_ids64, &r->ids64);
    sum = base->digest - digest(gone, removed) + digest(list->ids + (base->count - removed), added);
    list->digest = sum;
    err = VISD_ERR_BAD_MESSAGE;
    if (n != base->count - removed || sum != r->digest) goto error;
    free(gone);
    free(set.at);
    *out = list;
    return VISD_ERR_OK;
error:
    free(gone);
    free(set.at);
    list_drop(list);
    return err;
}
