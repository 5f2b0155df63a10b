/* Calls of handlers of XLA's FFI that need no Python: those of LAPACK. */
#include "ffi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows and columns that are transposed at a time: their lines fit the ways of one set of the
 * first-level cache, where rows are a power of two apart. */
enum { BLOCK = 8 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* `target[c, r] = source[r, c]`, both dense, of items of a constant size. */
static inline void transpose_items(char *target, const char *source, int64_t rows, int64_t columns,
                                   const size_t size) {
    for (int64_t row = 0; row < rows; row += BLOCK)
        for (int64_t column = 0; column < columns; column += BLOCK)
            for (int64_t c = column; c < least(column + BLOCK, columns); ++c)
                for (int64_t r = row; r < least(row + BLOCK, rows); ++r)
                    memcpy(target + (size_t)(c * rows + r) * size,
                           source + (size_t)(r * columns + c) * size, size);
}

static void transpose(char *target, const char *source, const xla_handler_array *of, int64_t rows,
                      int64_t columns) {
    int64_t step = rows * columns * of->item_size;
    for (int64_t at = 0; at < of->byte_size; at += step) {
        if (of->item_size == 4)
            transpose_items(target + at, source + at, rows, columns, 4);
        else if (of->item_size == 8)
            transpose_items(target + at, source + at, rows, columns, 8);
        else
            transpose_items(target + at, source + at, rows, columns, 16);
    }
}

/* The row vector `x` with `x op(a) = b`, elements `stride` apart; `a` by columns. */
static void solve_row(const uint8_t triangle[3], int64_t size, const float *a, const float *b, float *x,
                      int64_t stride) {
    int is_flipped = triangle[1] != 'N';
    int is_forwards = (triangle[0] == 'U') != is_flipped;
    for (int64_t n = 0; n < size; ++n) {
        int64_t column = is_forwards ? n : size - 1 - n;
        double rest = b[column * stride];
        for (int64_t k = 0; k < n; ++k) {
            int64_t row = is_forwards ? k : size - 1 - k;
            rest -= (double)x[row * stride] * a[is_flipped ? column + row * size : row + column * size];
        }
        x[column * stride] = (float)(triangle[2] == 'U' ? rest : rest / a[column + column * size]);
    }
}

/* OpenBLAS's strsm (0.3.30) works on four columns at once, and an infinity in one of them makes NaN of
 * finite ones that do not depend on it: rows that are not finite are solved by themselves. */
static void repair(const xla_handler_call *call, char *const *data) {
    const xla_handler_array *x = &call->arrays[2];
    int64_t rows = x->buffer.dims[x->buffer.rank - 2], size = x->buffer.dims[x->buffer.rank - 1];
    int64_t problems = x->byte_size / (rows * size * x->item_size);
    for (int64_t problem = 0; problem < problems; ++problem) {
        const float *a = (const float *)data[0] + problem * size * size;
        const float *b = (const float *)data[1] + problem * rows * size;
        float *found = (float *)data[2] + problem * rows * size;
        for (int64_t row = 0; row < rows; ++row) {
            int64_t column = 0;
            while (column < size && isfinite(found[row + column * rows]))
                ++column;
            if (column < size)
                solve_row(call->triangle, size, a, b + row, found + row, rows);
        }
    }
}

int32_t xla_call_handler(const xla_handler_call *call, void *const *arrays, void **error) {
    int64_t count = call->array_count;
    XLA_FFI_Buffer buffers[count];
    void *places[count];
    char *data[count];
    int64_t scratch_size = 0;
    for (int64_t n = 0; n < count; ++n)
        if (call->arrays[n].rows || n >= call->given_count)
            scratch_size += (call->arrays[n].byte_size + 63) / 64 * 64;
    *error = NULL;
    char *scratch = scratch_size ? aligned_alloc(64, (size_t)scratch_size) : NULL;
    if (scratch_size && !scratch)
        return -1;
    char *free_part = scratch;
    for (int64_t n = 0; n < count; ++n) {
        const xla_handler_array *each = &call->arrays[n];
        if (each->rows || n >= call->given_count) {
            data[n] = free_part;
            free_part += (each->byte_size + 63) / 64 * 64;
            if (n < call->operand_count)
                transpose(data[n], arrays[n], each, each->rows, each->columns);
        } else {
            data[n] = arrays[n];
        }
        buffers[n] = each->buffer;
        buffers[n].data = data[n];
        places[n] = &buffers[n];
    }
    if (call->handler) {
        XLA_FFI_CallFrame frame = *call->frame;
        frame.args.args = places;
        frame.rets.args = places + call->operand_count;
        *error = call->handler(&frame);
        if (!*error && call->triangle[0])
            repair(call, data);
    }
    for (int64_t n = call->operand_count; n < call->given_count && !*error; ++n) {
        const xla_handler_array *each = &call->arrays[n];
        if (each->is_zero)
            memset(arrays[n], 0, (size_t)each->byte_size);
        else if (each->rows)
            transpose(arrays[n], data[n], each, each->columns, each->rows);
    }
    free(scratch);
    return *error ? -1 : 0;
}

int32_t xla_run_handler(const xla_handler_call *call, void *const *arrays) {
    void *error;
    int32_t status = xla_call_handler(call, arrays, &error);
    if (error)
        call->drop_error(error);
    return status;
}
