/* link: visd_proto */
/* What is refused, and by what name: duplicate, unknown, missing and mistyped fields, rows that differ, texts that are none,
 * bombs, depth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "proto/codec.h"
#include "proto/walker.h"

/* Bytes by hand. */
#define S(text) str(b, text)
static void raw(struct visd_buf *b, const char *bytes, size_t n) { assert_int_equal(visd_buf_append(b, bytes, n), VISD_ERR_OK); }
static void byte(struct visd_buf *b, unsigned v) { raw(b, (const char[]){(char)v}, 1); }
static void str(struct visd_buf *b, const char *text) { byte(b, 0xa0 + (unsigned)strlen(text)), raw(b, text, strlen(text)); }
static void map(struct visd_buf *b, unsigned n) { byte(b, 0x80 + n); }
static void bin(struct visd_buf *b, const void *at, unsigned n) { byte(b, 0xc4), byte(b, n), raw(b, at, n); }
static void head(struct visd_buf *b, unsigned fields, const char *type)
{
    b->size = 0;
    map(b, 2 + fields);
    S("t"), S(type), S("n"), byte(b, 9);
}

static void refused(const struct visd_buf *b, enum visd_err expected, const char *text)
{
    struct visd_arena arena = {0};
    struct visd_message m;
    struct visd_refused why;
    uint8_t *exact = malloc(b->size ? b->size : 1);
    enum visd_err err;
    assert_non_null(exact);
    memcpy(exact, b->at, b->size);
    err = visd_decode(exact, b->size, &arena, &m, &why);
    if (err != expected || !strstr(why.text, text))
        fail_msg("%s: \"%s\", where %s and \"%s\" are right", visd_err_name(err), why.text, visd_err_name(expected), text);
    assert_int_equal(why.err, err);
    free(exact);
    visd_arena_finish(&arena);
}

static void test_fields(void **state)
{
    struct visd_buf buf = {0}, *b = &buf;
    (void)state;
    head(b, 2, "scene_remove"), S("scene"), byte(b, 1), S("scene"), byte(b, 1);
    refused(b, VISD_ERR_BAD_MESSAGE, "scene_remove.scene: it is there twice");
    head(b, 2, "scene_remove"), S("scene"), byte(b, 1), S("colour"), byte(b, 1);
    refused(b, VISD_ERR_BAD_MESSAGE, "scene_remove: scene_remove has no field \"colour\"");
    head(b, 2, "scene_remove"), S("scene"), byte(b, 1), S("a\nb"), byte(b, 1);
    refused(b, VISD_ERR_BAD_MESSAGE, "no field \"...\"");
    head(b, 0, "scene_remove");
    refused(b, VISD_ERR_BAD_MESSAGE, "scene_remove.scene: it is missing");
    head(b, 1, "scene_remove"), S("scene"), S("1");
    refused(b, VISD_ERR_BAD_MESSAGE, "scene_remove.scene: a str where an integer is right");
    head(b, 1, "scene_remove"), S("scene"), byte(b, 0xff);
    refused(b, VISD_ERR_BAD_MESSAGE, "scene_remove.scene: a negative integer");
    head(b, 1, "scene_remove"), S("scene"), raw(b, "\xcf\0\0\0\1\0\0\0\0", 9);
    refused(b, VISD_ERR_BAD_VALUE, "does not fit 32 bits");
    head(b, 1, "scene_remove"), S("scene"), byte(b, 0xc0);
    refused(b, VISD_ERR_BAD_MESSAGE, "scene_remove.scene: nil");
    head(b, 1, "scene_remove"), byte(b, 5), byte(b, 1);
    refused(b, VISD_ERR_BAD_MESSAGE, "a key is an integer");
    head(b, 0, "scene_removed");
    refused(b, VISD_ERR_BAD_MESSAGE, "no such type of message");
    head(b, 2, "scene_create"), S("name"), raw(b, "\xa2\xc3\x28", 3), S("or_open"), byte(b, 0xc3);
    refused(b, VISD_ERR_BAD_VALUE, "scene_create.name: the text is not UTF-8");
    head(b, 1, "scene_create"), S("name"), raw(b, "\xa3" "a\0b", 4);
    refused(b, VISD_ERR_BAD_VALUE, "scene_create.name");
    head(b, 1, "scene_create"), S("name"), raw(b, "\xda\x01\x00", 3);
    for (int i = 0; i < 256; i++) byte(b, 'x');
    refused(b, VISD_ERR_TOO_BIG, "scene_create.name: 256 bytes of text, at most 255");
    head(b, 2, "scene_create"), S("name"), S("a"), S("metres_per_unit"), raw(b, "\xcb\x7f\xf8\0\0\0\0\0\0", 9);
    refused(b, VISD_ERR_BAD_VALUE, "scene_create.metres_per_unit: it is not a finite number");
    head(b, 2, "scene_create"), S("name"), S("a"), S("metres_per_unit"), raw(b, "\xca\x7f\x80\0\0", 5);
    refused(b, VISD_ERR_BAD_VALUE, "not a finite number");
    head(b, 1, "snapshot"), S("view"), byte(b, 1), b->at[0]++, S("what"), byte(b, 9);
    refused(b, VISD_ERR_BAD_VALUE, "snapshot.what: 9 is no what");
    visd_buf_finish(b);
}

