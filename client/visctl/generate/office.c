/* The office: floors of rooms along a corridor, furnished, walled and windowed.
 *
 *        z ^   +------+------+------+----       a building: FLOORS floors, two wings a floor, each wing a
 *          |   | room | room | room |           corridor between two rows of ROOMS rooms; a room is 8 x 6 m
 *          |   +--/ --+--/ --+--/ --+----       and holds about eighty things. Each room draws its own random
 *          |        corridor, 2.4 m             numbers from seed and place.
 *          |   +--/ --+--/ --+--/ --+----
 *          |   | room | room | room |           Buildings stand on a square grid of streets, filled one after
 *          +-> +------+------+------+----  x    the other until the wanted number of objects is reached.
 */
#include <math.h>
#include <stdio.h>

#include "furniture.h"
#include "scene.h"

#define FLOORS 10
#define WINGS 2
#define ROOMS 13 /* in a row */
#define BUILDING_MOST 48000 /* more things than any building has */

static const float room_x = 8, room_z = 6, corridor = 2.4f, storey = 3.5f, ceiling = 3.1f, wall = 0.12f;
static const double street = 30, wing_z = 6 + 2.4 + 6, wing_pitch = 6 + 2.4 + 6 + 5, half_turn = 3.14159265358979323846;

enum part { FLOOR_SLAB, CORRIDOR_END, FACADE, WINDOW, SIDE_WALL, LOW_WALL, DOOR_WALL, DOOR, GLASS_WALL, PARTS };

struct office {
    uint32_t piece[VISD_FURNITURE_COUNT], part[PARTS];
};

static enum visd_err make_parts(struct visd_maker *maker, struct office *office)
{
    enum visd_err err = VISD_ERR_OK;
    for (int i = 0; i < VISD_FURNITURE_COUNT && err == VISD_ERR_OK; i++) {
        struct visd_model_mesh mesh;
        err = visd_furniture_build((enum visd_furniture)i, &mesh, maker->why);
        if (err != VISD_ERR_OK) break;
        struct visd_shape shape = {.mesh = mesh};
        err = visd_maker_mesh(maker, &shape, &office->piece[i]);
    }
    for (int i = 0; i < PARTS && err == VISD_ERR_OK; i++) {
        struct visd_shape s = {0};
        float x = room_x / 2, w = wall / 2;
        switch (i) {
        case FLOOR_SLAB: visd_shape_box(&s, 0, -(storey - ceiling), 0, ROOMS * room_x, 0, (float)wing_z); break;
        case CORRIDOR_END: visd_shape_box(&s, -w, 0, 0, w, ceiling, corridor); break;
        case FACADE: /* a wall round a window */
            visd_shape_box(&s, -x, 0, -w, x, 0.9f, w);
            visd_shape_box(&s, -x, 2.6f, -w, x, ceiling, w);
            visd_shape_box(&s, -x, 0.9f, -w, -x + 1, 2.6f, w);
            visd_shape_box(&s, x - 1, 0.9f, -w, x, 2.6f, w);
            for (int bar = 1; bar < 4; bar++) visd_shape_box(&s, -x + 1 + 1.5f * (float)bar - 0.03f, 0.9f, -w, -x + 1 + 1.5f * (float)bar + 0.03f, 2.6f, w);
            break;
        case WINDOW:
            visd_shape_part(&s, VISD_MODEL_SIDES_DOUBLE, true);
            visd_shape_box(&s, -x + 1, 0.9f, -0.01f, x - 1, 2.6f, 0.01f);
            break;
        case SIDE_WALL: visd_shape_box(&s, -w, 0, -room_z / 2, w, ceiling, room_z / 2); break;
        case LOW_WALL: /* between rooms that are open to each other */
            visd_shape_box(&s, -w, 0, -room_z / 2, w, 1.2f, room_z / 2);
            visd_shape_box(&s, -w, 1.2f, -room_z / 2, w, ceiling, -room_z / 2 + 0.5f);
            visd_shape_box(&s, -w, 1.2f, room_z / 2 - 0.5f, w, ceiling, room_z / 2);
            break;
        case DOOR_WALL: /* the door stands from x = -0.5 to 0.5 */
            visd_shape_box(&s, -x, 0, -w, -0.5f, ceiling, w);
            visd_shape_box(&s, 0.5f, 0, -w, x, ceiling, w);
            visd_shape_box(&s, -0.5f, 2.1f, -w, 0.5f, ceiling, w);
            break;
        case GLASS_WALL: /* beside the same door, a parapet and glass */
            visd_shape_box(&s, -x, 0, -w, -0.5f, 0.4f, w);
            visd_shape_box(&s, 0.5f, 0, -w, x, 0.4f, w);
            visd_shape_box(&s, -x, 2.4f, -w, x, ceiling, w);
            for (int bar = 0; bar < 4; bar++)
                for (int side = -1; side <= 1; side += 2) {
                    float at = (float)side * (0.53f + 1.14f * (float)bar);
                    visd_shape_box(&s, at - 0.03f, 0.4f, -w, at + 0.03f, 2.4f, w);
                }
            visd_shape_part(&s, VISD_MODEL_SIDES_DOUBLE, true);
            visd_shape_box(&s, -x, 0.4f, -0.01f, -0.5f, 2.4f, 0.01f);
            visd_shape_box(&s, 0.5f, 0.4f, -0.01f, x, 2.4f, 0.01f);
            break;
        default: /* a door's leaf, hinged at x = 0 */
            visd_shape_soft_box(&s, 0, 0.01f, -0.02f, 0.98f, 2.08f, 0.02f, 0.005f);
            visd_shape_bar(&s, (const float[3]){0.9f, 1, 0.05f}, (const float[3]){0.78f, 1, 0.05f}, 0.012f, 10);
            visd_shape_bar(&s, (const float[3]){0.9f, 1, -0.05f}, (const float[3]){0.78f, 1, -0.05f}, 0.012f, 10);
            break;
        }
        err = visd_maker_mesh(maker, &s, &office->part[i]);
    }
    return err;
}

