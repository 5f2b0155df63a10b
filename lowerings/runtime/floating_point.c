/*
 * The mode of floating-point arithmetic that compiled programs run in: rounding to nearest,
 * subnormal numbers as they are, no traps. Callers may have another one; XLA's, for one, flushes
 * subnormal numbers to zero.
 */
#include "runtime.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

enum { DEFAULT_MODE = 0x1f80 };

uint64_t xla_fp_enter(void) {
    uint32_t before = _mm_getcsr();
    if (before != DEFAULT_MODE)
        _mm_setcsr(DEFAULT_MODE);
    return before;
}

void xla_fp_leave(uint64_t before) {
    if (before != DEFAULT_MODE)
        _mm_setcsr((uint32_t)before);
}
#else
uint64_t xla_fp_enter(void) {
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    if (before != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
    return before;
}

void xla_fp_leave(uint64_t before) {
    if (before != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"(before));
}
#endif
