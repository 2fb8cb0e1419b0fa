/* What is looked at in each format: see importer.h, struct format. */
#ifndef VISD_IMPORTER_FORMATS_H
#define VISD_IMPORTER_FORMATS_H

struct import;

#endif
