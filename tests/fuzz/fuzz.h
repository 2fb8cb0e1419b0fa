/* What every fuzzer here has: one function from bytes to nothing. It must return for any bytes, and break no promise on the way. */
#ifndef VISD_TESTS_FUZZ_H
#define VISD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A promise that holds in every build. */
#define FUZZ_CHECK(condition)                                                                   \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);             \
            abort();                                                                            \
        }                                                                                       \
    } while (0)

#endif
