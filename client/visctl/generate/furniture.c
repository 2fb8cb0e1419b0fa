/* The pieces, a function each, and the table of them; see furniture.h. */
#include "furniture.h"

#include <math.h>

#define BAR(s, x0, y0, z0, x1, y1, z1, r, n) visd_shape_bar(s, (const float[3]){x0, y0, z0}, (const float[3]){x1, y1, z1}, r, n)

static const float turn = 6.28318530718f;

static void chair(struct visd_shape *s)
{
    for (int i = 0; i < 5; i++) {
        float x = 0.3f * cosf(turn * (float)i / 5), z = 0.3f * sinf(turn * (float)i / 5);
        BAR(s, 0, 0.1f, 0, x, 0.08f, z, 0.02f, 8);
        visd_shape_ball(s, x, 0.035f, z, 0.035f, 0.035f, 0.02f, 6, 8);
    }
    visd_shape_cone(s, 0, 0, 0.08f, 0.03f, 0.45f, 0.025f, 12);
    visd_shape_soft_box(s, -0.24f, 0.45f, -0.23f, 0.24f, 0.53f, 0.25f, 0.02f);
    for (int i = 0; i < 7; i++) { /* a back of slats, curved */
        float z = -0.25f - 0.03f * sinf(turn / 2 * (float)i / 6);
        visd_shape_soft_box(s, -0.22f, 0.6f + 0.07f * (float)i, z, 0.22f, 0.66f + 0.07f * (float)i, z + 0.03f, 0.01f);
    }
    BAR(s, 0, 0.5f, -0.22f, 0, 0.75f, -0.27f, 0.02f, 8);
    for (int side = -1; side <= 1; side += 2) {
        BAR(s, 0.26f * (float)side, 0.48f, 0, 0.28f * (float)side, 0.68f, 0, 0.015f, 8);
        visd_shape_soft_box(s, 0.28f * (float)side - 0.03f, 0.68f, -0.12f, 0.28f * (float)side + 0.03f, 0.71f, 0.14f, 0.01f);
    }
}

static void desk(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.7f, 0.71f, -0.35f, 0.7f, 0.74f, 0.35f, 0.008f);
    for (int i = 0; i < 4; i++) BAR(s, i & 1 ? 0.65f : -0.65f, 0, i & 2 ? 0.3f : -0.3f, i & 1 ? 0.65f : -0.65f, 0.71f, i & 2 ? 0.3f : -0.3f, 0.025f, 12);
    visd_shape_box(s, -0.64f, 0.35f, -0.32f, 0.64f, 0.7f, -0.3f);
    visd_shape_soft_box(s, 0.22f, 0.12f, -0.25f, 0.6f, 0.7f, 0.28f, 0.01f);
    for (int i = 0; i < 3; i++) {
        visd_shape_soft_box(s, 0.23f, 0.14f + 0.185f * (float)i, 0.28f, 0.59f, 0.31f + 0.185f * (float)i, 0.3f, 0.005f);
        BAR(s, 0.35f, 0.23f + 0.185f * (float)i, 0.32f, 0.47f, 0.23f + 0.185f * (float)i, 0.32f, 0.008f, 8);
    }
}

static void monitor(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.3f, 0.12f, -0.02f, 0.3f, 0.48f, 0.02f, 0.01f);
    visd_shape_box(s, -0.29f, 0.13f, 0.02f, 0.29f, 0.47f, 0.022f);
    visd_shape_cone(s, 0, -0.04f, 0.01f, 0.03f, 0.3f, 0.02f, 20);
    visd_shape_cone(s, 0, -0.04f, 0, 0.13f, 0.012f, 0.12f, 32);
}

static void keyboard(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.22f, 0, -0.07f, 0.22f, 0.015f, 0.07f, 0.004f);
    for (int row = 0; row < 5; row++)
        for (int key = 0; key < 15; key++) {
            float x = -0.21f + 0.028f * (float)key, z = -0.062f + 0.025f * (float)row;
            visd_shape_box(s, x, 0.015f, z, x + 0.024f, 0.021f, z + 0.021f);
        }
}

static void mouse(struct visd_shape *s)
{
    visd_shape_ball(s, 0, 0.018f, 0, 0.032f, 0.018f, 0.055f, 12, 20);
}

