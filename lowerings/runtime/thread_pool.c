/*
 * The threads that run parallel loops of compiled programs.
 *
 * A caller of xla_parallel_for divides the iterations of its loop into as many ranges as it may use
 * threads, the same ones at every call, so that what a thread wrote in one loop is in its cache in
 * the next. It posts the loop to idle helpers and works itself. Whoever is through with his range
 * takes pieces of the others'. A caller that finds no piece left takes the loop back from helpers
 * that have not begun, and waits for those only that run: one that has no processor delays nobody,
 * unless it loses it within a piece. Who has had to wait for that leaves the helper in peace for a
 * multiple of the time, so that on a busy machine loops take little more than on one thread.
 *
 * Several callers share the helpers: each takes those that are idle, and works alone if none is. A
 * helper may itself be the caller of an inner loop. It waits for helpers that run, never for one
 * that waits for it, as a helper that works is not idle.
 *
 * A helper is one word, `state`, which is what it sleeps on, too:
 *
 *     NO_THREAD -> TAKEN       a caller wants it, and starts its thread
 *     IDLE, ASLEEP -> TAKEN    a caller wants it, and is to write `loop`
 *     TAKEN -> POSTED          the loop is there
 *     POSTED -> IDLE           its caller takes it back
 *     POSTED -> RUNNING        the helper begins
 *     RUNNING -> AWAITED       its caller sleeps until it is done
 *     RUNNING, AWAITED -> DONE the helper has run its last piece
 *     IDLE -> ASLEEP, DONE -> DONE_ASLEEP    the helper has looked for long
 *     DONE -> IDLE, DONE_ASLEEP -> ASLEEP    its caller has seen that it is done
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>

enum state { NO_THREAD, IDLE, ASLEEP, TAKEN, POSTED, RUNNING, AWAITED, DONE, DONE_ASLEEP };

enum {
    MOST_HELPERS = 255,
    /* In how many pieces a thread does its range, but for the end of it. */
    PIECES = 8,
    CACHE_LINE = 64,
    STACK_BYTES = 8 << 20,
    /* How long a helper looks for the next loop before it sleeps: docs/decisions.md has the curve. */
    IDLE_NANOSECONDS = 50 * 1000,
    /* How long a caller looks whether a helper is done before it sleeps, and the system can give its
     * processor to that helper. */
    DONE_NANOSECONDS = 50 * 1000,
    /* How many times as long as a caller has waited for a helper without a processor that helper
     * gets no loops. */
    REST = 10,
    /* How often one looks between two readings of the clock. */
    LOOKS = 32,
    /* No processor. */
    NOWHERE = -1,
};

struct range {
    _Alignas(CACHE_LINE) _Atomic int64_t next;
    int64_t last;
};

struct loop {
    xla_start *start;
    const void *values;
    int64_t team;
    int64_t piece;
    struct range *ranges;
    /* Where its caller runs; NOWHERE if helpers need not keep off it. */
    int processor;
};

struct helper {
    _Alignas(CACHE_LINE) _Atomic uint32_t state;
    /* Its number among the threads of the loop; the caller's is 0. */
    int32_t member;
    struct loop *loop;
    /* Whether it slept when it was taken. */
    int was_asleep;
    /* Where its thread may run, and the processor that it keeps off meanwhile, or NOWHERE. */
    cpu_set_t processors;
    int avoids;
    pid_t thread;
    /* The clock of what its thread has worked, and until when it gets no loops. */
    clockid_t worked;
    int64_t rests_until;
};

static struct helper helpers[MOST_HELPERS];
static int64_t processors;
static _Thread_local int32_t thread_number;

static int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t xla_clock(void) { return nanoseconds(CLOCK_MONOTONIC); }

int32_t xla_thread_number(void) { return thread_number; }

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }

