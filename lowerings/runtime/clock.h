/* What clocks say. */
#ifndef XLA_RUNTIME_CLOCK_H
#define XLA_RUNTIME_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
