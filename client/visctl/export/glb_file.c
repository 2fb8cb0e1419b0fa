/* See glb_file.h. */
#include "glb_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../model/digest.h"
#include "../model/glb_container.h"

enum visd_err glb_file_open(struct glb_file *f, const char *path, struct visd_why *why)
{
    size_t length = strlen(path), room = length + 16;
    memset(f, 0, sizeof(*f));
    f->path = strdup(path);
    f->part = malloc(room);
    if (!f->path || !f->part) return visd_why_memory(why, "the file");
    if (length >= 5 && strcasecmp(path + length - 5, ".gltf") == 0)
        return visd_why(why, VISD_ERR_BAD_VALUE, "%.200s: a GLB is written; name it .glb", path);
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) return visd_why(why, VISD_ERR_IO, "%.200s: not a plain file; name another", path);
    for (int i = 0; i < GLB_STREAMS; i++) {
        snprintf(f->part, room, "%s.XXXXXX", path);
        int fd = mkstemp(f->part);
        if (fd >= 0) unlink(f->part);
        if (fd >= 0 && (f->stream[i] = fdopen(fd, "w+b"))) continue;
        enum visd_err err = visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
        if (fd >= 0) close(fd);
        return err;
    }
    snprintf(f->part, room, "%s.XXXXXX", path);
    return VISD_ERR_OK;
}

void glb_file_close(struct glb_file *f)
{
    for (int i = 0; i < GLB_STREAMS; i++)
        if (f->stream[i]) fclose(f->stream[i]);
    free(f->path);
    free(f->part);
    memset(f, 0, sizeof(*f));
}

bool glb_file_good(const struct glb_file *f)
{
    for (int i = 0; i < GLB_STREAMS; i++)
        if (ferror(f->stream[i])) return false;
    return true;
}

enum visd_err glb_file_fault(const struct glb_file *f, struct visd_why *why)
{
    return visd_why(why, VISD_ERR_IO, "%.200s: %s; the file was not written", f->path, errno ? strerror(errno) : "writing failed");
}

/* ---- data ---- */

uint64_t glb_put_bin(struct glb_file *f, const void *data, size_t bytes)
{
    static const char zeros[4];
    uint64_t at = f->bin_bytes;
    if (bytes) fwrite(data, 1, bytes, f->stream[GLB_BIN]);
    size_t pad = (4 - bytes % 4) % 4;
    fwrite(zeros, 1, pad, f->stream[GLB_BIN]);
    f->bin_bytes += bytes + pad;
    return at;
}

uint32_t glb_put_view(struct glb_file *f, uint64_t at, uint64_t bytes, bool indices)
{
    fprintf(f->stream[GLB_VIEWS], "%s{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":%d}", f->views ? ",\n" : "",
            (unsigned long long)at, (unsigned long long)bytes, indices ? 34963 : 34962);
    return f->views++;
}

uint32_t glb_put_positions(struct glb_file *f, uint32_t view, uint32_t vertices, const float min[3], const float max[3])
{
    fprintf(f->stream[GLB_ACCESSORS],
            "%s{\"bufferView\":%u,\"componentType\":5126,\"count\":%u,\"type\":\"VEC3\",\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]}",
            f->accessors ? ",\n" : "", view, vertices, min[0], min[1], min[2], max[0], max[1], max[2]);
    return f->accessors++;
}

uint32_t glb_put_indices(struct glb_file *f, uint32_t view, uint64_t at, bool narrow, uint32_t count)
{
    fprintf(f->stream[GLB_ACCESSORS], "%s{\"bufferView\":%u,\"byteOffset\":%llu,\"componentType\":%d,\"count\":%u,\"type\":\"SCALAR\"}",
            f->accessors ? ",\n" : "", view, (unsigned long long)at, narrow ? 5123 : 5125, count);
    return f->accessors++;
}

/* ---- JSON ---- */

const char *const glb_materials =
    "{\"name\":\"solid\"},{\"name\":\"solid, both sides\",\"doubleSided\":true},{\"name\":\"glass\",\"alphaMode\":\"BLEND\"},"
    "{\"name\":\"glass, both sides\",\"doubleSided\":true,\"alphaMode\":\"BLEND\"}";

