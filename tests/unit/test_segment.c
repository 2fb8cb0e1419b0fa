/* link: visd_segment */
/* The segment: blocks against a naive twin, memory given back, rings between two threads (also under TSan). */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/segment/segment.h"

static uint64_t random_next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void test_blocks_random(void **state)
{
    (void)state;
    enum { LIVE = 300 };
    static struct { uint64_t at; size_t bytes; unsigned char fill; } live[LIVE];
    struct visd_segment *s;
    uint64_t seed = 7;
    assert_int_equal(visd_segment_create(&s, (size_t)256 << 20), VISD_ERR_OK);
    assert_int_equal(visd_segment_used(s), 0);
    for (int step = 0; step < 20000; step++) {
        size_t i = random_next(&seed) % LIVE;
        if (live[i].at) {
            unsigned char *p = visd_segment_at(s, live[i].at);
            for (size_t b = 0; b < live[i].bytes; b += 61)
                assert_int_equal(p[b], live[i].fill);
            assert_int_equal(p[live[i].bytes - 1], live[i].fill);
            visd_segment_free(s, live[i].at);
            live[i].at = 0;
            continue;
        }
        size_t bytes = random_next(&seed) % (random_next(&seed) % 4 == 0 ? 300000 : 5000) + 1;
        assert_int_equal(visd_segment_alloc(s, bytes, &live[i].at), VISD_ERR_OK);
        assert_int_equal(live[i].at % (bytes > 2048 ? 4096 : 64), 0);
        live[i].bytes = bytes;
        live[i].fill = (unsigned char)random_next(&seed);
        memset(visd_segment_at(s, live[i].at), live[i].fill, bytes);
    }
    for (size_t i = 0; i < LIVE; i++) {
        visd_segment_free(s, live[i].at);
        live[i].at = 0;
    }
    assert_int_equal(visd_segment_used(s), 0);
    visd_segment_destroy(s);
}

static void test_range_used_up(void **state)
{
    (void)state;
    struct visd_segment *s;
    uint64_t a, b, c;
    assert_int_equal(visd_segment_create(&s, (size_t)8 << 20), VISD_ERR_OK);
    assert_int_equal(visd_segment_alloc(s, (size_t)64 << 20, &a), VISD_ERR_NO_MEMORY);
    assert_int_equal(a, 0);
    assert_int_equal(visd_segment_alloc(s, (size_t)4 << 20, &a), VISD_ERR_OK);
    assert_int_equal(visd_segment_alloc(s, (size_t)4 << 20, &b), VISD_ERR_NO_MEMORY);
    visd_segment_free(s, a);
    assert_int_equal(visd_segment_alloc(s, (size_t)3 << 20, &c), VISD_ERR_OK); /* joined again */
    assert_null(visd_segment_at(s, 0));
    assert_null(visd_segment_at(s, (size_t)8 << 20));
    visd_segment_destroy(s);
    visd_segment_destroy(NULL);
}

static size_t resident_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    size_t kib = 0;
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "RssShmem: %zu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

static void test_pages_go_back(void **state)
{
    (void)state;
    struct visd_segment *s;
    uint64_t at;
    assert_int_equal(visd_segment_create(&s, 0), VISD_ERR_OK);
    size_t before = resident_kib();
    assert_int_equal(visd_segment_alloc(s, (size_t)64 << 20, &at), VISD_ERR_OK);
    memset(visd_segment_at(s, at), 1, (size_t)64 << 20);
    assert_true(resident_kib() >= before + 60 * 1024);
    visd_segment_free(s, at);
    assert_true(resident_kib() <= before + 1024);
    visd_segment_destroy(s);
}

