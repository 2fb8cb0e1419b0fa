/* See words.h. */
#include "words.h"

#include <stdlib.h>
#include <string.h>

static bool is_end(char c)
{
    return c == '\n' || c == '\r';
}

static void pass_end(struct words *w)
{
    if (w->at < w->end && *w->at == '\r') w->at++;
    else if (w->at < w->end && *w->at == '\n') {
        w->at++;
        return;
    }
    if (w->at < w->end && *w->at == '\n' && w->at[-1] == '\r') w->at++;
}

bool words_line(struct words *w)
{
    if (w->line) {
        while (w->at < w->end && !is_end(*w->at)) w->at++;
        pass_end(w);
    }
    w->line++;
    return w->at < w->end;
}

bool words_next(struct words *w, bool joined)
{
    for (;;) {
        while (w->at < w->end && (*w->at == ' ' || *w->at == '\t' || *w->at == '\v' || *w->at == '\f')) w->at++;
        if (w->at == w->end || is_end(*w->at)) return false;
        if (!joined || *w->at != '\\' || !is_end(w->at[1])) break;
        w->at++;
        pass_end(w);
        w->line++;
    }
    w->word = w->at;
    while (w->at < w->end && *w->at != ' ' && *w->at != '\t' && *w->at != '\v' && *w->at != '\f' && !is_end(*w->at) &&
           !(joined && *w->at == '\\' && is_end(w->at[1])))
        w->at++;
    w->length = (size_t)(w->at - w->word);
    return true;
}

bool words_is(const struct words *w, const char *text)
{
    return w->length == strlen(text) && memcmp(w->word, text, w->length) == 0;
}

bool words_number(const struct words *w, double *out)
{
    char *end;
    *out = strtod(w->word, &end); /* it stops at the blank, or at the zero after the file */
    return end == w->word + w->length;
}

bool words_integer(const char *at, const char *end, int64_t *out)
{
    bool minus = at < end && *at == '-';
    int64_t value = 0;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || end - at > 18) return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') return false;
        value = value * 10 + (*at - '0');
    }
    *out = minus ? -value : value;
    return true;
}
