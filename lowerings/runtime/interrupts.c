/*
 * Programs that run, and Ctrl-C in those that the main thread of Python runs.
 *
 * Python's handler of SIGINT only notes that it came: KeyboardInterrupt is raised when the main
 * thread is back in Python. So a handler of ours stands in front of it, which first has the programs
 * of that thread end: it writes into their states, where their loops look.
 *
 * It does so only where KeyboardInterrupt is raised indeed. Who sets a function of his own with
 * signal.signal may want the program to go on, and takes our handler away without knowing of it. So
 * the main thread looks before a run whether it is still there. If it is not, it asks Python which
 * function is set, and puts it in front again. Where SIGINT is ignored or ends the process, or is
 * handled by somebody else than Python, it stays so.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* What the main thread runs; it may run a program in a function that another one calls. */
struct run {
    xla_state *const *states;
    int64_t count;
    struct run *outer;
};

enum {
    STOP_REQUESTED = -1,
    /* How long one relies on the handler that one has found. A look takes as long as ten readings of
     * the clock. */
    TRUST_NANOSECONDS = 100 * 1000,
};

static const xla_python *_Atomic python;
static pthread_t main_thread;
static struct run *_Atomic innermost;
/* How many threads are in the handler: the system gives a signal to any of them. */
static _Atomic int64_t visitors;
/* Whether Python raises KeyboardInterrupt. */
static _Atomic int ends_programs;
/* What our handler hands on to: the last of Python's, which lies in one of two places. */
static struct sigaction places[2];
static struct sigaction *_Atomic handed_to;
static int64_t looked;

static void on_interrupt(int number, siginfo_t *information, void *context) {
    int error = errno;
    atomic_fetch_add(&visitors, 1);
    if (atomic_load(&ends_programs))
        for (struct run *run = atomic_load(&innermost); run; run = run->outer)
            for (int64_t n = 0; n < run->count; ++n) {
                int64_t all_is_well = 0;
                atomic_compare_exchange_strong(&run->states[n]->failure, &all_is_well, STOP_REQUESTED);
            }
    atomic_fetch_sub(&visitors, 1);
    errno = error;
    const struct sigaction *next = atomic_load(&handed_to);
    if (next->sa_flags & SA_SIGINFO)
        next->sa_sigaction(number, information, context);
    else
        next->sa_handler(number);
}

/* Whether Python's function for SIGINT is the one that raises KeyboardInterrupt. */
static int raises_in_python(const xla_python *api) {
    int state = api->take_lock();
    /* No function in Python, which would see the signals that have come: they are the caller's. */
    PyObject *found = api->call(api->get_handler, api->number);
    int raises = found == api->raising_handler;
    if (found)
        api->drop(found);
    api->give_lock(state);
    return raises;
}

/* Has our handler stand in front of Python's. */
static void watch(const xla_python *api) {
    int64_t now = xla_clock();
    if (looked && now - looked < TRUST_NANOSECONDS)
        return;
    looked = now;
    struct sigaction found;
    if (sigaction(SIGINT, NULL, &found) || found.sa_sigaction == on_interrupt)
        return;
    struct sigaction *last = atomic_load(&handed_to);
    if (found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN || found.sa_flags & SA_RESETHAND)
        return;
    /* Another than the first is not Python's, and may hand on to ours. */
    if (last && found.sa_handler != last->sa_handler)
        return;
    struct sigaction *place = last == &places[0] ? &places[1] : &places[0];
    *place = found;
    atomic_store(&ends_programs, raises_in_python(api));
    atomic_store(&handed_to, place);
    found.sa_sigaction = on_interrupt;
    found.sa_flags |= SA_SIGINFO;
    sigaction(SIGINT, &found, NULL);
}

/* Whether a program was asked to end; if so its states are as before it began. */
static int32_t take_request(xla_state *const *states, int64_t count) {
    int32_t was_asked = 0;
    for (int64_t n = 0; n < count; ++n)
        if (atomic_load(&states[n]->failure) == STOP_REQUESTED)
            was_asked = 1;
    for (int64_t n = 0; was_asked && n < count; ++n) {
        atomic_store(&states[n]->failure, 0);
        states[n]->found = states[n]->limit = states[n]->call = 0;
    }
    return was_asked;
}

static const xla_python *python_of_this_thread(void) {
    const xla_python *api = atomic_load(&python);
    return api && pthread_equal(pthread_self(), main_thread) ? api : NULL;
}

int64_t xla_hold_interrupt(void) {
    const xla_python *api = python_of_this_thread();
    if (!api)
        return 0;
    int state = api->take_lock();
    int is_due = api->check_signals() != 0;
    if (is_due)
        api->clear_error();
    api->give_lock(state);
    return is_due;
}

void xla_release_interrupt(int64_t is_due) {
    const xla_python *api = python_of_this_thread();
    if (api && is_due)
        api->set_interrupt();
}

int32_t xla_run(xla_entry *entry, xla_state *const *states, int64_t count, void *arguments) {
    uint64_t mode = xla_fp_enter();
    const xla_python *api = count ? python_of_this_thread() : NULL;
    int32_t was_asked = 0;
    if (api) {
        watch(api);
        struct run run = {states, count, atomic_load(&innermost)};
        atomic_store(&innermost, &run);
        entry(arguments);
        atomic_store(&innermost, run.outer);
        while (atomic_load(&visitors))
            sched_yield();
        was_asked = take_request(states, count);
    } else {
        entry(arguments);
    }
    xla_fp_leave(mode);
    return was_asked;
}

void xla_heed_interrupts(uint64_t thread, const xla_python *api) {
    main_thread = (pthread_t)thread;
    atomic_store(&python, api);
}

/* In a child process the thread that has forked is the main one. */
static void adopt_child(void) {
    if (!pthread_equal(pthread_self(), main_thread))
        atomic_store(&innermost, NULL);
    main_thread = pthread_self();
    atomic_store(&visitors, 0);
}

__attribute__((constructor)) static void prepare(void) { pthread_atfork(NULL, NULL, adopt_child); }