static void put(struct visd_maker *m, const struct office *o, enum visd_furniture piece, float x, float y, float z, float turn)
{
    visd_maker_put(m, visd_furniture_name(piece), o->piece[piece], x, y, z, turn);
}

/* A desk and what belongs to it; its user sits at +z of it before the turn. */
static void workplace(struct visd_maker *m, const struct office *o, struct visd_random *r, float x, float z, float turn)
{
    float c = cosf(turn), s = sinf(turn);
#define AT(dx, dz) x + c * (dx) + s * (dz), 0.74f, z - s * (dx) + c * (dz)
    put(m, o, VISD_DESK, x, 0, z, turn);
    put(m, o, VISD_CHAIR, x + s * 0.6f, 0, z + c * 0.6f, turn + (float)half_turn + visd_random_between(r, -0.6f, 0.6f));
    put(m, o, VISD_MONITOR, AT(0, -0.15f), turn + visd_random_between(r, -0.15f, 0.15f));
    put(m, o, VISD_KEYBOARD, AT(0, 0.16f), turn + visd_random_between(r, -0.1f, 0.1f));
    put(m, o, VISD_MOUSE, AT(0.32f, 0.16f), turn + visd_random_between(r, -0.4f, 0.4f));
    put(m, o, VISD_DESK_LAMP, AT(-0.55f, -0.2f), turn + visd_random_between(r, -1, 1));
    if (visd_random_between(r, 0, 1) < 0.4f) put(m, o, VISD_PHONE, AT(0.55f, -0.18f), turn);
    if (visd_random_between(r, 0, 1) < 0.6f) put(m, o, VISD_CUP, AT(-0.4f, 0.2f), visd_random_between(r, 0, 6));
    put(m, o, VISD_BIN, x - c * 0.55f, 0, z + s * 0.55f, 0);
#undef AT
}

