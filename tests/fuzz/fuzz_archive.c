/* link: visd_visctl visd_proto */
/* Any bytes as an exported scene: one that can be read to its last byte, or a refusal with a text. The digest is made right first: no
 * input would get past it by chance. */
#include "fuzz.h"

#include <string.h>

#include "client/visctl/archive/archive.h"
#include "client/visctl/model/digest.h"

static volatile uint64_t seen; /* so that nothing read is optimised away */

static void touch(const void *at, size_t size)
{
    for (size_t i = 0; i < size; i++) seen += ((const unsigned char *)at)[i];
}

static void read_all(const struct visd_archive *a)
{
    struct visd_client_mesh mesh;
    struct visd_archive_row row;
    FUZZ_CHECK(a->metres_per_unit > 0);
    for (uint64_t i = 0; i < a->meshes; i++) {
        visd_archive_mesh(a, i, &mesh);
        touch(mesh.positions, mesh.vertices * 12);
        touch(mesh.indices, mesh.triangles * 12);
        touch(mesh.part, mesh.parts * sizeof(*mesh.part));
    }
    for (uint64_t i = 0; i < a->groups; i++) {
        visd_archive_group(a, i, &row);
        touch(row.name, strlen(row.name));
    }
    for (uint64_t i = 0; i < a->objects; i++) {
        visd_archive_object(a, i, &row);
        touch(row.name, strlen(row.name));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct visd_archive archive;
    struct visd_why why = {{0}};
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) return 0;
    memcpy(copy, bytes, size);
    if (size >= 8) {
        struct visd_byte_digest digest = {0};
        visd_byte_digest_add(&digest, copy, size - 8);
        uint64_t sum = visd_byte_digest_end(&digest);
        memcpy(copy + size - 8, &sum, sizeof(sum));
    }
    if (visd_archive_open_memory(&archive, copy, size, "input", &why) == VISD_ERR_OK)
        read_all(&archive);
    else
        FUZZ_CHECK(why.text[0] && !archive.file);
    visd_archive_close(&archive);
    return 0;
}
