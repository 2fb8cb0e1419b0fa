/* What is looked at in each format: see importer.h, struct format. */
#ifndef VISD_IMPORTER_FORMATS_H
#define VISD_IMPORTER_FORMATS_H

struct import;

void look_obj(struct import *im);
void check_obj(struct import *im);
void look_stl(struct import *im);
void check_stl(struct import *im);
void look_ply(struct import *im);
void check_ply(struct import *im);

void look_fbx(struct import *im);
void check_fbx(struct import *im);

void look_3mf(struct import *im);
void check_3mf(struct import *im);
void look_dae(struct import *im);
void check_dae(struct import *im);

void look_ifc(struct import *im);
void check_ifc(struct import *im);

#endif
