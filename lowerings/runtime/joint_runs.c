/*
 * Programs for several devices that need no Python while they run: each device is a participant,
 * which runs the same code on arrays of its own.
 *
 * A collective is a rendezvous of some participants, and copies from what they bring: the plan of each
 * says whom it waits for and what it copies. Who comes last copies for all; of many bytes each thread
 * copies what it wants, and they meet again. What reduces is in the program, which folds the copies.
 *
 * Participants run in turn, in one thread, each on a stack of its own until it has to wait: no thread
 * is woken. Or each has a thread, one of those that are kept here. When every participant waits or
 * has ended and none can go on, the run has failed: then each call of a collective returns 1, which
 * ends its participant, and Python, which runs the program again, says what is wrong.
 *
 * Other processes may run some of the participants. Then those of this one run in turn; when all of
 * its members of a rendezvous have come, what others are to copy is sent, what these copy is received,
 * and whoever has nobody to go on with waits for that.
 */
#define _GNU_SOURCE
#include "links.h"
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

/* As many as the first thread of a process has; those that are not touched take no memory. */
enum { STACK_BYTES = 8 << 20 };

/* Nanoseconds for which messages are looked for without sleeping. Not long: where processes share
 * processors, whoever has used its own for nothing waits longer for the next. */
enum { SPIN = 2000 };

enum participant_state { RUNS, WAITS, HAS_ENDED };

struct participant {
    xla_joint_run *run;
    int64_t number;
    enum participant_state state;
    xla_entry *entry;
    void *pointers;
    /* What it brings to the collective that it calls. */
    const xla_exchange_plan *plan;
    void *const *arrays;
    struct stack *stack;
#ifdef __GLIBC__
    ucontext_t context;
#endif
};

/* Who runs a participant: this process, or another one. */
struct place {
    struct participant *participant;
    xla_link *link;
};

/* A rendezvous for which messages are under way. */
struct open {
    const xla_exchange_plan *plan;
    int64_t pending;
};

