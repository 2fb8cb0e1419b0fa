/* See declared.h. */
#include "declared.h"

#include <math.h>

#include "importer.h"

#define DEEPEST 1024u /* convert refuses far less */
#define SLACK 1e-5 /* of the largest coordinate: the library's numbers are floats, and not the nearest ones */

void declared_vertex(struct declared *d, const double at[3])
{
    for (int k = 0; k < 3; k++) {
        d->min[k] = d->boxed ? fmin(d->min[k], at[k]) : at[k];
        d->max[k] = d->boxed ? fmax(d->max[k], at[k]) : at[k];
    }
    d->boxed = true;
}

static void add_read(struct declared *d, const struct aiMesh *mesh, unsigned vertex)
{
    if (vertex >= mesh->mNumVertices) return; /* convert refuses it by name */
    const struct aiVector3D *p = &mesh->mVertices[vertex];
    declared_vertex(d, (const double[3]){p->x, p->y, p->z});
}

static struct declared read_of(const struct aiScene *scene)
{
    struct declared d = {0};
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = scene->mMeshes[m];
        for (unsigned f = 0; f < mesh->mNumFaces; f++) {
            const struct aiFace *face = &mesh->mFaces[f];
            d.points += face->mNumIndices == 1;
            d.lines += face->mNumIndices == 2;
            d.polygons += face->mNumIndices > 2;
            if (face->mNumIndices > 2) d.corners += face->mNumIndices;
            for (unsigned i = 0; i < face->mNumIndices; i++) add_read(&d, mesh, face->mIndices[i]);
        }
        if (mesh->mNumFaces) continue;
        d.points += mesh->mNumVertices; /* as convert takes it */
        for (unsigned v = 0; v < mesh->mNumVertices; v++) add_read(&d, mesh, v);
    }
    return d;
}

static void compare(struct import *im, const char *what, uint64_t declared, uint64_t read)
{
    if (declared == read) return;
    refuse(im, "it declares %llu %s, and %llu were understood", (unsigned long long)declared, what, (unsigned long long)read);
}

void declared_check(struct import *im, const struct declared *d)
{
    struct declared read = read_of(im->scene);
    compare(im, "faces", d->polygons, read.polygons);
    compare(im, "corners of faces", d->corners, read.corners);
    compare(im, "lines", d->lines, read.lines);
    compare(im, "points", d->points, read.points);
    double largest = 0;
    for (int k = 0; k < 3; k++) largest = fmax(largest, fmax(fabs(d->min[k]), fabs(d->max[k])));
    for (int k = 0; k < 3 && d->boxed; k++)
        if (!(fabs(d->min[k] - read.min[k]) <= SLACK * largest) || !(fabs(d->max[k] - read.max[k]) <= SLACK * largest))
            refuse(im, "its vertices lie between %g and %g along %c, and were understood as %g to %g", d->min[k], d->max[k], "xyz"[k], read.min[k],
                   read.max[k]);
}

static void count_below(const struct aiScene *scene, const struct aiNode *node, uint32_t depth, uint64_t *objects, uint64_t *corners)
{
    uint64_t before = *corners;
    for (unsigned i = 0; i < node->mNumMeshes; i++)
        for (unsigned k = 0; node->mMeshes[i] < scene->mNumMeshes && k < scene->mMeshes[node->mMeshes[i]]->mNumFaces; k++)
            *corners += scene->mMeshes[node->mMeshes[i]]->mFaces[k].mNumIndices;
    *objects += *corners > before;
    for (unsigned i = 0; i < node->mNumChildren && depth < DEEPEST; i++) count_below(scene, node->mChildren[i], depth + 1, objects, corners);
}

void declared_count_placed(const struct aiScene *scene, uint64_t *objects, uint64_t *corners)
{
    *objects = *corners = 0;
    count_below(scene, scene->mRootNode, 0, objects, corners);
}
