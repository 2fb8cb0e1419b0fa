/* Names with blanks in them: the library takes their first word, so that things whose names begin alike become one, or lose the rest of their names.
 * While it reads, other characters stand for the blanks. One thread. */
#ifndef VISD_IMPORTER_NAMES_H
#define VISD_IMPORTER_NAMES_H

struct aiNode;
struct import;
struct words;

/* In the file's bytes: what follows the current word of the line becomes one word. */
void names_join(struct import *im, const struct words *w);
/* The blanks come back, in the names of a node and of all below it. */
void names_part(struct aiNode *node);

#endif
