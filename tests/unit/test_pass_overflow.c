/* link: visd_rig visd_twin */
/* More large triangles, more tiles, more samples than the lists of a drawing hold: what does not fit hides nothing, and is counted. Which
 * triangles those are is the device's affair, so the list is held between the twin's two: with all of them drawn, and with none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/rig.h"
#include "tests/twin/twin.h"

#define SIZE 1024u /* pixels a side, and units: the camera is parallel, so that a unit is a pixel and nothing is divided */

struct pile { uint32_t piles, sheets, wide, high; }; /* of so many sheets each, one behind the other, of so many pixels */

static struct visd_camera parallel(void)
{
    static const double eye[3] = {0, 0, 0};
    struct visd_camera camera = rig_camera(eye, 0, 0, 1, 0.1, SIZE, SIZE);
    memset(camera.m, 0, sizeof(camera.m));
    camera.m[0][0] = 2.0f / SIZE;
    camera.m[1][1] = -2.0f / SIZE;
    camera.m[2][2] = 1.0f / SIZE; /* far 1024 */
    camera.m[2][3] = camera.m[3][3] = 1;
    return camera;
}

/* Sheets of side 1 in planes from z = 0 to -1, two triangles each. */
static struct visd_mesh_block *pile_mesh(uint32_t sheets, uint64_t *bytes)
{
    *bytes = sizeof(struct visd_mesh_block) + (uint64_t)sheets * (4 * 12 + 6 * 4) + sizeof(struct visd_mesh_part);
    struct visd_mesh_block *block = calloc(1, *bytes);
    *block = (struct visd_mesh_block){.vertices = sheets * 4, .indices = sheets * 6, .parts = 1};
    float *p = (float *)(block + 1);
    uint32_t *index = (uint32_t *)(p + sheets * 12), *part = index + sheets * 6;
    for (uint32_t i = 0; i < sheets; i++) {
        for (uint32_t k = 0; k < 4; k++) {
            float *v = p + (i * 4 + k) * 3;
            v[0] = k == 1 || k == 2 ? 0.5f : -0.5f;
            v[1] = k >= 2 ? 0.5f : -0.5f;
            v[2] = 0.5f - (float)i / (float)sheets;
        }
        const uint32_t six[6] = {i * 4, i * 4 + 1, i * 4 + 2, i * 4, i * 4 + 2, i * 4 + 3};
        memcpy(index + i * 6, six, sizeof(six));
    }
    const struct visd_mesh_part all = {.count = sheets * 6, .sides = VISD_SIDES_DOUBLE};
    memcpy(part, &all, sizeof(all));
    return block;
}

static struct visd_object_change box_at(uint32_t slot, double x, double y, double z, double wide, double high, double deep, uint32_t mesh)
{
    static const float half[3] = {0.5f, 0.5f, 0.5f};
    const double t[12] = {wide, 0, 0, x, 0, high, 0, y, 0, 0, deep, z};
    return rig_object(slot, slot + 1, t, half, mesh, 0);
}

/* A device's list holds all that even every triangle together would not hide, and nothing that those which surely are drawn hide. */
static void between(const struct rig_list *list, const struct twin *t)
{
    for (uint32_t i = 0; i < t->counters.candidates; i++) {
        uint32_t slot = t->candidates[i];
        bool listed = rig_lists(list, slot + 1);
        if (!twin_hidden(&t->high, &t->inner[slot], FOOTPRINT)) assert_true(listed);
        if (twin_hidden(&t->low, &t->outer[slot], FOOTPRINT)) assert_false(listed);
    }
}

