/* link: visd visd_proto */
/* libvisd's cameras against a small peer: several views a request, several requests under way, the newest result and its age,
 * deltas made whole, digests that do not fit, superseded and degraded answers, and the fd for event loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <poll.h>
#include <visd/client.h>

#include "client_peer.h"

static struct peer peer;
static struct visd_client *c;

static int setup(void **state)
{
    struct visd_client_options o = {.name = "test", .connect_timeout_ms = 2000, .request_timeout_ms = 5000};
    (void)state;
    peer = (struct peer){0};
    peer_start(&peer);
    return visd_client_connect(&c, peer.url, &o, NULL) == VISD_ERR_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    visd_client_close(c);
    PEER(&peer, peer.hold = 0);
    peer_stop(&peer);
    return 0;
}

static struct visd_client_view *open_view(void)
{
    struct visd_client_view *view;
    assert_int_equal(visd_client_view_open(c, 3, NULL, &view), VISD_ERR_OK);
    return view;
}

static struct visd_client_frame frame_of(struct visd_client_view *view)
{
    struct visd_client_frame f;
    visd_client_frame_init(&f, view);
    f.camera.width = f.camera.height = 64;
    return f;
}

/* As a set: a list that deltas made whole has an order of its own. */
static void assert_list(const struct visd_client_result *r)
{
    uint32_t ids[16];
    size_t n = peer_list(r->frame, ids);
    assert_int_equal(r->err, VISD_ERR_OK);
    assert_int_equal(r->count, n);
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t j = 0; j < n; j++) found |= r->ids[j] == ids[i];
        assert_true(found);
    }
}

static void test_cull(void **state)
{
    struct visd_client_view *view = open_view();
    struct visd_client_frame f = frame_of(view);
    struct visd_client_result r;
    uint64_t age;
    (void)state;
    f.tag = 99;
    assert_int_equal(visd_client_view_latest(view, &r, &age), VISD_ERR_NOT_FOUND);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_list(&r);
    assert_ptr_equal(r.view, view);
    assert_int_equal(r.tag, 99);
    assert_int_equal(r.frame, 1);
    assert_int_equal(r.grade, VISD_ANSWER_CONSERVATIVE);
    assert_string_equal(visd_client_grade_name(r.grade), "conservative");
    assert_string_equal(visd_client_method_name(r.method), "hiz");
    assert_int_equal(visd_client_method_number("box"), VISD_CULL_BOX);
    assert_true(r.has_counts && r.counts.listed == r.count);
    assert_true(r.times.arrived > r.times.sent && r.times.sent > 0);
    assert_false(r.delta);
    assert_int_equal(visd_client_view_latest(view, &r, &age), VISD_ERR_OK);
    assert_list(&r);
    assert_true(age > 0 && age < 5000000000u);
    PEER(&peer, peer.all = true);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_true(r.all && r.degraded && r.count == 0 && r.ids == NULL);
    assert_string_equal(r.why, "the device is away");
    visd_client_view_close(view);
    assert_int_equal(visd_client_ping(c, NULL), VISD_ERR_OK);
    assert_int_equal(peer_seen(&peer, VISD_MSG_VIEW_CLOSE), 1);
}

static void test_many_views_and_tickets(void **state)
{
    struct visd_client_view *views[4];
    struct visd_client_frame f[4], bad;
    struct visd_client_result r[4];
    uint64_t tickets[10];
    (void)state;
    for (int i = 0; i < 4; i++) {
        views[i] = open_view();
        f[i] = frame_of(views[i]);
        f[i].tag = (uint64_t)i;
    }
    for (int t = 0; t < 10; t++) assert_int_equal(visd_client_frames_send(c, f, 4, &tickets[t]), VISD_ERR_OK);
    for (int t = 9; t >= 0; t--) {
        assert_int_equal(visd_client_frames_wait(c, tickets[t], 5000, r), VISD_ERR_OK);
        for (int i = 0; i < 4; i++) {
            assert_ptr_equal(r[i].view, views[i]);
            assert_int_equal(r[i].tag, i);
            assert_int_equal(r[i].frame, t + 1);
            assert_list(&r[i]);
        }
    }
    assert_int_equal(visd_client_frames_wait(c, tickets[3], 0, r), VISD_ERR_NOT_FOUND);
    assert_int_equal(visd_client_view_latest(views[2], r, NULL), VISD_ERR_OK);
    assert_int_equal(r[0].frame, 10);
    f[1] = f[0];
    assert_int_equal(visd_client_frames_send(c, f, 2, &tickets[0]), VISD_ERR_BAD_VALUE); /* one view twice */
    assert_int_equal(visd_client_frames_send(c, f, 0, &tickets[0]), VISD_ERR_BAD_VALUE);
    bad = f[0];
    bad.camera.proj[3] = 0.0 / 0.0;
    assert_int_equal(visd_client_frames_send(c, &bad, 1, &tickets[0]), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(visd_client_why(c)->text, "frames.frames[0].camera.proj"));
}

