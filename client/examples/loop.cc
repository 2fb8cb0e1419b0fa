// visd in the event loop of a C++ program: cameras go out as fast as they come, answers are drawn when they are there, nothing waits.
//
//   c++ loop.cc $(pkg-config --cflags --libs visd) -o loop && ./loop ipc:///run/visd/visd.sock SCENE

#include <poll.h>
#include <visd/client.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

namespace {

struct Close {
    void operator()(visd_client *client) const { visd_client_close(client); }
};
using Client = std::unique_ptr<visd_client, Close>;

// A camera on a circle round the scene's middle.
void orbit(const struct visd_client_scene &scene, double angle, struct visd_client_camera *camera)
{
    double middle[3], size = 0;
    for (int k = 0; k < 3; k++) {
        middle[k] = (scene.min[k] + scene.max[k]) / 2;
        size = std::fmax(size, scene.max[k] - scene.min[k]);
    }
    const double c = std::cos(angle), s = std::sin(angle), near = size / 1000, far = size * 10;
    const double view[16] = {c,
                             0,
                             s,
                             0,
                             0,
                             1,
                             0,
                             0,
                             -s,
                             0,
                             c,
                             0,
                             -(c * middle[0] - s * middle[2]),
                             -middle[1],
                             -(s * middle[0] + c * middle[2]) - 1.5 * size,
                             1};
    const double proj[16] = {1.3, 0, 0, 0, 0, 1.73, 0, 0, 0, 0, far / (near - far), -1, 0, 0, near * far / (near - far), 0};
    for (int i = 0; i < 16; i++) {
        camera->view[i] = view[i];
        camera->proj[i] = proj[i];
    }
    camera->width = 1280;
    camera->height = 960;
}

int fail(const struct visd_client_failure *why)
{
    std::fprintf(stderr, "%s\n", why->text);
    return 1;
}

}  // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s URL SCENE\n", argv[0]);
        return 2;
    }
    struct visd_client_failure why;
    visd_client *raw = nullptr;
    if (visd_client_connect(&raw, argv[1], nullptr, &why) != VISD_ERR_OK) return fail(&why);
    Client client(raw);

    struct visd_client_scene scene;
    visd_client_view *view = nullptr;
    if (visd_client_scene_find(client.get(), argv[2], &scene) != VISD_ERR_OK ||
        visd_client_view_open(client.get(), scene.scene, nullptr, &view) != VISD_ERR_OK)
        return fail(visd_client_why(client.get()));

    const auto begin = std::chrono::steady_clock::now();
    uint64_t drawn = 0;
    for (int picture = 0; picture < 120; picture++) {
        struct visd_client_frame frame;
        visd_client_frame_init(&frame, view);
        orbit(scene, 2 * M_PI * picture / 120, &frame.camera);
        frame.delta = true;
        // BUSY: the daemon is behind; this camera is left out, a newer one follows.
        enum visd_err err = visd_client_frames_send(client.get(), &frame, 1, nullptr);
        if (err != VISD_ERR_OK && err != VISD_ERR_BUSY) return fail(visd_client_why(client.get()));

        // Here a program would wait for its window too.
        struct pollfd fd = {visd_client_fd(client.get()), POLLIN, 0};
        if (poll(&fd, 1, 16) > 0) visd_client_dispatch(client.get());

        struct visd_client_result result;
        uint64_t age;
        if (visd_client_view_latest(view, &result, &age) == VISD_ERR_OK && result.frame != drawn) {
            drawn = result.frame;
            std::printf("frame %llu: %zu objects, %s, %.1f ms old\n", static_cast<unsigned long long>(drawn), result.count,
                        visd_client_grade_name(result.grade), static_cast<double>(age) / 1e6);
        }
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("120 cameras in %.2f s\n", seconds.count());
    return 0;
}
