/* What compiled programs, and the toolkit in Python, call of this library. */
#ifndef XLA_RUNTIME_H
#define XLA_RUNTIME_H

#include <stdatomic.h>
#include <stdint.h>

/* Runs the iterations from `first` to before `last` of a loop whose captured values lie in a struct. */
typedef void xla_start(const void *values, int64_t first, int64_t last);

/* Has all of `count` iterations run by up to so many threads, this one among them; returns when they
 * are done. */
void xla_parallel_for(int64_t threads, xla_start *start, const void *values, int64_t count);

/* The start of tasks that take up to 12 words behind their iterations: `values` are a task and so many
 * words, of which it does not look at those behind its own. Pointers and integers are words alike: all
 * platforms that have this runtime pass them in the same way. */
xla_start xla_start_with_words;

/* Has each of `count` iterations run by a thread of its own, this one among them, so that they can wait
 * for each other; returns when they are done, or 0 where so many threads are not to be had. */
int32_t xla_run_together(xla_start *start, const void *values, int64_t count);

/* The number of this thread among those of the loop that it runs: the caller's is 0. */
int32_t xla_thread_number(void);

/* The words of a program's profile, which it and its readers know. */
enum {
    /* Threads with a higher number count as the last of these. */
    XLA_PROFILED_THREADS = 64,
    /* More than one, so that threads do not write to the same line of a cache. */
    XLA_WORDS_OF_A_THREAD = 8,
    /* Its runs, their nanoseconds, and the complement of the shortest one's: at first 0, as the others
     * are, and the largest is the shortest. */
    XLA_WORDS_OF_A_SITE = 3,
    /* Its site, and the nanoseconds of the clock when it started and when it ended. */
    XLA_WORDS_OF_AN_EVENT = 3,
    /* How many events there were, and how many there is memory for: those after them are lost. */
    XLA_WORDS_BEFORE_EVENTS = 2,
};

/* The time now, in nanoseconds. */
int64_t xla_clock(void);

/* Notes a run of a site, with an event unless `events` is null. */
void xla_note_run(_Atomic int64_t *sites, _Atomic int64_t *events, int64_t site, int64_t started);

/* Adds the time since `started` to that which this thread has worked on a row. */
void xla_note_task(_Atomic int64_t *busy, int64_t row, int64_t started);

/* Sets the mode of floating-point arithmetic to the default; returns what it was before. */
uint64_t xla_fp_enter(void);

/* Sets the mode back to what xla_fp_enter returned. */
void xla_fp_leave(uint64_t before);

/* What a program is to those that run it: a function of its arrays. */
typedef void xla_entry(void *arguments);

/* What a program with loops that may be long has: the words of `RunState` in Python. */
typedef struct {
    /* 0 while all is well; the program ends soon if it is anything else. */
    _Atomic int64_t failure;
    int64_t found;
    int64_t limit;
    int64_t call;
} xla_state;

/* Runs a program, with so many states, in the default mode, whatever the caller's is. Returns whether
 * Ctrl-C has ended it, which may be only where the main thread of Python runs it. */
int32_t xla_run(xla_entry *entry, xla_state *const *states, int64_t count, void *arguments);

/* How the run of a program has ended. */
typedef enum {
    XLA_RUN_DONE = 0,
    XLA_RUN_FAILED = 1,
    /* By Ctrl-C: its results are none, and Python raises KeyboardInterrupt as soon as it can. */
    XLA_RUN_INTERRUPTED = 2,
} xla_run_end;

/* `rows` of `row_bytes` that one participant of a joint run copies from an array that a member of its
 * rendezvous has brought; `member` is the number of that participant, or -1 where `source_offset` is
 * the address of other memory. Arrays are numbered, all else is in bytes. */
typedef struct {
    int64_t member;
    int64_t source;
    int64_t source_offset;
    int64_t target;
    int64_t target_offset;
    int64_t rows;
    int64_t row_bytes;
    int64_t source_step;
    int64_t target_step;
} xla_copy;

/* What one participant does in a collective. */
typedef struct {
    /* Those meet who come to the same rendezvous, which has a number; it needs none of others if it
     * has no members. */
    int64_t rendezvous;
    int64_t member_count;
    const int64_t *members;
    int64_t copy_count;
    const xla_copy *copies;
    /* Whether each thread copies what it wants, and not the last one that comes for all. */
    int64_t copies_alone;
} xla_exchange_plan;

