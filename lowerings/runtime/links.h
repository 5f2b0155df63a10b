/* Streams of bytes to other processes, and messages on them. */
#ifndef XLA_RUNTIME_LINKS_H
#define XLA_RUNTIME_LINKS_H

#include "runtime.h"

#include <stdbool.h>

/* `rows` of `row_bytes` each, `step` bytes from each other. */
typedef struct {
    char *data;
    int64_t rows;
    int64_t row_bytes;
    int64_t step;
} xla_piece;

/* Sends, or receives, the pieces of one execution of a rendezvous, which belong to the callee now;
 * `pending` is lowered by 1 when their memory is not needed any more, or has been written. False
 * where there is no memory, or nobody at the other end. */
bool xla_link_add(xla_link *link, int64_t rendezvous, xla_piece *pieces, int64_t count, bool sends,
                  int64_t *pending);

/* Before a run of a program: what comes has to be of it. */
void xla_link_begin(xla_link *link, uint64_t program);

/* Does what can be done now; false where the other end has gone, or runs another program. */
bool xla_link_progress(xla_link *link);

/* Whether all that was to be sent has gone. */
bool xla_link_is_quiet(const xla_link *link);

/* Sleeps until something can be done, but for some milliseconds at most; `passed` are the nanoseconds
 * that the caller has waited. */
void xla_links_sleep(xla_link *const *links, int64_t count, int64_t passed);

/* A run has ended before its time: the other end learns that nothing comes any more. */
void xla_link_abandon(xla_link *link);

#endif
