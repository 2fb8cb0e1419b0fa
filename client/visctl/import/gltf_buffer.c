/* Buffers and buffer views: where the bytes come from.
 *
 * A buffer is a GLB's own chunk, base64 text in the file, or a file beside it. The last is opened strictly below the
 * model's folder: a model from elsewhere must not make us read /etc, a pipe or a device. Buffers are loaded when first
 * needed, so that a missing one that nobody draws from does no harm. Views packed by EXT_meshopt_compression are unpacked once. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <meshoptimizer.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gltf_document.h"

static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static enum visd_err load_data_uri(struct gltf_document *d, const char *place, const char *uri, struct gltf_bytes *out)
{
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 12 || strncmp(comma - 7, ";base64", 7) != 0)
        return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, place, "its data: URI is not base64; export the file with one that is");
    const char *text = comma + 1;
    size_t length = strlen(text);
    while (length && text[length - 1] == '=') length--;
    enum visd_err err = gltf_charge(d, place, length / 4 * 3 + 3);
    if (err != VISD_ERR_OK) return err;
    unsigned char *bytes = malloc(length / 4 * 3 + 3);
    if (!bytes) return visd_why_memory(d->why, "a buffer");
    out->owned = bytes;
    size_t n = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        int value = base64_value((unsigned char)text[i]);
        if (value < 0 || length % 4 == 1) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "bad base64 at character %zu of its data", i);
        bits = bits << 6 | (uint32_t)value;
        if (i % 4) bytes[n++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    out->at = bytes;
    out->size = n;
    return VISD_ERR_OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Percent-decodes; then only a relative path that never climbs is good. */
static bool decode_path(const char *uri, char *path, size_t room)
{
    size_t n = 0;
    for (const char *c = uri; *c; c++) {
        char byte = *c;
        if (byte == '%') {
            int high = hex_value(c[1]), low = high < 0 ? -1 : hex_value(c[2]);
            if (low < 0) return false;
            byte = (char)(high << 4 | low);
            c += 2;
        }
        if (byte == 0 || byte == '\\' || n + 1 >= room) return false;
        path[n++] = byte;
    }
    path[n] = 0;
    if (n == 0 || path[0] == '/') return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == 0)) return false;
    }
    return true;
}

/* Opens below the folder; links may not lead out of it. An old kernel without openat2 follows no link at the end. */
static int open_below(const char *folder, const char *path)
{
    int base = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (base < 0) return -1;
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof(how));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) fd = openat(base, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    int saved = errno;
    close(base);
    errno = saved;
    return fd;
}

static enum visd_err load_file(struct gltf_document *d, const char *place, const char *uri, uint64_t wanted, struct gltf_bytes *out)
{
    char path[1024];
    const char *colon = strchr(uri, ':'), *slash = strchr(uri, '/');
    if (colon && (!slash || colon < slash))
        return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, place, "uri \"%.80s\" is not a file beside the model; fetch it first", uri);
    if (!decode_path(uri, path, sizeof(path)))
        return gltf_refuse(d, VISD_ERR_DENIED, place, "uri \"%.80s\" leads out of the model's folder or is no path", uri);
    if (!d->folder) return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, place, "uri \"%.80s\" is another file, and none may be read here", uri);
    int fd = open_below(d->folder, path);
    if (fd < 0) return gltf_refuse(d, VISD_ERR_IO, place, "uri \"%.80s\": %s", uri, errno == EXDEV ? "leads out of the model's folder" : strerror(errno));
    struct stat info;
    enum visd_err err = VISD_ERR_OK;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "uri \"%.80s\" is not a plain file", uri);
    } else if ((uint64_t)info.st_size < wanted) {
        err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "says %llu bytes, but \"%.80s\" has %llu", (unsigned long long)wanted, uri,
                          (unsigned long long)info.st_size);
    } else if ((err = gltf_charge(d, place, wanted)) == VISD_ERR_OK) {
        unsigned char *bytes = out->owned = malloc(wanted ? wanted : 1);
        size_t n = 0;
        ssize_t got = 1;
        while (bytes && n < wanted && (got = read(fd, bytes + n, wanted - n)) > 0) n += (size_t)got;
        if (!bytes)
            err = visd_why_memory(d->why, "a buffer");
        else if (n < wanted)
            err = gltf_refuse(d, VISD_ERR_IO, place, "uri \"%.80s\": %s", uri, got < 0 ? strerror(errno) : "it shrank while it was read");
        out->at = bytes;
        out->size = n;
    }
    close(fd);
    return err;
}

