/*
 * Triangular systems of f32 from the right: OpenBLAS's strsm (0.3.30) works on four columns at once, and
 * an infinity in one of them makes NaN of finite ones that do not depend on it. Its strsv does not.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

typedef void solve_matrix(const char *side, const char *triangle, const char *transposed,
                          const char *diagonal, const int *rows, const int *columns,
                          const float *factor, const float *a, const int *a_stride, float *b,
                          const int *b_stride);
typedef void solve_vector(const char *triangle, const char *transposed, const char *diagonal,
                          const int *size, const float *a, const int *a_stride, float *x,
                          const int *x_stride);

static solve_matrix *strsm;
static solve_vector *strsv;

void xla_use_strsm(void *for_matrices, void *for_vectors) {
    memcpy(&strsm, &for_matrices, sizeof strsm);
    memcpy(&strsv, &for_vectors, sizeof strsv);
}

static int is_finite(const float *x, int size, int stride) {
    for (int i = 0; i < size; ++i)
        if (!isfinite(x[(size_t)i * stride]))
            return 0;
    return 1;
}

/* As strsm from the right with factor 1; without memory for a copy of b, as that is. */
void xla_strsm(const char *side, const char *triangle, const char *transposed, const char *diagonal,
               const int *rows, const int *columns, const float *factor, const float *a,
               const int *a_stride, float *b, const int *b_stride) {
    size_t size = (size_t)*b_stride * (size_t)*columns;
    float *given = *side == 'R' ? malloc(size * sizeof *b) : NULL;
    if (given)
        memcpy(given, b, size * sizeof *b);
    strsm(side, triangle, transposed, diagonal, rows, columns, factor, a, a_stride, b, b_stride);
    if (!given)
        return;
    const char *flipped = *transposed == 'N' ? "T" : "N";
    for (int row = 0; row < *rows; ++row) {
        if (is_finite(b + row, *columns, *b_stride))
            continue;
        for (int column = 0; column < *columns; ++column)
            b[row + (size_t)column * *b_stride] = given[row + (size_t)column * *b_stride];
        strsv(triangle, flipped, diagonal, columns, a, a_stride, b + row, b_stride);
    }
    free(given);
}
