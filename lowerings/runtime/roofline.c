/*
 * The most that one core does: multiply-adds in registers, in independent chains, and reads and copies
 * of memory. Each loop is there for vectors of 16, 32 and 64 bytes; who calls it knows the processor.
 */

#include <stdint.h>

#include "runtime.h"

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#define WIDEST __attribute__((target("avx512f")))
#else
#define WIDE
#define WIDEST
#endif

/* More than hide the latency of a multiply-add, fewer than there are registers. */
#define CHAINS 12
/* What a step of the loops over memory moves; they are given a multiple of it. */
#define BLOCK 512

#define PEAK(name, type, width, target)                                                               \
    target int64_t name(type *memory, int64_t steps)                                                  \
    {                                                                                                 \
        typedef type vector __attribute__((vector_size(width)));                                      \
        vector chains[CHAINS] = {0}, factor = (vector){0} + *memory;                                  \
        for (int64_t step = 0; step < steps; step++)                                                  \
            for (int chain = 0; chain < CHAINS; chain++)                                              \
                chains[chain] = chains[chain] * factor + factor;                                      \
        for (int chain = 1; chain < CHAINS; chain++)                                                  \
            chains[0] += chains[chain];                                                               \
        *memory = chains[0][0];                                                                       \
        return 2 * steps * CHAINS * (int64_t)(width / sizeof(type));                                  \
    }

#define MOVES(width, target)                                                                          \
    target void xla_read_##width(char *to, const char *from, int64_t bytes, int64_t turns)            \
    {                                                                                                 \
        typedef int64_t vector __attribute__((vector_size(width), aligned(8)));                       \
        vector sums[BLOCK / width] = {0};                                                             \
        for (int64_t turn = 0; turn < turns; turn++) {                                                \
            for (int64_t at = 0; at < bytes; at += BLOCK)                                             \
                for (int n = 0; n < BLOCK / width; n++)                                               \
                    sums[n] ^= ((const vector *)(from + at))[n];                                      \
            __asm__ volatile("" ::: "memory");                                                        \
        }                                                                                             \
        for (int n = 0; n < BLOCK / width; n++)                                                       \
            ((vector *)to)[n] = sums[n];                                                              \
    }                                                                                                 \
    target void xla_copy_##width(char *to, const char *from, int64_t bytes, int64_t turns)            \
    {                                                                                                 \
        typedef int64_t vector __attribute__((vector_size(width), aligned(8)));                       \
        for (int64_t turn = 0; turn < turns; turn++) {                                                \
            for (int64_t at = 0; at < bytes; at += BLOCK)                                             \
                for (int n = 0; n < BLOCK / width; n++)                                               \
                    ((vector *)(to + at))[n] = ((const vector *)(from + at))[n];                      \
            __asm__ volatile("" ::: "memory");                                                        \
        }                                                                                             \
    }

#define LOOPS(width, target)                                                                          \
    PEAK(xla_peak_f32_##width, float, width, target)                                                  \
    PEAK(xla_peak_f64_##width, double, width, target)                                                 \
    MOVES(width, target)

LOOPS(16, )
LOOPS(32, WIDE)
LOOPS(64, WIDEST)