static void desk_lamp(struct visd_shape *s)
{
    visd_shape_cone(s, 0, 0, 0, 0.09f, 0.025f, 0.08f, 24);
    BAR(s, 0, 0.02f, 0, 0, 0.3f, -0.12f, 0.01f, 10);
    BAR(s, 0, 0.3f, -0.12f, 0, 0.45f, 0.1f, 0.01f, 10);
    visd_shape_ball(s, 0, 0.3f, -0.12f, 0.02f, 0.02f, 0.02f, 6, 10);
    visd_shape_part(s, VISD_MODEL_SIDES_DOUBLE, false);
    visd_shape_lathe(s, 0, 0.12f, (const float[3][2]){{0.1f, 0.36f}, {0.06f, 0.44f}, {0.02f, 0.47f}}, 3, 24);
}

static void phone(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.1f, 0, -0.09f, 0.1f, 0.05f, 0.09f, 0.01f);
    visd_shape_soft_box(s, -0.09f, 0.05f, -0.08f, -0.04f, 0.09f, 0.08f, 0.012f);
    for (int i = 0; i < 12; i++) {
        float x = -0.02f + 0.035f * (float)(i % 3), z = -0.05f + 0.03f * (float)(i / 3);
        visd_shape_box(s, x, 0.05f, z, x + 0.025f, 0.056f, z + 0.02f);
    }
}

static void bin(struct visd_shape *s)
{
    visd_shape_part(s, VISD_MODEL_SIDES_DOUBLE, false);
    visd_shape_lathe(s, 0, 0, (const float[5][2]){{0, 0}, {0.12f, 0}, {0.15f, 0.35f}, {0.16f, 0.35f}, {0.16f, 0.36f}}, 5, 32);
}

static void cup(struct visd_shape *s)
{
    visd_shape_part(s, VISD_MODEL_SIDES_DOUBLE, false);
    visd_shape_lathe(s, 0, 0, (const float[4][2]){{0, 0}, {0.03f, 0}, {0.036f, 0.04f}, {0.04f, 0.09f}}, 4, 28);
    for (int i = 0; i < 8; i++) { /* the handle, bar by bar */
        float a = turn / 2 * ((float)i / 8 - 0.5f), b = turn / 2 * ((float)(i + 1) / 8 - 0.5f);
        BAR(s, 0.035f + 0.025f * cosf(a), 0.05f + 0.025f * sinf(a), 0, 0.035f + 0.025f * cosf(b), 0.05f + 0.025f * sinf(b), 0, 0.005f, 6);
    }
}

static void plant(struct visd_shape *s)
{
    visd_shape_cone(s, 0, 0, 0, 0.16f, 0.35f, 0.22f, 24);
    for (int i = 0; i < 40; i++) { /* stalks on a spiral, then their leaves */
        float angle = 2.4f * (float)i, reach = 0.12f + 0.008f * (float)i;
        BAR(s, 0, 0.35f, 0, reach * cosf(angle), 0.6f + 0.022f * (float)i, reach * sinf(angle), 0.006f, 5);
    }
    visd_shape_part(s, VISD_MODEL_SIDES_DOUBLE, false);
    for (int i = 0; i < 40; i++) {
        float angle = 2.4f * (float)i, reach = 0.12f + 0.008f * (float)i, height = 0.6f + 0.022f * (float)i;
        float c = cosf(angle), n = sinf(angle), x = reach * c, z = reach * n;
        for (int k = 0; k < 4; k++) {
            float w0 = 0.06f * sinf(turn / 2 * (float)k / 4), w1 = 0.06f * sinf(turn / 2 * (float)(k + 1) / 4);
            float d0 = 0.08f * (float)k, d1 = 0.08f * (float)(k + 1), y0 = height - 1.6f * d0 * d0, y1 = height - 1.6f * d1 * d1;
            visd_shape_quad(s, (const float[3]){x + c * d0 - n * w0, y0, z + n * d0 + c * w0}, (const float[3]){x + c * d1 - n * w1, y1, z + n * d1 + c * w1},
                            (const float[3]){x + c * d1 + n * w1, y1, z + n * d1 - c * w1}, (const float[3]){x + c * d0 + n * w0, y0, z + n * d0 - c * w0});
        }
    }
}

