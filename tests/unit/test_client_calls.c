/* link: visd visd_proto */
/* libvisd against a small peer: connecting, scenes, batches, refusals, a daemon that is lost and one that comes back as another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <visd/client.h>

#include "client_peer.h"

/* When a connection breaks at the moment in which a message is handed to it, nng 1.5.2 forgets to free that message. The tests below break many;
 * test_client_frames.c breaks few, and lets nothing pass. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libnng.so"; }

static struct visd_client *connect_to(struct peer *p)
{
    struct visd_client_options o = {.name = "test", .connect_timeout_ms = 2000, .request_timeout_ms = 5000};
    struct visd_client_failure why;
    struct visd_client *c;
    if (visd_client_connect(&c, p->url, &o, &why) != VISD_ERR_OK) fail_msg("connect: %s", why.text);
    return c;
}

/* Dispatches until the state is reached, or five seconds are over. */
static void await_state(struct visd_client *c, enum visd_client_link state)
{
    for (int i = 0; i < 500 && visd_client_state(c) != state; i++) visd_client_poll(c, 10);
    assert_int_equal(visd_client_state(c), state);
}

static void test_connect(void **state)
{
    struct visd_client_options o = {.connect_timeout_ms = 200};
    struct visd_client_failure why;
    struct visd_client *c = (void *)1;
    struct peer p = {0};
    (void)state;
    assert_int_equal(visd_client_connect(&c, "ipc:///tmp/visd-test-nobody.sock", &o, &why), VISD_ERR_DISCONNECTED);
    assert_null(c);
    assert_non_null(strstr(why.text, "nobody listens"));
    assert_int_equal(visd_client_connect(&c, "carrier-pigeon://x", &o, &why), VISD_ERR_BAD_VALUE);
    assert_int_equal(visd_client_connect(&c, NULL, NULL, &why), VISD_ERR_BAD_VALUE);

    peer_start(&p);
    c = connect_to(&p);
    assert_int_equal(visd_client_state(c), VISD_CLIENT_CONNECTED);
    assert_int_equal(visd_client_about(c)->epoch, 1000);
    assert_string_equal(visd_client_about(c)->server, "peer 1");
    assert_true(visd_client_has_feature(c, "hiz"));
    assert_false(visd_client_has_feature(c, "magic"));
    assert_int_equal(visd_client_limit(c, "message_bytes"), 64 << 20);
    assert_int_equal(visd_client_ping(c, NULL), VISD_ERR_OK);
    visd_client_close(c);

    PEER(&p, p.silent = true);
    assert_int_equal(visd_client_connect(&c, p.url, &o, &why), VISD_ERR_DISCONNECTED);
    assert_non_null(strstr(why.text, "does not answer"));
    PEER(&p, p.silent = false);
    PEER(&p, p.version = 99);
    assert_int_equal(visd_client_connect(&c, p.url, &o, &why), VISD_ERR_VERSION);
    assert_non_null(strstr(why.text, "99"));
    PEER(&p, p.version = VISD_PROTO_VERSION);
    PEER(&p, p.refuse = VISD_ERR_DENIED);
    PEER(&p, p.refuse_type = VISD_MSG_HELLO);
    assert_int_equal(visd_client_connect(&c, p.url, &o, &why), VISD_ERR_DENIED);
    assert_null(c);
    visd_client_close(NULL);
    peer_stop(&p);
}

