/*
 * Matrices as LAPACK has them, by columns, and as programs have them, by rows; by the letter of its
 * routines.
 */
#include "runtime.h"

#include <complex.h>

/* Rows and columns that are transposed at a time: their lines fit the ways of one set of the
 * first-level cache, where rows are a power of two apart. */
enum { BLOCK = 8 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* `target[c, r] = source[r, c]`, both dense. */
#define TRANSPOSE(letter, type)                                                                     \
    void xla_transpose_##letter(type *target, const type *source, int64_t rows, int64_t columns) {   \
        for (int64_t row = 0; row < rows; row += BLOCK)                                             \
            for (int64_t column = 0; column < columns; column += BLOCK)                             \
                for (int64_t c = column; c < least(column + BLOCK, columns); ++c)                   \
                    for (int64_t r = row; r < least(row + BLOCK, rows); ++r)                        \
                        target[c * rows + r] = source[r * columns + c];                             \
    }

TRANSPOSE(s, float)
TRANSPOSE(d, double)
TRANSPOSE(c, float _Complex)
TRANSPOSE(z, double _Complex)

/* The columns of the source as vectors, by the signs of the imaginary parts of the eigenvalues: of a
 * pair the first has `column + i next`, the second its conjugate. Eigenvalues that did not converge
 * may be half a pair: no column is read that is not there. */
#define EIGENVECTORS(letter, type)                                                                  \
    void xla_eigenvectors_##letter(type _Complex *target, const type *source, const type *imaginary, \
                                   int64_t size) {                                                  \
        type(*parts)[2] = (type(*)[2])target;                                                       \
        for (int64_t column = 0; column < size; ++column) {                                         \
            type sign = imaginary[column];                                                          \
            const type *real = source + (sign < 0 && column > 0 ? column - 1 : column) * size;      \
            const type *other = source + least(sign > 0 ? column + 1 : column, size - 1) * size;    \
            for (int64_t row = 0; row < size; ++row) {                                              \
                type *element = parts[row * size + column];                                         \
                element[0] = real[row];                                                             \
                element[1] = sign > 0 ? other[row] : sign < 0 ? -other[row] : 0;                    \
            }                                                                                       \
        }                                                                                           \
    }

EIGENVECTORS(s, float)
EIGENVECTORS(d, double)