static void frame(struct visd_shape *s, float width, float height, float depth, int boards)
{
    float x = width / 2, z = depth / 2;
    visd_shape_box(s, -x, 0, -z, -x + 0.03f, height, z);
    visd_shape_box(s, x - 0.03f, 0, -z, x, height, z);
    for (int i = 0; i <= boards; i++) {
        float y = 0.05f + (height - 0.08f) * (float)i / (float)boards;
        visd_shape_box(s, -x + 0.03f, y, -z, x - 0.03f, y + 0.025f, z);
    }
}

static void bookcase(struct visd_shape *s)
{
    frame(s, 1.0f, 2.0f, 0.32f, 5);
    visd_shape_box(s, -0.5f, 0, -0.17f, 0.5f, 2.0f, -0.16f);
    for (int shelf = 0; shelf < 5; shelf++) {
        float x = -0.45f, y = 0.075f + 1.92f * (float)shelf / 5;
        for (int book = 0; x < 0.4f; book++) {
            float thick = 0.02f + 0.011f * (float)((book * 7 + shelf * 3) % 4), tall = 0.2f + 0.02f * (float)((book * 5 + shelf) % 6);
            visd_shape_box(s, x, y, -0.14f, x + thick, y + tall, 0.06f + 0.01f * (float)(book % 5));
            x += thick + 0.002f;
        }
    }
}

static void cabinet(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.4f, 0, -0.22f, 0.4f, 1.3f, 0.2f, 0.01f);
    for (int i = 0; i < 4; i++) {
        visd_shape_soft_box(s, -0.38f, 0.03f + 0.315f * (float)i, 0.2f, 0.38f, 0.33f + 0.315f * (float)i, 0.22f, 0.006f);
        BAR(s, -0.08f, 0.18f + 0.315f * (float)i, 0.24f, 0.08f, 0.18f + 0.315f * (float)i, 0.24f, 0.01f, 8);
    }
}

static void sofa(struct visd_shape *s)
{
    visd_shape_soft_box(s, -1.0f, 0.12f, -0.42f, 1.0f, 0.3f, 0.42f, 0.03f);
    visd_shape_soft_box(s, -1.0f, 0.3f, -0.45f, 1.0f, 0.85f, -0.25f, 0.06f);
    for (int i = 0; i < 3; i++) visd_shape_soft_box(s, -0.8f + 0.54f * (float)i, 0.3f, -0.25f, -0.28f + 0.54f * (float)i, 0.46f, 0.42f, 0.05f);
    for (int side = -1; side <= 1; side += 2)
        visd_shape_soft_box(s, (float)side * 0.91f - 0.1f, 0.3f, -0.42f, (float)side * 0.91f + 0.1f, 0.62f, 0.42f, 0.05f);
    for (int i = 0; i < 4; i++) visd_shape_cone(s, i & 1 ? 0.9f : -0.9f, i & 2 ? 0.35f : -0.35f, 0, 0.02f, 0.12f, 0.035f, 12);
    for (int i = 0; i < 3; i++) visd_shape_ball(s, -0.6f + 0.6f * (float)i, 0.62f, -0.2f, 0.2f, 0.16f, 0.07f, 10, 16);
}

static void round_table(struct visd_shape *s)
{
    visd_shape_lathe(s, 0, 0, (const float[10][2]){{0, 0}, {0.4f, 0}, {0.4f, 0.03f}, {0.08f, 0.08f}, {0.05f, 0.4f}, {0.08f, 0.68f}, {0.9f, 0.7f},
                                                  {0.92f, 0.72f}, {0.9f, 0.74f}, {0, 0.74f}}, 10, 48);
}

