/*
 * Links to other processes, which run the same programs: streams of bytes, on which messages follow
 * each other. A message has what one process brings to one execution of a rendezvous for those in
 * another; both know from the plans of the program which bytes these are, and in which order.
 *
 * Nothing waits but `xla_links_sleep`: whoever runs a program has messages sent and received as far
 * as that goes, by turns with its participants. A message may come before this process has reached
 * its rendezvous, where it has several participants: then it is kept. A message of another program
 * means that processes do not run the same, and breaks the link.
 *
 * On one machine, if the system lets them, processes copy large messages out of each other's memory:
 * the stream says where these lie, and an answer that they have been copied.
 */
#define _GNU_SOURCE
#include "links.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

enum {
    /* More than 64 KB with a header, which go as one message of MPI then. */
    BUFFER_BYTES = 1 << 17,
    /* From here on sockets read and write where bytes lie. */
    LEAST_UNBUFFERED = 1 << 16,
    SLEEP_MILLISECONDS = 20,
    /* Messages of MPI can only be looked for: others have the processor between, and after a while
     * all others. */
    YIELD_NANOSECONDS = 100000000,
    SLEEP_NANOSECONDS = 50000,
    MOST_LINKS_SLEPT_ON = 64,
    TAG = 31,
    STATUS_WORDS = 16,
    LEAST_COPIED = 1 << 17,
    LEAST_COPIED_ROW = 1 << 12,
    /* In one call of the system, which may copy less than 2 GB. */
    COPIES_AT_ONCE = 64,
    MOST_COPIED = 1 << 24,
    ANY = -1,
};

/* What follows a header: the bytes; nothing, as they lie in pieces where the sender has them; or
 * nothing, as they have been copied from there. */
enum kind { BYTES_FOLLOW, BYTES_LIE_THERE, BYTES_ARE_COPIED };

typedef struct {
    uint64_t program;
    int64_t rendezvous;
    int64_t byte_count;
    int64_t kind;
    int64_t piece_count;
    const xla_piece *pieces;
    /* Why the sender's link is broken, if it is. */
    const _Atomic int32_t *broken;
} header;

/* What becomes of a message: it is sent, it lies here until the other process has copied it; it is
 * waited for, it comes, it has come before anybody waits for it. */
enum state { LEAVES, LIES, IS_AWAITED, COMES, IS_EARLY };

struct message {
    enum state state;
    header header;
    xla_piece *pieces;
    int64_t *pending;
    /* How many pieces go over the stream, and how far it is: all before this has gone, or come. The
     * header is the piece with the number -1. */
    int64_t piece_count;
    int64_t piece, row, offset;
    struct message *next;
};

/* A message of MPI, which is a part of the stream. */
struct request {
    int64_t handle;
    int count;
    bool is_under_way;
};

/* Small pieces go through these; what lies from `begin` to `end` is still to go, or to be read. */
struct buffer {
    size_t begin, end;
    char data[BUFFER_BYTES];
};

struct xla_link {
    xla_link_state state;
    int socket;
    /* Null for one over a socket; else what sends and receives, and for whom. */
    const xla_mpi *mpi;
    int rank;
    struct request sent, received;
    uint64_t program;
    /* In the order in which they were begun. */
    struct message *messages;
    /* The header that comes. */
    struct message head;
    struct buffer out, in;
    /* The other process on this machine, and where it has its token; 0 if nothing can be copied. */
    pid_t pid;
    const char *its_token;
    char token[XLA_TOKEN_BYTES];
};

xla_link *xla_link_new(int32_t socket, const xla_mpi *mpi, int32_t rank) {
    xla_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->socket = socket;
    link->mpi = mpi;
    link->rank = rank;
    link->head.piece = -1;
    return link;
}

