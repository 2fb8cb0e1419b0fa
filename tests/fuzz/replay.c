/* Runs a fuzzer once for each file named, and each file of each folder named: so the corpus is a test that needs no fuzzing compiler.
 *
 * Every input lies in a block of exactly its size, so that the sanitizers see a read past its end. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static unsigned runs;

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        if (file)
            fclose(file);
        return 1;
    }
    size_t size = (size_t)info.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    int bad = !bytes || fread(bytes, 1, size, file) != size;
    if (!bad) {
        LLVMFuzzerTestOneInput(bytes, size);
        runs++;
    }
    free(bytes);
    fclose(file);
    return bad;
}

static int run_path(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return run_file(path);
    int bad = 0;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char inner[4096];
        if (entry->d_name[0] != '.' && snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) < (int)sizeof(inner))
            bad |= run_file(inner);
    }
    closedir(folder);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = argc < 2;
    for (int i = 1; i < argc; i++)
        bad |= run_path(argv[i]);
    printf("%s: %u inputs\n", argv[0], runs);
    return bad || runs == 0;
}