struct xla_joint_run {
    /* Those that this process runs. */
    int64_t count;
    struct participant *participants;
    /* All, by their numbers. */
    struct place *everybody;
    uint64_t program;
    int64_t link_count;
    xla_link **links;
    int64_t open_count;
    struct open *open;
    /* Ctrl-C ends the waiting for messages, too. */
    xla_state waiting;
    /* How many of them neither wait nor have ended. */
    int64_t awake;
    bool has_failed;
    bool in_turn;
    /* How many have come to each rendezvous. */
    int64_t rendezvous_count;
    int64_t *arrived;
    int64_t state_count;
    xla_state **states;
    /* For all of the above where participants have threads. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* The participant that this thread runs. */
static _Thread_local struct participant *current;

static void lock(xla_joint_run *run) {
    if (!run->in_turn)
        pthread_mutex_lock(&run->lock);
}

static void unlock(xla_joint_run *run) {
    if (!run->in_turn)
        pthread_mutex_unlock(&run->lock);
}

/* Has the threads that wait look again. */
static void tell(xla_joint_run *run) {
    if (!run->in_turn)
        pthread_cond_broadcast(&run->changed);
}

/* What one participant does by its plan, on the arrays that all have brought. */
static void copy_for(const struct participant *participant) {
    const xla_exchange_plan *plan = participant->plan;
    for (const xla_copy *copy = plan->copies; copy < plan->copies + plan->copy_count; ++copy) {
        const char *from = (const char *)copy->source_offset;
        if (copy->member >= 0) {
            const struct participant *member = participant->run->everybody[copy->member].participant;
            if (!member)
                continue;
            from += (intptr_t)member->arrays[copy->source];
        }
        char *to = (char *)participant->arrays[copy->target] + copy->target_offset;
        for (int64_t row = 0; row < copy->rows; ++row)
            memcpy(to + row * copy->target_step, from + row * copy->source_step,
                   (size_t)copy->row_bytes);
    }
}

/* The members that this process runs go on. */
static void wake(xla_joint_run *run, const xla_exchange_plan *plan) {
    for (int64_t n = 0; n < plan->member_count; ++n) {
        struct participant *member = run->everybody[plan->members[n]].participant;
        if (!member || member->state == RUNS)
            continue;
        member->state = RUNS;
        ++run->awake;
    }
}

static void copy_for_all(const xla_joint_run *run, const xla_exchange_plan *plan) {
    for (int64_t n = 0; n < plan->member_count; ++n) {
        const struct participant *member = run->everybody[plan->members[n]].participant;
        if (member)
            copy_for(member);
    }
}

static int64_t members_here(const xla_joint_run *run, const xla_exchange_plan *plan) {
    if (!run->link_count)
        return plan->member_count;
    int64_t count = 0;
    for (int64_t n = 0; n < plan->member_count; ++n)
        count += run->everybody[plan->members[n]].participant != NULL;
    return count;
}

/* What one process copies of what another one has brought, member by member; both count the same. With
 * null for `pieces`, only how many. `sends`: this process is the other one. */
static int64_t pieces_of(const xla_joint_run *run, const xla_exchange_plan *plans,
                         const xla_exchange_plan *plan, const xla_link *link, bool sends,
                         xla_piece *pieces) {
    int64_t count = 0;
    for (int64_t n = 0; n < plan->member_count; ++n) {
        int64_t number = plan->members[n];
        const struct place *copies = &run->everybody[number];
        if (copies->link != (sends ? link : NULL))
            continue;
        const xla_copy *end = plans[number].copies + plans[number].copy_count;
        for (const xla_copy *copy = plans[number].copies; copy < end; ++copy) {
            if (copy->member < 0 || run->everybody[copy->member].link != (sends ? NULL : link))
                continue;
            if (pieces) {
                char *data = sends ? (char *)run->everybody[copy->member].participant->arrays[copy->source] +
                                         copy->source_offset
                                   : (char *)copies->participant->arrays[copy->target] + copy->target_offset;
                pieces[count] = (xla_piece){data, copy->rows, copy->row_bytes,
                                            sends ? copy->source_step : copy->target_step};
            }
            ++count;
        }
    }
    return count;
}

/* Has what goes over a link in one direction sent, or received; false if that cannot be. */
static bool begin_message(xla_joint_run *run, const struct participant *last, xla_link *link,
                          bool sends) {
    const xla_exchange_plan *plan = last->plan, *plans = plan - last->number;
    int64_t count = pieces_of(run, plans, plan, link, sends, NULL);
    if (!count)
        return true;
    xla_piece *pieces = malloc((size_t)count * sizeof *pieces);
    if (!pieces)
        return false;
    pieces_of(run, plans, plan, link, sends, pieces);
    int64_t *pending = &run->open[plan->rendezvous].pending;
    return (sends ? xla_link_send : xla_link_expect)(link, plan->rendezvous, pieces, count, pending);
}

/* The last member of this process has come; whether messages are under way for them. */
static bool begin_messages(xla_joint_run *run, const struct participant *last) {
    struct open *open = &run->open[last->plan->rendezvous];
    for (int64_t n = 0; n < run->link_count; ++n)
        if (!begin_message(run, last, run->links[n], true) ||
            !begin_message(run, last, run->links[n], false))
            run->has_failed = true;
    if (!open->pending && !run->has_failed)
        return false;
    open->plan = last->plan;
    ++run->open_count;
    return true;
}

/* Sends and receives until some participant can go on, or the run has failed. */
static void await_messages(xla_joint_run *run) {
    int64_t started = xla_clock();
    while (!run->awake && !run->has_failed) {
        for (int64_t n = 0; n < run->link_count; ++n)
            if (!xla_link_progress(run->links[n]))
                run->has_failed = true;
        for (int64_t n = 0; n < run->rendezvous_count; ++n) {
            struct open *open = &run->open[n];
            if (!open->plan || open->pending)
                continue;
            wake(run, open->plan);
            open->plan = NULL;
            --run->open_count;
        }
        if (run->waiting.failure)
            run->has_failed = true;
        int64_t passed = xla_clock() - started;
        if (!run->awake && passed > SPIN)
            xla_links_sleep(run->links, run->link_count, passed);
    }
}

/* What was sent last may still be in this process. */
static void end_messages(xla_joint_run *run) {
    for (int64_t n = 0; n < run->link_count; ++n)
        while (!run->has_failed && !xla_link_is_quiet(run->links[n])) {
            if (!xla_link_progress(run->links[n]) || run->waiting.failure)
                run->has_failed = true;
            xla_links_sleep(&run->links[n], 1, 0);
        }
}

/* A participant is not awake any more; where none is, and some wait, the run has failed. */
static void rest(struct participant *participant, enum participant_state state) {
    xla_joint_run *run = participant->run;
    participant->state = state;
    if (--run->awake > 0 || run->open_count)
        return;
    for (int64_t n = 0; n < run->count; ++n)
        if (run->participants[n].state == WAITS) {
            run->has_failed = true;
            tell(run);
            return;
        }
}

static bool others_have_ended(const xla_joint_run *run) {
    for (int64_t n = 1; n < run->count; ++n)
        if (run->participants[n].state != HAS_ENDED)
            return false;
    return true;
}

static void go_on(struct participant *participant);

/* Waits until others wake a participant, or the run has failed. */
static void await(struct participant *participant) {
    xla_joint_run *run = participant->run;
    while (participant->state == WAITS && !run->has_failed)
        if (run->in_turn)
            go_on(participant);
        else
            pthread_cond_wait(&run->changed, &run->lock);
}

/* A participant comes to the rendezvous of its plan; returns whether the run has failed. */
static bool meet(struct participant *participant, bool copies) {
    xla_joint_run *run = participant->run;
    const xla_exchange_plan *plan = participant->plan;
    bool has_failed = false;
    lock(run);
    int64_t *arrived = &run->arrived[plan->rendezvous];
    bool is_last = ++*arrived == members_here(run, plan);
    if (is_last) {
        *arrived = 0;
        if (copies)
            copy_for_all(run, plan);
    }
    if (is_last && !(run->link_count && begin_messages(run, participant))) {
        wake(run, plan);
        tell(run);
    } else {
        rest(participant, WAITS);
        await(participant);
        has_failed = run->has_failed;
    }
    unlock(run);
    return has_failed;
}

int32_t xla_exchange(const xla_exchange_plan *plans, void *const *arrays) {
    struct participant *participant = current;
    if (!participant)
        return -1;
    const xla_exchange_plan *plan = &plans[participant->number];
    participant->plan = plan;
    participant->arrays = arrays;
    bool copies_alone = !participant->run->in_turn && plan->copies_alone;
    if (!plan->member_count) {
        copy_for(participant);
        return 0;
    }
    bool has_failed = meet(participant, !copies_alone);
    if (copies_alone && !has_failed) {
        copy_for(participant);
        /* The others do not write before all have read. */
        has_failed = meet(participant, false);
    }
    return has_failed;
}

/* Runs a participant in this thread, to its end. */
static void run_participant(struct participant *participant) {
    xla_joint_run *run = participant->run;
    current = participant;
    xla_run(participant->entry, NULL, 0, participant->pointers);
    lock(run);
    rest(participant, HAS_ENDED);
    tell(run);
    unlock(run);
    current = NULL;
}

/* Stacks that no participant has, and threads without one, are kept for others. */

struct stack {
    char *bottom;
    size_t bytes;
    struct stack *next;
};

struct worker {
    struct participant *participant;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct worker *next;
};

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stack *idle_stacks;
static struct worker *idle_workers;

static void before_fork(void) { pthread_mutex_lock(&idle_lock); }

static void after_fork(void) { pthread_mutex_unlock(&idle_lock); }

/* A child of this process has none of its threads. */
static void in_child(void) {
    idle_workers = NULL;
    pthread_mutex_unlock(&idle_lock);
}

__attribute__((constructor)) static void prepare(void) {
    pthread_atfork(before_fork, after_fork, in_child);
}

#ifdef __GLIBC__
int32_t xla_can_run_in_turn(void) { return 1; }

static void switch_to(struct participant *from, struct participant *to) {
    current = to;
    swapcontext(&from->context, &to->context);
}

/* Goes on with the next participant that can, which may be this one. */
static void go_on(struct participant *participant) {
    xla_joint_run *run = participant->run;
    if (run->open_count)
        await_messages(run);
    int64_t own = participant - run->participants;
    for (int64_t n = 1; n < run->count; ++n) {
        struct participant *other = &run->participants[(own + n) % run->count];
        if (other->state == RUNS || (other->state == WAITS && run->has_failed)) {
            switch_to(participant, other);
            return;
        }
    }
    /* Nobody else: the first one returns when all have ended. */
    if (participant->state == HAS_ENDED && own)
        switch_to(participant, run->participants);
}

/* What a stack begins with. */
static void begin(void) {
    struct participant *participant = current;
    run_participant(participant);
    for (;;)
        go_on(participant);
}

static struct stack *new_stack(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct stack *stack = malloc(sizeof *stack);
    void *memory = MAP_FAILED;
    if (stack)
        memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE)) {
        if (memory != MAP_FAILED)
            munmap(memory, STACK_BYTES);
        free(stack);
        return NULL;
    }
    /* Nobody touches the lowest page: a stack that overflows does not write into other memory. */
    *stack = (struct stack){(char *)memory + page, STACK_BYTES - page, NULL};
    return stack;
}

