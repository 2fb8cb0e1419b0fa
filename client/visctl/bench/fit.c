/* See fit.h. */
#include "fit.h"

#include <math.h>
#include <stdbool.h>

/* The normal equations of the chosen terms, by elimination with pivots. False: they do not determine the coefficients. */
static bool solve(double a[VISD_FIT_TERMS][VISD_FIT_TERMS + 1], int n)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
        if (fabs(a[pivot][k]) < 1e-12) return false;
        for (int j = 0; j <= n; j++) {
            double kept = a[k][j];
            a[k][j] = a[pivot][j], a[pivot][j] = kept;
        }
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            double times = a[i][k] / a[k][k];
            for (int j = k; j <= n; j++) a[i][j] -= times * a[k][j];
        }
    }
    for (int k = 0; k < n; k++) a[k][n] /= a[k][k];
    return true;
}

void visd_fit(const double *x, const double *y, size_t rows, int terms, double *coefficients)
{
    double scale[VISD_FIT_TERMS] = {0}, best = INFINITY;
    for (int t = 0; t < terms; t++) {
        coefficients[t] = 0;
        for (size_t r = 0; r < rows; r++)
            if (y[r] > 0) scale[t] = fmax(scale[t], fabs(x[r * (size_t)terms + (size_t)t] / y[r]));
    }
    for (unsigned choice = 1; choice < 1u << terms; choice++) {
        double a[VISD_FIT_TERMS][VISD_FIT_TERMS + 1] = {{0}}, squares = 0;
        int chosen[VISD_FIT_TERMS], n = 0;
        bool good = true;
        for (int t = 0; t < terms; t++)
            if (choice >> t & 1) chosen[n++] = t, good &= scale[t] > 0;
        if (!good) continue;
        for (size_t r = 0; r < rows; r++) {
            if (!(y[r] > 0)) continue;
            double row[VISD_FIT_TERMS];
            for (int i = 0; i < n; i++) row[i] = x[r * (size_t)terms + (size_t)chosen[i]] / y[r] / scale[chosen[i]];
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) a[i][j] += row[i] * row[j];
                a[i][n] += row[i];
            }
        }
        if (!solve(a, n)) continue;
        for (int i = 0; i < n; i++) good &= a[i][n] >= 0;
        if (!good) continue;
        for (size_t r = 0; r < rows; r++) {
            if (!(y[r] > 0)) continue;
            double error = -1;
            for (int i = 0; i < n; i++) error += a[i][n] * x[r * (size_t)terms + (size_t)chosen[i]] / y[r] / scale[chosen[i]];
            squares += error * error;
        }
        if (squares >= best) continue;
        best = squares;
        for (int t = 0; t < terms; t++) coefficients[t] = 0;
        for (int i = 0; i < n; i++) coefficients[chosen[i]] = a[i][n] / scale[chosen[i]];
    }
}
