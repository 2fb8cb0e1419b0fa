/* Scenes made to measure: office, city, mall, random, grid, curtain.
 *
 * The same kind, seed and count always give the same scene, bit for bit; in all but the grid and the curtain,
 * more objects leave those before as they are. It is said to a sink piece by piece, so ten million objects need no memory
 * here. Each kind comes with a flight of cameras. Blocking; a call is independent of every other. */
#ifndef VISD_VISCTL_GENERATE_GENERATE_H
#define VISD_VISCTL_GENERATE_GENERATE_H

#include <visd/client.h>

#include "../model/sink.h"

struct visd_generate_params {
    const char *kind;
    uint64_t seed;
    uint64_t objects; /* 0: as many as the kind has by itself */
    uint64_t id_base; /* the first object's id */
    double share;     /* of the curtain: how many percent of its objects are seen, up to 100; 0: 1 */
    void (*progress)(void *context, uint64_t done, uint64_t all); /* or NULL */
    void *context;
};

struct visd_generate_kind {
    const char *name, *about; /* one line for people */
    uint64_t objects;         /* by default */
    uint64_t least;
};

/* All kinds; the last has no name. */
const struct visd_generate_kind *visd_generate_kinds(void);

/* Refuses an unknown kind, and counts below a kind's least or past a scene's limit. The sink is finished on success. */
enum visd_err visd_generate(const struct visd_generate_params *params, struct visd_sink *sink, struct visd_why *why);

/* A flight of count cameras (0: 300) through that scene; *out is an array for free(). */
enum visd_err visd_generate_cameras(const struct visd_generate_params *params, uint32_t width, uint32_t height, size_t *count,
                                    struct visd_client_camera **out, struct visd_why *why);

#endif
