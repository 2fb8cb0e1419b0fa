/* link: visd_segment visd_scene */
/* The scene against a naive twin: random batches of edits, good and bad, applied to both; what a made-up device has
 * after each APPLY is compared with records worked out from the twin alone, in long double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/scene/scene.h"

enum { OBJECTS = 220, GROUPS = 14, MESHES = 10, SLOTS = 4096, VERTICES = 8 };

struct twin_object { bool live; double box[6]; bool has_box; double t[12]; uint32_t flags, layers; float margin; int mesh, group; char name[16]; };
struct twin_group { bool live; int parent; double t[12]; uint32_t flags; };
struct twin_mesh { bool live; uint32_t vertices, indices; float v[VERTICES][3]; double deviation; };
struct twin {
    struct twin_object object[OBJECTS];
    struct twin_group group[GROUPS];
    struct twin_mesh mesh[MESHES];
    uint64_t revision;
};

struct device {
    struct visd_object_change at[SLOTS], staged[SLOTS];
    bool is_staged[SLOTS];
    uint64_t mesh[SLOTS]; /* blocks */
    uint32_t slots, staged_count;
    uint64_t revision;
    bool open;
};

static uint64_t seed = 88172645463325252u;
static struct device device;
static struct visd_segment *segment;
static struct visd_scene *scene;
static uint64_t serial;
static struct visd_result waiting[1024];
static size_t waiting_count;

static uint64_t rnd(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static double real(double lo, double hi)
{
    return lo + (hi - lo) * (double)rnd(1u << 30) / (double)(1u << 30);
}

static uint64_t object_id(int i)
{
    static const uint64_t odd[] = { 0, 1, UINT32_MAX, (uint64_t)1 << 32, ((uint64_t)1 << 53) + 1, UINT64_MAX, UINT64_MAX - 1 };
    return (size_t)i < sizeof(odd) / sizeof(odd[0]) ? odd[i] : (uint64_t)i * 977;
}

static void random_transform(double t[12])
{
    double a = real(0, 6.3), b = real(0, 6.3), far = rnd(4) ? 10 : 1e7;
    double ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b);
    double r[9] = { ca * cb, -sa, ca * sb, sa * cb, ca, sa * sb, -sb, 0, cb };
    for (int j = 0; j < 3; j++) {
        double scale = rnd(3) ? 1 : real(0.01, 20);
        scale *= rnd(4) ? 1 : -1;
        if (rnd(30) == 0)
            scale = 0;
        for (int i = 0; i < 3; i++)
            t[4 * i + j] = r[3 * i + j] * scale;
    }
    for (int i = 0; i < 3; i++)
        t[4 * i + 3] = real(-far, far);
}

/* ---- the made-up device ---- */

static void take_job(const struct visd_job *job)
{
    assert_int_equal(job->scene, 3);
    assert_true(device.open || job->kind == VISD_JOB_SCENE_OPEN);
    if (job->kind == VISD_JOB_SCENE_OPEN) {
        memset(&device, 0, sizeof(device));
        device.open = true;
    } else if (job->kind == VISD_JOB_MESH_ADD) {
        assert_int_equal(device.mesh[job->u.mesh.slot], 0);
        device.mesh[job->u.mesh.slot] = job->u.mesh.block;
    } else if (job->kind == VISD_JOB_MESH_REMOVE) {
        assert_int_equal(device.mesh[job->u.mesh.slot], job->u.mesh.block);
        device.mesh[job->u.mesh.slot] = 0;
        for (uint32_t s = 0; s < device.slots; s++)
            assert_true(!(device.at[s].bounds.flags & VISD_OBJECT_LIVE) || device.at[s].info.mesh != job->u.mesh.slot);
    } else if (job->kind == VISD_JOB_STAGE) {
        const struct visd_object_change *c = visd_segment_at(segment, job->u.stage.block);
        assert_in_range(job->u.stage.count, 1, VISD_SCENE_SLICE);
        for (uint32_t i = 0; i < job->u.stage.count; i++) {
            assert_true(c[i].slot < SLOTS);
            assert_false(device.is_staged[c[i].slot]); /* the scatter has no order */
            device.is_staged[c[i].slot] = true;
            device.staged[c[i].slot] = c[i];
        }
    } else if (job->kind == VISD_JOB_APPLY) {
        assert_true(job->u.apply.revision > device.revision);
        device.revision = job->u.apply.revision;
        device.slots = job->u.apply.slots;
        for (uint32_t s = 0; s < SLOTS; s++) {
            if (!device.is_staged[s])
                continue;
            assert_true(s < device.slots);
            device.at[s] = device.staged[s];
            device.is_staged[s] = false;
        }
    }
    waiting[waiting_count++] = (struct visd_result){ .serial = job->serial, .kind = job->kind };
}

