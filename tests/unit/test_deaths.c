/* link: visd_daemon visd_proto */
/* Three deaths in a minute are too many; each quiet minute forgives one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/deaths.h"

#define S UINT64_C(1000000000)

static void three_in_a_minute(void **state)
{
    struct visd_deaths d = {0};
    uint64_t now = 5000 * S;
    (void)state;
    for (int round = 0; round < 3; round++) { /* and counting begins anew */
        assert_false(visd_deaths_add(&d, now));
        assert_false(visd_deaths_add(&d, now += S));
        assert_true(visd_deaths_add(&d, now += 50 * S));
    }
}

static void quiet_minutes_forgive(void **state)
{
    struct visd_deaths d = {0};
    uint64_t now = S; /* a machine that was started just now */
    (void)state;
    assert_false(visd_deaths_add(&d, now));
    for (int i = 0; i < 100; i++)
        assert_false(visd_deaths_add(&d, now += 60 * S));
    assert_false(visd_deaths_add(&d, now += 59 * S)); /* the second */
    assert_false(visd_deaths_add(&d, now += 61 * S)); /* one forgiven, one more */
    assert_true(visd_deaths_add(&d, now += 59 * S));
    assert_false(visd_deaths_add(&d, now += S));
    assert_false(visd_deaths_add(&d, now += S));
    assert_false(visd_deaths_add(&d, now += 600 * S)); /* all forgiven, never more than all */
    assert_false(visd_deaths_add(&d, now += S));
    assert_true(visd_deaths_add(&d, now += S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_in_a_minute), cmocka_unit_test(quiet_minutes_forgive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