static void meeting_chair(struct visd_shape *s)
{
    for (int i = 0; i < 4; i++) BAR(s, i & 1 ? 0.2f : -0.2f, 0, i & 2 ? 0.2f : -0.2f, i & 1 ? 0.19f : -0.19f, 0.44f, i & 2 ? 0.18f : -0.18f, 0.016f, 8);
    visd_shape_soft_box(s, -0.22f, 0.44f, -0.22f, 0.22f, 0.48f, 0.22f, 0.015f);
    for (int i = 0; i < 2; i++) BAR(s, i ? 0.19f : -0.19f, 0.47f, -0.2f, i ? 0.19f : -0.19f, 0.9f, -0.26f, 0.016f, 8);
    visd_shape_soft_box(s, -0.2f, 0.68f, -0.26f, 0.2f, 0.9f, -0.23f, 0.01f);
}

static void printer(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.3f, 0, -0.3f, 0.3f, 0.7f, 0.3f, 0.02f);
    visd_shape_soft_box(s, -0.28f, 0.72f, -0.28f, 0.28f, 0.95f, 0.2f, 0.02f);
    visd_shape_box(s, -0.2f, 0.74f, 0.2f, 0.2f, 0.75f, 0.4f);
    for (int i = 0; i < 3; i++) visd_shape_soft_box(s, -0.28f, 0.05f + 0.2f * (float)i, 0.3f, 0.28f, 0.22f + 0.2f * (float)i, 0.32f, 0.006f);
    for (int i = 0; i < 10; i++) visd_shape_box(s, -0.2f + 0.04f * (float)i, 0.95f, 0.1f, -0.17f + 0.04f * (float)i, 0.96f, 0.14f);
}

static void coat_rack(struct visd_shape *s)
{
    visd_shape_cone(s, 0, 0, 0, 0.25f, 0.03f, 0.24f, 32);
    BAR(s, 0, 0.03f, 0, 0, 1.75f, 0, 0.022f, 14);
    for (int i = 0; i < 8; i++) {
        float c = cosf(turn * (float)i / 8), n = sinf(turn * (float)i / 8), y = i & 1 ? 1.45f : 1.65f;
        BAR(s, 0, y, 0, 0.18f * c, y + 0.08f, 0.18f * n, 0.012f, 8);
        visd_shape_ball(s, 0.18f * c, y + 0.08f, 0.18f * n, 0.022f, 0.022f, 0.022f, 6, 8);
    }
}

static void whiteboard(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.9f, 0.9f, -0.03f, 0.9f, 1.9f, 0.0f, 0.01f);
    visd_shape_box(s, -0.6f, 0.88f, 0, 0.6f, 0.9f, 0.07f);
    for (int i = 0; i < 6; i++) BAR(s, -0.4f + 0.12f * (float)i, 0.91f, 0.04f, -0.31f + 0.12f * (float)i, 0.91f, 0.04f, 0.008f, 8);
}

static void ceiling_lamp(struct visd_shape *s)
{
    frame(s, 1.2f, 0.1f, 0.3f, 1);
    for (int i = 0; i < 16; i++) visd_shape_box(s, -0.56f + 0.072f * (float)i, 0.0f, -0.14f, -0.555f + 0.072f * (float)i, 0.05f, 0.14f);
    for (int i = 0; i < 2; i++) BAR(s, -0.55f, 0.07f, -0.06f + 0.12f * (float)i, 0.55f, 0.07f, -0.06f + 0.12f * (float)i, 0.015f, 10);
}

static void bust(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.2f, 0, -0.2f, 0.2f, 1.0f, 0.2f, 0.03f);
    visd_shape_lathe(s, 0, 0, (const float[5][2]){{0.16f, 1.0f}, {0.2f, 1.12f}, {0.1f, 1.22f}, {0.06f, 1.28f}, {0.065f, 1.36f}}, 5, 48);
    visd_shape_ball(s, 0, 1.47f, 0, 0.1f, 0.14f, 0.12f, 40, 52);
    visd_shape_ball(s, 0, 1.46f, 0.11f, 0.018f, 0.03f, 0.03f, 8, 12);
    for (int side = -1; side <= 1; side += 2) visd_shape_ball(s, 0.1f * (float)side, 1.46f, 0, 0.015f, 0.035f, 0.025f, 8, 12);
}

