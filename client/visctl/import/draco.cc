// See draco.h. The only C++ of the client: Draco has no other interface. Draco checks its own counts against the bytes that are
// left, but throws when memory runs out: that is caught here.
#include "draco.h"

#include <draco/compression/decode.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

static bool refuse(char *why, size_t size, const char *what)
{
    snprintf(why, size, "%s", what);
    return false;
}

static bool decode(visd_draco_mesh *out, const void *bytes, size_t size, uint32_t position_id, bool normalized, uint32_t max_vertices,
                   uint32_t max_triangles, char *why, size_t why_size)
{
    draco::DecoderBuffer buffer;
    buffer.Init(static_cast<const char *>(bytes), size);
    draco::Decoder decoder;
    auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
    if (!decoded.ok()) return refuse(why, why_size, decoded.status().error_msg());
    std::unique_ptr<draco::Mesh> mesh = std::move(decoded).value();
    if (mesh->num_points() > max_vertices || mesh->num_faces() > max_triangles)
        return refuse(why, why_size, "it holds more vertices or triangles than a mesh may have");
    int number = mesh->GetAttributeIdByUniqueId(position_id);
    if (number < 0) return refuse(why, why_size, "it holds no attribute with the id that POSITION names");
    draco::PointAttribute *attribute = mesh->attribute(number);
    if (attribute->num_components() != 3) return refuse(why, why_size, "its positions do not have three components");
    attribute->set_normalized(normalized);

    uint32_t points = mesh->num_points(), faces = mesh->num_faces();
    out->positions = static_cast<float *>(malloc((points + 1) * 3 * sizeof(float)));
    out->indices = static_cast<uint32_t *>(malloc((faces + 1) * 3 * sizeof(uint32_t)));
    if (!out->positions || !out->indices) return refuse(why, why_size, "out of memory");
    for (uint32_t i = 0; i < points; i++) {
        draco::AttributeValueIndex value = attribute->mapped_index(draco::PointIndex(i));
        if (value.value() >= attribute->size() || !attribute->ConvertValue<float>(value, 3, out->positions + i * 3))
            return refuse(why, why_size, "its positions are damaged");
    }
    for (uint32_t i = 0; i < faces; i++)
        for (int k = 0; k < 3; k++) {
            uint32_t index = mesh->face(draco::FaceIndex(i))[k].value();
            if (index >= points) return refuse(why, why_size, "a triangle names a vertex that it does not have");
            out->indices[i * 3 + k] = index;
        }
    out->vertices = points;
    out->index_count = faces * 3;
    return true;
}

bool visd_draco_decode(visd_draco_mesh *out, const void *bytes, size_t size, uint32_t position_id, bool normalized, uint32_t max_vertices,
                       uint32_t max_triangles, char *why, size_t why_size)
{
    *out = {};
    bool done = false;
    try {
        done = decode(out, bytes, size, position_id, normalized, max_vertices, max_triangles, why, why_size);
    } catch (const std::exception &fault) {
        snprintf(why, why_size, "%s", fault.what());
    } catch (...) {
        snprintf(why, why_size, "it failed without a reason");
    }
    if (!done) {
        free(out->positions);
        free(out->indices);
        *out = {};
    }
    return done;
}
