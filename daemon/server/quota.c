/* Users by uid, and what each has charged; see quota.h. */
#include "quota.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proto/limits.h"

static const uint64_t limits[VISD_QUOTA_COUNT] = {
#define X(slot, limit) [VISD_QUOTA_##slot] = (limit),
    VISD_QUOTA_MAP(X)
#undef X
};

struct visd_user *visd_users_find(const struct visd_users *users, uint64_t uid)
{
    struct visd_user *user = users->first;
    while (user && user->uid != uid)
        user = user->next;
    return user;
}

struct visd_user *visd_users_ref(struct visd_users *users, uint64_t uid)
{
    struct visd_user *user = visd_users_find(users, uid);
    if (!user) {
        user = calloc(1, sizeof(*user));
        if (!user)
            return NULL;
        user->uid = uid;
        user->next = users->first;
        users->first = user;
    }
    user->refs++;
    return user;
}

void visd_users_unref(struct visd_users *users, struct visd_user *user)
{
    if (!user || --user->refs)
        return;
    for (unsigned i = 0; i < VISD_QUOTA_COUNT; i++)
        assert(user->used[i] == 0);
    struct visd_user **link = &users->first;
    while (*link != user)
        link = &(*link)->next;
    *link = user->next;
    free(user);
}

void visd_charge_force(struct visd_charge *charge, struct visd_users *users, struct visd_user *user, enum visd_quota slot, uint64_t n)
{
    assert(charge->n == 0 || (charge->user == user && charge->slot == slot));
    if (charge->n == 0 && n) {
        charge->users = users;
        charge->user = user;
        charge->slot = slot;
        user->refs++;
    }
    assert(user->used[slot] >= charge->n);
    user->used[slot] = user->used[slot] - charge->n + n;
    bool release = charge->n && !n;
    charge->n = n;
    if (release) {
        charge->user = NULL;
        visd_users_unref(users, user);
    }
}

enum visd_err visd_charge_set(struct visd_charge *charge, struct visd_users *users, struct visd_user *user, enum visd_quota slot, uint64_t n)
{
    uint64_t others = user->used[slot] - charge->n, limit = limits[slot];
    if (n > charge->n && (others > limit || n > limit - others))
        return VISD_ERR_QUOTA;
    visd_charge_force(charge, users, user, slot, n);
    return VISD_ERR_OK;
}

enum visd_err visd_charge_take(struct visd_charge *charge, struct visd_users *users, struct visd_user *user, enum visd_quota slot, uint64_t n)
{
    if (n > UINT64_MAX - charge->n)
        return VISD_ERR_QUOTA;
    return visd_charge_set(charge, users, user, slot, charge->n + n);
}

void visd_charge_drop(struct visd_charge *charge)
{
    if (charge->n)
        visd_charge_force(charge, charge->users, charge->user, charge->slot, 0);
}
