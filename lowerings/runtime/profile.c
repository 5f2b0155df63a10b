/* What programs note of the time that their parts take. */
#include "runtime.h"

static void add(_Atomic int64_t *word, int64_t value) {
    atomic_fetch_add_explicit(word, value, memory_order_relaxed);
}

void xla_note_run(_Atomic int64_t *sites, _Atomic int64_t *events, int64_t site, int64_t started) {
    int64_t now = xla_clock(), passed = now - started;
    _Atomic int64_t *own = sites + site * XLA_WORDS_OF_A_SITE;
    add(&own[0], 1);
    add(&own[1], passed);
    /* As unsigned numbers: at first it is 0, below all complements. */
    int64_t longest = atomic_load_explicit(&own[2], memory_order_relaxed);
    while ((uint64_t)longest < (uint64_t)~passed &&
           !atomic_compare_exchange_weak_explicit(&own[2], &longest, ~passed, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
    if (!events)
        return;
    int64_t number = atomic_fetch_add_explicit(&events[0], 1, memory_order_relaxed);
    if ((uint64_t)number >= (uint64_t)events[1])
        return;
    _Atomic int64_t *event = events + XLA_WORDS_BEFORE_EVENTS + number * XLA_WORDS_OF_AN_EVENT;
    event[0] = site;
    event[1] = started;
    event[2] = now;
}

void xla_note_task(_Atomic int64_t *busy, int64_t row, int64_t started) {
    int64_t passed = xla_clock() - started, thread = xla_thread_number();
    if (thread >= XLA_PROFILED_THREADS)
        thread = XLA_PROFILED_THREADS - 1;
    add(&busy[(row * XLA_PROFILED_THREADS + thread) * XLA_WORDS_OF_A_THREAD], passed);
}
