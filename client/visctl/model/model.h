/* A whole scene in memory, as read from a file: groups, meshes and objects in walk order.
 *
 * Built by adding rows in the order that sink.h demands, and then read only. The model owns everything in it, names
 * included. It is also a sink, so that whatever streams can be collected. One thread. */
#ifndef VISD_VISCTL_MODEL_MODEL_H
#define VISD_VISCTL_MODEL_MODEL_H

#include "sink.h"

#define VISD_MODEL_WARNINGS 16

struct visd_model {
    struct visd_sink sink;
    struct visd_model_mesh *meshes;
    struct visd_model_group *groups;
    struct visd_model_object *objects;
    uint32_t mesh_count, group_count, object_count;
    uint32_t mesh_room, group_room, object_room;
    struct visd_model_chunk *chunks; /* memory for names and TRS rows */
    char *warnings[VISD_MODEL_WARNINGS]; /* for people; each once */
    uint32_t warning_count, warnings_dropped;
};

void visd_model_init(struct visd_model *model); /* no memory taken yet */
void visd_model_finish(struct visd_model *model); /* takes zeroed and half-built models */

/* Takes over the mesh's arrays (and leaves the caller's struct zeroed), also on failure. */
enum visd_err visd_model_take_mesh(struct visd_model *model, struct visd_model_mesh *mesh, struct visd_why *why);
/* Copies the row, its path and TRS. */
enum visd_err visd_model_add_group(struct visd_model *model, const struct visd_model_group *group, struct visd_why *why);
enum visd_err visd_model_add_object(struct visd_model *model, const struct visd_model_object *object, struct visd_why *why);
/* Keeps a remark; the same text is kept once. Never fails: what does not fit is counted. */
void visd_model_warn(struct visd_model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says the whole model to a sink, ids raised by id_base, and finishes it. progress may be NULL; it is told rows done of all. */
enum visd_err visd_model_send(const struct visd_model *model, struct visd_sink *sink, uint64_t id_base,
                              void (*progress)(void *context, uint64_t done, uint64_t all), void *context, struct visd_why *why);

struct visd_model_figures {
    uint64_t triangles_unique, triangles; /* stored; placed */
    uint32_t meshes_used;
    double min[3], max[3]; /* world box round the boxes of all objects; min > max if there are none */
};
enum visd_err visd_model_figures(const struct visd_model *model, struct visd_model_figures *out, struct visd_why *why);

/* The transform of a group to the scene. */
void visd_model_group_world(const struct visd_model *model, uint32_t group, double out[12]);

/* The last name of a path, without the backslashes that guard it; at most room - 1 bytes. */
void visd_model_path_name(const char *path, char *out, size_t room);

void visd_model_mesh_free(struct visd_model_mesh *mesh); /* the arrays; takes zeroed meshes */
void visd_model_mesh_box(struct visd_model_mesh *mesh);  /* min and max from the positions */

/* True if what sink.h says of a mesh holds. */
bool visd_model_mesh_check(const struct visd_model_mesh *mesh);

#endif