static void freed_twice(bool small)
{
    struct visd_segment *s;
    uint64_t at;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fclose(stderr);
        if (visd_segment_create(&s, 0) == VISD_ERR_OK && visd_segment_alloc(s, small ? 100 : 10000, &at) == VISD_ERR_OK) {
            signal(SIGABRT, SIG_DFL);
            visd_segment_free(s, at);
            visd_segment_free(s, at);
        }
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_freed_twice_aborts(void **state)
{
    (void)state;
    freed_twice(true);
    freed_twice(false);
}

static void test_ring_limits(void **state)
{
    (void)state;
    struct visd_segment *loop, *worker;
    struct visd_job job = { .kind = VISD_JOB_PING };
    struct visd_result result = { 0 };
    assert_int_equal(visd_segment_create(&loop, 0), VISD_ERR_OK);
    assert_int_equal(visd_segment_attach(&worker, loop), VISD_ERR_OK);
    assert_false(visd_segment_wait_job(worker, 0));
    assert_false(visd_segment_wait_job(worker, 1000000));
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < VISD_SEGMENT_RING; i++) {
            job.serial++;
            assert_int_equal(visd_segment_put_job(loop, &job), VISD_ERR_OK);
        }
        assert_int_equal(visd_segment_put_job(loop, &job), VISD_ERR_BUSY);
        /* Taken, but not answered: still no room, or the results would not fit. */
        while (visd_segment_take_job(worker, &job)) {
            result.serial = job.serial;
            assert_int_equal(visd_segment_put_job(loop, &job), VISD_ERR_BUSY);
            visd_segment_put_result(worker, &result);
        }
        unsigned results = 0;
        while (visd_segment_take_result(loop, &result))
            results++;
        assert_int_equal(results, VISD_SEGMENT_RING);
        assert_int_equal(result.serial, job.serial);
    }
    assert_int_equal(visd_segment_put_job(loop, &job), VISD_ERR_OK);
    visd_segment_reset(loop);
    assert_false(visd_segment_take_job(worker, &job));
    visd_segment_destroy(loop);
    visd_segment_destroy(worker);
}

/* The worker of the two-thread test: reads a block, writes another, answers. */
static void *worker_main(void *arg)
{
    struct visd_segment *s = arg;
    struct visd_job job;
    struct visd_result result = { 0 };
    for (;;) {
        if (!visd_segment_wait_job(s, -1) || !visd_segment_take_job(s, &job))
            continue;
        if (job.kind == VISD_JOB_STOP)
            break;
        const uint64_t *in = visd_segment_at(s, job.u.stage.block);
        uint64_t *out = visd_segment_at(s, job.u.stage.block + 4096);
        for (unsigned i = 0; i < 64; i++)
            out[i] = in[i] + job.serial;
        result.serial = job.serial;
        result.count = job.u.stage.block;
        visd_segment_put_result(s, &result);
    }
    visd_segment_destroy(s);
    return NULL;
}

static void test_two_threads(void **state)
{
    (void)state;
    enum { JOBS = 20000 };
    struct visd_segment *loop, *worker;
    struct visd_result result;
    pthread_t thread;
    uint64_t put = 0, taken = 0;
    assert_int_equal(visd_segment_create(&loop, 0), VISD_ERR_OK);
    assert_int_equal(visd_segment_attach(&worker, loop), VISD_ERR_OK);
    assert_int_equal(pthread_create(&thread, NULL, worker_main, worker), 0);
    while (taken < JOBS) {
        if (put < JOBS && put - taken < 100) {
            struct visd_job job = { .kind = VISD_JOB_STAGE, .serial = ++put };
            assert_int_equal(visd_segment_alloc(loop, 8192, &job.u.stage.block), VISD_ERR_OK);
            uint64_t *in = visd_segment_at(loop, job.u.stage.block);
            for (unsigned i = 0; i < 64; i++)
                in[i] = put * 1000 + i;
            assert_int_equal(visd_segment_put_job(loop, &job), VISD_ERR_OK);
        }
        if (put == JOBS || put - taken == 100 || put % 7 == 0) {
            while (visd_segment_take_result(loop, &result)) {
                taken++;
                assert_int_equal(result.serial, taken);
                const uint64_t *out = visd_segment_at(loop, result.count + 4096);
                assert_int_equal(out[63], taken * 1000 + 63 + taken);
                visd_segment_free(loop, result.count);
            }
        }
    }
    assert_int_equal(visd_segment_put_job(loop, &(struct visd_job){ .kind = VISD_JOB_STOP }), VISD_ERR_OK);
    assert_int_equal(visd_segment_used(loop), 0);
    visd_segment_destroy(loop); /* either side may go first */
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_random),
        cmocka_unit_test(test_range_used_up),
        cmocka_unit_test(test_pages_go_back),
        cmocka_unit_test(test_freed_twice_aborts),
        cmocka_unit_test(test_ring_limits),
        cmocka_unit_test(test_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