void xla_link_close(xla_link *link) {
    int is_done;
    int64_t status[STATUS_WORDS];
    if (link->received.is_under_way) {
        link->mpi->cancel(&link->received.handle);
        link->mpi->test(&link->received.handle, &is_done, status);
    }
    xla_link_break(link, XLA_LINK_ABANDONED);
}

void xla_link_break(xla_link *link, int32_t reason) {
    int32_t none = XLA_LINK_WHOLE;
    if (atomic_compare_exchange_strong(&link->state.broken, &none, reason))
        shutdown(link->socket, SHUT_RDWR);
}

void xla_link_begin(xla_link *link, uint64_t program) { link->program = program; }

/* Copies out of the memory of another process: first its token, by which it is still the same one. */
struct copies {
    pid_t pid;
    const char *token;
    char found[XLA_TOKEN_BYTES];
    int count;
    struct iovec to[COPIES_AT_ONCE], from[COPIES_AT_ONCE];
};

/* Makes those that have been added; whether all could be made. */
static bool make_copies(struct copies *copies) {
    size_t count = (size_t)copies->count, bytes = 0;
    for (size_t n = 0; n < count; ++n)
        bytes += copies->to[n].iov_len;
    copies->count = 1;
    return process_vm_readv(copies->pid, copies->to, count, copies->from, count, 0) == (ssize_t)bytes &&
           !memcmp(copies->found, copies->token, sizeof copies->found);
}

static bool add_copy(struct copies *copies, void *to, const void *from, size_t bytes) {
    bool is_well = true;
    for (size_t at = 0; at < bytes && is_well; at += MOST_COPIED) {
        size_t count = bytes - at < MOST_COPIED ? bytes - at : MOST_COPIED;
        copies->to[copies->count] = (struct iovec){(char *)to + at, count};
        copies->from[copies->count++] = (struct iovec){(char *)from + at, count};
        if (copies->count == COPIES_AT_ONCE)
            is_well = make_copies(copies);
    }
    return is_well;
}

static void begin_copies(struct copies *copies, pid_t pid, const char *its_token, const char *token) {
    copies->pid = pid;
    copies->token = token;
    copies->count = 0;
    add_copy(copies, copies->found, its_token, sizeof copies->found);
}

int32_t xla_can_copy_from(int32_t pid, const char *its_token, const char *token) {
    struct copies copies;
    begin_copies(&copies, pid, its_token, token);
    return make_copies(&copies);
}

void xla_link_copies(xla_link *link, int32_t pid, const char *its_token, const char *token) {
    link->pid = pid;
    link->its_token = its_token;
    memcpy(link->token, token, sizeof link->token);
}

/* The first message in a state, of a rendezvous or of any; null if there is none. */
static struct message *find(const xla_link *link, enum state state, int64_t rendezvous) {
    struct message *found = link->messages;
    while (found && (found->state != state ||
                     (rendezvous != ANY && found->header.rendezvous != rendezvous)))
        found = found->next;
    return found;
}

/* A message at the end; null where there is no memory. It owns its pieces. */
static struct message *add(xla_link *link, enum state state, int64_t rendezvous, xla_piece *pieces,
                           int64_t count) {
    struct message *message = calloc(1, sizeof *message), **end = &link->messages;
    if (!message) {
        free(pieces);
        return NULL;
    }
    while (*end)
        end = &(*end)->next;
    *end = message;
    message->state = state;
    message->header = (header){.program = link->program, .rendezvous = rendezvous, .piece_count = count,
                               .pieces = pieces, .broken = &link->state.broken};
    message->pieces = pieces;
    message->piece_count = count;
    message->piece = -1;
    for (int64_t n = 0; n < count; ++n)
        message->header.byte_count += pieces[n].rows * pieces[n].row_bytes;
    return message;
}

/* Its memory is not needed any more, or has been written. */
static void end_message(xla_link *link, struct message *message) {
    struct message **at = &link->messages;
    while (*at != message)
        at = &(*at)->next;
    *at = message->next;
    if (message->pending)
        --*message->pending;
    free(message->pieces);
    free(message);
}

