/*
 * Programs for several devices that need no Python while they run: each device is a participant,
 * which runs the same code on arrays of its own.
 *
 * A collective is a rendezvous of some participants, and copies from what they bring: the plan of each
 * says whom it waits for and what it copies. Who comes last copies for all; of many bytes each thread
 * copies what it wants, and they meet again. What reduces is in the program, which folds the copies.
 *
 * Participants run in turn, in one thread, each on a stack of its own until it has to wait: no thread
 * is woken. Or each has a thread, one of those of parallel loops, if so many are idle. When every participant waits or
 * has ended and none can go on, the run has failed: then each call of a collective returns 1, which
 * ends its participant, and Python, which runs the program again, says what is wrong.
 *
 * Other processes may run some of the participants. Then those of this one run in turn; when all of
 * its members of a rendezvous have come, what others are to copy is sent, what these copy is received,
 * and whoever has nobody to go on with waits for that.
 */
#define _GNU_SOURCE
#include "links.h"

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
    char *stack;
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

/* Has sent, over a link, what this process has brought for participants of the other one, or received
 * what its own copy of there, member by member: both count the same. False if that cannot be. */
static bool begin_message(xla_joint_run *run, const struct participant *last, xla_link *link,
                          bool sends) {
    const xla_exchange_plan *plan = last->plan, *plans = plan - last->number;
    int64_t count = 0, most = 0;
    for (int64_t n = 0; n < plan->member_count; ++n)
        most += plans[plan->members[n]].copy_count;
    xla_piece *pieces = malloc((size_t)(most + 1) * sizeof *pieces);
    for (int64_t n = 0; pieces && n < plan->member_count; ++n) {
        const xla_exchange_plan *of = &plans[plan->members[n]];
        const struct place *copies = &run->everybody[plan->members[n]];
        for (const xla_copy *copy = of->copies; copy < of->copies + of->copy_count; ++copy) {
            const struct place *brings = copy->member < 0 ? copies : &run->everybody[copy->member];
            const struct place *here = sends ? brings : copies, *there = sends ? copies : brings;
            if (!here->participant || there->link != link)
                continue;
            char *data = here->participant->arrays[sends ? copy->source : copy->target];
            pieces[count++] = (xla_piece){data + (sends ? copy->source_offset : copy->target_offset),
                                          copy->rows, copy->row_bytes,
                                          sends ? copy->source_step : copy->target_step};
        }
    }
    if (!count) {
        free(pieces);
        return pieces;
    }
    return xla_link_add(link, plan->rendezvous, pieces, count, sends,
                        &run->open[plan->rendezvous].pending);
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

/* What was sent last may still be in this process. */
static bool are_quiet(const xla_joint_run *run) {
    for (int64_t n = 0; n < run->link_count; ++n)
        if (!xla_link_is_quiet(run->links[n]))
            return false;
    return true;
}

/* Sends and receives until some participant can go on, nothing is left, or the run has failed. */
static void await_messages(xla_joint_run *run) {
    int64_t started = xla_clock();
    while (!run->awake && !run->has_failed && (run->open_count || !are_quiet(run))) {
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

#ifdef __GLIBC__
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

/* Null where there is no memory. Nobody touches its lowest page: a stack that overflows does not write
 * into other memory. */
static char *new_stack(void) {
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
    return stack;
}

/* Runs all participants in this thread, the first on its stack; the others keep theirs. */
static void run_in_turn(xla_joint_run *run) {
    for (int64_t n = 1; n < run->count; ++n) {
        struct participant *participant = &run->participants[n];
        if (!participant->stack && !(participant->stack = new_stack())) {
            run->has_failed = true;
            return;
        }
        getcontext(&participant->context);
        participant->context.uc_link = NULL;
        participant->context.uc_stack.ss_sp = participant->stack;
        participant->context.uc_stack.ss_size = STACK_BYTES;
        makecontext(&participant->context, begin, 0);
    }
    run_participant(run->participants);
    while (!others_have_ended(run))
        go_on(run->participants);
    await_messages(run);
    current = NULL;
}
#else
/* The C library has no stacks that can be switched. */
static void go_on(struct participant *participant) { (void)participant; }
static void run_in_turn(xla_joint_run *run) { run->has_failed = true; }
#endif

/* Runs participants in a thread of their own; the first one's waits for all others, too. */
static void run_some(const void *values, int64_t first, int64_t last) {
    xla_joint_run *run = (xla_joint_run *)values;
    for (int64_t n = first; n < last; ++n)
        run_participant(&run->participants[n]);
    if (first)
        return;
    lock(run);
    while (!others_have_ended(run))
        pthread_cond_wait(&run->changed, &run->lock);
    unlock(run);
}

static void run_participants(void *argument) {
    xla_joint_run *run = argument;
    if (!run->in_turn && xla_run_together(run_some, run, run->count))
        return;
    run->in_turn = true;
    run_in_turn(run);
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
    if (xla_run(run_participants, run->states, run->state_count, run))
        return XLA_RUN_INTERRUPTED;
    return run->has_failed ? XLA_RUN_FAILED : XLA_RUN_DONE;
}

/* Links are for one run at a time. */
static pthread_mutex_t links_in_use = PTHREAD_MUTEX_INITIALIZER;

xla_run_end xla_run_jointly(xla_joint_run *run, int32_t in_turn) {
    run->in_turn = in_turn || run->link_count;
    if (!run->link_count)
        return run_all(run);
    pthread_mutex_lock(&links_in_use);
    for (int64_t n = 0; n < run->link_count; ++n)
        xla_link_begin(run->links[n], run->program);
    xla_run_end end = run_all(run);
    for (int64_t n = 0; end != XLA_RUN_DONE && n < run->link_count; ++n)
        xla_link_abandon(run->links[n]);
    pthread_mutex_unlock(&links_in_use);
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
    for (int64_t n = 1; n < run->count; ++n)
        if (run->participants[n].stack)
            munmap(run->participants[n].stack, STACK_BYTES);
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