static void test_meshes(struct visd_client *c, struct peer *p)
{
    static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, -0.0f};
    static const uint32_t order[] = {2, 1, 0};
    struct visd_client_mesh_copy copy;
    struct visd_client_page page;
    assert_int_equal(visd_client_mesh_page(c, 3, 0, 0, &page), VISD_ERR_OK);
    assert_true(page.count == 2 && page.next == 9 && page.ids[0] == 7 && page.ids[1] == 8);
    assert_true(page.vertices[1] == 4 && page.triangles[1] == 0 && page.users[1] == 1);
    assert_null(page.names);
    visd_client_page_finish(&page);
    assert_int_equal(visd_client_mesh_get(c, 3, 40, &copy), VISD_ERR_OK);
    assert_true(copy.mesh.id == 40 && copy.mesh.vertices == 3 && copy.mesh.triangles == 1 && copy.mesh.parts == 1 && copy.mesh.deviation == 0.5);
    assert_true(copy.mesh.part[0].count == 3 && copy.mesh.part[0].sides == VISD_SIDES_TWO && copy.mesh.part[0].see_through == 1);
    assert_memory_equal(copy.mesh.positions, corners, sizeof(corners));
    assert_memory_equal(copy.mesh.indices, order, sizeof(order));
    visd_client_mesh_finish(&copy);
    visd_client_mesh_finish(&copy);
    PEER(p, p->refuse = VISD_ERR_NOT_FOUND);
    PEER(p, p->refuse_type = VISD_MSG_MESH_GET);
    assert_int_equal(visd_client_mesh_get(c, 3, 41, &copy), VISD_ERR_NOT_FOUND);
    assert_null(copy.memory);
}

static void test_scenes(void **state)
{
    struct visd_client_scene scene, *list;
    struct visd_client_page page;
    struct peer p = {0};
    struct visd_client *c;
    size_t count;
    (void)state;
    peer_start(&p);
    c = connect_to(&p);
    assert_int_equal(visd_client_scene_create(c, "office", 0, false, &scene), VISD_ERR_OK);
    assert_int_equal(scene.scene, 3);
    assert_string_equal(scene.name, "office");
    assert_true(scene.has_bounds && scene.min[1] == -2 && scene.max[2] == 3);
    assert_int_equal(visd_client_scene_list(c, &list, &count), VISD_ERR_OK);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].name, "office");
    visd_client_free(list);
    assert_int_equal(visd_client_object_page(c, 3, 0, 0, VISD_COLUMN_NAMES, &page), VISD_ERR_OK);
    assert_int_equal(page.count, 2);
    assert_int_equal(page.ids[1], 8);
    assert_true(page.meshes[0] == VISD_NO_ID);
    assert_null(page.boxes);
    assert_memory_equal(page.names + page.name_offsets[1], "é!", 3);
    visd_client_page_finish(&page);
    test_meshes(c, &p);
    PEER(&p, p.refuse = VISD_ERR_QUOTA);
    PEER(&p, p.refuse_type = VISD_MSG_SCENE_REMOVE);
    assert_int_equal(visd_client_scene_remove(c, 3), VISD_ERR_QUOTA);
    assert_string_equal(visd_client_why(c)->text, "refused as asked");
    assert_true(visd_client_why(c)->has_id && visd_client_why(c)->id == 77);
    assert_int_equal(visd_client_scene_remove(c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_scene_create(c, "\xff", 0, false, NULL), VISD_ERR_BAD_VALUE); /* never sent */
    assert_int_equal(peer_seen(&p, VISD_MSG_SCENE_CREATE), 1);
    visd_client_close(c);
    peer_stop(&p);
}

enum { MANY = 200000 };

struct many {
    uint64_t *ids;
    double *boxes, *transforms;
    const char **names;
};

static struct visd_client_objects make_objects(struct many *m, size_t count)
{
    static char names[64][32];
    m->ids = calloc(count, sizeof(*m->ids));
    m->boxes = calloc(count, 6 * sizeof(*m->boxes));
    m->names = calloc(count, sizeof(*m->names));
    for (size_t i = 0; i < 64; i++) snprintf(names[i], sizeof(names[i]), "chair %zu", i);
    for (size_t i = 0; i < count; i++) {
        m->ids[i] = i;
        m->names[i] = i % 3 ? names[i % 64] : NULL;
        for (int k = 0; k < 6; k++) m->boxes[6 * i + (size_t)k] = k < 3 ? -1 : 1;
    }
    return (struct visd_client_objects){.count = count, .ids = m->ids, .boxes = m->boxes, .names = m->names};
}

static void free_objects(struct many *m)
{
    free(m->ids);
    free(m->boxes);
    free(m->names);
}