static void test_in_flight(void **state)
{
    struct visd_client_view *view = open_view();
    struct visd_client_frame f = frame_of(view);
    struct pollfd p = {.fd = visd_client_fd(c), .events = POLLIN};
    struct visd_client_result r;
    uint64_t ticket, first = 0;
    (void)state;
    PEER(&peer, peer.hold = 1);
    for (int i = 0; i < VISD_CLIENT_IN_FLIGHT; i++) {
        assert_int_equal(visd_client_frames_send(c, &f, 1, &ticket), VISD_ERR_OK);
        if (i == 0) first = ticket;
    }
    assert_int_equal(visd_client_frames_send(c, &f, 1, &ticket), VISD_ERR_BUSY);
    assert_int_equal(visd_client_frames_wait(c, first, 0, &r), VISD_ERR_TIMEOUT);
    assert_int_equal(visd_client_frames_wait(c, first, 20, &r), VISD_ERR_TIMEOUT);
    assert_int_equal(poll(&p, 1, 0), 0);
    PEER(&peer, peer.hold = 0);
    assert_int_equal(poll(&p, 1, 5000), 1);
    assert_int_equal(visd_client_frames_wait(c, first, 5000, &r), VISD_ERR_OK);
    assert_list(&r);
    /* Not waited for: the newest is there all the same, and nothing piles up. */
    for (int i = 0; i < 3 * VISD_CLIENT_IN_FLIGHT; i++) {
        while (visd_client_frames_send(c, &f, 1, NULL) == VISD_ERR_BUSY) visd_client_poll(c, 1000);
    }
    for (int i = 0; i < 500 && r.frame != 4 * VISD_CLIENT_IN_FLIGHT; i++) {
        visd_client_poll(c, 10);
        assert_int_equal(visd_client_view_latest(view, &r, NULL), VISD_ERR_OK);
    }
    assert_int_equal(r.frame, 4 * VISD_CLIENT_IN_FLIGHT);
    /* A view that is closed while its frame is under way; a ticket that is forgotten. */
    PEER(&peer, peer.hold = 1);
    assert_int_equal(visd_client_frames_send(c, &f, 1, &first), VISD_ERR_OK);
    assert_int_equal(visd_client_frames_send(c, &f, 1, &ticket), VISD_ERR_OK);
    visd_client_frames_forget(c, ticket);
    visd_client_view_close(view);
    PEER(&peer, peer.hold = 0);
    assert_int_equal(visd_client_frames_wait(c, first, 5000, &r), VISD_ERR_OK);
    assert_int_equal(r.err, VISD_ERR_NOT_FOUND);
    assert_int_equal(visd_client_ping(c, NULL), VISD_ERR_OK);
}

static void test_deltas(void **state)
{
    struct visd_client_view *view = open_view();
    struct visd_client_frame f = frame_of(view);
    struct visd_client_result r;
    (void)state;
    f.delta = true;
    for (int i = 0; i < 40; i++) {
        assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
        assert_list(&r);
        assert_int_equal(r.delta, i > 0);
    }
    assert_int_equal(peer.fulls, 1);
    assert_int_equal(peer.deltas, 39);
    /* A delta that does not fit is not shown: the frame is asked for once more, whole. */
    PEER(&peer, peer.spoil_digest = 1);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_list(&r);
    assert_false(r.delta);
    assert_int_equal(peer.fulls, 2);
    PEER(&peer, peer.spoil_base = true);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_list(&r);
    assert_false(r.delta);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_true(r.delta);
    assert_list(&r);
    /* Several under way, each against what was there when it was sent. */
    for (int round = 0; round < 20; round++) {
        uint64_t tickets[5];
        for (int i = 0; i < 5; i++) assert_int_equal(visd_client_frames_send(c, &f, 1, &tickets[i]), VISD_ERR_OK);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(visd_client_frames_wait(c, tickets[i], 5000, &r), VISD_ERR_OK);
            assert_list(&r);
        }
    }
    /* A full list whose digest is wrong is asked for again as well; wrong twice is an error, and no list. */
    f.delta = false;
    PEER(&peer, peer.spoil_digest = 1);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_list(&r);
    PEER(&peer, peer.spoil_digest = 2);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_BAD_MESSAGE);
}

static void test_superseded_and_refused(void **state)
{
    struct visd_client_view *view = open_view();
    struct visd_client_frame f = frame_of(view);
    struct visd_client_result r;
    (void)state;
    PEER(&peer, peer.supersede = true);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_int_equal(r.err, VISD_ERR_SUPERSEDED);
    assert_true(r.text[0] != 0);
    assert_int_equal(visd_client_view_latest(view, &r, NULL), VISD_ERR_NOT_FOUND);
    PEER(&peer, peer.refuse = VISD_ERR_NOT_SUPPORTED);
    PEER(&peer, peer.refuse_type = VISD_MSG_FRAMES);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_NOT_SUPPORTED);
    assert_string_equal(visd_client_why(c)->text, "refused as asked");
    /* A connection lost under a frame: sent again. */
    PEER(&peer, peer.drop = VISD_MSG_FRAMES);
    PEER(&peer, peer.drop_armed = true);
    assert_int_equal(visd_client_cull(c, &f, &r), VISD_ERR_OK);
    assert_list(&r);
}

/* Closing with everything under way leaves nothing behind, and does not hang: nng's own close does, once in some fifty such tries. */
static void test_close_busy(void **state)
{
    struct visd_client_options o = {.name = "test", .connect_timeout_ms = 2000};
    struct timespec begin, end;
    (void)state;
    for (int round = 0; round < 100; round++) {
        struct visd_client_view *view = open_view();
        struct visd_client_frame f = frame_of(view);
        uint64_t ticket;
        f.delta = true;
        for (int i = 0; i < 5; i++) assert_int_equal(visd_client_frames_send(c, &f, 1, &ticket), VISD_ERR_OK);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        visd_client_close(c);
        clock_gettime(CLOCK_MONOTONIC, &end);
        assert_true(end.tv_sec - begin.tv_sec < 5);
        if (round % 25 == 24) {
            peer_stop(&peer);
            peer_start(&peer);
        }
        assert_int_equal(visd_client_connect(&c, peer.url, &o, NULL), VISD_ERR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cull, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_views_and_tickets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_in_flight, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deltas, setup, teardown),
        cmocka_unit_test_setup_teardown(test_superseded_and_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_busy, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
