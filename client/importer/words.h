/* Lines and words of a text file in memory. Pure; any thread. */
#ifndef VISD_IMPORTER_WORDS_H
#define VISD_IMPORTER_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words { /* zeroed but for at and end: at the beginning */
    const char *at, *end; /* what is left of the file; a zero stands at end */
    uint64_t line;        /* the number of the one that is being read, from 1 */
    const char *word;     /* the word that words_next found */
    size_t length;
};

/* On to the next line, past what is left of this one; \r, \n and \r\n end one. False at the end of the file. */
bool words_line(struct words *w);
/* The next word of the line, between blanks; false: there is none. joined: a backslash at the end of a line goes on in the next. */
bool words_next(struct words *w, bool joined);
bool words_is(const struct words *w, const char *text);        /* the word is this */
bool words_number(const struct words *w, double *out);         /* the word is a number, all of it */
bool words_integer(const char *at, const char *end, int64_t *out); /* so many bytes are a whole number */

#endif