/* What of MPI is called: MPI_Isend, MPI_Irecv, MPI_Test, MPI_Get_count and MPI_Cancel. Handles are numbers
 * or pointers, as the MPI has them, and lie in the low bytes of the words that they are passed in. */
typedef struct {
    int (*send)(void *, int, int64_t, int, int, int64_t, int64_t *);
    int (*receive)(void *, int, int64_t, int, int, int64_t, int64_t *);
    int (*test)(int64_t *, int *, void *);
    int (*get_count)(void *, int64_t, int *);
    int (*cancel)(int64_t *);
    int64_t byte_type;
    int64_t communicator;
} xla_mpi;

/* A stream to another process, over which messages of runs go: on a socket that is connected, or, if
 * there is one, to a rank of MPI. It is for one run at a time. Null where there is no memory. */
typedef struct xla_link xla_link;
xla_link *xla_link_new(int32_t socket, const xla_mpi *mpi, int32_t rank);

/* What a link begins with: why nothing goes over it any more; the program of the message that was of
 * another one; how many bytes of runs have gone. */
typedef struct {
    _Atomic int32_t broken;
    uint64_t other_program;
    int64_t bytes_sent;
    int64_t bytes_received;
} xla_link_state;

enum {
    XLA_LINK_WHOLE = 0,
    /* The other process has ended, or has broken it. */
    XLA_LINK_ENDED = 1,
    /* The other process has sent what no run of the same program sends. */
    XLA_LINK_DIFFERS = 2,
    /* A run has ended before its time. */
    XLA_LINK_ABANDONED = 3,
    /* The bytes of what a process shows that it is who it is. */
    XLA_TOKEN_BYTES = 32,
};

/* Whether this process can read another one on this machine, which has its token there; and has large
 * messages of a link copied so in both directions. */
int32_t xla_can_copy_from(int32_t pid, const char *its_token, const char *token);
void xla_link_copies(xla_link *link, int32_t pid, const char *its_token, const char *token);

/* Breaks it, unless it is. */
void xla_link_break(xla_link *link, int32_t reason);

/* Before MPI ends: nothing is received any more. */
void xla_link_close(xla_link *link);

/* A participant's own code, the arrays that it takes, and its state, if any; of one that another
 * process runs, the link to that. */
typedef struct {
    xla_entry *entry;
    void *pointers;
    xla_state *state;
    xla_link *link;
} xla_participant;

/* All participants of a program, one for each device, that run together, once at a time. */
typedef struct xla_joint_run xla_joint_run;

/* Null where there is no memory. `program` is what all processes know it by. */
xla_joint_run *xla_joint_run_new(int64_t count, const xla_participant *participants,
                                 int64_t rendezvous_count, uint64_t program);
void xla_joint_run_free(xla_joint_run *run);

/* Runs all of them: in turn in this thread, or in a thread for each; in turn where other processes run
 * some. It has failed where some wait for ever, there is no memory for stacks or threads, or a link
 * is broken. */
xla_run_end xla_run_jointly(xla_joint_run *run, int32_t in_turn);

/* A collective that code calls with its arrays, with a plan for each participant: 1 if the run has
 * failed, -1 if this thread runs no participant of a joint run, else 0. */
int32_t xla_exchange(const xla_exchange_plan *plans, void *const *arrays);

typedef struct _object PyObject;

/* What of Python handles SIGINT. */
typedef struct {
    int (*take_lock)(void);
    void (*give_lock)(int);
    PyObject *(*call)(PyObject *function, PyObject *argument);
    void (*drop)(PyObject *object);
    /* Calls the functions for signals that have come; -1 if one of them has raised something. */
    int (*check_signals)(void);
    void (*clear_error)(void);
    /* Has Python take it that SIGINT has come. */
    void (*set_interrupt)(void);
    PyObject *get_handler;
    PyObject *number;
    /* The function that raises KeyboardInterrupt. */
    PyObject *raising_handler;
} xla_python;

/* Before the main thread of Python calls a function in which nobody may see KeyboardInterrupt: whether
 * it is due. */
int64_t xla_hold_interrupt(void);

/* Has Python raise KeyboardInterrupt when its main thread, this one, goes on, if that is due. */
void xla_release_interrupt(int64_t is_due);

/* Has Ctrl-C end what the main thread of Python runs; not any more if the second is null. */
void xla_heed_interrupts(uint64_t thread, const xla_python *python);

#endif