static void furnish_desks(struct visd_maker *m, const struct office *o, struct visd_random *r)
{
    for (int i = 0; i < 8; i++) /* four pairs, back to back */
        workplace(m, o, r, -2.9f + 1.9f * (float)(i / 2), i & 1 ? 0.5f : -0.25f, i & 1 ? 0 : (float)half_turn);
    for (int i = 0; i < 2; i++) put(m, o, VISD_BOOKCASE, -3.7f + 1.1f * (float)i, 0, 2.7f, (float)half_turn);
    for (int i = 0; i < 2; i++) put(m, o, VISD_CABINET, 2.5f + 0.9f * (float)i, 0, 2.6f, (float)half_turn);
    for (int i = 0; i < 2; i++) put(m, o, VISD_PLANT, i ? 3.3f : -3.3f, 0, -2.4f, visd_random_between(r, 0, 6));
}

static void furnish_meeting(struct visd_maker *m, const struct office *o, struct visd_random *r)
{
    for (int table = 0; table < 3; table++) {
        float x = -2.5f + 2.5f * (float)table;
        put(m, o, VISD_ROUND_TABLE, x, 0, 0, 0);
        for (int i = 0; i < 8; i++) {
            float a = (float)half_turn / 4 * (float)i + visd_random_between(r, -0.1f, 0.1f);
            put(m, o, VISD_MEETING_CHAIR, x + 1.15f * sinf(a), 0, 1.15f * cosf(a), a + (float)half_turn);
            put(m, o, VISD_CUP, x + 0.6f * sinf(a), 0.74f, 0.6f * cosf(a), a);
        }
        put(m, o, VISD_VASE, x, 0.74f, 0, 0);
    }
    put(m, o, VISD_WHITEBOARD, 0, 0, 2.85f, (float)half_turn);
    put(m, o, VISD_COAT_RACK, 3.5f, 0, 2.5f, 0);
}

static void furnish_lounge(struct visd_maker *m, const struct office *o, struct visd_random *r)
{
    for (int i = 0; i < 4; i++) {
        put(m, o, VISD_SOFA, -2.6f + 1.75f * (float)i * 1.15f, 0, i & 1 ? 2.3f : 1.4f, (float)half_turn + visd_random_between(r, -0.2f, 0.2f));
        put(m, o, VISD_PLANT, -3.2f + 2.1f * (float)i, 0, -2.2f, visd_random_between(r, 0, 6));
    }
    put(m, o, VISD_WATER_COOLER, 3.5f, 0, 2.6f, (float)half_turn);
    put(m, o, VISD_PRINTER, 2.8f, 0, 2.5f, (float)half_turn);
    put(m, o, VISD_BUST, -3.5f, 0, 2.5f, (float)half_turn);
    for (int i = 0; i < 3; i++) {
        float x = -2.2f + 2.2f * (float)i;
        put(m, o, VISD_ROUND_TABLE, x, 0, -0.5f, 0);
        for (int k = 0; k < 5; k++) {
            float a = (float)half_turn / 2.5f * (float)k + visd_random_between(r, -0.2f, 0.2f);
            put(m, o, VISD_MEETING_CHAIR, x + 1.1f * sinf(a), 0, -0.5f + 1.1f * cosf(a), a + (float)half_turn);
            put(m, o, VISD_CUP, x + 0.5f * sinf(a), 0.74f, -0.5f + 0.5f * cosf(a), a);
        }
    }
}

static void furnish_store(struct visd_maker *m, const struct office *o, struct visd_random *r)
{
    for (int i = 0; i < 8; i++) {
        float x = -2.6f + 2.6f * (float)(i % 3), z = -1.8f + 1.7f * (float)(i / 3);
        put(m, o, VISD_SHELF, x, 0, z, 0);
        for (int k = 0; k < 9; k++) {
            enum visd_furniture piece = (const enum visd_furniture[]){VISD_PHONE, VISD_VASE, VISD_BIN, VISD_TOY}[visd_random_next(r) % 4];
            put(m, o, piece, x - 0.9f + 0.22f * (float)k, 0.99f, z, visd_random_between(r, 0, 6));
        }
    }
}