static void test_tags(void **state)
{
    struct visd_buf buf = {0}, *b = &buf;
    (void)state;
    map(b, 1), S("t"), S("ping");
    refused(b, VISD_ERR_BAD_MESSAGE, "n: it is missing");
    b->size = 0, map(b, 1), S("n"), byte(b, 1);
    refused(b, VISD_ERR_BAD_MESSAGE, "t: it is missing");
    b->size = 0, map(b, 3), S("t"), S("ping"), S("n"), byte(b, 1), S("n"), byte(b, 2);
    refused(b, VISD_ERR_BAD_MESSAGE, "n: it is there twice");
    b->size = 0, map(b, 3), S("t"), S("ping"), S("n"), byte(b, 1), S("e"), S("x");
    refused(b, VISD_ERR_BAD_MESSAGE, "e: a str where an integer is right");
    b->size = 0, map(b, 2), S("t"), byte(b, 1), S("n"), byte(b, 1);
    refused(b, VISD_ERR_BAD_MESSAGE, "t: an integer where a str is right");
    b->size = 0, byte(b, 0x90);
    refused(b, VISD_ERR_BAD_MESSAGE, "the message is not a map");
    b->size = 0;
    refused(b, VISD_ERR_BAD_MESSAGE, "it ends too early");
    visd_buf_finish(b);
}

/* Any order, any width of integers, whole numbers for floats: these are accepted. */
static void test_lenient(void **state)
{
    struct visd_buf buf = {0}, *b = &buf;
    struct visd_arena arena = {0};
    struct visd_message m;
    struct visd_refused why;
    (void)state;
    map(b, 4), S("metres_per_unit"), byte(b, 2), S("n"), raw(b, "\xcf\0\0\0\0\0\0\0\7", 9), S("name"), raw(b, "\xd9\1z", 3),
        S("t"), S("scene_create");
    assert_int_equal(visd_decode(b->at, b->size, &arena, &m, &why), VISD_ERR_OK);
    assert_int_equal(m.type, VISD_MSG_SCENE_CREATE);
    assert_int_equal(m.n, 7);
    assert_true(m.scene_create.has_metres_per_unit && m.scene_create.metres_per_unit == 2.0);
    assert_true(visd_str_is(m.scene_create.name, "z"));
    assert_false(m.scene_create.has_or_open);
    visd_buf_finish(b);
    visd_arena_finish(&arena);
}

static void begin_item(struct visd_buf *b, unsigned fields, const char *kind)
{
    head(b, 4, "batch");
    S("scene"), byte(b, 0), S("client"), bin(b, "0123456789abcdef", 16), S("number"), byte(b, 1), S("items"), byte(b, 0x91);
    map(b, 1 + fields), S("k"), S(kind);
}

