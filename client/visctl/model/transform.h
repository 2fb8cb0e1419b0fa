/* Transforms as twelve doubles: the rows of a 3x4 matrix, the last column being the translation.
 *
 * Doubles all the way: a float rotation moves a part by decimetres at 10^7 m. Pure functions, safe from any thread. */
#ifndef VISD_VISCTL_MODEL_TRANSFORM_H
#define VISD_VISCTL_MODEL_TRANSFORM_H

#include <stdbool.h>

void visd_transform_identity(double out[12]);

/* out = a * b: b is applied first. out may be a or b. */
void visd_transform_compose(double out[12], const double a[12], const double b[12]);

/* Translation, rotation (quaternion x y z w, brought to length 1) and scale, scale applied first. False for a quaternion
 * without a direction, or one that is not finite. */
bool visd_transform_from_trs(double out[12], const double translation[3], const double rotation[4], const double scale[3]);

/* A column-major 4x4 as glTF writes it. False unless its last row is 0 0 0 1. */
bool visd_transform_from_matrix(double out[12], const double matrix[16]);

void visd_transform_point(double out[3], const double m[12], const double point[3]);
double visd_transform_determinant(const double m[12]);
bool visd_transform_finite(const double m[12]);

/* The axis-aligned box round a transformed box, merged into min and max. */
void visd_transform_grow_box(double min[3], double max[3], const double m[12], const double box_min[3], const double box_max[3]);

#endif