static struct stack *take_stack(void) {
    pthread_mutex_lock(&idle_lock);
    struct stack *stack = idle_stacks;
    if (stack)
        idle_stacks = stack->next;
    pthread_mutex_unlock(&idle_lock);
    return stack ? stack : new_stack();
}

/* Runs all participants in this thread, the first on its stack; the others keep theirs. */
static void run_in_turn(void *argument) {
    xla_joint_run *run = argument;
    for (int64_t n = 1; n < run->count; ++n) {
        struct participant *participant = &run->participants[n];
        if (!participant->stack && !(participant->stack = take_stack())) {
            run->has_failed = true;
            return;
        }
        getcontext(&participant->context);
        participant->context.uc_link = NULL;
        participant->context.uc_stack.ss_sp = participant->stack->bottom;
        participant->context.uc_stack.ss_size = participant->stack->bytes;
        makecontext(&participant->context, begin, 0);
    }
    run_participant(run->participants);
    while (!others_have_ended(run))
        go_on(run->participants);
    end_messages(run);
    current = NULL;
}
#else
/* The C library has no stacks that can be switched. */
int32_t xla_can_run_in_turn(void) { return 0; }
static void go_on(struct participant *participant) { (void)participant; }
static void run_in_turn(void *argument) {
    xla_joint_run *run = argument;
    run->has_failed = true;
}
#endif

