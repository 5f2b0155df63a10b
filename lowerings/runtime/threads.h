/* Threads that the library starts. */
#ifndef XLA_RUNTIME_THREADS_H
#define XLA_RUNTIME_THREADS_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* Starts a thread that nobody waits for, with a stack of so many bytes; returns 0, or an error. Signals
 * are for the threads of the program: this one inherits that none comes to it. */
static inline int xla_start_thread(pthread_t *thread, size_t stack_bytes, void *(*work)(void *),
                                   void *argument) {
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, &attributes, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

#endif
