/* What compiled programs, and the toolkit in Python, call of this library. */
#ifndef XLA_RUNTIME_H
#define XLA_RUNTIME_H

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

/* Runs a program in the default mode, whatever the caller's is. */
void xla_run(xla_entry *entry, void *arguments);

#endif
