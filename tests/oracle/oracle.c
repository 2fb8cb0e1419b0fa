/* oracle DUMP: the visible sets of every camera of the dump, a line each, on standard output. */
#include "oracle.h"

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: oracle DUMP\n");
        return 2;
    }
    struct scene scene;
    if (!scene_read(&scene, argv[1]))
        return 1;
    bool good = true;
    for (uint32_t i = 0; good && i < scene.cameras; i++)
        good = camera_cast(&scene, &scene.camera[i], i, stdout);
    scene_finish(&scene);
    return good && fflush(stdout) == 0 ? 0 : 1;
}
