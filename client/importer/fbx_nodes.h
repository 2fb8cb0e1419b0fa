/* The nodes of an FBX file, binary or text, one after the other, with the first of their properties. Enough to count what is declared; the library
 * does the rest. Takes any bytes; one thread. */
#ifndef VISD_IMPORTER_FBX_NODES_H
#define VISD_IMPORTER_FBX_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FBX_PROPERTIES 8u

struct fbx_property {
    enum { FBX_NONE, FBX_NUMBER, FBX_TEXT, FBX_ARRAY } kind;
    double number;
    int64_t whole; /* the same, where it is whole: ids are */
    const char *text;
    size_t length;  /* of the text */
    uint64_t count; /* of the array */
};

struct fbx_node {
    uint32_t depth; /* 0: of the file itself */
    const char *name;
    size_t name_length;
    struct fbx_property properties[FBX_PROPERTIES]; /* those after the first few are not kept */
};

/* Calls seen for each, parents first. False: the bytes are no FBX, or break off. */
bool fbx_nodes(const unsigned char *bytes, size_t size, void (*seen)(void *context, const struct fbx_node *node), void *context);

bool fbx_is(const char *text, size_t length, const char *wanted);

#endif