static void test_rows(void **state)
{
    struct visd_buf buf = {0}, *b = &buf;
    static const char zeros[255];
    (void)state;
    begin_item(b, 2, "object_add"), S("ids"), bin(b, zeros, 32), S("flags"), bin(b, zeros, 8);
    refused(b, VISD_ERR_BAD_VALUE, "batch.items[0].flags: 2 rows, but ids has 4");
    begin_item(b, 2, "object_add"), S("ids"), bin(b, zeros, 31), S("flags"), bin(b, zeros, 8);
    refused(b, VISD_ERR_BAD_VALUE, "batch.items[0].ids: 31 bytes are no whole number of rows of 8");
    begin_item(b, 2, "object_add"), S("ids"), byte(b, 0x91), byte(b, 1), S("flags"), bin(b, zeros, 4);
    refused(b, VISD_ERR_BAD_MESSAGE, "batch.items[0].ids: an array where a bin is right");
    begin_item(b, 1, "object_remove_all"), S("ids"), bin(b, zeros, 8);
    refused(b, VISD_ERR_BAD_MESSAGE, "batch.items[0].k: no such kind of item");
    begin_item(b, 2, "object_add"), S("ids"), bin(b, zeros, 8), S("names"), bin(b, "ab", 2);
    refused(b, VISD_ERR_BAD_VALUE, "batch.items[0].names: it comes with name_offsets only");
    begin_item(b, 2, "object_add"), S("ids"), bin(b, zeros, 8), S("name_offsets"), bin(b, zeros, 8);
    refused(b, VISD_ERR_BAD_VALUE, "batch.items[0].name_offsets: it comes with names only");
    begin_item(b, 3, "object_add"), S("ids"), bin(b, zeros, 8), S("names"), bin(b, "ab", 2), S("name_offsets"),
        bin(b, "\0\0\0\0\3\0\0\0", 8);
    refused(b, VISD_ERR_BAD_VALUE, "past the end of names");
    begin_item(b, 3, "object_add"), S("ids"), bin(b, zeros, 8), S("names"), bin(b, "ab", 2), S("name_offsets"),
        bin(b, "\0\0\0\0\1\0\0\0", 8);
    refused(b, VISD_ERR_BAD_VALUE, "not the end of names");
    begin_item(b, 3, "object_add"), S("ids"), bin(b, zeros, 16), S("names"), bin(b, "ab", 2), S("name_offsets"),
        bin(b, "\0\0\0\0\2\0\0\0\1\0\0\0", 12);
    refused(b, VISD_ERR_BAD_VALUE, "do not fall");
    begin_item(b, 3, "object_add"), S("ids"), bin(b, zeros, 16), S("names"), bin(b, "\xc3\xa9", 2), S("name_offsets"),
        bin(b, "\0\0\0\0\1\0\0\0\2\0\0\0", 12);
    refused(b, VISD_ERR_BAD_VALUE, "cuts a character");
    begin_item(b, 3, "object_add"), S("ids"), bin(b, zeros, 8), S("names"), bin(b, "\xff\xff", 2), S("name_offsets"),
        bin(b, "\0\0\0\0\2\0\0\0", 8);
    refused(b, VISD_ERR_BAD_VALUE, "names: the text is not UTF-8");
    visd_buf_finish(b);
}

static void test_too_many(void **state)
{
    struct visd_buf buf = {0}, *b = &buf;
    (void)state;
    head(b, 1, "frames"), S("frames"), raw(b, "\xdc\0\x41", 3);
    for (int i = 0; i < 65; i++) byte(b, 0xc0);
    refused(b, VISD_ERR_TOO_BIG, "frames.frames: 65 entries, at most 64");
    head(b, 1, "frames"), S("frames"), byte(b, 0x91), byte(b, 0xc0);
    refused(b, VISD_ERR_BAD_MESSAGE, "frames.frames[0]: nil where a map is right");
    b->size = 0, raw(b, "\xdd\0\2\0\1", 5);
    for (int i = 0; i < 0x20001; i++) byte(b, 0xc0);
    refused(b, VISD_ERR_TOO_BIG, "limit values");
    visd_buf_finish(b);
}

