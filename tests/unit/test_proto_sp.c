/* link: visd_proto */
/* SP framing: what nng sends, and the zoo of what others may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/codec.h"
#include "proto/err.h"
#include "proto/sp.h"

static void test_greeting(void **state)
{
    static const uint8_t req[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
    uint8_t built[8], broken[8];
    uint16_t protocol;
    (void)state;
    assert_int_equal(visd_sp_greeting_parse(req, &protocol), VISD_ERR_OK);
    assert_int_equal(protocol, VISD_SP_REQ);
    visd_sp_greeting_build(built, VISD_SP_REQ);
    assert_memory_equal(built, req, 8);
    for (int i = 0; i < 8; i++) {
        if (i == 4 || i == 5) continue;
        memcpy(broken, req, 8);
        broken[i] ^= 1;
        assert_int_equal(visd_sp_greeting_parse(broken, &protocol), VISD_ERR_BAD_MESSAGE);
    }
    assert_int_equal(visd_sp_greeting_parse((const uint8_t *)"GET / HT", &protocol), VISD_ERR_BAD_MESSAGE);
    memcpy(broken, req, 8);
    broken[4] = 0x12;
    assert_int_equal(visd_sp_greeting_parse(broken, &protocol), VISD_ERR_OK); /* another protocol is the door's affair */
    assert_int_equal(protocol, 0x1230);
}

static void test_header(void **state)
{
    static const uint64_t lengths[] = {0, 3, 4, 67108864, 67108865, (uint64_t)1 << 33, INT64_MAX, 0xFFFFFFFFFFFFFFE0u, UINT64_MAX};
    uint8_t bytes[VISD_SP_HEADER_MAX];
    uint64_t length;
    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (int wire = VISD_SP_IPC; wire <= VISD_SP_TCP; wire++) {
            visd_sp_header_build((enum visd_sp_wire)wire, lengths[i], bytes);
            assert_int_equal(visd_sp_header_parse((enum visd_sp_wire)wire, bytes, &length), VISD_ERR_OK);
            assert_true(length == lengths[i]);
        }
    }
    assert_int_equal(visd_sp_header_size(VISD_SP_IPC), 9);
    assert_int_equal(visd_sp_header_size(VISD_SP_TCP), 8);
    visd_sp_header_build(VISD_SP_IPC, 0x0102, bytes);
    assert_memory_equal(bytes, "\1\0\0\0\0\0\0\1\2", 9);
    for (int first = 0; first < 256; first++) {
        bytes[0] = (uint8_t)first;
        assert_int_equal(visd_sp_header_parse(VISD_SP_IPC, bytes, &length), first == 1 ? VISD_ERR_OK : VISD_ERR_BAD_MESSAGE);
    }
}

static void test_backtrace(void **state)
{
    uint8_t body[4 * 20] = {0};
    size_t words = 0;
    (void)state;
    assert_int_equal(visd_sp_backtrace(body, sizeof(body), &words), VISD_ERR_BAD_MESSAGE); /* no end */
    assert_int_equal(visd_sp_backtrace(body, 0, &words), VISD_ERR_BAD_MESSAGE);
    assert_int_equal(visd_sp_backtrace("\x80\0\0", 3, &words), VISD_ERR_BAD_MESSAGE);
    for (size_t hops = 1; hops <= 17; hops++) {
        memset(body, 0, sizeof(body));
        body[4 * (hops - 1)] = 0x80;
        if (hops <= VISD_SP_BACKTRACE_WORDS) {
            assert_int_equal(visd_sp_backtrace(body, sizeof(body), &words), VISD_ERR_OK);
            assert_int_equal(words, 4 * hops);
            assert_int_equal(visd_sp_backtrace(body, 4 * hops, &words), VISD_ERR_OK);     /* an empty message is the codec's affair */
            assert_int_equal(visd_sp_backtrace(body, 4 * hops - 1, &words), VISD_ERR_BAD_MESSAGE);
        } else {
            assert_int_equal(visd_sp_backtrace(body, sizeof(body), &words), VISD_ERR_BAD_MESSAGE);
        }
    }
}

static void test_events(void **state)
{
    struct visd_buf buf = {0};
    size_t at;
    (void)state;
    assert_int_equal(visd_event_topic(&buf, "scene/a"), VISD_ERR_OK);
    visd_buf_append(&buf, "\x80", 1);
    assert_int_equal(visd_event_split(buf.at, buf.size, &at), VISD_ERR_OK);
    assert_int_equal(at, 8);
    assert_int_equal(visd_event_split(buf.at, 7, &at), VISD_ERR_BAD_MESSAGE);
    assert_int_equal(visd_event_split(NULL, 0, &at), VISD_ERR_BAD_MESSAGE);
    visd_buf_finish(&buf);
}

static void test_errors(void **state)
{
    struct visd_message m;
    (void)state;
    assert_string_equal(visd_err_name(VISD_ERR_OK), "ok");
    assert_string_equal(visd_err_name(VISD_ERR_INTERNAL), "internal");
    assert_string_equal(visd_err_name((enum visd_err)9999), "unknown");
    assert_string_equal(visd_err_text((enum visd_err)-1), "unknown");
    visd_error_reply(&m, 5, VISD_ERR_QUOTA, NULL);
    assert_int_equal(m.n, 5);
    assert_true(visd_str_is(m.error.name, "quota"));
    assert_true(visd_str_is(m.error.text, visd_err_text(VISD_ERR_QUOTA)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greeting), cmocka_unit_test(test_header), cmocka_unit_test(test_backtrace),
        cmocka_unit_test(test_events),   cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