static void test_batches(void **state)
{
    static const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t triangle[3] = {0, 1, 2};
    struct visd_client_mesh mesh = {.id = 1, .vertices = 3, .triangles = 1, .positions = corners, .indices = triangle};
    struct visd_client_committed done;
    struct visd_client_batch *b, *other;
    struct many many;
    struct visd_client_objects objects = make_objects(&many, MANY), few = objects;
    struct peer p = {0};
    struct visd_client *c;
    uint64_t put, acknowledged, names_bytes = 0;
    (void)state;
    for (size_t i = 0; i < MANY; i++) names_bytes += many.names[i] ? strlen(many.names[i]) : 0;
    few.count = 10;
    peer_start(&p);
    c = connect_to(&p);

    /* Small: one message. */
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_mesh_put(b, &mesh), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(b, &few), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_commit(b, &done), VISD_ERR_OK);
    assert_int_equal(done.number, 1);
    assert_int_equal(done.revision, 1);
    assert_int_equal(visd_client_batch_commit(b, &done), VISD_ERR_OK); /* once more: the same answer, and nothing sent */
    assert_int_equal(visd_client_batch_object_add(b, &few), VISD_ERR_BAD_VALUE);
    visd_client_batch_destroy(b);
    assert_int_equal(peer_seen(&p, VISD_MSG_BATCH), 1);
    assert_int_equal(p.meshes, 1);
    assert_int_equal(p.rows, 10);

    /* Large: streamed in parts, in order, nothing lost; a second batch waits for its turn. */
    PEER(&p, p.rows = p.next_id = p.names_bytes = 0);
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_create(&other, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(b, &objects), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_mesh_put(other, &mesh), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_start(other), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_result(other, 0, &done), VISD_ERR_TIMEOUT);
    assert_int_equal(visd_client_batch_commit(b, &done), VISD_ERR_OK);
    assert_int_equal(done.number, 2);
    visd_client_batch_progress(b, &put, &acknowledged);
    assert_true(put > MANY * 56 && put == acknowledged);
    assert_int_equal(p.rows, MANY);
    assert_int_equal(p.names_bytes, names_bytes);
    assert_true(p.in_order);
    assert_true(p.parts > 2);
    assert_true(p.bytes_max <= ((size_t)4 << 20) + 4096);
    assert_int_equal(visd_client_batch_result(other, 2000, &done), VISD_ERR_OK);
    assert_int_equal(done.number, 3);
    visd_client_batch_destroy(b);
    visd_client_batch_destroy(other);

    /* Refused: named, and the number is not used up. */
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    PEER(&p, p.refuse = VISD_ERR_EXISTS);
    PEER(&p, p.refuse_type = VISD_MSG_BATCH);
    assert_int_equal(visd_client_batch_object_remove(b, many.ids, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_commit(b, NULL), VISD_ERR_EXISTS);
    assert_true(visd_client_why(c)->has_item && visd_client_why(c)->item == 5);
    assert_int_equal(visd_client_batch_commit(b, NULL), VISD_ERR_EXISTS); /* final */
    visd_client_batch_destroy(b);
    /* Refused in the middle of a stream. */
    PEER(&p, p.refuse = VISD_ERR_NO_MEMORY);
    PEER(&p, p.refuse_type = VISD_MSG_BATCH_APPEND);
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    if (visd_client_batch_object_add(b, &objects) == VISD_ERR_OK) assert_int_equal(visd_client_batch_commit(b, NULL), VISD_ERR_NO_MEMORY);
    visd_client_batch_destroy(b);
    /* Abandoned. */
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(b, &objects), VISD_ERR_OK);
    visd_client_batch_destroy(b);
    /* Spoilt by an item that cannot be put. */
    few.names = (const char *const[]){"a", "\xff", "c", NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(b, &few), VISD_ERR_BAD_VALUE);
    assert_int_equal(visd_client_batch_commit(b, NULL), VISD_ERR_BAD_VALUE);
    visd_client_batch_destroy(b);
    /* And then all is well again. */
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_remove(b, many.ids, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_commit(b, &done), VISD_ERR_OK);
    assert_int_equal(done.number, 4);
    assert_int_equal(p.commits, 4);
    assert_true(peer_seen(&p, VISD_MSG_BATCH_ABORT) >= 1);
    visd_client_batch_destroy(b);

    /* A batch that outlives its client. */
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    visd_client_close(c);
    assert_int_equal(visd_client_batch_commit(b, NULL), VISD_ERR_DISCONNECTED);
    visd_client_batch_destroy(b);
    peer_stop(&p);
    free_objects(&many);
}