/* What a thread does that is kept: one participant after the other. */
static void *work(void *argument) {
    struct worker *worker = argument;
    for (;;) {
        pthread_mutex_lock(&worker->lock);
        while (!worker->participant)
            pthread_cond_wait(&worker->changed, &worker->lock);
        struct participant *participant = worker->participant;
        worker->participant = NULL;
        pthread_mutex_unlock(&worker->lock);
        run_participant(participant);
    }
    return NULL;
}

static struct worker *take_worker(void) {
    pthread_mutex_lock(&idle_lock);
    struct worker *worker = idle_workers;
    if (worker)
        idle_workers = worker->next;
    pthread_mutex_unlock(&idle_lock);
    if (worker)
        return worker;
    worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    pthread_t thread;
    if (xla_start_thread(&thread, STACK_BYTES, work, worker)) {
        free(worker);
        return NULL;
    }
    return worker;
}

static void give_workers_back(struct worker *workers) {
    pthread_mutex_lock(&idle_lock);
    while (workers) {
        struct worker *worker = workers;
        workers = worker->next;
        worker->next = idle_workers;
        idle_workers = worker;
    }
    pthread_mutex_unlock(&idle_lock);
}

/* As many workers as a run has others than its first participant; null where they are not to be had. */
static struct worker *take_workers(const xla_joint_run *run) {
    struct worker *workers = NULL;
    for (int64_t n = 1; n < run->count; ++n) {
        struct worker *worker = take_worker();
        if (!worker) {
            give_workers_back(workers);
            return NULL;
        }
        worker->next = workers;
        workers = worker;
    }
    return workers;
}