static void furnish_room(struct visd_maker *m, const struct office *o, struct visd_random *r, bool mirrored, bool first, bool last)
{
    float out = mirrored ? 1 : -1; /* where the windows are, in z; the furniture does not mind */
    bool glass = visd_random_between(r, 0, 1) < 0.65f;
    float open = visd_random_between(r, 0, 1) < 0.35f ? 0 : visd_random_between(r, 0.6f, 1.7f);
    visd_maker_put(m, "facade", o->part[FACADE], 0, 0, out * room_z / 2, 0);
    visd_maker_put(m, "window", o->part[WINDOW], 0, 0, out * room_z / 2, 0);
    bool low = visd_random_between(r, 0, 1) < 0.6f && !first;
    visd_maker_put(m, low ? "low wall" : "side wall", o->part[low ? LOW_WALL : SIDE_WALL], -room_x / 2, 0, 0, 0);
    if (last) visd_maker_put(m, "side wall", o->part[SIDE_WALL], room_x / 2, 0, 0, 0);
    visd_maker_put(m, glass ? "glass wall" : "door wall", o->part[glass ? GLASS_WALL : DOOR_WALL], 0, 0, -out * room_z / 2, 0);
    visd_maker_put(m, "door", o->part[DOOR], -0.49f, 0, -out * room_z / 2, -out * open);
    for (int i = 0; i < 6; i++) put(m, o, VISD_CEILING_LAMP, -2.6f + 2.6f * (float)(i % 3), 3, i < 3 ? -1.5f : 1.5f, 0);
    uint64_t use = visd_random_next(r) % 16;
    (use < 10 ? furnish_desks : use < 13 ? furnish_meeting : use < 15 ? furnish_lounge : furnish_store)(m, o, r);
}

static enum visd_err make_wing(struct visd_maker *m, const struct office *o, uint64_t place, uint32_t floor, double z, const char *above)
{
    char path[160];
    uint32_t group;
    snprintf(path, sizeof(path), "%s/corridor", above);
    enum visd_err err = visd_maker_group(m, floor, (const double[3]){0, 0, z}, path, &group);
    if (err != VISD_ERR_OK) return err;
    visd_maker_put(m, "slab", o->part[FLOOR_SLAB], 0, 0, 0, 0);
    for (int end = 0; end < 2; end++) visd_maker_put(m, "corridor end", o->part[CORRIDOR_END], end ? ROOMS * room_x : 0, 0, room_z, 0);
    for (int i = 0; i < ROOMS; i++) put(m, o, VISD_CEILING_LAMP, room_x * ((float)i + 0.5f), 3, room_z + corridor / 2, 0);
    for (int i = 0; i < ROOMS; i += 3) put(m, o, i % 2 ? VISD_PLANT : VISD_WATER_COOLER, room_x * (float)i + 1.2f, 0, room_z + 0.4f, 0);
    err = visd_maker_flush(m, group, path);
    for (uint64_t i = 0; i < 2 * ROOMS && err == VISD_ERR_OK && !visd_maker_full(m); i++) {
        bool mirrored = i >= ROOMS;
        struct visd_random random = visd_random_at(m->params->seed, place * 64 + i);
        snprintf(path, sizeof(path), "%s/room %u", above, (unsigned)(z > 1 ? i + 2 * ROOMS : i) + 1);
        err = visd_maker_group(m, floor, (const double[3]){room_x * ((double)(i % ROOMS) + 0.5), 0, z + (mirrored ? wing_z - 3 : 3)}, path, &group);
        if (err != VISD_ERR_OK) break;
        furnish_room(m, o, &random, mirrored, i % ROOMS == 0, i % ROOMS == ROOMS - 1);
        err = visd_maker_flush(m, group, path);
    }
    return err;
}