/* Sleeps while a word has a value; may wake for no reason. */
static void sleep_while(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void pause_processor(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Looks for so long whether a word still has a value; returns what it has at last. */
static uint32_t look_while(_Atomic uint32_t *word, uint32_t value, int64_t limit) {
    int64_t start = 0;
    for (;;) {
        for (int look = 0; look < LOOKS; ++look) {
            uint32_t found = atomic_load_explicit(word, memory_order_acquire);
            if (found != value)
                return found;
            pause_processor();
        }
        int64_t now = nanoseconds(CLOCK_MONOTONIC);
        if (start == 0)
            start = now;
        else if (now - start > limit)
            return value;
    }
}

static int change(_Atomic uint32_t *state, uint32_t from, uint32_t to) {
    return atomic_compare_exchange_strong_explicit(state, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

/* Takes the next piece of a range; returns its first iteration and sets *last, or -1 at the end. */
static int64_t take_piece(struct range *range, int64_t piece, int64_t *last) {
    int64_t first = atomic_load_explicit(&range->next, memory_order_relaxed);
    for (;;) {
        int64_t left = range->last - first;
        if (left <= 0)
            return -1;
        int64_t size = left / 4 < piece ? left / 4 : piece;
        size = smaller(left, larger(size, piece / PIECES + 1));
        if (atomic_compare_exchange_weak_explicit(&range->next, &first, first + size,
                                                  memory_order_relaxed, memory_order_relaxed)) {
            *last = first + size;
            return first;
        }
    }
}

/* Works on a loop until no piece is left: on the own range first. */
static void work(struct loop *loop, int64_t member) {
    for (int64_t turn = 0; turn < loop->team; ++turn) {
        struct range *range = &loop->ranges[(member + turn) % loop->team];
        int64_t first, last;
        while ((first = take_piece(range, loop->piece, &last)) >= 0)
            loop->start(loop->values, first, last);
    }
}

/*
 * Where threads run. Linux likes to wake a thread on the processor of the one that wakes it, and
 * where processors share no cache it looks for no idle one: helper and caller then take turns on one
 * processor. So a helper that sleeps keeps off its caller's.
 */
/* The processors of a helper without the one that it is to avoid. */
static cpu_set_t others(const struct helper *helper) {
    cpu_set_t set = helper->processors;
    CPU_CLR(helper->avoids, &set);
    return set;
}

/* Keeps a helper whose processors are known off one of them. */
static void move_off(struct helper *helper, int processor) {
    helper->avoids = processor;
    cpu_set_t set = others(helper);
    if (CPU_COUNT(&set) == 0 || sched_setaffinity(helper->thread, sizeof set, &set))
        helper->avoids = NOWHERE;
}

/* Keeps the calling helper off a processor, if it keeps off none. */
static void keep_off(struct helper *own, int processor) {
    if (processor != NOWHERE && own->avoids == NOWHERE &&
        sched_getaffinity(0, sizeof own->processors, &own->processors) == 0)
        move_off(own, processor);
}

/* Ends that, unless somebody has chosen other processors for the calling helper meanwhile. */
static void keep_off_no_more(struct helper *own) {
    cpu_set_t now, kept;
    if (own->avoids == NOWHERE)
        return;
    kept = others(own);
    if (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &kept))
        sched_setaffinity(0, sizeof own->processors, &own->processors);
    own->avoids = NOWHERE;
}

/* Returns when a helper has a loop to run; its last one was of a caller on a processor. */
static void wait_for_loop(struct helper *own, int caller) {
    for (;;) {
        uint32_t state = atomic_load_explicit(&own->state, memory_order_acquire);
        if (state == POSTED) {
            if (change(&own->state, POSTED, RUNNING))
                break;
        } else if (state == TAKEN) {
            sched_yield();
        } else if (state == ASLEEP || state == DONE_ASLEEP) {
            sleep_while(&own->state, state);
        } else if (look_while(&own->state, state, caller == NOWHERE ? 0 : IDLE_NANOSECONDS) == state) {
            keep_off(own, caller);
            change(&own->state, state, state == IDLE ? ASLEEP : DONE_ASLEEP);
        }
    }
    keep_off_no_more(own);
}

static void *help(void *argument) {
    struct helper *own = argument;
    int caller = NOWHERE;
    own->avoids = NOWHERE;
    own->thread = (pid_t)syscall(SYS_gettid);
    xla_fp_enter();
    for (;;) {
        wait_for_loop(own, caller);
        caller = own->loop->processor;
        if (sched_getcpu() == caller) {
            keep_off(own, caller);
            keep_off_no_more(own);
        }
        thread_number = own->member;
        work(own->loop, own->member);
        if (atomic_exchange_explicit(&own->state, DONE, memory_order_acq_rel) == AWAITED)
            wake(&own->state);
    }
    return NULL;
}

/* Nobody waits for the end of a helper's thread. Signals are for the threads of the program: it inherits
 * that none comes to it. */
static int start_thread(struct helper *helper) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return 0;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, help, helper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !error && pthread_getcpuclockid(thread, &helper->worked) == 0;
}

/* Takes a helper that is free; whether it was. */
static int take(struct helper *helper, int64_t now) {
    uint32_t before = atomic_load_explicit(&helper->state, memory_order_relaxed);
    if (before != IDLE && before != ASLEEP && before != NO_THREAD)
        return 0;
    if (!change(&helper->state, before, TAKEN))
        return 0;
    int rests = now < helper->rests_until;
    if (rests || (before == NO_THREAD && !start_thread(helper))) {
        atomic_store_explicit(&helper->state, before, memory_order_release);
        return 0;
    }
    helper->was_asleep = before == ASLEEP;
    return 1;
}

/* Lets go of a helper that was taken in vain. */
static void let_go(struct helper *helper) {
    atomic_store_explicit(&helper->state, helper->was_asleep ? ASLEEP : IDLE, memory_order_release);
}

/* Posts a loop to a helper that was taken. */
static void post(struct helper *helper, struct loop *loop, int32_t member) {
    int was_asleep = helper->was_asleep;
    helper->member = member;
    helper->loop = loop;
    if (was_asleep && helper->avoids != NOWHERE && helper->avoids != loop->processor)
        move_off(helper, loop->processor);
    atomic_store_explicit(&helper->state, POSTED, memory_order_release);
    if (was_asleep)
        wake(&helper->state);
}

/* Returns when a helper does nothing more for the loop that it was posted. */
static void end(struct helper *helper) {
    if (change(&helper->state, POSTED, IDLE))
        return;
    int64_t limit = helper->loop->processor == NOWHERE ? 0 : DONE_NANOSECONDS;
    if (look_while(&helper->state, RUNNING, limit) == RUNNING) {
        int64_t worked = nanoseconds(helper->worked), start = nanoseconds(CLOCK_MONOTONIC);
        change(&helper->state, RUNNING, AWAITED);
        while (atomic_load_explicit(&helper->state, memory_order_acquire) < DONE)
            sleep_while(&helper->state, AWAITED);
        int64_t end = nanoseconds(CLOCK_MONOTONIC);
        int64_t without_processor = end - start - (nanoseconds(helper->worked) - worked);
        if (without_processor > DONE_NANOSECONDS)
            helper->rests_until = end + REST * without_processor;
    }
    if (!change(&helper->state, DONE, IDLE))
        change(&helper->state, DONE_ASLEEP, ASLEEP);
}

/* Has a team of threads run a loop, or fewer, but at least so many: 0 where these are not to be had. The
 * helpers are among the first ones. */
static int run_in_team(int64_t team, int64_t least, int64_t most_helpers, xla_start *start,
                       const void *values, int64_t count) {
    struct range ranges[team];
    struct helper *taken[team];
    int64_t even = count / (team * PIECES);
    /* Who needs all of them waits for helpers, which may run where he does then, so nobody looks on. */
    int processor = least > 1 ? NOWHERE : sched_getcpu();
    struct loop loop = {start, values, team, even > 0 ? even : 1, ranges, processor};
    for (int64_t member = 0; member < team; ++member) {
        atomic_init(&ranges[member].next, count * member / team);
        ranges[member].last = count * (member + 1) / team;
    }
    /* Who needs all of them has no use for rests either: another one would have to be started. */
    int64_t others = 0, now = least > 1 ? INT64_MAX : nanoseconds(CLOCK_MONOTONIC);
    for (int64_t number = 0; number < most_helpers && others < team - 1; ++number)
        if (take(&helpers[number], now))
            taken[others++] = &helpers[number];
    if (others + 1 < least) {
        while (others > 0)
            let_go(taken[--others]);
        return 0;
    }
    for (int64_t n = 0; n < others; ++n)
        post(taken[n], &loop, (int32_t)n + 1);
    int32_t number = thread_number;
    thread_number = 0;
    work(&loop, 0);
    thread_number = number;
    while (others > 0)
        end(taken[--others]);
    return 1;
}

void xla_parallel_for(int64_t threads, xla_start *start, const void *values, int64_t count) {
    int64_t team = smaller(smaller(threads, count), MOST_HELPERS + 1);
    /* Other callers may have the first helpers: then those behind are of use if there are
     * processors for them. */
    int64_t most = smaller(larger(threads, processors), MOST_HELPERS + 1) - 1;
    if (team > 1)
        run_in_team(team, 1, most, start, values, count);
    else
        start(values, 0, count);
}

int32_t xla_run_together(xla_start *start, const void *values, int64_t count) {
    return count <= MOST_HELPERS + 1 && run_in_team(count, count, MOST_HELPERS, start, values, count);
}

typedef int64_t word;

struct task {
    void (*function)(int64_t, int64_t, word, word, word, word, word, word, word, word, word, word, word,
                     word);
    word words[12];
};

void xla_start_with_words(const void *values, int64_t first, int64_t last) {
    const struct task *task = values;
    const word *w = task->words;
    task->function(first, last, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]);
}

/* A child process has none of the threads. */
static void forget_threads(void) {
    for (int number = 0; number < MOST_HELPERS; ++number)
        atomic_store(&helpers[number].state, NO_THREAD);
}

__attribute__((constructor)) static void prepare(void) {
    cpu_set_t usable;
    processors = sched_getaffinity(0, sizeof usable, &usable) ? 1 : CPU_COUNT(&usable);
    pthread_atfork(NULL, NULL, forget_threads);
}
