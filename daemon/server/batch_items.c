/* The items of a batch: from the wire's columns to the scene's, pointing into the request. */
#include <stdio.h>

#include "server_internal.h"

#define COLUMN(field) (in->has_##field ? in->field.at : NULL)

static enum visd_err add_objects(struct visd_batch *batch, const struct visd_msg_object_add *in, struct visd_refusal *why)
{
    struct visd_object_columns columns = {
        .count = in->ids.rows, .ids = in->ids.at, .boxes = COLUMN(boxes), .transforms = COLUMN(transforms), .flags = COLUMN(flags),
        .margins = COLUMN(margins), .layers = COLUMN(layers), .meshes = COLUMN(meshes), .groups = COLUMN(groups), .costs = COLUMN(costs),
        .batch_keys = COLUMN(batch_keys), .draws = COLUMN(draws), .names = COLUMN(names),
        .name_bytes = in->has_names ? in->names.rows : 0, .name_offsets = COLUMN(name_offsets),
    };
    return visd_batch_object_add(batch, &columns, why);
}

static enum visd_err set_objects(struct visd_batch *batch, const struct visd_msg_object_set *in, struct visd_refusal *why)
{
    struct visd_object_columns columns = {
        .count = in->ids.rows, .ids = in->ids.at, .boxes = COLUMN(boxes), .transforms = COLUMN(transforms), .flags = COLUMN(flags),
        .flag_masks = COLUMN(flag_masks), .margins = COLUMN(margins), .layers = COLUMN(layers), .meshes = COLUMN(meshes),
        .groups = COLUMN(groups), .costs = COLUMN(costs),
        .batch_keys = COLUMN(batch_keys), .draws = COLUMN(draws), .names = COLUMN(names),
        .name_bytes = in->has_names ? in->names.rows : 0, .name_offsets = COLUMN(name_offsets),
    };
    return visd_batch_object_set(batch, &columns, why);
}

static enum visd_err put_groups(struct visd_batch *batch, const struct visd_msg_group_put *in, struct visd_refusal *why)
{
    struct visd_group_columns columns = {
        .count = in->groups.rows, .groups = in->groups.at, .parents = COLUMN(parents), .transforms = COLUMN(transforms),
        .flags = COLUMN(flags), .names = COLUMN(names), .name_bytes = in->has_names ? in->names.rows : 0,
        .name_offsets = COLUMN(name_offsets), .new_only = in->has_new && in->new,
    };
    return visd_batch_group_put(batch, &columns, why);
}

static enum visd_err put_mesh(struct visd_batch *batch, const struct visd_msg_mesh_put *in, struct visd_refusal *why)
{
    if (in->positions.rows > VISD_MAX_MESH_VERTICES || in->indices.rows > VISD_MAX_MESH_TRIANGLES ||
        (in->has_parts && in->parts.rows > VISD_MAX_MESH_PARTS)) {
        why->err = VISD_ERR_TOO_BIG;
        why->ids[0] = in->mesh;
        why->id_count = 1;
        snprintf(why->text, sizeof(why->text), "mesh %llu is larger than mesh_vertices (%d), mesh_triangles (%d) or mesh_parts (%d) allow; split it",
                 (unsigned long long)in->mesh, VISD_MAX_MESH_VERTICES, VISD_MAX_MESH_TRIANGLES, VISD_MAX_MESH_PARTS);
        return VISD_ERR_TOO_BIG;
    }
    struct visd_mesh_columns columns = {
        .positions = in->positions.at, .vertices = in->positions.rows, .indices = in->indices.at, .indices_count = in->indices.rows * 3,
        .parts = COLUMN(parts), .parts_count = in->has_parts ? in->parts.rows : 0, .deviation = in->has_deviation ? in->deviation : 0,
        .new_only = in->has_new && in->new,
    };
    return visd_batch_mesh_put(batch, in->mesh, &columns, why);
}

enum visd_err batch_take_item(struct visd_batch *batch, const struct visd_item *item, struct visd_refusal *why)
{
    switch (item->kind) {
    case VISD_ITEM_MESH_PUT:
        return put_mesh(batch, &item->mesh_put, why);
    case VISD_ITEM_MESH_REMOVE:
        return visd_batch_mesh_remove(batch, item->mesh_remove.meshes.at, item->mesh_remove.meshes.rows, why);
    case VISD_ITEM_GROUP_PUT:
        return put_groups(batch, &item->group_put, why);
    case VISD_ITEM_GROUP_REMOVE:
        return visd_batch_group_remove(batch, item->group_remove.groups.at, item->group_remove.groups.rows, why);
    case VISD_ITEM_OBJECT_ADD:
        return add_objects(batch, &item->object_add, why);
    case VISD_ITEM_OBJECT_SET:
        return set_objects(batch, &item->object_set, why);
    case VISD_ITEM_OBJECT_REMOVE:
        return visd_batch_object_remove(batch, item->object_remove.ids.at, item->object_remove.ids.rows, why);
    case VISD_ITEM_PORTAL_PUT:
    case VISD_ITEM_PORTAL_REMOVE:
    default:
        why->err = VISD_ERR_NOT_SUPPORTED;
        snprintf(why->text, sizeof(why->text), "portals are not supported yet");
        return VISD_ERR_NOT_SUPPORTED;
    }
}