static void pump(bool all)
{
    struct visd_job job;
    for (;;) {
        while (waiting_count < 1000 && visd_scene_next_job(scene, serial + 1, &job)) {
            serial++;
            take_job(&job);
        }
        if (waiting_count == 0 || (!all && rnd(3) == 0))
            return;
        for (size_t i = 0; i < waiting_count; i++)
            assert_true(visd_scene_job_done(scene, &waiting[i]));
        waiting_count = 0;
        if (!all)
            return;
    }
}

/* ---- a record against the twin ---- */

/* The composition is defined in double; its own rounding is not the record's affair. */
static void multiply(double out[12], const double a[12], const double b[12])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            out[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] + (j == 3 ? a[4 * i + 3] : 0);
}

static void world_of(const struct twin *t, int object, long double out[12], uint32_t *flags)
{
    double w[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, v[12];
    int chain[GROUPS], n = 0;
    *flags = t->object[object].flags;
    for (int g = t->object[object].group; g >= 0; g = t->group[g].parent)
        chain[n++] = g;
    while (n > 0) {
        int g = chain[--n];
        *flags |= t->group[g].flags;
        multiply(v, w, t->group[g].t);
        memcpy(w, v, sizeof(w));
    }
    multiply(v, w, t->object[object].t);
    for (int k = 0; k < 12; k++)
        out[k] = (long double)v[k];
}

/* y with linear * y = d, by Cramer's rule; false when linear is flat */
static bool solve(const struct visd_object_bounds *b, const long double d[3], long double y[3])
{
    long double m[3][3], det, size = 1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = (long double)b->row[i].linear[j];
#define DET(a, b_, c) (a[0] * (b_[1] * c[2] - b_[2] * c[1]) - a[1] * (b_[0] * c[2] - b_[2] * c[0]) + a[2] * (b_[0] * c[1] - b_[1] * c[0]))
    long double c[3][3];
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++)
            c[j][i] = m[i][j];
        size *= sqrtl(c[j][0] * c[j][0] + c[j][1] * c[j][1] + c[j][2] * c[j][2]);
    }
    det = DET(c[0], c[1], c[2]);
    if (fabsl(det) <= 1.1e-4L * size)
        return false;
    y[0] = DET(d, c[1], c[2]) / det;
    y[1] = DET(c[0], d, c[2]) / det;
    y[2] = DET(c[0], c[1], d) / det;
    return true;
}

static void check_point(const struct visd_object_change *c, const long double w[12], const double p[3])
{
    long double d[3], y[3];
    for (int i = 0; i < 3; i++) {
        long double reach = 0;
        for (int k = 0; k < 3; k++)
            reach += fabsl((long double)c->bounds.row[i].linear[k]) * (long double)c->bounds.row[k].half;
        d[i] = w[4 * i] * (long double)p[0] + w[4 * i + 1] * (long double)p[1] + w[4 * i + 2] * (long double)p[2] + w[4 * i + 3];
        d[i] -= (long double)c->bounds.centre_hi[i] + (long double)c->bounds.centre_lo[i];
        assert_true(fabsl(d[i]) <= reach * (1 + 0x1p-23L) + 0x1p-45L * fabsl((long double)c->bounds.centre_hi[i])); /* flat ones too */
    }
    if (!solve(&c->bounds, d, y))
        return;
    for (int k = 0; k < 3; k++)
        assert_true(fabsl(y[k]) <= (long double)c->bounds.row[k].half);
}

