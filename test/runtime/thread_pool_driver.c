/* Runs loops on the thread pool in many ways; ends with 0 if each iteration ran exactly once. */
#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 4096, MOST_THREADS = 9 };

struct task {
    int64_t *runs; /* How often each iteration ran; plain, so that a sanitizer sees races. */
    int64_t inner; /* Iterations of a loop within each iteration, if any. */
    int64_t threads;
    _Atomic int64_t wrong;
};

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static void run(const void *values, int64_t first, int64_t last) {
    struct task *task = *(struct task *const *)values;
    int32_t number = xla_thread_number();
    if (number < 0 || number >= task->threads)
        atomic_fetch_add(&task->wrong, 1);
    for (int64_t i = first; i < last; ++i) {
        task->runs[i] += 1;
        if (task->inner > 0) {
            int64_t runs[64] = {0};
            struct task inner = {runs, 0, task->threads, 0};
            struct task *pointer = &inner;
            xla_parallel_for(task->threads, run, &pointer, task->inner);
            for (int64_t j = 0; j < task->inner; ++j)
                if (runs[j] != 1)
                    atomic_fetch_add(&task->wrong, 1);
            if (xla_thread_number() != number)
                atomic_fetch_add(&task->wrong, 1);
        }
    }
}

static void check_loop(int64_t threads, int64_t count, int64_t inner) {
    int64_t runs[MOST] = {0};
    struct task task = {runs, inner, threads, 0};
    struct task *pointer = &task;
    xla_parallel_for(threads, run, &pointer, count);
    for (int64_t i = 0; i < count; ++i)
        if (runs[i] != 1)
            fail("an iteration did not run exactly once");
    if (task.wrong)
        fail("an inner loop, or the number of a thread, is wrong");
}

static void check_loops(unsigned seed, int turns, int64_t inner) {
    for (int turn = 0; turn < turns; ++turn) {
        int64_t threads = rand_r(&seed) % MOST_THREADS + 1;
        int64_t most = rand_r(&seed) % 2 ? 12 : inner > 0 ? 64 : MOST;
        check_loop(threads, rand_r(&seed) % most, inner);
        if (rand_r(&seed) % 64 == 0)
            usleep(rand_r(&seed) % 300); /* Long enough for some threads to sleep. */
    }
}

static void *call(void *seed) {
    check_loops((unsigned)(uintptr_t)seed, 150, 0);
    check_loops((unsigned)(uintptr_t)seed, 20, 5);
    return NULL;
}

static void check_child(int turn) {
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        check_loops((unsigned)turn, 50, 0);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        fail("a child failed");
}

int main(int count, char **arguments) {
    unsigned seed = count > 2 ? (unsigned)atoi(arguments[2]) : 1;
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "loops") == 0) {
        check_loops(seed, 1000, 0);
    } else if (strcmp(what, "nested") == 0) {
        check_loops(seed, 100, 7);
    } else if (strcmp(what, "callers") == 0 || strcmp(what, "forks") == 0) {
        int forks = strcmp(what, "forks") == 0;
        pthread_t callers[4];
        for (uintptr_t number = 0; number < 4; ++number)
            if (pthread_create(&callers[number], NULL, call, (void *)(seed + number)))
                fail("pthread_create");
        for (int turn = 0; turn < (forks ? 20 : 0); ++turn)
            check_child(turn);
        for (int number = 0; number < 4; ++number)
            pthread_join(callers[number], NULL);
        if (forks)
            check_child(100);
    } else {
        fail("loops, nested, callers or forks?");
    }
    return 0;
}