static void water_cooler(struct visd_shape *s)
{
    visd_shape_soft_box(s, -0.16f, 0, -0.16f, 0.16f, 1.0f, 0.16f, 0.02f);
    for (int i = 0; i < 2; i++) BAR(s, -0.06f + 0.12f * (float)i, 0.85f, 0.16f, -0.06f + 0.12f * (float)i, 0.85f, 0.22f, 0.012f, 10);
    visd_shape_part(s, VISD_MODEL_SIDES_DOUBLE, true);
    visd_shape_lathe(s, 0, 0, (const float[6][2]){{0.04f, 1.0f}, {0.14f, 1.08f}, {0.14f, 1.38f}, {0.12f, 1.42f}, {0.1f, 1.43f}, {0, 1.43f}}, 6, 32);
}

static void shelf(struct visd_shape *s)
{
    frame(s, 2.4f, 1.9f, 0.5f, 4);
    for (int i = 0; i < 12; i++) BAR(s, -1.1f + 0.2f * (float)i, 0.02f, -0.24f, -1.1f + 0.2f * (float)i, 1.88f, -0.24f, 0.008f, 6);
}

static void vase(struct visd_shape *s)
{
    float profile[25][2];
    for (int i = 0; i < 25; i++) {
        float t = (float)i / 24;
        profile[i][0] = 0.07f + 0.04f * sinf(t * 5.0f) * (1 - 0.3f * t);
        profile[i][1] = 0.34f * t;
    }
    profile[0][0] = 0;
    visd_shape_part(s, VISD_MODEL_SIDES_DOUBLE, false);
    visd_shape_lathe(s, 0, 0, (const float (*)[2])profile, 25, 36);
}

static void toy(struct visd_shape *s)
{
    visd_shape_ball(s, 0, 0.1f, 0, 0.09f, 0.1f, 0.07f, 14, 20);
    visd_shape_ball(s, 0, 0.25f, 0.01f, 0.075f, 0.07f, 0.07f, 14, 20);
    for (int side = -1; side <= 1; side += 2) {
        visd_shape_ball(s, 0.06f * (float)side, 0.31f, 0, 0.025f, 0.025f, 0.015f, 8, 12);
        visd_shape_ball(s, 0.1f * (float)side, 0.13f, 0.03f, 0.03f, 0.05f, 0.03f, 8, 12);
        visd_shape_ball(s, 0.06f * (float)side, 0.03f, 0.06f, 0.035f, 0.03f, 0.05f, 8, 12);
    }
}

static const struct {
    const char *name;
    void (*build)(struct visd_shape *shape);
} pieces[VISD_FURNITURE_COUNT] = {
    [VISD_CHAIR] = {"chair", chair},           [VISD_DESK] = {"desk", desk},
    [VISD_MONITOR] = {"monitor", monitor},     [VISD_KEYBOARD] = {"keyboard", keyboard},
    [VISD_MOUSE] = {"mouse", mouse},           [VISD_DESK_LAMP] = {"desk lamp", desk_lamp},
    [VISD_PHONE] = {"phone", phone},           [VISD_BIN] = {"bin", bin},
    [VISD_CUP] = {"cup", cup},                 [VISD_PLANT] = {"plant", plant},
    [VISD_BOOKCASE] = {"bookcase", bookcase},  [VISD_CABINET] = {"cabinet", cabinet},
    [VISD_SOFA] = {"sofa", sofa},              [VISD_ROUND_TABLE] = {"round table", round_table},
    [VISD_MEETING_CHAIR] = {"meeting chair", meeting_chair}, [VISD_PRINTER] = {"printer", printer},
    [VISD_COAT_RACK] = {"coat rack", coat_rack},  [VISD_WHITEBOARD] = {"whiteboard", whiteboard},
    [VISD_CEILING_LAMP] = {"ceiling lamp", ceiling_lamp}, [VISD_BUST] = {"bust", bust},
    [VISD_WATER_COOLER] = {"water cooler", water_cooler}, [VISD_SHELF] = {"shelf", shelf},
    [VISD_VASE] = {"vase", vase},              [VISD_TOY] = {"toy", toy},
};

const char *visd_furniture_name(enum visd_furniture piece)
{
    return pieces[piece].name;
}

enum visd_err visd_furniture_build(enum visd_furniture piece, struct visd_model_mesh *out, struct visd_why *why)
{
    struct visd_shape shape = {0};
    pieces[piece].build(&shape);
    return visd_shape_take(&shape, out, why);
}
