/* See xml_tags.h. */
#include "xml_tags.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool begins(const struct xml_tags *x, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(x->end - x->at) >= n && memcmp(x->at, text, n) == 0;
}

/* Past the next text; false: there is none. */
static bool pass(struct xml_tags *x, const char *text)
{
    const char *found = memmem(x->at, (size_t)(x->end - x->at), text, strlen(text));
    x->at = found ? found + strlen(text) : x->end;
    return found != NULL;
}

bool xml_next(struct xml_tags *x)
{
    for (;;) {
        const char *open = memchr(x->at, '<', (size_t)(x->end - x->at));
        if (!open) return false;
        x->at = open;
        if (begins(x, "<!--")) pass(x, "-->");
        else if (begins(x, "<![CDATA[")) pass(x, "]]>");
        else if (begins(x, "<?")) pass(x, "?>");
        else if (begins(x, "<!")) pass(x, ">");
        else break;
    }
    x->at++;
    x->closes = x->at < x->end && *x->at == '/';
    if (x->closes) x->at++;
    x->name = x->at;
    while (x->at < x->end && !is_blank(*x->at) && *x->at != '>' && *x->at != '/') {
        if (*x->at == ':') x->name = x->at + 1;
        x->at++;
    }
    x->name_length = (size_t)(x->at - x->name);
    x->attributes = x->at;
    char quote = 0;
    while (x->at < x->end && (quote || *x->at != '>')) {
        if (quote ? *x->at == quote : *x->at == '"' || *x->at == '\'') quote = quote ? 0 : *x->at;
        x->at++;
    }
    x->attributes_end = x->at;
    x->empty = x->at > x->attributes && x->at[-1] == '/';
    if (x->at == x->end) return false;
    x->at++;
    return true;
}

bool xml_is(const struct xml_tags *x, const char *name)
{
    return x->name_length == strlen(name) && memcmp(x->name, name, x->name_length) == 0;
}

bool xml_attribute(const struct xml_tags *x, const char *name, const char **value, size_t *length)
{
    const char *at = x->attributes, *end = x->attributes_end;
    while (at < end) {
        while (at < end && (is_blank(*at) || *at == '/')) at++;
        const char *from = at;
        while (at < end && *at != '=' && !is_blank(*at)) {
            if (*at == ':') from = at + 1;
            at++;
        }
        size_t n = (size_t)(at - from);
        while (at < end && *at != '"' && *at != '\'') at++;
        if (at == end) return false;
        const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
        if (!close) return false;
        if (n == strlen(name) && memcmp(from, name, n) == 0) {
            *value = at + 1;
            *length = (size_t)(close - at - 1);
            return true;
        }
        at = close + 1;
    }
    return false;
}

void xml_text(const char *value, size_t length, char *out, size_t room)
{
    static const struct {
        const char *name;
        char is;
    } names[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < room;) {
        size_t n = 1;
        out[used] = value[i];
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
            size_t size = strlen(names[k].name);
            if (length - i < size || memcmp(value + i, names[k].name, size) != 0) continue;
            out[used] = names[k].is;
            n = size;
        }
        used++;
        i += n;
    }
    out[used] = 0;
}

bool xml_number(const struct xml_tags *x, const char *name, uint64_t *out)
{
    const char *at;
    size_t length;
    if (!xml_attribute(x, name, &at, &length) || !length || length > 18) return false;
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        if (at[i] < '0' || at[i] > '9') return false;
        *out = *out * 10 + (uint64_t)(at[i] - '0');
    }
    return true;
}