static void check_object(const struct twin *t, int i, const struct visd_object_change *c)
{
    const struct twin_object *o = &t->object[i];
    const struct twin_mesh *m = o->mesh >= 0 ? &t->mesh[o->mesh] : NULL;
    bool meshed = m && m->vertices > 0;
    uint32_t flags;
    long double w[12];
    double lo[3] = { 0 }, hi[3] = { 0 };
    world_of(t, i, w, &flags);
    for (int k = 0; k < 3; k++) {
        lo[k] = o->has_box ? o->box[k] : meshed ? (double)m->v[0][k] : 0;
        hi[k] = o->has_box ? o->box[3 + k] : meshed ? (double)m->v[0][k] : 0;
        for (uint32_t v = 0; meshed && v < m->vertices; v++) {
            lo[k] = fmin(lo[k], (double)m->v[v][k]);
            hi[k] = fmax(hi[k], (double)m->v[v][k]);
        }
    }
    bool unbounded = (flags & VISD_OBJECT_UNBOUNDED) || (!o->has_box && !meshed);
    long double det = w[0] * (w[5] * w[10] - w[6] * w[9]) - w[1] * (w[4] * w[10] - w[6] * w[8]) + w[2] * (w[4] * w[9] - w[5] * w[8]);
    uint32_t want = flags | VISD_OBJECT_LIVE | (unbounded ? VISD_OBJECT_UNBOUNDED : 0) | ((uint32_t)ceilf(o->margin * 16) << 16);
    uint32_t got = c->bounds.flags & ~(uint32_t)(VISD_OBJECT_MIRRORED | VISD_OBJECT_FLATTENED);
    if (m && m->deviation > 0 && !o->has_box)
        want |= got & VISD_OBJECT_UNBOUNDED; /* flat ones */
    assert_int_equal(got, want);
    long double size = 1;
    for (int j = 0; j < 3; j++)
        size *= sqrtl(w[j] * w[j] + w[4 + j] * w[4 + j] + w[8 + j] * w[8 + j]);
    if (fabsl(det) > 1e-10L * size)
        assert_int_equal(c->bounds.flags & (VISD_OBJECT_MIRRORED | VISD_OBJECT_FLATTENED), det < 0 ? VISD_OBJECT_MIRRORED : 0);
    else if (fabsl(det) <= 1e-14L * size)
        assert_int_equal(c->bounds.flags & (VISD_OBJECT_MIRRORED | VISD_OBJECT_FLATTENED), VISD_OBJECT_FLATTENED);
    for (int j = 0; j < 9; j++) {
        long double linear = (long double)c->bounds.row[j / 3].linear[j % 3] + (long double)c->fine.linear_lo[j / 3][j % 3];
        assert_true(fabsl(linear - w[j / 3 * 4 + j % 3]) <= 0x1p-47L * fabsl(w[j / 3 * 4 + j % 3]));
    }
    assert_int_equal(c->bounds.layers, o->layers);
    assert_int_equal((uint64_t)c->info.id[1] << 32 | c->info.id[0], object_id(i));
    assert_true(c->info.generation != 0);
    assert_int_equal(c->info.mesh == VISD_MESH_NONE, !m);
    if (m) {
        const struct visd_mesh_block *block = visd_segment_at(segment, device.mesh[c->info.mesh]);
        assert_non_null(block);
        assert_int_equal(block->vertices, m->vertices);
        assert_int_equal(block->indices, m->indices);
        assert_memory_equal(block + 1, m->v, m->vertices * 12);
        assert_true((double)block->deviation >= m->deviation);
    }
    for (int k = 0; k < 8; k++) {
        double corner[3] = { k & 1 ? hi[0] : lo[0], k & 2 ? hi[1] : lo[1], k & 4 ? hi[2] : lo[2] };
        check_point(c, w, corner);
    }
    for (uint32_t v = 0; meshed && v < m->vertices; v++)
        for (int k = 0; k < 3; k++)
            assert_true(fabsf(m->v[v][k] - c->info.local[k]) <= c->bounds.row[k].half);
    for (int i3 = 0; i3 < 3; i3++) {
        long double centre = w[4 * i3 + 3], sum, terms = fabsl(w[4 * i3 + 3]), reach = 0, extent = 0, size3 = 0;
        for (int k = 0; k < 3; k++) {
            centre += w[4 * i3 + k] * (long double)c->info.local[k];
            terms += fabsl(w[4 * i3 + k] * (long double)c->info.local[k]);
            reach += fabsl((long double)c->bounds.row[i3].linear[k]) * (long double)c->bounds.row[k].half;
            extent += fabsl(w[4 * i3 + k]) * (long double)(hi[k] - lo[k]) / 2;
            for (int j = 0; j < 3; j++)
                size3 += fabsl(w[4 * j + k]) * (long double)(hi[k] - lo[k]);
        }
        sum = (long double)c->bounds.centre_hi[i3] + (long double)c->bounds.centre_lo[i3];
        assert_true(fabsl(sum - centre) <= 0x1p-45L * terms);
        if (!m || m->deviation == 0) /* tight: no more than rounding was added */
            assert_true(reach <= extent + 1e-2L * size3 + 1e-6L * terms);
    }
}

