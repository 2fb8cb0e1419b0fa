/* PNG through libspng, and the making of empty pictures. */
#include <errno.h>
#include <spng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "picture.h"

enum visd_err visd_picture_init(struct visd_picture *picture, uint32_t width, uint32_t height, struct visd_why *why)
{
    *picture = (struct visd_picture){width, height, malloc((size_t)width * height * 3 + 1)};
    if (!picture->rgb) return visd_why_memory(why, "a picture");
    for (uint32_t y = 0; y < height; y++) /* a dark sky, a little lighter below */
        for (uint32_t x = 0; x < width; x++) {
            uint8_t *at = picture->rgb + ((size_t)y * width + x) * 3, lift = (uint8_t)(14 * y / (height ? height : 1));
            at[0] = 18 + lift, at[1] = 21 + lift, at[2] = 28 + lift;
        }
    return VISD_ERR_OK;
}

void visd_picture_finish(struct visd_picture *picture)
{
    free(picture->rgb);
    *picture = (struct visd_picture){0};
}

enum visd_err visd_picture_write_png(const struct visd_picture *picture, const char *path, struct visd_why *why)
{
    FILE *file = fopen(path, "wbe");
    if (!file) return visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
    spng_ctx *png = spng_ctx_new(SPNG_CTX_ENCODER);
    struct spng_ihdr header = {.width = picture->width, .height = picture->height, .bit_depth = 8, .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
    int fault = png ? spng_set_png_file(png, file) : SPNG_EMEM;
    if (!fault) fault = spng_set_ihdr(png, &header);
    if (!fault) fault = spng_encode_image(png, picture->rgb, (size_t)picture->width * picture->height * 3, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    spng_ctx_free(png);
    struct stat written;
    bool plain = fstat(fileno(file), &written) == 0 && S_ISREG(written.st_mode); /* /dev/full is not ours to remove */
    bool closed = fclose(file) == 0;
    if (!fault && closed) return VISD_ERR_OK;
    if (plain) remove(path);
    return visd_why(why, VISD_ERR_IO, "%.200s: the picture was not written: %s", path, fault ? spng_strerror(fault) : strerror(errno));
}
