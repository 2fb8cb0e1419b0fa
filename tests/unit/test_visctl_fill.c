/* link: client/visctl/commands/fill.c client/visctl/commands/cli.c visd_visctl visd visd_proto */
/* Filling a scene, against a small peer: what is said, and what becomes of a scene that was made, when the commit fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <visd/client.h>

#include "client/visctl/commands/fill.h"
#include "client_peer.h"

/* When a connection breaks while a message is handed to it, nng 1.5.2 forgets to free that message. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libnng.so"; }

enum trouble { REFUSED, TAKEN, SILENT, AWAY }; /* taken: and another program has put something into the scene */

/* What fill_end says on standard error. */
static int end(struct cli *cli, const struct fill *fill, enum visd_err err, char said[1024])
{
    struct visd_why why;
    FILE *told = tmpfile();
    int saved = dup(STDERR_FILENO);
    visd_why(&why, err, "%s", visd_client_why(cli->client)->text);
    dup2(fileno(told), STDERR_FILENO);
    int status = fill_end(cli, fill, err, &why, &(struct fill_totals){0});
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(told);
    said[fread(said, 1, 1023, told)] = 0;
    fclose(told);
    return status;
}

/* Makes a scene, commits an object, gets into trouble. How often the peer was then asked to remove the scene. */
static unsigned fill_in_trouble(enum trouble trouble, enum visd_err expected, char said[1024])
{
    static const struct cli_command command = {.name = "load"};
    static const uint64_t id = 0;
    static const double box[6] = {0, 0, 0, 1, 1, 1};
    struct visd_client_options options = {.connect_timeout_ms = trouble == AWAY ? 100 : 5000, .request_timeout_ms = 5000};
    struct peer p = {.refuse = VISD_ERR_NOT_FOUND, .refuse_type = VISD_MSG_SCENE_INFO};
    struct visd_client_batch *batch;
    struct fill fill;
    peer_start(&p);
    struct cli cli = {.command = &command, .url = p.url};
    assert_int_equal(visd_client_connect(&cli.client, p.url, &options, NULL), VISD_ERR_OK);
    assert_true(fill_begin(&cli, "office", 0, &fill));
    assert_true(fill.made);
    assert_int_equal(visd_client_batch_create(&batch, cli.client, fill.scene.scene), VISD_ERR_OK);
    assert_int_equal(visd_client_batch_object_add(batch, &(struct visd_client_objects){.count = 1, .ids = &id, .boxes = box}), VISD_ERR_OK);
    if (trouble == AWAY) peer_stop(&p);
    if (trouble == SILENT) visd_client_set_timeout(cli.client, 100);
    PEER(&p, p.silent = trouble == SILENT);
    PEER(&p, p.refuse_type = VISD_MSG_BATCH);
    PEER(&p, p.refuse = trouble <= TAKEN ? VISD_ERR_BAD_VALUE : VISD_ERR_OK);
    enum visd_err err = fill_commit(&fill, batch, NULL);
    assert_int_equal(err, expected);
    visd_client_batch_destroy(batch);
    PEER(&p, p.silent = false);
    if (trouble == TAKEN) {
        PEER(&p, p.refuse_type = VISD_MSG_SCENE_REMOVE);
        PEER(&p, p.refuse = VISD_ERR_CONFLICT);
    }
    assert_int_equal(end(&cli, &fill, err, said), CLI_FAILED);
    visd_client_close(cli.client);
    if (trouble != AWAY) peer_stop(&p);
    return peer_seen(&p, VISD_MSG_SCENE_REMOVE);
}

static void test_refused(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(fill_in_trouble(REFUSED, VISD_ERR_BAD_VALUE, said), 1);
    assert_non_null(strstr(said, "refused as asked; the scene is as it was"));
}

/* What others have put there is not ours to remove. */
static void test_taken(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(fill_in_trouble(TAKEN, VISD_ERR_BAD_VALUE, said), 1);
    assert_null(strstr(said, "as it was"));
    assert_non_null(strstr(said, "scene \"office\" stays, for another program"));
}

/* The daemon may have applied it: neither is anything else said, nor is the scene removed that was made for it. */
static void test_unanswered(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(fill_in_trouble(SILENT, VISD_ERR_TIMEOUT, said), 0);
    assert_null(strstr(said, "as it was"));
    assert_non_null(strstr(said, "not known: visctl scene info \"office\""));
    assert_int_equal(fill_in_trouble(AWAY, VISD_ERR_DISCONNECTED, said), 0);
    assert_null(strstr(said, "as it was"));
    assert_non_null(strstr(said, "not known: visctl scene info \"office\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_taken), cmocka_unit_test(test_unanswered)};
    return cmocka_run_group_tests_name("visctl fill", tests, NULL, NULL);
}
