/* link: visd_proto */
/* Every message type, with made-up contents: encode, decode, encode is the identity; the bytes are those of the golden files;
 * every message cut short at any byte, or followed by one, is refused. VISD_GOLDEN=write writes the golden files anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "proto_random.h"

static void encode_or_fail(const struct visd_message *m, struct visd_buf *out)
{
    struct visd_refused why;
    out->size = 0;
    if (visd_encode(m, out, &why) != VISD_ERR_OK) fail_msg("%s: %s", visd_msg_name(m->type), why.text);
    assert_int_equal(visd_encoded_size(m), out->size);
}

/* Bytes in a block that ends where they end, at an odd address: reads past the end and aligned reads show under the sanitizers. */
static enum visd_err decode_exact(const void *bytes, size_t size, struct visd_arena *arena, struct visd_message *out,
                                  struct visd_refused *why, void **block)
{
    char *at = malloc(size + 1);
    assert_non_null(at);
    memcpy(at + 1, bytes, size);
    *block = at;
    return visd_decode(at + 1, size, arena, out, why);
}

static void identity_of(struct proto_random *r, enum visd_msg_type type)
{
    struct visd_buf first = {0}, second = {0};
    struct visd_arena arena = {0};
    struct visd_message m, back;
    struct visd_refused why;
    void *block;
    proto_message(r, type, &m);
    encode_or_fail(&m, &first);
    if (decode_exact(first.at, first.size, &arena, &back, &why, &block) != VISD_ERR_OK) fail_msg("%s: %s", visd_msg_name(type), why.text);
    assert_int_equal(back.type, type);
    assert_int_equal(back.n, m.n);
    assert_int_equal(why.n, m.n);
    encode_or_fail(&back, &second);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.at, second.at, first.size);
    free(block);
    visd_buf_finish(&first);
    visd_buf_finish(&second);
    visd_arena_finish(&arena);
}

static void test_identity(void **state)
{
    struct proto_random r = {.state = 1};
    (void)state;
    for (unsigned type = 0; type < VISD_MSG_COUNT; type++) {
        r.full = true;
        identity_of(&r, (enum visd_msg_type)type);
        r.full = false;
        for (int i = 0; i < 40; i++) identity_of(&r, (enum visd_msg_type)type);
    }
    visd_arena_finish(&r.arena);
}

static void golden_path(char *out, size_t size, const char *name)
{
    snprintf(out, size, VISD_SOURCE_DIR "/tests/data/golden/%s.msgpack", name);
}

static void test_golden(void **state)
{
    const char *mode = getenv("VISD_GOLDEN");
    bool write = mode && strcmp(mode, "write") == 0;
    struct visd_buf bytes = {0};
    (void)state;
    for (unsigned type = 0; type < VISD_MSG_COUNT; type++) {
        struct proto_random r = {.state = 0, .full = true};
        struct visd_message m;
        char path[512], *read;
        size_t size;
        FILE *file;
        proto_message(&r, (enum visd_msg_type)type, &m);
        encode_or_fail(&m, &bytes);
        golden_path(path, sizeof(path), visd_msg_name((enum visd_msg_type)type));
        file = fopen(path, write ? "wb" : "rb");
        if (!file) fail_msg("%s is missing: a message type was added; VISD_GOLDEN=write writes it", path);
        if (write) {
            assert_int_equal(fwrite(bytes.at, 1, bytes.size, file), bytes.size);
        } else {
            read = malloc(bytes.size + 1);
            assert_non_null(read);
            size = fread(read, 1, bytes.size + 1, file);
            if (size != bytes.size || memcmp(read, bytes.at, size) != 0) fail_msg("%s: the wire has changed", path);
            free(read);
        }
        fclose(file);
        visd_arena_finish(&r.arena);
    }
    visd_buf_finish(&bytes);
}

