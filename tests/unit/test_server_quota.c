/* link: visd_server visd_view visd_scene visd_segment visd_daemon visd_proto */
/* Charges: what is taken is given back, one user's limit is not another's, and a refusal takes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/server/quota.h"
#include "proto/limits.h"

static void take_and_drop(void **state)
{
    struct visd_users users = {0};
    struct visd_charge charge = {0};
    struct visd_user *user = visd_users_ref(&users, 1000);
    (void)state;
    assert_int_equal(visd_charge_take(&charge, &users, user, VISD_QUOTA_VIEWS, 3), VISD_ERR_OK);
    assert_int_equal(user->used[VISD_QUOTA_VIEWS], 3);
    assert_int_equal(visd_charge_set(&charge, &users, user, VISD_QUOTA_VIEWS, 1), VISD_ERR_OK);
    assert_int_equal(user->used[VISD_QUOTA_VIEWS], 1);
    visd_charge_drop(&charge);
    visd_charge_drop(&charge); /* twice is nothing */
    assert_int_equal(user->used[VISD_QUOTA_VIEWS], 0);
    visd_users_unref(&users, user);
    assert_null(users.first);
}

static void user_lives_with_its_charges(void **state)
{
    struct visd_users users = {0};
    struct visd_charge charge = {0};
    struct visd_user *user = visd_users_ref(&users, 7);
    (void)state;
    assert_int_equal(visd_charge_take(&charge, &users, user, VISD_QUOTA_SCENE_BYTES, 100), VISD_ERR_OK);
    visd_users_unref(&users, user); /* its last connection is gone, its scene is not */
    assert_ptr_equal(visd_users_find(&users, 7), user);
    visd_charge_drop(&charge);
    assert_null(visd_users_find(&users, 7));
}

static void limits_are_per_user(void **state)
{
    struct visd_users users = {0};
    struct visd_charge full = {0}, more = {0}, other = {0};
    struct visd_user *a = visd_users_ref(&users, 1), *b = visd_users_ref(&users, 2);
    const uint64_t limit = VISD_MAX_USER_CONNECTIONS;
    (void)state;
    assert_int_equal(visd_charge_take(&full, &users, a, VISD_QUOTA_CONNECTIONS, limit), VISD_ERR_OK);
    assert_int_equal(visd_charge_take(&more, &users, a, VISD_QUOTA_CONNECTIONS, 1), VISD_ERR_QUOTA);
    assert_int_equal(a->used[VISD_QUOTA_CONNECTIONS], limit); /* nothing was taken */
    assert_int_equal(more.n, 0);
    assert_int_equal(visd_charge_take(&other, &users, b, VISD_QUOTA_CONNECTIONS, 1), VISD_ERR_OK);
    assert_int_equal(visd_charge_take(&full, &users, a, VISD_QUOTA_CONNECTIONS, UINT64_MAX), VISD_ERR_QUOTA);
    visd_charge_force(&full, &users, a, VISD_QUOTA_CONNECTIONS, limit + 5); /* what exists is accounted for, past the limit too */
    assert_int_equal(visd_charge_set(&full, &users, a, VISD_QUOTA_CONNECTIONS, limit + 1), VISD_ERR_OK); /* less is always fine */
    assert_int_equal(visd_charge_take(&more, &users, a, VISD_QUOTA_CONNECTIONS, 1), VISD_ERR_QUOTA);
    visd_charge_drop(&full);
    visd_charge_drop(&other);
    visd_users_unref(&users, a);
    visd_users_unref(&users, b);
    assert_null(users.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(take_and_drop),
        cmocka_unit_test(user_lives_with_its_charges),
        cmocka_unit_test(limits_are_per_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
