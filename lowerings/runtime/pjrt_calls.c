/*
 * The table of functions that clients are given, and how those of Python are called.
 *
 * A call of Python takes the interpreter's lock and three microseconds; a program with a hundred
 * arguments makes a thousand calls each time. So what clients ask often is done in C. Arrays may live
 * longer than Python does, and clients read errors then: Python is called only while it is there.
 */
#define _GNU_SOURCE
#include "pjrt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static const xla_pjrt_python *python;
/* Whether Python is about to end; then it would end other threads that call it, and with them the
 * process. */
static _Atomic int is_closing;
static pthread_t closing_thread;
static _Atomic int64_t in_flight;

static const char closed_text[] = "Python has ended";
static const xla_error closed = {closed_text, sizeof closed_text - 1, PJRT_CANCELLED};

bool xla_enter_python(void) {
    atomic_fetch_add(&in_flight, 1);
    if (!python->is_initialized())
        return false;
    return !atomic_load(&is_closing) || pthread_equal(pthread_self(), closing_thread);
}

void xla_leave_python(void) { atomic_fetch_sub(&in_flight, 1); }

void xla_pjrt_close(int64_t patience) {
    closing_thread = pthread_self();
    atomic_store(&is_closing, 1);
    int64_t end = xla_clock() + patience;
    while (atomic_load(&in_flight) > 0 && xla_clock() < end)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

/* A child of this process has none of the threads whose calls it would wait for. */
static void forget_calls(void) { atomic_store(&in_flight, 0); }

__attribute__((constructor)) static void prepare(void) { pthread_atfork(NULL, NULL, forget_calls); }

xla_error *xla_call_python(void *args, int number) {
    bool compiles = number == NUMBER_Client_Compile;
    /* Clients crash where something cannot be given up; what they compile they have to be denied. */
    intptr_t found = compiles ? (intptr_t)&closed : 0;
    if (xla_enter_python()) {
        uint64_t mode = xla_fp_enter();
        int64_t is_due = xla_hold_interrupt();
        found = python->functions[number](args);
        xla_release_interrupt(is_due | (found & XLA_INTERRUPTED));
        xla_fp_leave(mode);
        found &= ~(intptr_t)XLA_INTERRUPTED;
    }
    xla_leave_python();
    return (xla_error *)found;
}

void xla_give_back(void *data, void *argument) {
    if (xla_enter_python())
        python->give_back(data, argument);
    xla_leave_python();
}

xla_event *xla_interruption(void) { return python->interruption; }

/* Links tell of other processes; the client's thread that calls this may do so when Python has ended. */
xla_error *native_Client_UpdateGlobalProcessInfo(PJRT_Client_UpdateGlobalProcessInfo_Args *args) {
    (void)args;
    return NULL;
}

#define NATIVE(name, ...)                                                  \
    static xla_error *pjrt_##name(PJRT_##name##_Args *args) {              \
        if (args->struct_size < offsetof(PJRT_##name##_Args, end))         \
            return CALL_PYTHON(name, args);                                \
        return native_##name(args);                                        \
    }
#define PYTHON(name, ...) \
    static xla_error *pjrt_##name(void *args) { return CALL_PYTHON(name, args); }
#include "pjrt_functions.def"
#undef NATIVE
#undef PYTHON

static void *const all_functions[] = {
#define NATIVE(name, ...) (void *)pjrt_##name,
#define PYTHON(name, ...) (void *)pjrt_##name,
#include "pjrt_functions.def"
#undef NATIVE
#undef PYTHON
};

/* Tables of functions: words, as C lays out what PJRT defines. The API has in front of its functions the size
 * and extensions of its own and of its version, and the two 32-bit numbers of that; an extension its
 * size, its number, and the next one. */
enum { WORDS_OF_API = 5, WORDS_OF_EXTENSION = 3 };
static intptr_t api[WORDS_OF_API + FIRST_OF_LAYOUTS];
static intptr_t layouts[WORDS_OF_EXTENSION + FIRST_OF_SHARDINGS - FIRST_OF_LAYOUTS];
static intptr_t shardings[WORDS_OF_EXTENSION + FUNCTION_COUNT - FIRST_OF_SHARDINGS];

static void *fill_extension(intptr_t *table, size_t size, int first, intptr_t number, void *next) {
    memcpy(table, (intptr_t[]){(intptr_t)size, number, (intptr_t)next}, WORDS_OF_EXTENSION * sizeof *table);
    memcpy(table + WORDS_OF_EXTENSION, all_functions + first, size - WORDS_OF_EXTENSION * sizeof *table);
    return table;
}

void *xla_pjrt_start(const xla_pjrt_python *called, void *extension) {
    python = called;
    extension = fill_extension(shardings, sizeof shardings, FIRST_OF_SHARDINGS, PJRT_SHARDINGS_EXTENSION,
                               extension);
    extension = fill_extension(layouts, sizeof layouts, FIRST_OF_LAYOUTS, PJRT_LAYOUTS_EXTENSION, extension);
    const int32_t version[] = {PJRT_MAJOR_VERSION, PJRT_MINOR_VERSION};
    api[0] = sizeof api;
    api[1] = (intptr_t)extension;
    api[2] = 3 * sizeof *api;
    memcpy(&api[4], version, sizeof version);
    memcpy(api + WORDS_OF_API, all_functions, FIRST_OF_LAYOUTS * sizeof *api);
    return api;
}
