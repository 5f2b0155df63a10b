/* What compiled programs, and the toolkit in Python, call of this library. */
#ifndef XLA_RUNTIME_H
#define XLA_RUNTIME_H

#include <stdatomic.h>
#include <stdint.h>

/* Runs the iterations from `first` to before `last` of a loop whose captured values lie in a struct. */
typedef void xla_start(const void *values, int64_t first, int64_t last);

/* Has all of `count` iterations run by up to so many threads, this one among them; returns when they
 * are done. */
void xla_parallel_for(int64_t threads, xla_start *start, const void *values, int64_t count);

/* The number of this thread among those of the loop that it runs: the caller's is 0. */
int32_t xla_thread_number(void);

/* Says where BLAS has strsm and strsv, for xla_strsm. */
void xla_use_strsm(void *for_matrices, void *for_vectors);

/* BLAS's strsm, where numbers that are not finite spoil only what depends on them. */
void xla_strsm(const char *side, const char *triangle, const char *transposed, const char *diagonal,
               const int *rows, const int *columns, const float *factor, const float *a,
               const int *a_stride, float *b, const int *b_stride);

/* Sets the mode of floating-point arithmetic to the default; returns what it was before. */
uint64_t xla_fp_enter(void);

/* Sets the mode back to what xla_fp_enter returned. */
void xla_fp_leave(uint64_t before);

/* What a program is to those that run it: a function of its arrays. */
typedef void xla_entry(void *arguments);

/* What a program with loops that may be long has: the words of `RunState` in Python. */
typedef struct {
    /* 0 while all is well; the program ends soon if it is anything else. */
    _Atomic int64_t failure;
    int64_t found;
    int64_t limit;
    int64_t call;
} xla_state;

/* Runs a program, with so many states, in the default mode, whatever the caller's is. Returns whether
 * Ctrl-C has ended it, which may be only where the main thread of Python runs it. */
int32_t xla_run(xla_entry *entry, xla_state *const *states, int64_t count, void *arguments);

typedef struct _object PyObject;

/* What of Python handles SIGINT. */
typedef struct {
    int (*take_lock)(void);
    void (*give_lock)(int);
    PyObject *(*call)(PyObject *function, PyObject *argument);
    void (*drop)(PyObject *object);
    /* Calls the functions for signals that have come; -1 if one of them has raised something. */
    int (*check_signals)(void);
    void (*clear_error)(void);
    /* Has Python take it that SIGINT has come. */
    void (*set_interrupt)(void);
    PyObject *get_handler;
    PyObject *number;
    /* The function that raises KeyboardInterrupt. */
    PyObject *raising_handler;
} xla_python;

/* Before the main thread of Python calls a function in which nobody may see KeyboardInterrupt: whether
 * it is due. */
int64_t xla_hold_interrupt(void);

/* Has Python raise KeyboardInterrupt when its main thread, this one, goes on, if that is due. */
void xla_release_interrupt(int64_t is_due);

/* Has Ctrl-C end what the main thread of Python runs; not any more if the second is null. */
void xla_heed_interrupts(uint64_t thread, const xla_python *python);

#endif
