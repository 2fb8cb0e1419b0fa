/* Who pays for what. Whatever a peer can make the daemon hold is charged to its uid, so that no user, however many
 * connections it opens, uses up what the others need.
 *
 * A charge lives inside the thing it pays for, and is given back when that thing goes; when the last charge and the last
 * reference of a user are gone, the user goes too, and every slot must then read zero. Limits are in proto/limits.h.
 * Peers without a uid (tcp, tls) share one user. Loop thread only. */
#ifndef VISD_SERVER_QUOTA_H
#define VISD_SERVER_QUOTA_H

#include <stdint.h>

#include "proto/err.h"

#define VISD_UID_NONE UINT64_MAX

/* slot, limit */
#define VISD_QUOTA_MAP(X)                                            \
    X(CONNECTIONS, VISD_MAX_USER_CONNECTIONS)                        \
    X(CLIENTS, VISD_MAX_USER_CLIENTS)                                \
    X(REQUEST_BYTES, (uint64_t)VISD_MAX_USER_REQUEST_MIB << 20)      \
    X(REPLY_BYTES, (uint64_t)VISD_MAX_USER_REPLY_MIB << 20)          \
    X(BATCH_BYTES, (uint64_t)VISD_MAX_USER_BATCH_MIB << 20)          \
    X(SCENES, VISD_MAX_USER_SCENES)                                  \
    X(SCENE_BYTES, (uint64_t)VISD_MAX_USER_SCENE_MIB << 20)          \
    X(VIEWS, VISD_MAX_USER_VIEWS)                                    \
    X(VIEW_BYTES, (uint64_t)VISD_MAX_USER_VIEW_MIB << 20)

enum visd_quota {
#define X(name, limit) VISD_QUOTA_##name,
    VISD_QUOTA_MAP(X)
#undef X
    VISD_QUOTA_COUNT
};

struct visd_user {
    struct visd_user *next;
    uint64_t uid;
    unsigned refs; /* holders and non-empty charges */
    uint64_t used[VISD_QUOTA_COUNT];
};

struct visd_users {
    struct visd_user *first;
};

struct visd_charge {
    struct visd_users *users;
    struct visd_user *user;
    enum visd_quota slot;
    uint64_t n;
};

/* The user with this uid, made if need be; NULL: out of memory. Holds a reference until unref. */
struct visd_user *visd_users_ref(struct visd_users *users, uint64_t uid);
void visd_users_unref(struct visd_users *users, struct visd_user *user); /* NULL is fine */
struct visd_user *visd_users_find(const struct visd_users *users, uint64_t uid);

/* Takes n more on this charge (zeroed, or of the same user and slot). QUOTA: nothing is taken. */
enum visd_err visd_charge_take(struct visd_charge *charge, struct visd_users *users, struct visd_user *user, enum visd_quota slot, uint64_t n);
/* As take, but to n in all; making it smaller cannot fail. */
enum visd_err visd_charge_set(struct visd_charge *charge, struct visd_users *users, struct visd_user *user, enum visd_quota slot, uint64_t n);
/* As set, but past the limit too: for what exists already and must be accounted for. */
void visd_charge_force(struct visd_charge *charge, struct visd_users *users, struct visd_user *user, enum visd_quota slot, uint64_t n);
void visd_charge_drop(struct visd_charge *charge); /* no-op on a zeroed charge */

#endif