static void test_lost(void **state)
{
    struct visd_client_options o = {.connect_timeout_ms = 300, .request_timeout_ms = 3000};
    struct visd_client_batch *b;
    struct visd_client_committed done;
    struct visd_client_view *view;
    struct visd_client_frame frame;
    struct visd_client_result result;
    struct many many;
    struct visd_client_objects few = make_objects(&many, 10);
    struct peer p = {0};
    struct visd_client *c;
    unsigned pings;
    (void)state;
    peer_start(&p);
    assert_int_equal(visd_client_connect(&c, p.url, &o, NULL), VISD_ERR_OK);

    /* The connection breaks after the commit, before its reply: sent again, applied once. */
    PEER(&p, p.drop = VISD_MSG_BATCH);
    PEER(&p, p.drop_armed = true);
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(b, &few), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_commit(b, &done), VISD_ERR_OK);
    assert_int_equal(peer_seen(&p, VISD_MSG_BATCH), 2);
    assert_int_equal(p.commits, 1);
    visd_client_batch_destroy(b);

    /* What may not be repeated is not. */
    PEER(&p, p.drop = VISD_MSG_SCENE_CREATE);
    PEER(&p, p.drop_armed = true);
    assert_int_equal(visd_client_scene_create(c, "office", 0, false, NULL), VISD_ERR_DISCONNECTED);
    await_state(c, VISD_CLIENT_CONNECTED);
    assert_int_equal(peer_seen(&p, VISD_MSG_SCENE_CREATE), 1);

    /* The same daemon away, and back. */
    assert_int_equal(visd_client_view_open(c, 3, NULL, &view), VISD_ERR_OK);
    peer_stop(&p);
    await_state(c, VISD_CLIENT_LOST);
    pings = peer_seen(&p, VISD_MSG_PING);
    for (int i = 0; i < 20; i++) assert_int_equal(visd_client_ping(c, NULL), VISD_ERR_DISCONNECTED);
    peer_start(&p);
    await_state(c, VISD_CLIENT_CONNECTED);
    assert_int_equal(visd_client_ping(c, NULL), VISD_ERR_OK);
    assert_int_equal(peer_seen(&p, VISD_MSG_PING), pings + 1); /* what was given up is not sent after all */
    assert_int_equal(visd_client_ping(c, NULL), VISD_ERR_OK);

    /* Another daemon under the same name: nothing meant for the first reaches it. */
    visd_client_frame_init(&frame, view);
    frame.camera.width = frame.camera.height = 64;
    assert_int_equal(visd_client_cull(c, &frame, &result), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(b, &few), VISD_ERR_OK);
    peer_stop(&p);
    PEER(&p, p.epoch = 2000);
    PEER(&p, p.last_batch = 0);
    peer_start(&p);
    await_state(c, VISD_CLIENT_RESTARTED);
    assert_int_equal(visd_client_batch_commit(b, NULL), VISD_ERR_CONFLICT);
    assert_int_equal(visd_client_cull(c, &frame, &result), VISD_ERR_CONFLICT);
    assert_int_equal(visd_client_scene_remove(c, 3), VISD_ERR_CONFLICT);
    assert_int_equal(p.commits, 1);
    visd_client_batch_destroy(b);
    visd_client_view_close(view);
    visd_client_resume(c);
    assert_int_equal(visd_client_state(c), VISD_CLIENT_CONNECTED);
    assert_int_equal(visd_client_batch_create(&b, c, 3), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(b, &few), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_commit(b, &done), VISD_ERR_OK);
    assert_int_equal(done.number, 1);
    visd_client_batch_destroy(b);
    visd_client_close(c);
    peer_stop(&p);
    free_objects(&many);
}