/* Runs the first participant in this thread and the others in those of workers. */
static void run_on_threads(void *argument) {
    xla_joint_run *run = argument;
    struct worker *workers = take_workers(run);
    if (!workers && run->count > 1) {
        run->has_failed = true;
        return;
    }
    struct worker *worker = workers;
    for (int64_t n = 1; n < run->count; ++n, worker = worker->next) {
        pthread_mutex_lock(&worker->lock);
        worker->participant = &run->participants[n];
        pthread_cond_signal(&worker->changed);
        pthread_mutex_unlock(&worker->lock);
    }
    run_participant(run->participants);
    lock(run);
    while (!others_have_ended(run))
        pthread_cond_wait(&run->changed, &run->lock);
    unlock(run);
    give_workers_back(workers);
}

static xla_run_end run_all(xla_joint_run *run) {
    run->awake = run->count;
    run->has_failed = false;
    run->open_count = 0;
    run->waiting.failure = 0;
    memset(run->open, 0, (size_t)run->rendezvous_count * sizeof *run->open);
    memset(run->arrived, 0, (size_t)run->rendezvous_count * sizeof *run->arrived);
    for (int64_t n = 0; n < run->count; ++n)
        run->participants[n].state = RUNS;
    xla_entry *entry = run->in_turn ? run_in_turn : run_on_threads;
    if (xla_run(entry, run->states, run->state_count, run))
        return XLA_RUN_INTERRUPTED;
    return run->has_failed ? XLA_RUN_FAILED : XLA_RUN_DONE;
}

xla_run_end xla_run_jointly(xla_joint_run *run, int32_t in_turn) {
    run->in_turn = in_turn || run->link_count;
    if (!run->link_count)
        return run_all(run);
    xla_links_take();
    for (int64_t n = 0; n < run->link_count; ++n)
        xla_link_begin(run->links[n], run->program);
    xla_run_end end = run_all(run);
    for (int64_t n = 0; end != XLA_RUN_DONE && n < run->link_count; ++n)
        xla_link_abandon(run->links[n]);
    xla_links_give_back();
    return end;
}

/* Notes a link that is not noted yet. */
static void note_link(xla_joint_run *run, xla_link *link) {
    for (int64_t n = 0; n < run->link_count; ++n)
        if (run->links[n] == link)
            return;
    run->links[run->link_count++] = link;
}

xla_joint_run *xla_joint_run_new(int64_t count, const xla_participant *participants,
                                 int64_t rendezvous_count, uint64_t program) {
    xla_joint_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->changed, NULL);
    run->program = program;
    run->rendezvous_count = rendezvous_count;
    run->participants = calloc((size_t)count, sizeof *run->participants);
    run->everybody = calloc((size_t)count, sizeof *run->everybody);
    run->links = calloc((size_t)count, sizeof(xla_link *));
    run->arrived = calloc((size_t)rendezvous_count + 1, sizeof *run->arrived);
    run->open = calloc((size_t)rendezvous_count + 1, sizeof *run->open);
    run->states = calloc((size_t)count + 1, sizeof *run->states);
    if (!run->participants || !run->everybody || !run->links || !run->arrived || !run->open ||
        !run->states) {
        xla_joint_run_free(run);
        return NULL;
    }
    for (int64_t n = 0; n < count; ++n) {
        run->everybody[n].link = participants[n].link;
        if (participants[n].link) {
            note_link(run, participants[n].link);
            continue;
        }
        struct participant *participant = &run->participants[run->count++];
        run->everybody[n].participant = participant;
        *participant = (struct participant){.run = run, .number = n, .entry = participants[n].entry,
                                            .pointers = participants[n].pointers};
        if (participants[n].state)
            run->states[run->state_count++] = participants[n].state;
    }
    if (run->link_count)
        run->states[run->state_count++] = &run->waiting;
    return run;
}

void xla_joint_run_free(xla_joint_run *run) {
    pthread_mutex_lock(&idle_lock);
    for (int64_t n = 1; n < run->count; ++n) {
        struct stack *stack = run->participants[n].stack;
        if (!stack)
            continue;
        stack->next = idle_stacks;
        idle_stacks = stack;
    }
    pthread_mutex_unlock(&idle_lock);
    pthread_cond_destroy(&run->changed);
    pthread_mutex_destroy(&run->lock);
    free(run->participants);
    free(run->everybody);
    free(run->links);
    free(run->open);
    free(run->arrived);
    free(run->states);
    free(run);
}