static enum visd_err buffer(struct gltf_document *d, uint32_t number, const unsigned char **at, size_t *size)
{
    struct gltf_bytes *bytes = &d->buffers[number];
    if (!bytes->ready) {
        const json_t *object = gltf_at(d, GLTF_BUFFERS, number);
        struct gltf_place place = gltf_place("buffers[%u]", number);
        uint64_t wanted = 0;
        const char *uri = NULL;
        enum visd_err err = gltf_get_uint(d, place.text, object, "byteLength", GLTF_MAX_PIECE, &wanted);
        if (err == VISD_ERR_OK) err = gltf_get_string(d, place.text, object, "uri", &uri);
        if (err != VISD_ERR_OK) return err;
        free(bytes->owned);
        *bytes = (struct gltf_bytes){0};
        if (uri && strncmp(uri, "data:", 5) == 0) {
            err = load_data_uri(d, place.text, uri, bytes);
        } else if (uri) {
            err = load_file(d, place.text, uri, wanted, bytes);
        } else if (number == 0 && d->bin) {
            bytes->at = d->bin;
            bytes->size = d->bin_size;
        } else {
            err = gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "has neither a uri nor a GLB chunk");
        }
        if (err != VISD_ERR_OK) return err;
        if (bytes->size < wanted)
            return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "says %llu bytes, but has %zu", (unsigned long long)wanted, bytes->size);
        bytes->size = (size_t)wanted; /* what lies past the declared length is padding, not data */
        bytes->ready = true;
    }
    *at = bytes->at;
    *size = bytes->size;
    return VISD_ERR_OK;
}

/* The range of a buffer that a view, or a packed view's source, declares. */
static enum visd_err range(struct gltf_document *d, const char *place, const json_t *object, const unsigned char **at, size_t *size)
{
    uint32_t number = VISD_MODEL_NONE;
    uint64_t offset = 0, length = UINT64_MAX;
    size_t all = 0;
    enum visd_err err = gltf_get_index(d, place, object, "buffer", GLTF_BUFFERS, &number);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place, object, "byteOffset", UINT64_MAX, &offset);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place, object, "byteLength", UINT64_MAX - 1, &length);
    if (err != VISD_ERR_OK) return err;
    if (number == VISD_MODEL_NONE || length == UINT64_MAX) return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "buffer or byteLength is missing");
    if ((err = buffer(d, number, at, &all)) != VISD_ERR_OK) return err;
    if (offset > all || length > all - offset)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "bytes %llu to %llu of buffers[%u], which has %zu", (unsigned long long)offset,
                           (unsigned long long)(offset + length), number, all);
    *at += offset;
    *size = (size_t)length;
    return VISD_ERR_OK;
}

