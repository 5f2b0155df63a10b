/*
 * The starts of tasks that take 1 to 12 words besides their iterations. A start loads the task and
 * its words from the struct that the caller of xla_parallel_for passes on. Pointers and integers are
 * words alike: all platforms that have this runtime pass them in the same way.
 */
#include "runtime.h"

typedef int64_t word;

#define TYPES_1 word
#define VALUES_1 words[0]
#define TYPES_2 TYPES_1, word
#define VALUES_2 VALUES_1, words[1]
#define TYPES_3 TYPES_2, word
#define VALUES_3 VALUES_2, words[2]
#define TYPES_4 TYPES_3, word
#define VALUES_4 VALUES_3, words[3]
#define TYPES_5 TYPES_4, word
#define VALUES_5 VALUES_4, words[4]
#define TYPES_6 TYPES_5, word
#define VALUES_6 VALUES_5, words[5]
#define TYPES_7 TYPES_6, word
#define VALUES_7 VALUES_6, words[6]
#define TYPES_8 TYPES_7, word
#define VALUES_8 VALUES_7, words[7]
#define TYPES_9 TYPES_8, word
#define VALUES_9 VALUES_8, words[8]
#define TYPES_10 TYPES_9, word
#define VALUES_10 VALUES_9, words[9]
#define TYPES_11 TYPES_10, word
#define VALUES_11 VALUES_10, words[10]
#define TYPES_12 TYPES_11, word
#define VALUES_12 VALUES_11, words[11]

struct task {
    void *function;
    word words[];
};

#define START(count)                                                                      \
    void xla_start_##count(const void *values, int64_t first, int64_t last) {             \
        const struct task *task = values;                                                 \
        const word *words = task->words;                                                  \
        ((void (*)(TYPES_##count, word, word))task->function)(VALUES_##count, first, last); \
    }

START(1)
START(2)
START(3)
START(4)
START(5)
START(6)
START(7)
START(8)
START(9)
START(10)
START(11)
START(12)