static void check_device(const struct twin *t)
{
    static uint32_t generation[SLOTS];
    int live = 0, found = 0;
    assert_int_equal(device.revision, t->revision);
    for (int i = 0; i < OBJECTS; i++)
        live += t->object[i].live;
    for (uint32_t s = 0; s < device.slots; s++) {
        const struct visd_object_change *c = &device.at[s];
        if (!(c->bounds.flags & VISD_OBJECT_LIVE))
            continue;
        uint64_t id = (uint64_t)c->info.id[1] << 32 | c->info.id[0];
        int i = 0;
        while (i < OBJECTS && object_id(i) != id)
            i++;
        assert_true(i < OBJECTS && t->object[i].live);
        assert_int_equal(visd_scene_find_object(scene, id), s);
        assert_true(c->info.generation >= generation[s]);
        generation[s] = c->info.generation;
        check_object(t, i, c);
        struct visd_object_row row;
        visd_scene_object_row(scene, s, &row);
        assert_int_equal(row.name_bytes, strlen(t->object[i].name));
        assert_memory_equal(row.name, t->object[i].name, row.name_bytes);
        found++;
    }
    assert_int_equal(found, live);
    assert_int_equal(visd_scene_objects(scene), (uint64_t)live);
}

/* ---- random batches: each item goes to the batch and to the twin; false: the twin says it must be refused ---- */

