/* The smallest whole use of visd, in C: a wall, boxes before and behind it, one camera, and what it sees.
 *
 *   cc boxes.c $(pkg-config --cflags --libs visd) -o boxes && ./boxes ipc:///run/visd/visd.sock */
#include <inttypes.h>
#include <stdio.h>
#include <visd/client.h>

#define BOXES 20
#define WALL_MESH 1

static int fail(const char *what, const struct visd_client_failure *why)
{
    fprintf(stderr, "%s: %s\n", what, why->text);
    return 1;
}

/* Objects 0 to 9 stand before the wall (z > 0), 10 to 19 behind it; object 100 is the wall. Only an object with a mesh hides others. */
static enum visd_err fill(struct visd_client_batch *batch)
{
    static const float corners[] = {-20, -20, 0, 20, -20, 0, 20, 20, 0, -20, 20, 0};
    static const uint32_t triangles[] = {0, 1, 2, 0, 2, 3};
    static const uint64_t wall = 100, wall_mesh = WALL_MESH;
    static const uint32_t wall_flags = VISD_FLAG_DOUBLE_SIDED;
    uint64_t ids[BOXES];
    double boxes[6 * BOXES];
    struct visd_client_mesh mesh = {.id = WALL_MESH, .vertices = 4, .triangles = 2, .positions = corners, .indices = triangles};
    struct visd_client_objects wall_object = {.count = 1, .ids = &wall, .meshes = &wall_mesh, .flags = &wall_flags};
    struct visd_client_objects objects = {.count = BOXES, .ids = ids, .boxes = boxes};
    enum visd_err err;
    for (int i = 0; i < BOXES; i++) {
        double x = i % 10 - 4.5, z = i < 10 ? 3 : -3;
        const double box[6] = {x - 0.3, -0.3, z - 0.3, x + 0.3, 0.3, z + 0.3};
        ids[i] = (uint64_t)i;
        for (int k = 0; k < 6; k++) boxes[6 * i + k] = box[k];
    }
    if ((err = visd_client_batch_mesh_put(batch, &mesh)) != VISD_ERR_OK) return err;
    if ((err = visd_client_batch_object_add(batch, &wall_object)) != VISD_ERR_OK) return err;
    return visd_client_batch_object_add(batch, &objects);
}

/* 20 units before the wall, looking at it; a right-handed view of 60 degrees, depth from 0 near to 1 far. */
static void look(struct visd_client_camera *camera)
{
    const double f = 1.7320508, near = 0.1, far = 100;
    camera->view[14] = -20;
    camera->proj[0] = camera->proj[5] = f;
    camera->proj[10] = far / (near - far);
    camera->proj[11] = -1;
    camera->proj[14] = near * far / (near - far);
    camera->proj[15] = 0;
    camera->width = camera->height = 512;
}

int main(int argc, char **argv)
{
    struct visd_client *client;
    struct visd_client_failure why;
    struct visd_client_scene scene;
    struct visd_client_batch *batch;
    struct visd_client_view *view;
    struct visd_client_frame frame;
    struct visd_client_result result;
    int status = 1;

    if (visd_client_connect(&client, argc > 1 ? argv[1] : "ipc:///run/visd/visd.sock", NULL, &why) != VISD_ERR_OK)
        return fail("connect", &why);
    if (visd_client_scene_create(client, "example-boxes", 1, false, &scene) != VISD_ERR_OK ||
        visd_client_batch_create(&batch, client, scene.scene) != VISD_ERR_OK) goto error;
    if (fill(batch) != VISD_ERR_OK || visd_client_batch_commit(batch, NULL) != VISD_ERR_OK) goto error;
    visd_client_batch_destroy(batch);

    if (visd_client_view_open(client, scene.scene, NULL, &view) != VISD_ERR_OK) goto error;
    visd_client_frame_init(&frame, view);
    look(&frame.camera);
    if (visd_client_cull(client, &frame, &result) != VISD_ERR_OK) goto error;
    printf("%s, lag %" PRIu32 "%s:", visd_client_grade_name(result.grade), result.lag, result.all ? ", everything" : "");
    for (size_t i = 0; i < result.count; i++) printf(" %" PRIu64, result.ids[i]);
    printf("\n");
    status = visd_client_scene_remove(client, scene.scene) != VISD_ERR_OK;
error:
    if (status) fail("example", visd_client_why(client));
    visd_client_close(client);
    return status;
}
