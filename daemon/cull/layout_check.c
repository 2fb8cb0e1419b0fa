/* shaders/layout.h says again, for shaders, what daemon/segment says for C: this file holds the two together. */
#include <stddef.h>

#include "daemon/segment/camera.h"
#include "daemon/segment/record.h"
#include "shaders/layout.h"

#define SAME_SIZE(a, b) _Static_assert(sizeof(struct a) == sizeof(struct b), #a " and " #b)
#define SAME_PLACE(a, b, field) _Static_assert(offsetof(struct a, field) == offsetof(struct b, field), #a "." #field)

SAME_SIZE(object_bounds, visd_object_bounds);
SAME_PLACE(object_bounds, visd_object_bounds, flags);
SAME_PLACE(object_bounds, visd_object_bounds, centre_lo);
SAME_PLACE(object_bounds, visd_object_bounds, layers);
SAME_PLACE(object_bounds, visd_object_bounds, row);
SAME_SIZE(object_info, visd_object_info);
SAME_PLACE(object_info, visd_object_info, mesh);
SAME_PLACE(object_info, visd_object_info, generation);
SAME_SIZE(object_fine, visd_object_fine);
SAME_SIZE(change, visd_object_change);
SAME_PLACE(change, visd_object_change, info);
SAME_PLACE(change, visd_object_change, fine);
SAME_PLACE(change, visd_object_change, slot);
SAME_SIZE(view_camera, visd_camera);
SAME_PLACE(view_camera, visd_camera, eye_hi);
SAME_PLACE(view_camera, visd_camera, orientation);
SAME_PLACE(view_camera, visd_camera, eye_lo);
SAME_PLACE(view_camera, visd_camera, min_pixels);
SAME_PLACE(view_camera, visd_camera, width);
SAME_PLACE(view_camera, visd_camera, layers);
SAME_PLACE(view_camera, visd_camera, planes);
SAME_PLACE(view_camera, visd_camera, caps);
SAME_PLACE(view_camera, visd_camera, plane);
SAME_PLACE(view_camera, visd_camera, m_lo);
SAME_PLACE(view_camera, visd_camera, plane_lo);

#define SAME_FLAG(name) _Static_assert(OBJECT_##name == VISD_OBJECT_##name, #name)
SAME_FLAG(HIDDEN);
SAME_FLAG(SEE_THROUGH);
SAME_FLAG(XRAY);
SAME_FLAG(GHOSTED);
SAME_FLAG(HELPER);
SAME_FLAG(OCCLUDER_ONLY);
SAME_FLAG(PINNED);
SAME_FLAG(UNBOUNDED);
SAME_FLAG(SECTION_EXEMPT);
SAME_FLAG(SINGLE_SIDED);
SAME_FLAG(DOUBLE_SIDED);
SAME_FLAG(FLATTENED);
SAME_FLAG(MIRRORED);
SAME_FLAG(LIVE);
_Static_assert(MESH_NONE == VISD_MESH_NONE, "no mesh");
