/* Parts of a zip archive in memory, unpacked one at a time. Takes any bytes; one thread. */
#ifndef VISD_IMPORTER_ZIP_PART_H
#define VISD_IMPORTER_ZIP_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zip_part {
    const char *name; /* not terminated */
    size_t name_length;
    uint64_t packed, size;
    uint32_t method, crc;
    uint64_t at; /* of its local header */
};

/* Calls seen for each part that the directory lists. False: no zip, or one that breaks its own rules. */
bool zip_parts(const unsigned char *bytes, size_t size, void (*seen)(void *context, const struct zip_part *part), void *context);
/* The part's bytes, a zero behind them; for free. NULL: they cannot be unpacked, are not what was packed, or there are more than most. */
char *zip_unpack(const unsigned char *bytes, size_t size, const struct zip_part *part, uint64_t most);

#endif
