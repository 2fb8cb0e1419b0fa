/* See file.h. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum visd_err visd_file_read(const char *path, uint64_t most, unsigned char **out, size_t *size, struct visd_why *why)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
    struct stat info;
    enum visd_err err = VISD_ERR_OK;
    size_t n = 0;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        err = visd_why(why, VISD_ERR_IO, "%.200s: not a plain file", path);
    } else if ((uint64_t)info.st_size > most) {
        err = visd_why(why, VISD_ERR_TOO_BIG, "%.200s: larger than %llu bytes; split it", path, (unsigned long long)most);
    } else if (!(*out = malloc((size_t)info.st_size + 1))) {
        err = visd_why_memory(why, "the file");
    } else {
        ssize_t got;
        while (n < (size_t)info.st_size && (got = read(fd, *out + n, (size_t)info.st_size - n)) != 0) {
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) {
                err = visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
                break;
            }
            n += (size_t)got;
        }
    }
    close(fd);
    *size = n;
    return err;
}
