/* Runs programs that Ctrl-C ends, with a Python that only counts: `driver programs 1`. */
#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 20 };

#define REQUIRE(condition)                                          \
    do                                                              \
        if (!(condition)) {                                         \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition);     \
            exit(1);                                                \
        }                                                           \
    while (0)

static _Atomic int signals, locks;
static _Atomic(PyObject *) handler;

static void python_handler(int number) {
    (void)number;
    ++signals;
}

static int take_lock(void) { return ++locks; }
static void give_lock(int state) { REQUIRE(state == locks--); }
static PyObject *get_handler(PyObject *function, PyObject *number) {
    (void)function, (void)number;
    return handler;
}
static void drop(PyObject *object) { REQUIRE(object == handler); }
static int check_signals(void) { return signals ? -1 : 0; }
static void clear_error(void) { signals = 0; }
static void set_interrupt(void) { ++signals; }

/* Goes on until it is told to end, or for as long as it is given. */
struct program {
    xla_state state;
    _Atomic int has_begun;
    int64_t turns;
};

static void run(void *argument) {
    struct program *program = argument;
    program->has_begun = 1;
    for (int64_t n = 0; n < program->turns && !program->state.failure; ++n)
        usleep(1000);
    program->has_begun = 0;
}

static void *interrupt(void *argument) {
    struct program *program = argument;
    while (!program->has_begun)
        usleep(100);
    /* The system gives a signal to any thread: here to this one, or to the one that runs. */
    static int turn;
    if (++turn % 2)
        raise(SIGINT);
    else
        kill(getpid(), SIGINT);
    return NULL;
}

static int32_t run_interrupted(int64_t turns) {
    struct program program = {.turns = turns};
    xla_state *states[] = {&program.state};
    pthread_t other;
    REQUIRE(!pthread_create(&other, NULL, interrupt, &program));
    int32_t was_asked = xla_run(run, states, 1, &program);
    pthread_join(other, NULL);
    REQUIRE(!program.state.failure && signals == 1 && !locks);
    return was_asked;
}

static void *run_elsewhere(void *argument) {
    (void)argument;
    REQUIRE(!run_interrupted(50));
    return NULL;
}

int main(void) {
    static char object;
    PyObject *raising = (PyObject *)&object;
    xla_python python = {take_lock, give_lock, get_handler, drop, check_signals,
                         clear_error, set_interrupt, raising, raising, raising};
    signal(SIGINT, python_handler);
    handler = raising;
    xla_heed_interrupts((uint64_t)pthread_self(), &python);
    for (int n = 0; n < ROUNDS; ++n) {
        REQUIRE(run_interrupted(60 * 1000));
        /* It is due until somebody is told. */
        REQUIRE(xla_hold_interrupt() && !signals);
        xla_release_interrupt(1);
        REQUIRE(signals == 1);
        signals = 0;
    }
    /* Other threads run to the end. */
    pthread_t other;
    REQUIRE(!pthread_create(&other, NULL, run_elsewhere, NULL));
    pthread_join(other, NULL);
    signals = 0;
    /* So do all where a function of one's own handles SIGINT. */
    handler = (PyObject *)(&object + 1);
    signal(SIGINT, python_handler);
    usleep(1000);
    REQUIRE(!run_interrupted(50));
    signals = 0;
    xla_heed_interrupts((uint64_t)pthread_self(), NULL);
    REQUIRE(!run_interrupted(50) && !xla_hold_interrupt());
    return 0;
}
