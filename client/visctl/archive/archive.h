/* A scene as a file, exactly: everything that the daemon tells of it, to the bit.
 *
 * The file is a GLB. Its JSON and BIN chunks show the scene to any glTF viewer, and to visctl load, as far as glTF can say it:
 * hidden objects have no mesh there, what is x-rayed, ghosted or a helper is see-through, an object without a mesh is
 * the wires of its box. A third chunk, of type "VISD", holds the scene itself; it alone is read back. Its numbers are little-endian,
 * its records (archive_format.h) packed:
 *
 *   head       56 bytes   magic, version, metres per unit, how many meshes, groups and objects, bytes of names
 *   meshes     40 each    id; where in BIN its positions (f32 x 3), indices (u32 x 3) and parts (u32 x 4) follow each other
 *   groups    128 each    id, parent, transform, flags, name
 *   objects   224 each    id, mesh, group, box, transform, cost, draw, ...; what was not given is zero, and says so
 *   names                 UTF-8, each with a zero behind it; filled up to a multiple of eight bytes
 *   digest      8 bytes   of the whole file up to here, so that damage is seen, and other programs' changes
 *
 * All is in the daemon's own order (slots), so that a scene that is read back and written again gives the same bytes. The scene's name and
 * revision are not in it. Types of visd/client.h are used, none of its functions. One thread. */
#ifndef VISD_VISCTL_ARCHIVE_ARCHIVE_H
#define VISD_VISCTL_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <visd/client.h>

#include "../model/why.h"

/* ---- writing: all meshes, then all groups, then all objects ---- */

#define VISD_ARCHIVE_GROUP_COLUMNS (VISD_COLUMN_NAMES | VISD_COLUMN_TRANSFORMS)
#define VISD_ARCHIVE_OBJECT_COLUMNS (VISD_COLUMN_NAMES | VISD_COLUMN_BOXES | VISD_COLUMN_TRANSFORMS | VISD_COLUMN_DRAWING | VISD_COLUMN_GIVEN)

struct visd_archive_writer;

/* Errors: IO (cannot be written), TOO_BIG (more than a GLB holds), BAD_VALUE (rows name meshes or groups that were not put; a
 * path that ends in .gltf), NO_MEMORY. The file appears under its name when it is finished; until then, and after an
 * error, what was there stays. */
enum visd_err visd_archive_create(struct visd_archive_writer **out, const char *path, double metres_per_unit, struct visd_why *why);
enum visd_err visd_archive_put_mesh(struct visd_archive_writer *writer, const struct visd_client_mesh *mesh, struct visd_why *why);
/* Pages with the columns above. */
enum visd_err visd_archive_put_groups(struct visd_archive_writer *writer, const struct visd_client_page *page, struct visd_why *why);
enum visd_err visd_archive_put_objects(struct visd_archive_writer *writer, const struct visd_client_page *page, struct visd_why *why);
enum visd_err visd_archive_finish(struct visd_archive_writer *writer, struct visd_why *why);
void visd_archive_destroy(struct visd_archive_writer *writer); /* NULL is fine */

/* ---- reading ---- */

struct visd_archive {
    double metres_per_unit;
    uint64_t meshes, groups, objects;
    /* Where they lie; for archive_read.c. */
    unsigned char *file;
    const unsigned char *bin, *mesh_records, *group_records, *object_records;
    const char *names;
};

struct visd_archive_row {
    uint64_t id, mesh, group; /* VISD_NO_ID: none; of a group: its parent */
    uint32_t flags, layers, batch_key;
    float margin;
    double transform[12];
    uint32_t given; /* enum visd_client_given: what of the following is its own, and not the daemon's default */
    double box[6], cost;
    uint32_t draw[5];
    const char *name;
};

/* Reads all of it and proves that it is whole: lengths, places and the digest. Errors: IO, BAD_MESSAGE (not such a file), BAD_VALUE
 * (truncated or damaged), NOT_SUPPORTED (a later version), NO_MEMORY; then *out is closed. What the numbers mean is the daemon's to check. */
enum visd_err visd_archive_open(struct visd_archive *out, const char *path, struct visd_why *why);
/* The same from memory that malloc gave, which is taken over, also on failure. name is for texts. */
enum visd_err visd_archive_open_memory(struct visd_archive *out, unsigned char *bytes, size_t size, const char *name, struct visd_why *why);
void visd_archive_close(struct visd_archive *archive); /* takes zeroed ones */

/* By number, in the order of the file. What they point to is good until close. */
void visd_archive_mesh(const struct visd_archive *archive, uint64_t number, struct visd_client_mesh *out);
void visd_archive_group(const struct visd_archive *archive, uint64_t number, struct visd_archive_row *out);
void visd_archive_object(const struct visd_archive *archive, uint64_t number, struct visd_archive_row *out);

#endif
