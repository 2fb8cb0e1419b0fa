/* Inside the glTF reader: the open document, checked access to its JSON, buffers and accessors.
 *
 * Used by the gltf_*.c files alone. A place is where in the file something stands, as people write it
 * ("accessors[12].sparse"); every refusal begins with one. */
#ifndef VISD_VISCTL_IMPORT_GLTF_DOCUMENT_H
#define VISD_VISCTL_IMPORT_GLTF_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../model/model.h"

/* What one file may make us hold, its buffers and the model made of it together; and one piece of that. */
#define GLTF_MAX_BYTES (8ull << 30)
#define GLTF_MAX_PIECE (4ull << 30)

enum gltf_array { GLTF_SCENES, GLTF_NODES, GLTF_MESHES, GLTF_MATERIALS, GLTF_ACCESSORS, GLTF_VIEWS, GLTF_BUFFERS, GLTF_SKINS, GLTF_ANIMATIONS, GLTF_ARRAYS };

struct gltf_bytes {
    const unsigned char *at;
    size_t size;
    void *owned; /* what to free; NULL when at points into the file */
    bool ready;
};

struct gltf_document {
    const char *name;   /* of the file, for texts */
    const char *folder; /* or NULL */
    json_t *root;
    json_t *array[GLTF_ARRAYS]; /* arrays of objects, never NULL */
    uint32_t count[GLTF_ARRAYS];
    const unsigned char *bin; /* a GLB's second chunk, or NULL */
    size_t bin_size;
    struct gltf_bytes *buffers; /* as many as there are; loaded when first asked for */
    struct gltf_bytes *views;   /* only for views that meshopt packed: what they unpack to */
    uint64_t held;              /* bytes, against GLTF_MAX_BYTES */
    struct visd_model *model;   /* being built; takes warnings */
    struct visd_why *why;
};

struct gltf_place {
    char text[112];
};
struct gltf_place gltf_place(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fills the refusal: "NAME: PLACE: what". Returns err. */
enum visd_err gltf_refuse(struct gltf_document *d, enum visd_err err, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Charges memory before it is taken; release gives a charge back. */
enum visd_err gltf_charge(struct gltf_document *d, const char *place, uint64_t bytes);
void gltf_release(struct gltf_document *d, uint64_t bytes);

/* Parses and checks all that concerns the document as a whole; close takes zeroed and half-open documents. */
enum visd_err gltf_document_open(struct gltf_document *d, const unsigned char *bytes, size_t size);
void gltf_document_close(struct gltf_document *d);
/* Fields. An absent one leaves *out as it was; a mistyped or out-of-range one is refused. */
enum visd_err gltf_get_uint(struct gltf_document *d, const char *place, const json_t *object, const char *key, uint64_t max, uint64_t *out);
enum visd_err gltf_get_index(struct gltf_document *d, const char *place, const json_t *object, const char *key, enum gltf_array array,
                             uint32_t *out);
enum visd_err gltf_get_numbers(struct gltf_document *d, const char *place, const json_t *object, const char *key, size_t count, double *out,
                               bool *present);
enum visd_err gltf_get_number(struct gltf_document *d, const char *place, const json_t *object, const char *key, double *out);
enum visd_err gltf_get_bool(struct gltf_document *d, const char *place, const json_t *object, const char *key, bool *out);
enum visd_err gltf_get_string(struct gltf_document *d, const char *place, const json_t *object, const char *key, const char **out);
enum visd_err gltf_get_object(struct gltf_document *d, const char *place, const json_t *object, const char *key, const json_t **out);
enum visd_err gltf_get_array(struct gltf_document *d, const char *place, const json_t *object, const char *key, const json_t **out);
/* extensions.NAME of an object, *out NULL when absent. */
enum visd_err gltf_get_extension(struct gltf_document *d, const char *place, const json_t *object, const char *name, const json_t **out);
const json_t *gltf_at(const struct gltf_document *d, enum gltf_array array, uint32_t index); /* index is in range */

/* The bytes of a buffer view, unpacked where meshopt packed it; *stride 0 where it declares none. */
enum visd_err gltf_view(struct gltf_document *d, uint32_t view, const unsigned char **at, size_t *size, size_t *stride);

struct gltf_accessor {
    uint32_t number;
    const unsigned char *at; /* first element */
    size_t stride;
    uint32_t count, component_type, components;
    bool normalized;
    unsigned char *owned; /* sparse or all-zero accessors are written out; freed by close */
    uint64_t charged;
};
enum visd_err gltf_accessor_open(struct gltf_document *d, struct gltf_accessor *a, uint32_t number);
void gltf_accessor_close(struct gltf_document *d, struct gltf_accessor *a); /* takes zeroed ones */
void gltf_accessor_floats(const struct gltf_accessor *a, uint32_t element, float *out); /* as many as there are components */
uint32_t gltf_accessor_index(const struct gltf_accessor *a, uint32_t element);          /* unsigned component types only */
bool gltf_accessor_is_index(const struct gltf_accessor *a);                             /* a scalar of such a type, not normalized */

/* What a material says of the faces that wear it; material VISD_MODEL_NONE is glTF's default. */
struct gltf_surface {
    uint32_t sides; /* enum visd_model_sides */
    bool see_through;
};
enum visd_err gltf_material(struct gltf_document *d, uint32_t material, struct gltf_surface *out);

/* What became of a glTF mesh. */
struct gltf_mesh {
    bool read;
    uint32_t mesh; /* in the model, or VISD_MODEL_NONE: it has no triangles */
    double min[3], max[3];
    bool thin;        /* has points or lines, which are drawn wider than they are */
    bool see_through; /* all of it */
    bool morphs;
};
enum visd_err gltf_mesh_read(struct gltf_document *d, uint32_t mesh, struct gltf_mesh *out);

enum visd_err gltf_scene_read(struct gltf_document *d, const char *scene);

#endif