void xla_link_abandon(xla_link *link) {
    xla_link_break(link, XLA_LINK_ABANDONED);
    for (struct message *message = link->messages; message; message = link->messages) {
        /* Nothing is told who waits for it. */
        message->pending = NULL;
        end_message(link, message);
    }
}

/* Streams: how many bytes went, 0 if none can now, -1 if the link is broken. */

static int64_t transfer_by_mpi(xla_link *link, char *data, size_t count, bool sends) {
    struct request *request = sends ? &link->sent : &link->received;
    const xla_mpi *mpi = link->mpi;
    int is_done;
    int64_t status[STATUS_WORDS];
    if (!request->is_under_way) {
        request->count = (int)count;
        if ((sends ? mpi->send : mpi->receive)(data, request->count, mpi->byte_type, link->rank, TAG,
                                               mpi->communicator, &request->handle))
            return -1;
    }
    if (mpi->test(&request->handle, &is_done, status))
        return -1;
    request->is_under_way = !is_done;
    if (is_done && !sends && mpi->get_count(status, mpi->byte_type, &request->count))
        return -1;
    return is_done ? request->count : 0;
}

static int64_t transfer(xla_link *link, char *data, size_t count, bool sends) {
    int64_t moved = link->mpi ? transfer_by_mpi(link, data, count, sends)
                    : sends   ? send(link->socket, data, count, MSG_DONTWAIT | MSG_NOSIGNAL)
                              : recv(link->socket, data, count, MSG_DONTWAIT);
    if (moved > 0) {
        *(sends ? &link->state.bytes_sent : &link->state.bytes_received) += moved;
        return moved;
    }
    if (link->mpi ? !moved : moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    xla_link_break(link, XLA_LINK_ENDED);
    return -1;
}

/* 1 if the buffer is empty now. */
static int64_t flush(xla_link *link) {
    struct buffer *out = &link->out;
    while (out->begin < out->end) {
        int64_t sent = transfer(link, out->data + out->begin, out->end - out->begin, true);
        if (sent <= 0)
            return sent;
        out->begin += (size_t)sent;
    }
    out->begin = out->end = 0;
    return 1;
}

static int64_t write_some(xla_link *link, char *data, size_t count) {
    struct buffer *out = &link->out;
    bool is_direct = count >= LEAST_UNBUFFERED && !link->mpi;
    if (is_direct || out->end == BUFFER_BYTES) {
        int64_t is_empty = flush(link);
        if (is_empty <= 0)
            return is_empty;
    }
    if (is_direct)
        return transfer(link, data, count, true);
    size_t room = BUFFER_BYTES - out->end;
    count = count < room ? count : room;
    memcpy(out->data + out->end, data, count);
    out->end += count;
    return (int64_t)count;
}

static int64_t read_some(xla_link *link, char *data, size_t count) {
    struct buffer *in = &link->in;
    if (in->begin == in->end) {
        if (count >= LEAST_UNBUFFERED && !link->mpi)
            return transfer(link, data, count, false);
        int64_t found = transfer(link, in->data, BUFFER_BYTES, false);
        if (found <= 0)
            return found;
        in->begin = 0;
        in->end = (size_t)found;
    }
    size_t ready = in->end - in->begin;
    count = count < ready ? count : ready;
    memcpy(data, in->data + in->begin, count);
    in->begin += count;
    return (int64_t)count;
}

/* Sends, or receives, what is left of a message: 1 when all is done. */
static int64_t move(xla_link *link, struct message *message, bool sends) {
    for (; message->piece < message->piece_count; ++message->piece, message->row = 0) {
        const xla_piece head = {(char *)&message->header, 1, sizeof message->header, 0};
        const xla_piece *piece = message->piece < 0 ? &head : &message->pieces[message->piece];
        for (; message->row < piece->rows; ++message->row, message->offset = 0)
            while (message->offset < piece->row_bytes) {
                char *at = piece->data + message->row * piece->step + message->offset;
                size_t left = (size_t)(piece->row_bytes - message->offset);
                int64_t count = (sends ? write_some : read_some)(link, at, left);
                if (count <= 0)
                    return count;
                message->offset += count;
            }
    }
    return 1;
}

static int64_t send_all(xla_link *link) {
    for (struct message *message; (message = find(link, LEAVES, ANY));) {
        int64_t is_done = move(link, message, true);
        if (is_done <= 0)
            return is_done;
        if (message->header.kind == BYTES_LIE_THERE) {
            link->state.bytes_sent += message->header.byte_count;
            message->state = LIES;
        } else {
            end_message(link, message);
        }
    }
    return flush(link);
}

static bool refuse(xla_link *link, int32_t reason) {
    xla_link_break(link, reason);
    return false;
}

/* Copies a message from where it lies; whether that went well, and the run goes on there. */
static bool copy_lying(const xla_link *link, const header *from, const struct message *message) {
    size_t bytes = (size_t)from->piece_count * sizeof(xla_piece);
    xla_piece *lying = malloc(bytes);
    int32_t broken = XLA_LINK_WHOLE;
    struct copies copies;
    begin_copies(&copies, link->pid, link->its_token, link->token);
    bool is_well = lying && link->pid && from->piece_count == message->piece_count &&
                   add_copy(&copies, lying, from->pieces, bytes) && make_copies(&copies);
    for (int64_t n = 0; is_well && n < message->piece_count; ++n) {
        const xla_piece *here = &message->pieces[n], *there = &lying[n];
        is_well = here->rows == there->rows && here->row_bytes == there->row_bytes;
        for (int64_t row = 0; is_well && row < here->rows; ++row)
            is_well = add_copy(&copies, here->data + row * here->step, there->data + row * there->step,
                               (size_t)here->row_bytes);
    }
    /* Last: a run that has ended before its time may have given its memory to others. */
    is_well = is_well && add_copy(&copies, &broken, from->broken, sizeof broken) &&
              make_copies(&copies) && !broken;
    free(lying);
    return is_well;
}

static void copy_out(const struct message *early, const struct message *awaited) {
    const char *from = early->pieces->data;
    for (int64_t n = 0; n < awaited->piece_count; ++n) {
        const xla_piece *piece = &awaited->pieces[n];
        for (int64_t row = 0; row < piece->rows; ++row, from += piece->row_bytes)
            memcpy(piece->data + row * piece->step, from, (size_t)piece->row_bytes);
    }
}

/* Gives a message that has come to who waits for it, if anybody does; false if it does not fit. */
static bool deliver(xla_link *link, struct message *come) {
    int64_t rendezvous = come->header.rendezvous;
    struct message *awaited = find(link, IS_AWAITED, rendezvous);
    come->state = IS_EARLY;
    if (!awaited)
        return true;
    if (come->header.byte_count != awaited->header.byte_count)
        return refuse(link, XLA_LINK_DIFFERS);
    if (come->header.kind == BYTES_LIE_THERE) {
        struct message *answer = add(link, LEAVES, rendezvous, NULL, 0);
        if (!answer || !copy_lying(link, &come->header, awaited))
            return refuse(link, XLA_LINK_ENDED);
        answer->header.kind = BYTES_ARE_COPIED;
        link->state.bytes_received += come->header.byte_count;
    } else {
        copy_out(come, awaited);
    }
    end_message(link, awaited);
    end_message(link, come);
    return true;
}

/* A header has come; false if it does not fit. */
static bool take_header(xla_link *link) {
    const header coming = link->head.header;
    link->head = (struct message){.piece = -1};
    if (coming.program != link->program) {
        link->state.other_program = coming.program;
        return refuse(link, XLA_LINK_DIFFERS);
    }
    bool follow = coming.kind == BYTES_FOLLOW;
    enum state wanted = coming.kind == BYTES_ARE_COPIED ? LIES : IS_AWAITED;
    struct message *found = find(link, wanted, coming.rendezvous);
    if (wanted == LIES) {
        if (found)
            end_message(link, found);
        return found || refuse(link, XLA_LINK_DIFFERS);
    }
    if (found && follow) {
        found->state = COMES;
        found->piece = 0;
        return found->header.byte_count == coming.byte_count || refuse(link, XLA_LINK_DIFFERS);
    }
    /* Memory of its own for what nobody waits for yet. */
    size_t bytes = follow ? (size_t)coming.byte_count : 0;
    xla_piece *piece = malloc(sizeof *piece + bytes);
    if (piece)
        *piece = (xla_piece){(char *)(piece + 1), 1, (int64_t)bytes, 0};
    struct message *early = piece ? add(link, COMES, coming.rendezvous, piece, 1) : NULL;
    if (!early)
        return refuse(link, XLA_LINK_DIFFERS);
    early->header = coming;
    early->piece = 0;
    return follow || deliver(link, early);
}

/* Whether something is waited for: what else may come is of the next run. */
static bool receives(const xla_link *link) {
    return find(link, COMES, ANY) || find(link, IS_AWAITED, ANY) || find(link, LIES, ANY);
}

static int64_t receive_all(xla_link *link) {
    while (receives(link)) {
        struct message *message = find(link, COMES, ANY);
        int64_t is_done = move(link, message ? message : &link->head, false);
        if (is_done <= 0)
            return is_done;
        bool is_well = true;
        if (!message)
            is_well = take_header(link);
        else if (message->pending)
            end_message(link, message);
        else
            is_well = deliver(link, message);
        if (!is_well)
            return -1;
    }
    return 1;
}

bool xla_link_progress(xla_link *link) {
    return !link->state.broken && send_all(link) >= 0 && receive_all(link) >= 0 && send_all(link) >= 0;
}

bool xla_link_is_quiet(const xla_link *link) {
    return !find(link, LEAVES, ANY) && !find(link, LIES, ANY) && link->out.begin == link->out.end;
}

bool xla_link_add(xla_link *link, int64_t rendezvous, xla_piece *pieces, int64_t count, bool sends,
                  int64_t *pending) {
    struct message *message = add(link, sends ? LEAVES : IS_AWAITED, rendezvous, pieces, count);
    if (!message || link->state.broken)
        return false;
    message->pending = pending;
    ++*pending;
    if (!sends) {
        struct message *early = find(link, IS_EARLY, rendezvous);
        return !early || deliver(link, early);
    }
    bool is_copied = link->pid && message->header.byte_count >= LEAST_COPIED;
    for (int64_t n = 0; is_copied && n < count; ++n)
        is_copied = pieces[n].row_bytes >= LEAST_COPIED_ROW;
    if (is_copied) {
        message->header.kind = BYTES_LIE_THERE;
        message->piece_count = 0;
    }
    return send_all(link) >= 0;
}

void xla_links_sleep(xla_link *const *links, int64_t count, int64_t passed) {
    if (count && links[0]->mpi) {
        if (passed < YIELD_NANOSECONDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = SLEEP_NANOSECONDS}, NULL);
        return;
    }
    struct pollfd watched[MOST_LINKS_SLEPT_ON];
    nfds_t used = 0;
    for (int64_t n = 0; n < count && used < MOST_LINKS_SLEPT_ON; ++n) {
        const xla_link *link = links[n];
        bool sends = find(link, LEAVES, ANY) || link->out.begin < link->out.end;
        int events = (sends ? POLLOUT : 0) | (receives(link) ? POLLIN : 0);
        if (events)
            watched[used++] = (struct pollfd){link->socket, (short)events, 0};
    }
    poll(watched, used, SLEEP_MILLISECONDS);
}