/* A request that makes the daemon hang up, whenever it comes, is not sent for ever. */
static void test_poison(void **state)
{
    struct visd_client_options o = {.connect_timeout_ms = 2000, .request_timeout_ms = 20000};
    struct visd_client_number *numbers;
    struct peer p = {0};
    struct visd_client *c;
    unsigned tries;
    size_t count;
    (void)state;
    peer_start(&p);
    assert_int_equal(visd_client_connect(&c, p.url, &o, NULL), VISD_ERR_OK);
    PEER(&p, p.drop = VISD_MSG_STATS);
    PEER(&p, p.drop_always = p.drop_armed = true);
    assert_int_equal(visd_client_stats(c, &numbers, &count), VISD_ERR_DISCONNECTED);
    tries = peer_seen(&p, VISD_MSG_STATS);
    assert_true(tries >= 3 && tries < 12);
    await_state(c, VISD_CLIENT_CONNECTED);
    assert_int_equal(visd_client_ping(c, NULL), VISD_ERR_OK);
    visd_client_close(c);
    peer_stop(&p);
}

static void await_event(struct visd_client *c, struct visd_client_event *e, enum visd_client_event_kind kind)
{
    assert_int_equal(visd_client_next_event(c, 5000, e), VISD_ERR_OK);
    assert_int_equal(e->kind, kind);
}

static void test_events(void **state)
{
    struct visd_message revision = {.type = VISD_MSG_REVISION}, lost = {.type = VISD_MSG_LOST}, removed = {.type = VISD_MSG_REMOVED};
    struct visd_client_event e;
    struct peer p = {0};
    struct visd_client *c;
    (void)state;
    peer_start(&p);
    c = connect_to(&p);
    revision.revision = (struct visd_msg_revision){.epoch = 1000, .scene = 3, .name = visd_str_of("office"), .revision = 5};
    removed.removed = (struct visd_msg_removed){.epoch = 1000, .scene = 4, .name = visd_str_of("mall")};
    lost.lost = (struct visd_msg_lost){.epoch = 1000, .missed = 9};
    assert_int_equal(visd_client_next_event(c, 0, &e), VISD_ERR_TIMEOUT);
    assert_int_equal(visd_client_subscribe(c, "office"), VISD_ERR_OK);
    assert_true(peer_await_subscriber(&p));
    assert_true(peer_event(&p, "scene/office", &revision));
    await_event(c, &e, VISD_EVENT_REVISION);
    assert_string_equal(e.name, "office");
    assert_int_equal(e.revision, 5);
    assert_false(e.own);
    /* Others' scenes are left out, without a gap being seen in them; a gap is told; so is what the daemon says was lost. */
    peer_event(&p, "scene/mall", &removed);
    revision.revision.has_client = true;
    memcpy(revision.revision.client, visd_client_about(c)->id, 16);
    peer_event(&p, "scene/office", &revision);
    await_event(c, &e, VISD_EVENT_REVISION);
    assert_true(e.own);
    PEER(&p, p.event_n += 3);
    peer_event(&p, "scene/office", &revision);
    await_event(c, &e, VISD_EVENT_MISSED);
    assert_int_equal(e.missed, 3);
    await_event(c, &e, VISD_EVENT_REVISION);
    peer_event(&p, "lost", &lost);
    await_event(c, &e, VISD_EVENT_MISSED);
    assert_int_equal(e.missed, 9);
    /* Everything, and a connection that was lost. */
    assert_int_equal(visd_client_subscribe(c, NULL), VISD_ERR_OK);
    peer_event(&p, "scene/mall", &removed);
    await_event(c, &e, VISD_EVENT_REMOVED);
    peer_stop(&p);
    peer_start(&p);
    await_event(c, &e, VISD_EVENT_MISSED);
    assert_int_equal(e.missed, 0);
    visd_client_close(c);
    peer_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connect), cmocka_unit_test(test_scenes), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_lost),    cmocka_unit_test(test_poison), cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