static long max_rss_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* Counts and lengths that promise what is not there cost nothing. */
static void test_bombs(void **state)
{
    static const struct { const char *bytes; size_t size;
    } bombs[] = {
#define BOMB(text) {text, sizeof(text) - 1}
        BOMB("\xdd\xff\xff\xff\xfe"),
        BOMB("\xdf\xff\xff\xff\xfe"),
        BOMB("\xc6\xff\xff\xff\xfe"),
        BOMB("\xdb\xff\xff\xff\xfe"),
        BOMB("\xdd\x0f\xff\xff\xff\xc0"),
        BOMB("\xdc\xff\xff"),
        BOMB("\xde\xff\xff"),
        BOMB("\xc1"),
        BOMB("\xc7\x01\x00\x00"),
        BOMB("\xc9\xff\xff\xff\xff\x01"),
        BOMB("\xd4\x01\x00"),
        BOMB("\xd8\x01"),
        BOMB("\xcf\0\0"),
        BOMB("\xd9"),
        BOMB("\xc4"),
        BOMB("\x81"),
#undef BOMB
    };
    struct visd_buf buf = {0}, *b = &buf;
    long before;
    (void)state;
    for (int i = 0; i < 31; i++) raw(b, "\xdd\x00\xff\xff\xff", 5);
    before = max_rss_kib();
    refused(b, VISD_ERR_BAD_MESSAGE, "a count goes past its end");
    for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
        b->size = 0;
        raw(b, bombs[i].bytes, bombs[i].size);
        refused(b, VISD_ERR_BAD_MESSAGE, "");
    }
    assert_true(max_rss_kib() - before < 1024);
    visd_buf_finish(b);
}

static void test_depth(void **state)
{
    struct visd_walk_limits limits = {8, 1000};
    struct visd_buf buf = {0}, *b = &buf;
    (void)state;
    for (int i = 0; i < 100000; i++) byte(b, 0x91);
    refused(b, VISD_ERR_TOO_BIG, "nested too deeply");
    byte(b, 0xc0);
    refused(b, VISD_ERR_TOO_BIG, "nested too deeply");
    b->size = 0;
    for (int i = 0; i < 100000; i++) raw(b, "\x81\xa0", 2);
    refused(b, VISD_ERR_TOO_BIG, "nested too deeply");
    for (unsigned depth = 7; depth <= 9; depth++) {
        b->size = 0;
        for (unsigned i = 0; i < depth; i++) byte(b, 0x91);
        byte(b, 0xc0);
        assert_int_equal(visd_walk(b->at, b->size, &limits, NULL, NULL), depth <= 8 ? VISD_ERR_OK : VISD_ERR_TOO_BIG);
    }
    visd_buf_finish(b);
}

/* The writer refuses what the reader would. */
static void test_encode_refuses(void **state)
{
    struct visd_buf buf = {0};
    struct visd_refused why;
    static const uint64_t ids[2];
    struct visd_item item = {.kind = VISD_ITEM_OBJECT_SET};
    struct visd_message m = {.type = VISD_MSG_BATCH_APPEND, .n = 4};
    (void)state;
    item.object_set.ids = visd_bin_of(ids, 2);
    item.object_set.has_flags = true;
    item.object_set.flags = visd_bin_of(ids, 1);
    m.batch_append.items = &item;
    m.batch_append.items_count = 1;
    assert_int_equal(visd_encode(&m, &buf, &why), VISD_ERR_BAD_VALUE);
    assert_string_equal(why.text, "batch_append.items[0].flags: 1 rows, but ids has 2");
    assert_int_equal(buf.size, 0);
    m = (struct visd_message){.type = VISD_MSG_SCENE_CREATE};
    m.scene_create.name = visd_str_of("\xff");
    assert_int_equal(visd_encode(&m, &buf, NULL), VISD_ERR_BAD_VALUE);
    m = (struct visd_message){.type = VISD_MSG_VIEW_OPEN};
    m.view_open.has_method = true;
    m.view_open.method = 77;
    assert_int_equal(visd_encode(&m, &buf, &why), VISD_ERR_BAD_VALUE);
    assert_string_equal(why.text, "view_open.method: 77 is no method");
    visd_buf_finish(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_tags),           cmocka_unit_test(test_lenient),
        cmocka_unit_test(test_rows),   cmocka_unit_test(test_too_many),       cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_depth),  cmocka_unit_test(test_encode_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
