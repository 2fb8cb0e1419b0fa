/* See tell.h. */
#include "tell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned char buffer[64 << 10]; /* memory may have run out when a failure is told */

static void write_all(const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        ssize_t n = write(VISD_STREAM_FD, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(1);
        at += n;
        size -= (size_t)n;
    }
}

static void flush(struct tell *t)
{
    write_all(t->buffer, t->used);
    t->used = 0;
}

static void put(struct tell *t, const void *bytes, size_t size)
{
    if (size > sizeof(buffer) - t->used) flush(t);
    if (size > sizeof(buffer)) {
        write_all(bytes, size);
        return;
    }
    if (size) memcpy(t->buffer + t->used, bytes, size);
    t->used += (uint32_t)size;
}

static void put_record(struct tell *t, uint32_t tag, const void *head, size_t head_bytes, uint64_t more)
{
    struct visd_stream_record record = {.tag = tag, .bytes = head_bytes + more};
    put(t, &record, sizeof(record));
    put(t, head, head_bytes);
}

static void put_named(struct tell *t, uint32_t tag, const void *head, size_t head_bytes, const char *name)
{
    size_t length = strnlen(name, VISD_STREAM_NAME_BYTES);
    put_record(t, tag, head, head_bytes, length);
    put(t, name, length);
}

void tell_begin(struct tell *t)
{
    *t = (struct tell){.buffer = buffer};
    put(t, VISD_STREAM_MAGIC, 8);
}

void tell_mesh(struct tell *t, const struct visd_model_mesh *mesh)
{
    struct visd_stream_mesh head = {.vertices = mesh->vertices, .index_count = mesh->index_count, .part_count = mesh->part_count};
    size_t positions = mesh->vertices * 12ull, indices = mesh->index_count * 4ull, parts = mesh->part_count * sizeof(*mesh->parts);
    put_record(t, VISD_STREAM_MESH, &head, sizeof(head), positions + indices + parts);
    put(t, mesh->positions, positions);
    put(t, mesh->indices, indices);
    put(t, mesh->parts, parts);
    t->totals.meshes++;
    t->totals.triangles += mesh->index_count / 3;
}

uint32_t tell_group(struct tell *t, const struct visd_stream_group *group, const char *name)
{
    put_named(t, VISD_STREAM_GROUP, group, sizeof(*group), name);
    return t->totals.groups++;
}

void tell_object(struct tell *t, const struct visd_stream_object *object, const char *name)
{
    put_named(t, VISD_STREAM_OBJECT, object, sizeof(*object), name);
    t->totals.objects++;
}

void tell_note(struct tell *t, const char *format, ...)
{
    char text[VISD_STREAM_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_named(t, VISD_STREAM_NOTE, NULL, 0, text);
}

void tell_fail(struct tell *t, enum visd_err err, const char *format, ...)
{
    char text[VISD_STREAM_TEXT_BYTES];
    struct visd_stream_fail head = {.err = err};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_named(t, VISD_STREAM_FAIL, &head, sizeof(head), text);
    flush(t);
    _exit(0);
}

void tell_end(struct tell *t)
{
    put_record(t, VISD_STREAM_END, &t->totals, sizeof(t->totals), 0);
    flush(t);
    _exit(0);
}
