/* The tags of an XML file, one after the other. Enough to count what is declared; takes any bytes, and checks none. Pure; one thread. */
#ifndef VISD_IMPORTER_XML_TAGS_H
#define VISD_IMPORTER_XML_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xml_tags { /* at and end are set by the caller */
    const char *at, *end;
    const char *name; /* of the tag that xml_next found, without a prefix before a colon */
    size_t name_length;
    const char *attributes, *attributes_end;
    bool closes; /* </name> */
    bool empty;  /* <name/> */
};

bool xml_next(struct xml_tags *x); /* the next tag; comments, CDATA and declarations are passed over. False: the end */
bool xml_is(const struct xml_tags *x, const char *name);
/* An attribute of the tag, by its name without a prefix; what XML escapes is given back as it stands. */
bool xml_attribute(const struct xml_tags *x, const char *name, const char **value, size_t *length);
/* An attribute's value as a text of at most room - 1 bytes, with XML's five names for characters put back. */
void xml_text(const char *value, size_t length, char *out, size_t room);
/* An attribute as a whole number from 0. */
bool xml_number(const struct xml_tags *x, const char *name, uint64_t *out);

#endif
