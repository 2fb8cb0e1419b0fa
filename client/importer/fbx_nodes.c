/* See fbx_nodes.h. */
#include "fbx_nodes.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 64u

struct reader {
    const unsigned char *bytes;
    size_t size;
    bool wide; /* from version 7500 on: lengths of 8 bytes */
    void (*seen)(void *context, const struct fbx_node *node);
    void *context;
};

bool fbx_is(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* ---- binary ---- */

static uint64_t number_at(const unsigned char *at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = bytes; i-- > 0;) value = value << 8 | at[i];
    return value;
}

static void set_whole(struct fbx_property *p, int64_t value)
{
    p->kind = FBX_NUMBER;
    p->whole = value;
    p->number = (double)value;
}

/* The property at *at, which moves behind it. */
static bool read_property(const struct reader *r, size_t *at, size_t end, struct fbx_property *out)
{
    static const struct {
        char code;
        uint32_t bytes;
    } plain[] = {{'C', 1}, {'B', 1}, {'Y', 2}, {'I', 4}, {'F', 4}, {'D', 8}, {'L', 8}};
    *out = (struct fbx_property){0};
    if (*at >= end) return false;
    char code = (char)r->bytes[(*at)++];
    const unsigned char *b = r->bytes + *at;
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        if (plain[i].code != code) continue;
        if (end - *at < plain[i].bytes) return false;
        uint64_t bits = number_at(b, plain[i].bytes);
        *at += plain[i].bytes;
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof(f));
        if (code == 'F') *out = (struct fbx_property){.kind = FBX_NUMBER, .number = (double)f};
        else if (code == 'D') {
            out->kind = FBX_NUMBER;
            memcpy(&out->number, &bits, sizeof(bits));
        } else
            set_whole(out, code == 'Y' ? (int16_t)bits : code == 'I' ? (int32_t)low : (int64_t)bits);
        return true;
    }
    uint32_t head = code == 'S' || code == 'R' ? 4 : code && strchr("fdlibc", code) ? 12 : 0;
    if (!head || end - *at < head) return false;
    uint64_t length = number_at(b + (head == 12 ? 8 : 0), 4);
    if (head == 12 && number_at(b + 4, 4) == 0)
        length = number_at(b, 4) * (code == 'd' || code == 'l' ? 8 : code == 'f' || code == 'i' ? 4 : 1);
    *at += head;
    if (end - *at < length) return false;
    out->kind = head == 12 ? FBX_ARRAY : FBX_TEXT;
    out->count = head == 12 ? number_at(b, 4) : 0;
    out->text = (const char *)r->bytes + *at;
    out->length = strnlen(out->text, length); /* "Name\0\1Model": the name is enough */
    *at += length;
    return true;
}

/* The nodes from at to end, and all below them. */
static bool read_nodes(const struct reader *r, size_t at, size_t end, uint32_t depth)
{
    uint32_t wide = r->wide ? 8 : 4;
    while (at < end) {
        if (end - at < wide * 3 + 1) return false;
        uint64_t node_end = number_at(r->bytes + at, wide), count = number_at(r->bytes + at + wide, wide), bytes = number_at(r->bytes + at + 2 * wide, wide);
        uint32_t name = r->bytes[at + 3 * wide];
        if (node_end == 0) return true; /* the last of its parent; what follows the last of the file is no node */
        size_t from = at + 3 * wide + 1;
        if (node_end > end || node_end < from || node_end - from < name || node_end - from - name < bytes) return false;
        struct fbx_node node = {.depth = depth, .name = (const char *)r->bytes + from, .name_length = name};
        size_t properties_end = from + name + bytes;
        from += name;
        for (uint64_t i = 0; i < count && i < FBX_PROPERTIES; i++)
            if (!read_property(r, &from, properties_end, &node.properties[i])) return false;
        r->seen(r->context, &node);
        if (properties_end < node_end && (depth == DEEPEST || !read_nodes(r, properties_end, node_end, depth + 1))) return false;
        at = node_end;
    }
    return true;
}

/* ---- text ---- */

static const char *pass_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == ',' || *at == '\r')) at++;
    return at;
}

/* The properties of a line, from at to its end. */
static const char *read_values(const char *at, const char *end, struct fbx_node *node)
{
    for (uint32_t i = 0;; i++) {
        struct fbx_property spare, *p = i < FBX_PROPERTIES ? &node->properties[i] : &spare;
        *p = (struct fbx_property){0};
        at = pass_blanks(at, end);
        if (at == end || *at == '\n' || *at == '{' || *at == ';' || *at == '}') return at;
        const char *from = at;
        if (*at == '"') {
            at = memchr(at + 1, '"', (size_t)(end - at - 1));
            if (!at) return end;
            p->kind = FBX_TEXT;
            p->text = from + 1;
            p->length = (size_t)(at - from - 1);
            at++;
            continue;
        }
        while (at < end && !strchr(" \t,\r\n{};", *at)) at++;
        if (at == from) return end;
        p->kind = *from == '*' ? FBX_ARRAY : FBX_NUMBER;
        p->whole = strtoll(from + (*from == '*'), NULL, 10); /* a zero stands behind the file */
        p->count = *from == '*' && p->whole > 0 ? (uint64_t)p->whole : 0;
        if (*from != '*') p->number = strtod(from, NULL);
    }
}

static bool read_text(const struct reader *r)
{
    const char *at = (const char *)r->bytes, *end = at + r->size;
    uint32_t depth = 0;
    while (at < end) {
        at = pass_blanks(at, end);
        if (at == end) break;
        if (*at == '\n' || *at == '\0') {
            at++;
        } else if (*at == ';') {
            while (at < end && *at != '\n') at++;
        } else if (*at == '{') {
            depth++;
            at++;
        } else if (*at == '}') {
            if (!depth) return false;
            depth--;
            at++;
        } else {
            struct fbx_node node = {.depth = depth, .name = at};
            while (at < end && !strchr(" \t,\r\n{};:\"", *at)) at++;
            node.name_length = (size_t)(at - node.name);
            bool named = at < end && *at == ':' && node.name_length && !strchr("0123456789-+.", *node.name);
            if (at < end && (*at == ':' || !node.name_length)) at++;
            if (!named) continue; /* numbers of an array that goes on over lines, or what the library will refuse */
            at = read_values(at, end, &node);
            r->seen(r->context, &node);
        }
    }
    return depth == 0;
}

bool fbx_nodes(const unsigned char *bytes, size_t size, void (*seen)(void *context, const struct fbx_node *node), void *context)
{
    static const char magic[] = "Kaydara FBX Binary  "; /* with its zero; then 1A 00, and the version */
    struct reader r = {.bytes = bytes, .size = size, .seen = seen, .context = context};
    if (size < 27 || memcmp(bytes, magic, sizeof(magic)) != 0) return read_text(&r);
    r.wide = number_at(bytes + 23, 4) >= 7500;
    return read_nodes(&r, 27, size, 0);
}
