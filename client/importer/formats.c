/* The formats, a row each: what the library calls its reader, and how its word is checked. */
#include "formats.h"

#include "importer.h"

const struct format formats[] = {
    {"obj", "Wavefront Object Importer", NULL, look_obj, check_obj},
    {"stl", "Stereolithography (STL) Importer", NULL, look_stl, check_stl},
    {"ply", "Stanford Polygon Library (PLY) Importer", NULL, look_ply, check_ply},
    {"3mf", "3mf Importer", "its unit and its axes", look_3mf, check_3mf},
    {"fbx", "Autodesk FBX Importer", "its unit and its axes", look_fbx, check_fbx},
    {"dae", "Collada Importer", "its unit and its axes", look_dae, check_dae},
    {"ifc", "Industry Foundation Classes (IFC) Importer", "its unit and its axes", look_ifc, check_ifc},
    {NULL, NULL, NULL, NULL, NULL},
};
