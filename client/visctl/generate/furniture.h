/* What stands in the generated offices and shops: about twenty pieces, 200 to 5,000 triangles each.
 *
 * Every piece stands on y = 0, centred in x and z, and faces +z. Constant tables and pure builders. */
#ifndef VISD_VISCTL_GENERATE_FURNITURE_H
#define VISD_VISCTL_GENERATE_FURNITURE_H

#include "shapes.h"

enum visd_furniture {
    VISD_CHAIR, VISD_DESK, VISD_MONITOR, VISD_KEYBOARD, VISD_MOUSE, VISD_DESK_LAMP, VISD_PHONE, VISD_BIN, VISD_CUP, VISD_PLANT, VISD_BOOKCASE,
    VISD_CABINET, VISD_SOFA, VISD_ROUND_TABLE, VISD_MEETING_CHAIR, VISD_PRINTER, VISD_COAT_RACK, VISD_WHITEBOARD, VISD_CEILING_LAMP, VISD_BUST,
    VISD_WATER_COOLER, VISD_SHELF, VISD_VASE, VISD_TOY, VISD_FURNITURE_COUNT
};

const char *visd_furniture_name(enum visd_furniture piece);
enum visd_err visd_furniture_build(enum visd_furniture piece, struct visd_model_mesh *out, struct visd_why *why);

#endif