void glb_write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') fputc('\\', out);
        if ((unsigned char)*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

void glb_write_matrix(FILE *out, const double m[12])
{
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    if (memcmp(m, identity, sizeof(identity)) == 0) return;
    fputs(",\"matrix\":[", out);
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            fprintf(out, "%s%.17g", column + row ? "," : "", row < 3 ? m[row * 4 + column] : column == 3 ? 1.0 : 0.0);
    fputc(']', out);
}

/* ---- putting it together ---- */

struct target {
    FILE *file;
    struct visd_byte_digest *digest; /* of all that was put; NULL: nobody asks for it */
};

static void put(struct target *t, const void *bytes, size_t size)
{
    fwrite(bytes, 1, size, t->file);
    if (t->digest) visd_byte_digest_add(t->digest, bytes, size);
}

static void put_u32(struct target *t, uint64_t value)
{
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    put(t, bytes, 4);
}

/* All that the stream holds; how many bytes. It is sought, not rewound: that would forget a write that failed. */
static uint64_t put_stream(struct target *t, FILE *from)
{
    char block[65536];
    uint64_t done = 0;
    size_t n;
    if (fseeko(from, 0, SEEK_SET) != 0) return 0;
    while ((n = fread(block, 1, sizeof(block), from)) > 0) {
        put(t, block, n);
        done += n;
    }
    return done;
}

void glb_write_stream(struct glb_file *f, enum glb_stream from, enum glb_stream to)
{
    put_stream(&(struct target){.file = f->stream[to]}, f->stream[from]);
}

/* A chunk of this length: what the stream holds, filled up, with room for tail bytes more that the caller puts. */
static void put_chunk(struct target *t, FILE *from, uint64_t length, uint32_t type, char fill, uint32_t tail)
{
    put_u32(t, length + tail);
    put_u32(t, type);
    for (uint64_t done = put_stream(t, from); done < length; done++) put(t, &fill, 1);
}

static uint64_t size_of(FILE *stream)
{
    off_t end = fseeko(stream, 0, SEEK_END) == 0 ? ftello(stream) : 0;
    return end > 0 ? (uint64_t)end : 0;
}

/* A file of our own beside the one it will replace, as readable as any new file: two programs may be writing the same one. */
static FILE *open_part(struct glb_file *f)
{
    mode_t mask = umask(0);
    umask(mask);
    int fd = mkostemp(f->part, O_CLOEXEC);
    FILE *file = fd >= 0 && fchmod(fd, 0666 & ~mask) == 0 ? fdopen(fd, "wb") : NULL;
    if (fd >= 0 && !file) {
        close(fd);
        unlink(f->part);
    }
    return file;
}

enum visd_err glb_file_finish(struct glb_file *f, uint32_t more, struct visd_why *why)
{
    errno = 0;
    uint64_t json = (size_of(f->stream[GLB_JSON]) + 3) / 4 * 4, extra = (size_of(f->stream[GLB_MORE]) + 7) / 8 * 8;
    uint64_t all = 20 + json + (f->bin_bytes ? 8 + f->bin_bytes : 0) + (extra ? 8 + extra + 8 : 0);
    if (all > UINT32_MAX)
        return visd_why(why, VISD_ERR_TOO_BIG, "%.200s: a GLB holds at most 4 GiB, this would be %llu MiB; take fewer objects", f->path,
                        (unsigned long long)(all >> 20));
    struct visd_byte_digest digest = {0};
    struct target t = {.file = open_part(f), .digest = extra ? &digest : NULL};
    if (!t.file) return glb_file_fault(f, why);
    put_u32(&t, GLB_MAGIC);
    put_u32(&t, 2);
    put_u32(&t, all);
    put_chunk(&t, f->stream[GLB_JSON], json, GLB_CHUNK_JSON, ' ', 0);
    if (f->bin_bytes) put_chunk(&t, f->stream[GLB_BIN], f->bin_bytes, GLB_CHUNK_BIN, 0, 0);
    if (extra) {
        put_chunk(&t, f->stream[GLB_MORE], extra, more, 0, 8);
        uint64_t sum = visd_byte_digest_end(&digest);
        put(&t, &sum, sizeof(sum));
    }
    bool good = fflush(t.file) == 0 && !ferror(t.file) && glb_file_good(f);
    good = fclose(t.file) == 0 && good;
    if (good && rename(f->part, f->path) == 0) return VISD_ERR_OK;
    enum visd_err err = glb_file_fault(f, why);
    unlink(f->part);
    return err;
}