/* meshoptimizer's decoders are safe on any bytes as long as the sizes asked of them are sane. */
static enum visd_err unpack(struct gltf_document *d, const char *place, const json_t *packed, struct gltf_bytes *out)
{
    const unsigned char *source;
    size_t size;
    uint64_t count = 0, stride = 0;
    const char *mode = "", *filter = "NONE";
    enum visd_err err = range(d, place, packed, &source, &size);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place, packed, "count", UINT32_MAX, &count);
    if (err == VISD_ERR_OK) err = gltf_get_uint(d, place, packed, "byteStride", 256, &stride);
    if (err == VISD_ERR_OK) err = gltf_get_string(d, place, packed, "mode", &mode);
    if (err == VISD_ERR_OK) err = gltf_get_string(d, place, packed, "filter", &filter);
    if (err != VISD_ERR_OK) return err;

    bool vertices = strcmp(mode, "ATTRIBUTES") == 0, triangles = strcmp(mode, "TRIANGLES") == 0, indices = strcmp(mode, "INDICES") == 0;
    bool sane = count > 0 && (vertices ? stride >= 4 && stride % 4 == 0 : stride == 2 || stride == 4) && (!triangles || count % 3 == 0);
    if (!vertices && !triangles && !indices) return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, place, "meshopt mode \"%.20s\" is not read; export the file without it", mode);
    if (!sane)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "count %llu and byteStride %llu do not suit mode %s", (unsigned long long)count,
                           (unsigned long long)stride, mode);
    bool octahedral = strcmp(filter, "OCTAHEDRAL") == 0, quaternion = strcmp(filter, "QUATERNION") == 0;
    bool exponential = strcmp(filter, "EXPONENTIAL") == 0, plain = strcmp(filter, "NONE") == 0;
    if (!(plain || (vertices && (exponential || (octahedral && (stride == 4 || stride == 8)) || (quaternion && stride == 8)))))
        return gltf_refuse(d, VISD_ERR_NOT_SUPPORTED, place, "meshopt filter \"%.20s\" is not read for mode %s, stride %llu; export the file without it",
                           filter, mode, (unsigned long long)stride);

    if ((err = gltf_charge(d, place, count * stride)) != VISD_ERR_OK) return err;
    void *bytes = malloc(count * stride);
    if (!bytes) return visd_why_memory(d->why, "an unpacked buffer view");
    out->owned = bytes;
    int fault = vertices    ? meshopt_decodeVertexBuffer(bytes, count, stride, source, size)
                : triangles ? meshopt_decodeIndexBuffer(bytes, count, stride, source, size)
                            : meshopt_decodeIndexSequence(bytes, count, stride, source, size);
    if (fault)
        return gltf_refuse(d, VISD_ERR_BAD_VALUE, place, "meshopt cannot unpack it (%d): damaged, or of a newer version than %d.%d reads", fault,
                           MESHOPTIMIZER_VERSION / 1000, MESHOPTIMIZER_VERSION / 10 % 100);
    if (octahedral) meshopt_decodeFilterOct(bytes, count, stride);
    if (quaternion) meshopt_decodeFilterQuat(bytes, count, stride);
    if (exponential) meshopt_decodeFilterExp(bytes, count, stride);
    out->at = bytes;
    out->size = count * stride;
    return VISD_ERR_OK;
}

enum visd_err gltf_view(struct gltf_document *d, uint32_t number, const unsigned char **at, size_t *size, size_t *stride)
{
    const json_t *object = gltf_at(d, GLTF_VIEWS, number), *packed;
    struct gltf_place place = gltf_place("bufferViews[%u]", number);
    uint64_t declared = 0;
    enum visd_err err = gltf_get_uint(d, place.text, object, "byteStride", 256, &declared);
    if (err == VISD_ERR_OK) err = gltf_get_extension(d, place.text, object, "EXT_meshopt_compression", &packed);
    if (err != VISD_ERR_OK) return err;
    *stride = (size_t)declared;
    if (!packed) return range(d, place.text, object, at, size);

    struct gltf_bytes *bytes = &d->views[number];
    if (!bytes->ready) {
        uint64_t length = 0;
        if ((err = gltf_get_uint(d, place.text, object, "byteLength", GLTF_MAX_PIECE, &length)) != VISD_ERR_OK) return err;
        struct gltf_place inner = gltf_place("%s.extensions.EXT_meshopt_compression", place.text);
        free(bytes->owned);
        *bytes = (struct gltf_bytes){0};
        if ((err = unpack(d, inner.text, packed, bytes)) != VISD_ERR_OK) return err;
        if (bytes->size < length)
            return gltf_refuse(d, VISD_ERR_BAD_VALUE, place.text, "says %llu bytes, but unpacks to %zu", (unsigned long long)length, bytes->size);
        bytes->ready = true;
    }
    *at = bytes->at;
    *size = bytes->size;
    return VISD_ERR_OK;
}