/* Buildings fill a square that grows by a row and a column at a time. */
static void building_at(uint64_t building, double *x, double *z)
{
    uint64_t ring = (uint64_t)sqrt((double)building);
    while (ring * ring > building) ring--;
    while ((ring + 1) * (ring + 1) <= building) ring++;
    uint64_t rest = building - ring * ring;
    uint64_t column = rest <= ring ? ring : rest - ring - 1, row = rest <= ring ? rest : ring;
    *x = (double)column * (ROOMS * room_x + street);
    *z = (double)row * (WINGS * wing_pitch + street);
}

enum visd_err visd_office_make(struct visd_maker *m)
{
    struct office office;
    enum visd_err err = make_parts(m, &office);
    uint64_t buildings = UINT64_MAX;
    if (!m->params->objects) { /* one whole building, whatever it comes to */
        buildings = 1;
        m->wanted = BUILDING_MOST;
    }
    for (uint64_t building = 0; err == VISD_ERR_OK && building < buildings && !visd_maker_full(m); building++) {
        char path[80], above[120];
        uint32_t block, floor;
        double x, z;
        building_at(building, &x, &z);
        snprintf(path, sizeof(path), "building %llu", (unsigned long long)building + 1);
        err = visd_maker_group(m, VISD_MODEL_NONE, (const double[3]){x, 0, z}, path, &block);
        for (uint64_t level = 0; level < FLOORS && err == VISD_ERR_OK && !visd_maker_full(m); level++) {
            snprintf(above, sizeof(above), "%s/floor %u", path, (unsigned)level);
            err = visd_maker_group(m, block, (const double[3]){0, (double)storey * (double)level, 0}, above, &floor);
            for (uint64_t wing = 0; wing < WINGS && err == VISD_ERR_OK && !visd_maker_full(m); wing++)
                err = make_wing(m, &office, (building * FLOORS + level) * WINGS + wing, floor, (double)wing * wing_pitch, above);
        }
        for (int wing = 0; wing < WINGS && err == VISD_ERR_OK && !visd_maker_full(m); wing++) /* the roof */
            visd_maker_put(m, "roof", office.part[FLOOR_SLAB], 0, FLOORS * storey, (float)(wing * wing_pitch), 0);
        if (err == VISD_ERR_OK) err = visd_maker_flush(m, block, path);
    }
    return err;
}

/* Down the corridor of a middle floor, looking into rooms; through a room and along the windows; back down the other wing. */
void visd_office_fly(uint64_t objects, double t, double eye[3], double target[3])
{
    double length = ROOMS * room_x, floors = objects < 40000 ? (double)objects / 4000 : FLOORS;
    double y = floor(floors / 2) * storey + 1.6, z0 = room_z + corridor / 2;
    double heading; /* 0: along +x; a quarter: along +z */
    if (t < 0.4) { /* the corridor, swaying from door to door */
        double s = t / 0.4;
        eye[0] = 1.5 + s * (length - 10), eye[2] = z0;
        heading = 0.9 * sin(s * 14 * half_turn / 2);
    } else if (t < 0.6) { /* a room, all the way round */
        double s = (t - 0.4) / 0.2;
        eye[0] = room_x * (ROOMS - 2.5) + 1.2 * sin(s * 2 * half_turn), eye[2] = 3.2;
        heading = s * 2 * half_turn;
    } else { /* the other wing, back the whole length */
        double s = (t - 0.6) / 0.4;
        eye[0] = length - 1.5 - s * (length - 10), eye[2] = z0 + wing_pitch;
        heading = half_turn + 0.8 * sin(s * 12 * half_turn / 2);
    }
    eye[1] = y;
    target[0] = eye[0] + cos(heading), target[1] = eye[1] - 0.05, target[2] = eye[2] + sin(heading);
}