static bool object_item(struct visd_batch *b, struct twin *t, bool set)
{
    struct visd_refusal why;
    uint64_t ids[8], meshes[8], groups[8];
    double boxes[8][6], transforms[8][12];
    uint32_t flags[8], layers[8], offsets[9] = { 0 };
    float margins[8];
    char names[8 * 16];
    bool right = true, given[8], mesh_given = rnd(2), group_given = rnd(2), box_given = !set || rnd(2), name_given = rnd(2), rest = rnd(2);
    int n = (int)rnd(8) + 1;
    for (int k = 0; k < n; k++) {
        int i = (int)rnd(OBJECTS), mesh = (int)rnd(MESHES + 1) - 1, group = (int)rnd(GROUPS + 1) - 1;
        struct twin_object *o = &t->object[i];
        for (int j = 0; j < k; j++)
            given[j] = ids[j] == object_id(i);
        bool twice = false;
        for (int j = 0; j < k; j++)
            twice |= given[j];
        if (twice || (rnd(50) && o->live != set) || (mesh >= 0 && !t->mesh[mesh].live && rnd(50)) || (group >= 0 && !t->group[group].live && rnd(50))) {
            k--;
            if (rnd(20) == 0)
                n--;
            continue;
        }
        right = right && o->live == set;
        ids[k] = object_id(i);
        if (!set)
            *o = (struct twin_object){ .layers = UINT32_MAX, .mesh = -1, .group = -1, .t = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
        o->live = true;
        for (int j = 0; j < 3; j++) {
            double x = real(-10, 10), y = x + (rnd(4) ? real(0, 3) : 0);
            boxes[k][j] = x;
            boxes[k][3 + j] = y;
        }
        if (box_given) {
            memcpy(o->box, boxes[k], sizeof(o->box));
            o->has_box = true;
        }
        random_transform(transforms[k]);
        flags[k] = (uint32_t)rnd(1u << 9);
        layers[k] = (uint32_t)rnd(1u << 16);
        margins[k] = (float)real(0, 4000);
        if (rest) {
            memcpy(o->t, transforms[k], sizeof(o->t));
            o->flags = flags[k];
            o->layers = layers[k];
            o->margin = margins[k];
        }
        meshes[k] = mesh < 0 ? VISD_ID_NONE : (uint64_t)mesh * 3;
        groups[k] = group < 0 ? VISD_ID_NONE : (uint64_t)group * 5;
        if (mesh_given) {
            right = right && (mesh < 0 || t->mesh[mesh].live);
            o->mesh = mesh;
        }
        if (group_given) {
            right = right && (group < 0 || t->group[group].live);
            o->group = group;
        }
        int length = snprintf(names + offsets[k], 16, "%s", rnd(3) ? "\xc3\xbc" "ber 7" : "");
        offsets[k + 1] = offsets[k] + (uint32_t)length;
        if (name_given)
            snprintf(o->name, sizeof(o->name), "%.*s", length, names + offsets[k]);
    }
    struct visd_object_columns c = { .count = (uint64_t)(n < 0 ? 0 : n), .ids = ids, .boxes = box_given ? boxes : NULL,
        .transforms = rest ? transforms : NULL, .flags = rest ? flags : NULL, .margins = rest ? margins : NULL, .layers = rest ? layers : NULL,
        .meshes = mesh_given ? meshes : NULL, .groups = group_given ? groups : NULL, .names = name_given ? names : NULL,
        .name_bytes = name_given ? offsets[n < 0 ? 0 : n] : 0, .name_offsets = name_given ? offsets : NULL };
    assert_int_equal(set ? visd_batch_object_set(b, &c, &why) : visd_batch_object_add(b, &c, &why), VISD_ERR_OK);
    return right;
}

static bool remove_item(struct visd_batch *b, struct twin *t)
{
    struct visd_refusal why;
    int i = (int)rnd(OBJECTS), m = (int)rnd(MESHES), g = (int)rnd(GROUPS);
    uint64_t object = object_id(i), mesh = (uint64_t)m * 3, group = (uint64_t)g * 5;
    bool right = true;
    if (rnd(5)) {
        if (!t->object[i].live && rnd(20))
            return true;
        assert_int_equal(visd_batch_object_remove(b, &object, 1, &why), VISD_ERR_OK);
        right = t->object[i].live;
        t->object[i].live = false;
        t->object[i].name[0] = 0;
    } else if (rnd(2)) {
        right = t->mesh[m].live;
        for (int k = 0; k < OBJECTS; k++)
            right = right && !(t->object[k].live && t->object[k].mesh == m);
        if (!right && rnd(20))
            return true;
        assert_int_equal(visd_batch_mesh_remove(b, &mesh, 1, &why), VISD_ERR_OK);
        t->mesh[m].live = false;
    } else {
        right = t->group[g].live;
        for (int k = 0; k < OBJECTS; k++)
            right = right && !(t->object[k].live && t->object[k].group == g);
        for (int k = 0; k < GROUPS; k++)
            right = right && !(t->group[k].live && t->group[k].parent == g);
        if (!right && rnd(20))
            return true;
        assert_int_equal(visd_batch_group_remove(b, &group, 1, &why), VISD_ERR_OK);
        t->group[g].live = false;
    }
    return right;
}

static bool group_item(struct visd_batch *b, struct twin *t)
{
    struct visd_refusal why;
    int g = (int)rnd(GROUPS), parent = (int)rnd(GROUPS + 3) - 3;
    uint64_t id = (uint64_t)g * 5, parent_id = parent < 0 ? VISD_ID_NONE : (uint64_t)parent * 5;
    double transform[12];
    uint32_t flags = rnd(4) ? 0 : VISD_OBJECT_HIDDEN | VISD_OBJECT_XRAY;
    bool right = parent < 0 || t->group[parent].live || parent == g;
    parent = parent < 0 ? -1 : parent;
    for (int p = parent; right && p >= 0; p = t->group[p].parent)
        right = p != g;
    if (!right && rnd(20))
        return true;
    random_transform(transform);
    struct twin_group *tg = &t->group[g];
    tg->live = true;
    tg->parent = parent;
    tg->flags = flags;
    memcpy(tg->t, transform, sizeof(transform));
    struct visd_group_columns c = { .count = 1, .groups = &id, .parents = &parent_id, .transforms = transform, .flags = &flags };
    assert_int_equal(visd_batch_group_put(b, &c, &why), VISD_ERR_OK);
    return right;
}

static bool mesh_item(struct visd_batch *b, struct twin *t)
{
    struct visd_refusal why;
    int m = (int)rnd(MESHES);
    struct twin_mesh *tm = &t->mesh[m];
    uint32_t indices[12];
    tm->live = true;
    tm->vertices = (uint32_t)rnd(VERTICES + 1);
    tm->indices = tm->vertices ? (uint32_t)rnd(5) * 3 : 0;
    tm->deviation = rnd(3) ? 0 : 0.01;
    for (uint32_t v = 0; v < tm->vertices; v++)
        for (int k = 0; k < 3; k++)
            tm->v[v][k] = (float)real(-5, 5);
    for (uint32_t i = 0; i < tm->indices; i++)
        indices[i] = (uint32_t)rnd(tm->vertices);
    struct visd_mesh_columns c = { .positions = tm->v, .vertices = tm->vertices, .indices = indices, .indices_count = tm->indices,
        .deviation = tm->deviation };
    assert_int_equal(visd_batch_mesh_put(b, (uint64_t)m * 3, &c, &why), VISD_ERR_OK);
    return true;
}

static void test_random_batches(void **state)
{
    (void)state;
    static struct twin now, next;
    int commits = 0, refusals = 0;
    struct visd_scene_params params = { .number = 3, .name = "twin" };
    assert_int_equal(visd_segment_create(&segment, 0), VISD_ERR_OK);
    assert_int_equal(visd_scene_create(&scene, segment, &params, NULL), VISD_ERR_OK);
    for (int round = 0; round < 3000; round++) {
        struct visd_batch *b;
        struct visd_refusal why;
        struct visd_commit_reply reply;
        bool right = true;
        memcpy(&next, &now, sizeof(now));
        assert_int_equal(visd_batch_create(&b, segment), VISD_ERR_OK);
        int items = (int)rnd(6);
        for (int k = 0; k < items && right; k++) {
            switch (rnd(8)) {
            case 0: right = mesh_item(b, &next); break;
            case 1: right = group_item(b, &next); break;
            case 2: case 3: right = remove_item(b, &next); break;
            case 4: case 5: right = object_item(b, &next, true); break;
            default: right = object_item(b, &next, false); break;
            }
        }
        enum visd_err err = visd_scene_commit(scene, b, &(struct visd_commit_params){ 0 }, &reply, &why);
        if (right) {
            if (err != VISD_ERR_OK)
                print_error("round %d: %s\n", round, why.text);
            assert_int_equal(err, VISD_ERR_OK);
            next.revision++;
            memcpy(&now, &next, sizeof(now));
            commits++;
        } else {
            assert_int_not_equal(err, VISD_ERR_OK);
            assert_true(why.id_count > 0 && why.text[0]);
            refusals++;
        }
        visd_batch_destroy(b);
        assert_int_equal(visd_scene_revision(scene), now.revision);
        assert_true(round % 10 || visd_scene_check(scene));
        if (rnd(40) == 0) {
            visd_scene_reload(scene); /* the worker died */
            waiting_count = 0;
            assert_true(visd_scene_loading(scene));
        }
        if (rnd(3))
            pump(rnd(2));
        if (round % 10 == 9) {
            pump(true);
            assert_true(visd_scene_ready(scene, now.revision));
            check_device(&now);
        }
        if (round % 100 == 0) {
            struct visd_scene_info info;
            visd_scene_info(scene, &info);
            assert_true(info.bounded ? info.min[0] <= info.max[0] : info.min[0] == 0);
        }
    }
    assert_true(commits > 1000 && refusals > 100);
    visd_scene_close(scene);
    pump(true);
    assert_true(visd_scene_closed(scene));
    visd_scene_destroy(scene);
    assert_int_equal(visd_segment_used(segment), 0);
    visd_segment_destroy(segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random_batches) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
