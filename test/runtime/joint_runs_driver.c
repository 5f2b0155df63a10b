/* Runs participants that gather each other's numbers, alone, by several callers and in a child:
 * `driver threads 1`. */
#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 5, ROUNDS = 200 };

#define REQUIRE(condition)                                          \
    do                                                              \
        if (!(condition)) {                                         \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition);     \
            _exit(1);                                               \
        }                                                           \
    while (0)

/* An all-gather of all participants, and one of pairs: the number in front, what all bring behind. */
static const int64_t everybody[MOST] = {0, 1, 2, 3, 4}, pairs[2][2] = {{0, 2}, {1, 3}};
static xla_copy copies_of_all[MOST][MOST], copies_of_pairs[4][2];

struct program {
    xla_exchange_plan gather[MOST];
    xla_exchange_plan exchange[4];
};

static void make(struct program *program, int64_t count, int64_t copies_alone) {
    for (int64_t n = 0; n < count; ++n) {
        program->gather[n] = (xla_exchange_plan){0, count, everybody, count, copies_of_all[n], copies_alone};
        if (n < 4)
            program->exchange[n] =
                (xla_exchange_plan){1 + n % 2, 2, pairs[n % 2], 2, copies_of_pairs[n], copies_alone};
    }
}

static void make_copies(void) {
    for (int64_t n = 0; n < MOST; ++n)
        for (int64_t k = 0; k < MOST; ++k)
            copies_of_all[n][k] = (xla_copy){k, 0, 0, 1, 8 * k, 1, 8, 0, 0};
    for (int64_t n = 0; n < 4; ++n)
        for (int64_t k = 0; k < 2; ++k)
            copies_of_pairs[n][k] = (xla_copy){pairs[n % 2][k], 0, 0, 1, 8 * k, 2, 4, 4, 4};
}

/* The arguments of a participant. */
struct given {
    const struct program *program;
    int64_t number, count, goes_away, sum, was_ended;
};

static void run(void *argument) {
    struct given *given = argument;
    given->sum = given->was_ended = 0;
    for (int64_t round = 0; round < ROUNDS; ++round) {
        int64_t own = given->number * 1000 + round, all[MOST] = {0};
        void *arrays[] = {&own, all};
        if (given->goes_away && round == ROUNDS / 2)
            return;
        if (xla_exchange(given->program->gather, arrays)) {
            given->was_ended = 1;
            return;
        }
        for (int64_t n = 0; n < given->count; ++n)
            REQUIRE(all[n] == n * 1000 + round);
        given->sum += all[given->count - 1];
        if (given->count < 4 || given->number >= 4)
            continue;
        own = round - given->number;
        REQUIRE(!xla_exchange(given->program->exchange, arrays));
        for (int64_t k = 0; k < 2; ++k)
            REQUIRE(all[k] == round - pairs[given->number % 2][k]);
    }
}

static void check(int32_t in_turn, int64_t count, int64_t copies_alone) {
    struct program program;
    make(&program, count, copies_alone);
    struct given given[MOST];
    xla_participant participants[MOST];
    for (int64_t n = 0; n < count; ++n) {
        given[n] = (struct given){&program, n, count, 0, 0, 0};
        participants[n] = (xla_participant){run, &given[n], NULL};
    }
    xla_joint_run *joint = xla_joint_run_new(count, participants, 3, 0);
    REQUIRE(joint);
    for (int again = 0; again < 3; ++again) {
        REQUIRE(xla_run_jointly(joint, in_turn) == XLA_RUN_DONE);
        for (int64_t n = 0; n < count; ++n)
            REQUIRE(given[n].sum == ROUNDS * (count - 1) * 1000 + ROUNDS * (ROUNDS - 1) / 2);
        /* Where one does not come any more, all others end. */
        given[again % count].goes_away = 1;
        REQUIRE(xla_run_jointly(joint, in_turn) == (count > 1 ? XLA_RUN_FAILED : XLA_RUN_DONE));
        for (int64_t n = 0; n < count; ++n)
            REQUIRE(given[n].was_ended == (n != again % count));
        given[again % count].goes_away = 0;
    }
    xla_joint_run_free(joint);
}

static void check_all(int32_t in_turn) {
    for (int64_t count = 1; count <= MOST; ++count)
        for (int64_t copies_alone = 0; copies_alone < 2; ++copies_alone)
            check(in_turn, count, copies_alone);
}

static void *call(void *argument) {
    check_all(0);
    return argument;
}

int main(int count, char **words) {
    REQUIRE(count > 1);
    make_copies();
    const char *what = words[1];
    int64_t number = 1;
    void *arrays[] = {&number};
    REQUIRE(xla_exchange(NULL, arrays) == -1);
    if (!strcmp(what, "callers")) {
        pthread_t callers[4];
        for (int n = 0; n < 4; ++n)
            REQUIRE(!pthread_create(&callers[n], NULL, call, NULL));
        for (int n = 0; n < 4; ++n)
            pthread_join(callers[n], NULL);
    } else if (!strcmp(what, "forks")) {
        check_all(0);
        pid_t child = fork();
        check_all(0);
        if (!child)
            _exit(0);
        int status;
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    } else {
        check_all(!strcmp(what, "in_turn"));
    }
    return 0;
}
