/* See chart.h. */
#include "chart.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 460, LEFT = 72, RIGHT = 190, TOP = 44, BOTTOM = 56 };

static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf",
                                                       "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#393b79", "#637939"};
#define COLOURS (sizeof(colours) / sizeof(*colours))

struct axis {
    double low, high; /* powers of ten */
};

struct visd_chart_series *visd_chart_series(struct visd_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->series_count; i++)
        if (strcmp(chart->series[i].name, name) == 0) return &chart->series[i];
    if (chart->series_count == VISD_CHART_SERIES) return NULL;
    struct visd_chart_series *series = &chart->series[chart->series_count++];
    snprintf(series->name, sizeof(series->name), "%s", name);
    series->count = 0;
    return series;
}

void visd_chart_add(struct visd_chart_series *series, double x, double y)
{
    if (!series || series->count == VISD_CHART_POINTS || !(x > 0) || !(y > 0) || !isfinite(x) || !isfinite(y)) return;
    size_t at = series->count++;
    for (; at > 0 && series->x[at - 1] > x; at--) series->x[at] = series->x[at - 1], series->y[at] = series->y[at - 1];
    series->x[at] = x;
    series->y[at] = y;
}

/* The least span of whole powers that holds all values of x (0) or y (1). */
static struct axis span(const struct visd_chart *chart, int which)
{
    struct axis axis = {INFINITY, -INFINITY};
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++) {
            double power = log10(which ? chart->series[s].y[i] : chart->series[s].x[i]);
            axis.low = fmin(axis.low, floor(power + 1e-9));
            axis.high = fmax(axis.high, ceil(power - 1e-9));
        }
    if (axis.low > axis.high) return (struct axis){0, 1};
    if (axis.low == axis.high) axis.high++;
    return axis;
}

static double place(struct axis axis, double value, double from, double to)
{
    return from + (to - from) * (log10(value) - axis.low) / (axis.high - axis.low);
}

static void put_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        const char *escape = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (escape) fputs(escape, file);
        else fputc(*text, file);
    }
}

/* 1k, 10M, 0.01 */
static void name_power(double power, char out[16])
{
    static const char suffix[] = {0, 'k', 'M', 'G'};
    int thousands = power > 0 ? (int)power / 3 : 0;
    if (thousands > 3) snprintf(out, 16, "1e%d", (int)power);
    else snprintf(out, 16, "%.*f%s", power < 0 ? (int)-power : 0, pow(10, power - 3 * thousands), (const char[2]){suffix[thousands], 0});
}

static void put_axes(FILE *file, const struct visd_chart *chart, struct axis x, struct axis y)
{
    char name[16];
    for (double power = x.low; power <= x.high; power++) {
        double at = place(x, pow(10, power), LEFT, WIDTH - RIGHT);
        name_power(power, name);
        fprintf(file, "<path d='M%.1f %d V%d' stroke='#ddd'/><text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", at, TOP, HEIGHT - BOTTOM, at,
                HEIGHT - BOTTOM + 18, name);
    }
    for (double power = y.low; power <= y.high; power++) {
        double at = place(y, pow(10, power), HEIGHT - BOTTOM, TOP);
        name_power(power, name);
        fprintf(file, "<path d='M%d %.1f H%d' stroke='#ddd'/><text x='%d' y='%.1f' text-anchor='end'>%s</text>\n", LEFT, at, WIDTH - RIGHT, LEFT - 8, at + 4, name);
    }
    fprintf(file, "<text x='%d' y='24' font-size='15' font-weight='bold'>", LEFT);
    put_text(file, chart->title);
    fprintf(file, "</text>\n<text x='%d' y='%d' text-anchor='middle'>", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14);
    put_text(file, chart->x_label);
    fprintf(file, "</text>\n<text transform='translate(18 %d) rotate(-90)' text-anchor='middle'>", (TOP + HEIGHT - BOTTOM) / 2);
    put_text(file, chart->y_label);
    fputs("</text>\n", file);
}

static void put_series(FILE *file, const struct visd_chart *chart, size_t number, struct axis x, struct axis y)
{
    const struct visd_chart_series *series = &chart->series[number];
    const char *colour = colours[number % COLOURS], *dashes = number < COLOURS ? "" : " stroke-dasharray='5 3'";
    double step = chart->series_count > 17 ? (HEIGHT - BOTTOM - TOP) / (double)chart->series_count : 20;
    fprintf(file, "<polyline fill='none' stroke='%s' stroke-width='1.8'%s points='", colour, dashes);
    for (size_t i = 0; i < series->count; i++)
        fprintf(file, "%.1f,%.1f ", place(x, series->x[i], LEFT, WIDTH - RIGHT), place(y, series->y[i], HEIGHT - BOTTOM, TOP));
    fputs("'/>\n", file);
    for (size_t i = 0; i < series->count; i++)
        fprintf(file, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'><title>%.6g: %.4g</title></circle>\n", place(x, series->x[i], LEFT, WIDTH - RIGHT),
                place(y, series->y[i], HEIGHT - BOTTOM, TOP), colour, series->x[i], series->y[i]);
    double row = TOP + 10 + step * (double)number;
    fprintf(file, "<path d='M%d %.1f h22' stroke='%s' stroke-width='3'%s/><text x='%d' y='%.1f'>", WIDTH - RIGHT + 14, row, colour, dashes, WIDTH - RIGHT + 42, row + 4);
    put_text(file, series->name);
    fputs("</text>\n", file);
}

enum visd_err visd_chart_write(const struct visd_chart *chart, const char *path, struct visd_why *why)
{
    FILE *file = fopen(path, "we");
    if (!file) return visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
    struct axis x = span(chart, 0), y = span(chart, 1);
    size_t points = 0;
    fprintf(file, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12' fill='#222'>\n"
                  "<rect width='%d' height='%d' fill='white'/>\n", WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_axes(file, chart, x, y);
    for (size_t i = 0; i < chart->series_count; i++) {
        put_series(file, chart, i, x, y);
        points += chart->series[i].count;
    }
    if (!points) fprintf(file, "<text x='%d' y='%d' text-anchor='middle'>nothing was measured</text>\n", (LEFT + WIDTH - RIGHT) / 2, HEIGHT / 2);
    fputs("</svg>\n", file);
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad) return visd_why(why, VISD_ERR_IO, "%.200s: the chart was not written: %s", path, strerror(errno));
    return VISD_ERR_OK;
}