static void test_cut_and_trailing(void **state)
{
    struct proto_random r = {.state = 7, .full = true};
    struct visd_buf bytes = {0};
    struct visd_arena arena = {0};
    (void)state;
    for (unsigned type = 0; type < VISD_MSG_COUNT; type++) {
        struct visd_message m, back;
        struct visd_refused why;
        void *block;
        proto_message(&r, (enum visd_msg_type)type, &m);
        encode_or_fail(&m, &bytes);
        for (size_t size = 0; size < bytes.size; size++) {
            enum visd_err err = decode_exact(bytes.at, size, &arena, &back, &why, &block);
            free(block);
            if (err != VISD_ERR_BAD_MESSAGE)
                fail_msg("%s cut at %zu of %zu: %s", visd_msg_name((enum visd_msg_type)type), size, bytes.size,
                         visd_err_name(err));
        }
        visd_buf_append(&bytes, "\xc0", 1);
        assert_int_equal(decode_exact(bytes.at, bytes.size, &arena, &back, &why, &block), VISD_ERR_BAD_MESSAGE);
        assert_non_null(strstr(why.text, "bytes follow"));
        free(block);
        visd_arena_reset(&arena);
    }
    visd_buf_finish(&bytes);
    visd_arena_finish(&arena);
    visd_arena_finish(&r.arena);
}

/* Any byte changed to any of a few others: a refusal or a message, never more. */
static void test_flipped(void **state)
{
    static const uint8_t masks[] = {0x01, 0x20, 0x80, 0xff};
    struct proto_random r = {.state = 11, .full = true};
    struct visd_buf bytes = {0}, again = {0};
    struct visd_arena arena = {0};
    (void)state;
    for (unsigned type = 0; type < VISD_MSG_COUNT; type++) {
        struct visd_message m, back;
        struct visd_refused why;
        void *block;
        proto_message(&r, (enum visd_msg_type)type, &m);
        encode_or_fail(&m, &bytes);
        for (size_t i = 0; i < bytes.size; i += 1 + i / 64) {
            for (size_t k = 0; k < sizeof(masks); k++) {
                bytes.at[i] ^= masks[k];
                if (decode_exact(bytes.at, bytes.size, &arena, &back, &why, &block) == VISD_ERR_OK) encode_or_fail(&back, &again);
                else assert_true(why.text[0] != 0 && why.err != VISD_ERR_OK);
                bytes.at[i] ^= masks[k];
                free(block);
            }
        }
        visd_arena_reset(&arena);
    }
    visd_buf_finish(&bytes);
    visd_buf_finish(&again);
    visd_arena_finish(&arena);
    visd_arena_finish(&r.arena);
}

/* Items that were encoded one by one make the same message as items in a list. */
static void test_items_apart(void **state)
{
    struct proto_random r = {.state = 3, .full = true};
    struct visd_buf items = {0}, apart = {0}, again = {0};
    struct visd_arena arena = {0};
    struct visd_message m, empty, back;
    struct visd_refused why;
    size_t values = 0;
    (void)state;
    proto_message(&r, VISD_MSG_BATCH, &m);
    for (uint32_t i = 0; i < m.batch.items_count; i++)
        assert_int_equal(visd_encode_item(&m.batch.items[i], &items, &values, &why), VISD_ERR_OK);
    assert_true(values > m.batch.items_count * 3);
    empty = m;
    empty.batch.items_count = 0;
    assert_int_equal(visd_encode_with_items(&empty, &items, m.batch.items_count, &apart, &why), VISD_ERR_OK);
    assert_int_equal(visd_decode(apart.at, apart.size, &arena, &back, &why), VISD_ERR_OK);
    assert_int_equal(back.batch.items_count, m.batch.items_count);
    encode_or_fail(&m, &items);
    encode_or_fail(&back, &again);
    assert_int_equal(items.size, again.size);
    assert_memory_equal(items.at, again.at, items.size);
    assert_int_equal(visd_encode_with_items(&m, &items, 1, &apart, &why), VISD_ERR_BAD_VALUE);
    visd_buf_finish(&items);
    visd_buf_finish(&apart);
    visd_buf_finish(&again);
    visd_arena_finish(&arena);
    visd_arena_finish(&r.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity), cmocka_unit_test(test_golden),     cmocka_unit_test(test_cut_and_trailing),
        cmocka_unit_test(test_flipped),  cmocka_unit_test(test_items_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
