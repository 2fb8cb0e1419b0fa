/* Least squares with coefficients that are not negative: a cost has no negative parts. Pure; any thread. */
#ifndef VISD_VISCTL_BENCH_FIT_H
#define VISD_VISCTL_BENCH_FIT_H

#include <stddef.h>

#define VISD_FIT_TERMS 4

/* Minimises the sum over rows of ((y - sum of coefficient * x) / y)^2: relative errors, so that small and large costs count
 * alike. x holds terms values a row; rows whose y is not above 0 are left out. With nothing to fit, all are 0. The best of all
 * choices of terms whose own least squares are not negative is the answer (Lawson and Hanson's condition holds there); with
 * so few terms all choices are tried. terms: 1 to VISD_FIT_TERMS. */
void visd_fit(const double *x, const double *y, size_t rows, int terms, double *coefficients);

#endif
