/* Shared by the passes that take boxes and meshes to clip space: the same arithmetic in the same order, so that a box always holds its mesh. */

/* Bound of the relative error of the float arithmetic of a projection, 16 units of 2^-24: positions relative to the eye cost three
 * roundings, the products with the linear part and the matrix seven, the matrix itself one; the rest is kept in hand. */
#define PROJECTION_ERROR 9.5367431640625e-7

/* A box's centre, relative to the eye. */
vec3 relative_centre(vec3 high, vec3 low, vec3 eye_high, vec3 eye_low)
{
    precise vec3 relative = (high - eye_high) + (low - eye_low);
    return relative;
}

/* A bound on the magnitudes in the sums that project a point of the box, for its error bound. */
vec3 projection_reach(vec3 centre, vec3 eye_high, vec3 axis0, vec3 axis1, vec3 axis2)
{
    return abs(centre) + abs(axis0) + abs(axis1) + abs(axis2) + abs(eye_high) * 5.9604645e-8;
}

float project_point(vec4 m, vec3 point)
{
    precise float value = m.x * point.x + m.y * point.y + m.z * point.z + m.w;
    return value;
}

float project_vector(vec4 m, vec3 vector)
{
    precise float value = m.x * vector.x + m.y * vector.y + m.z * vector.z;
    return value;
}

float projection_error(vec4 m, vec3 reach) { return PROJECTION_ERROR * (dot(abs(m.xyz), reach) + abs(m.w)); }

/* A vertex's depth, stepped back by bounds on the errors of its clip z and w: never nearer than it is. Behind a finite far plane z is negative, and
 * a smaller w is what steps back; w is at least twice its rounding error here, so that what a deviation takes off it may be held to w / 1024. */
float depth_behind(float z, float w, float error_z, float error_w)
{
    float least = z - error_z;
    return least / (least >= 0.0 ? w + error_w : max(w - error_w, w * 0.0009765625));
}

/* The other way, for a mark: never farther than it is, and 1, the near plane's, where that is not known. */
float depth_ahead(float z, float w, float error_z, float error_w)
{
    float most = z + error_z;
    return most < 0.0 ? most / (w + error_w) : w > 2.0 * error_w ? min(most / (w - error_w), 1.0) : 1.0;
}

/* How much wider a mark is drawn at a vertex, for the mesh's deviation: a bound in 1/SUBPIXEL pixel. c: in clip space. */
float mark_stray(vec4 c, vec3 stray, vec2 size)
{
    vec2 slip = (stray.xy + abs(c.xy / c.w) * stray.z) / max(c.w - stray.z, c.w * 0.0009765625);
    return max(slip.x * size.x, slip.y * size.y) * (0.5 * float(SUBPIXEL));
}

/* Column j of an object's linear part. */
#define LINEAR_COLUMN(b, j) vec3((b).row[0][j], (b).row[1][j], (b).row[2][j])
