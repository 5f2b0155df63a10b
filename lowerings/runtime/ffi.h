/* Handlers of XLA's FFI as compiled programs call them: the structs of its C API that such a call needs. */
#ifndef XLA_FFI_H
#define XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t struct_size;
    void *extension_start;
    int32_t dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
} XLA_FFI_Buffer;

/* The arguments of a call, or its results. */
typedef struct {
    size_t struct_size;
    void *extension_start;
    int64_t size;
    int32_t *types;
    void **args;
} XLA_FFI_Args;

typedef struct {
    size_t struct_size;
    void *extension_start;
    int64_t size;
    int32_t *types;
    void *names;
    void **attrs;
} XLA_FFI_Attrs;

typedef struct {
    size_t struct_size;
    void *extension_start;
    void *api;
    void *ctx;
    int32_t stage;
    XLA_FFI_Args args;
    XLA_FFI_Args rets;
    XLA_FFI_Attrs attrs;
    void *future;
} XLA_FFI_CallFrame;

/* An operand or result: what a handler gets of it, but for its data, and its bytes. Matrices of so many
 * rows and columns lie by columns for the handler, unless there are none. */
typedef struct {
    XLA_FFI_Buffer buffer;
    int64_t byte_size;
    int64_t item_size;
    int64_t rows;
    int64_t columns;
    /* Whether it is a result that is zeros, whatever the handler does. */
    int64_t is_zero;
} xla_handler_array;

/* A call of a handler; many threads may make it at once. */
typedef struct {
    /* Null where nothing is to be computed. */
    void *(*handler)(XLA_FFI_CallFrame *frame);
    /* Takes an error that nobody reads. */
    void (*drop_error)(void *error);
    /* Without arguments and results. */
    const XLA_FFI_CallFrame *frame;
    const xla_handler_array *arrays;
    int64_t operand_count;
    int64_t array_count;
    /* The arrays behind those are results that callers do not want. */
    int64_t given_count;
    /* Of a triangular system of f32 from the right, which OpenBLAS solves: `U` or `L`, `N` or `T`, and
     * `U` where the diagonal is ones; 0 of all others. */
    uint8_t triangle[3];
} xla_handler_call;

/* Calls a handler on arrays of these addresses. Returns 0, or -1 and the handler's error, null where there
 * was no memory. */
int32_t xla_call_handler(const xla_handler_call *call, void *const *arrays, void **error);

/* The same where nobody reads errors. */
int32_t xla_run_handler(const xla_handler_call *call, void *const *arrays);

#endif