/* Piles in rows, each with a box behind it and one beside. */
static void overflow(const struct pile *p, uint64_t budget_samples, void (*exceeded)(const struct twin *t))
{
    struct rig rig;
    struct twin_scene scene;
    struct twin t = {0};
    uint64_t bytes;
    struct visd_mesh_block *block = pile_mesh(p->sheets, &bytes);
    rig_init(&rig, 0, budget_samples);
    twin_scene_init(&scene);
    uint32_t mesh = rig_block(&rig, block, bytes);
    assert_int_equal(twin_scene_mesh(&scene, block), mesh);
    struct visd_object_change *changes = malloc(3 * p->piles * sizeof(*changes));
    uint32_t columns = SIZE / (p->wide + 8);
    for (uint32_t i = 0; i < p->piles; i++) {
        double x = (i % columns) * (p->wide + 8.0) + p->wide / 2.0 - SIZE / 2.0, y = (i / columns) * (p->high + 2.0) + p->high / 2.0 - SIZE / 2.0;
        assert_true(y + p->high < SIZE / 2.0);
        changes[i * 3] = box_at(i * 3, x, y, -100, p->wide, p->high, 50, mesh);
        changes[i * 3 + 1] = box_at(i * 3 + 1, x, y, -300, p->wide - 2.0, p->high - 2.0, 1, VISD_MESH_NONE);
        changes[i * 3 + 2] = box_at(i * 3 + 2, x + p->wide / 2.0 + 4, y, -300, 4, p->high - 2.0, 1, VISD_MESH_NONE);
    }
    rig_commit(&rig, changes, 3 * p->piles);
    twin_scatter(&scene, changes, 3 * p->piles, 3 * p->piles);
    struct visd_camera camera = parallel();
    uint32_t view = rig_view(&rig);
    twin_frame(&t, &scene, &camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH, 0, budget_samples);
    exceeded(&t);
    for (int i = 0; i < 2; i++) {
        struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH);
        assert_int_equal(rig.last.stats.over_budget, t.counters.over_budget);
        assert_true(rig.last.stats.over_budget > 0);
        between(&list, &t);
        rig_list_free(&list);
        list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, 0);
        for (uint32_t k = 0; k < p->piles; k++) assert_true(rig_lists(&list, k * 3 + 3));
        rig_list_free(&list);
        /* Whose triangles could not all be looked at counts as marked: nothing lies before the piles, and nothing before what stands beside them. */
        if (i) break; /* once is enough */
        list = rig_frame(&rig, view, &camera, VISD_METHOD_EXACT, VISD_FRAME_FRESH);
        for (uint32_t k = 0; k < p->piles; k++) assert_true(rig_lists(&list, k * 3 + 1) && rig_lists(&list, k * 3 + 3));
        rig_list_free(&list);
    }
    twin_finish(&t);
    twin_scene_finish(&scene);
    free(changes);
    free(block);
    rig_finish(&rig);
}

static void of_triangles(const struct twin *t)
{
    assert_true(t->larges.triangles[0] > t->frame.large_capacity);
    assert_true(t->larges.tiles[1] <= t->frame.tile_capacity && t->larges.units[1] <= t->frame.tile_unit_limit);
}

static void of_tiles(const struct twin *t)
{
    assert_true(t->larges.tiles[0] > t->frame.tile_capacity);
    assert_true(t->larges.triangles[1] <= t->frame.large_capacity && t->larges.units[1] <= t->frame.tile_unit_limit);
}

static void of_samples(const struct twin *t)
{
    assert_true(t->larges.units[0] > t->frame.tile_unit_limit);
    assert_true(t->larges.triangles[1] <= t->frame.large_capacity && t->larges.tiles[1] <= t->frame.tile_capacity);
}

static void more_triangles(void **state) { (void)state; overflow(&(struct pile){300, 500, 12, 6}, 0, of_triangles); }
static void more_tiles(void **state) { (void)state; overflow(&(struct pile){50, 700, 900, 3}, 0, of_tiles); }
static void more_samples(void **state) { (void)state; overflow(&(struct pile){6, 100, 220, 220}, 1u << 20, of_samples); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(more_triangles), cmocka_unit_test(more_tiles), cmocka_unit_test(more_samples)};
    const struct CMUnitTest few[] = {cmocka_unit_test(more_samples)};
    if (getenv("VISD_TEST_FEW")) return cmocka_run_group_tests_name("lists of large triangles that overflow", few, NULL, NULL);
    return cmocka_run_group_tests_name("lists of large triangles that overflow", tests, NULL, NULL);
}
