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
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#ifndef MSG_NOSIGNAL
/* Where there is none, the signal is ignored, as by Python. */
#define MSG_NOSIGNAL 0
#endif

enum {
    BUFFER_BYTES = 1 << 16,
    SLEEP_MILLISECONDS = 20,
    /* Messages of MPI can only be looked for: others have the processor between, and after a while
     * all others. */
    YIELD_NANOSECONDS = 100000000,
    SLEEP_NANOSECONDS = 50000,
    MOST_LINKS_SLEPT_ON = 64,
    /* How many messages of MPI are under way in each direction. */
    SLOTS = 4,
    TAG = 31,
    ROW_TAG,
    MOST_ROW_BYTES = 1 << 30,
    /* In the place of bytes of a row: the message is to be copied, or has been. */
    LIES_THERE = -1,
    IS_COPIED = -2,
    LEAST_COPIED = 1 << 20,
    LEAST_COPIED_ROW = 1 << 12,
    COPIES_AT_ONCE = 64,
    STATUS_WORDS = 16,
};

typedef struct {
    uint64_t program;
    int64_t rendezvous;
    int64_t byte_count;
    /* Of messages of MPI: of each row, where these go past the stream, as they are; else 0. */
    int64_t row_bytes;
    /* Where the pieces lie that are to be copied, and how many. */
    int64_t piece_count;
    const xla_piece *pieces;
    /* Why the sender's link is broken, if it is. */
    const _Atomic int32_t *broken;
} header;

struct message {
    header header;
    xla_piece *pieces;
    int64_t piece_count;
    int64_t *pending;
    /* How far it is: everything before this is sent, or has come. */
    int64_t piece, row, offset;
    size_t header_bytes;
    /* The row of MPI that is under way, if any. */
    int64_t request, is_under_way;
    struct message *next;
};

struct queue {
    struct message *first, **end;
};

/* A message of MPI, which is part of a stream. */
struct slot {
    int64_t request;
    int64_t is_used;
    /* What is sent: how many bytes, and these. */
    int64_t byte_count;
    char data[BUFFER_BYTES];
};

/* A stream over MPI: the slots of both directions are used in turn. */
struct rank {
    const xla_mpi *mpi;
    int32_t number;
    int next_out, next_in;
    int64_t taken;
    struct slot out[SLOTS], in[SLOTS];
};

struct xla_link {
    int socket;
    /* Null for one over a socket. */
    struct rank *rank;
    _Atomic int32_t broken;
    uint64_t program;
    /* What the last message that did not fit was of. */
    uint64_t other_program;
    int64_t bytes_sent, bytes_received;
    struct queue sending, awaited, early;
    /* Those that the other process copies. */
    struct queue lying;
    /* The other process on this machine, and where it has its token; 0 if nothing can be copied. */
    pid_t pid;
    const char *its_token;
    char token[XLA_TOKEN_BYTES];
    /* What comes: for a message that is awaited, or an early one. */
    struct message *receiving;
    bool is_early;
    header coming;
    size_t coming_bytes;
    /* Small pieces go through these. */
    size_t out_begin, out_end, in_begin, in_end;
    char out[BUFFER_BYTES], in[BUFFER_BYTES];
};

xla_link *xla_link_new(int32_t socket) {
    xla_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->socket = socket;
    link->sending.end = &link->sending.first;
    link->awaited.end = &link->awaited.first;
    link->early.end = &link->early.first;
    link->lying.end = &link->lying.first;
    return link;
}

/* What is read of another process's memory: first its token, by which it is still the same one. */
struct copies {
    struct iovec to[COPIES_AT_ONCE], from[COPIES_AT_ONCE];
    char token[XLA_TOKEN_BYTES];
    int count;
    size_t bytes;
};

static void add_copy(struct copies *copies, void *to, const void *from, size_t bytes) {
    copies->to[copies->count] = (struct iovec){to, bytes};
    copies->from[copies->count++] = (struct iovec){(void *)from, bytes};
    copies->bytes += bytes;
}

static void begin_copies(struct copies *copies, const char *its_token) {
    copies->count = 0;
    copies->bytes = 0;
    add_copy(copies, copies->token, its_token, sizeof copies->token);
}

static bool make_copies(struct copies *copies, pid_t pid, const char *token) {
#ifdef __linux__
    size_t count = (size_t)copies->count;
    return process_vm_readv(pid, copies->to, count, copies->from, count, 0) == (ssize_t)copies->bytes &&
           !memcmp(copies->token, token, sizeof copies->token);
#else
    return false;
#endif
}

int32_t xla_can_copy_from(int32_t pid, const char *its_token, const char *token) {
    struct copies copies;
    begin_copies(&copies, its_token);
    return make_copies(&copies, pid, token);
}

void xla_link_copies(xla_link *link, int32_t pid, const char *its_token, const char *token) {
    link->pid = pid;
    link->its_token = its_token;
    memcpy(link->token, token, sizeof link->token);
}

/* Sends, or gets ready to receive, a slot; whether that could be begun. */
static bool begin_slot(struct rank *rank, struct slot *slot, bool sends) {
    const xla_mpi *mpi = rank->mpi;
    int count = (int)sizeof slot->byte_count + (sends ? (int)slot->byte_count : BUFFER_BYTES);
    slot->is_used = 1;
    return !(sends ? mpi->send(&slot->byte_count, count, mpi->byte_type, rank->number, TAG,
                               mpi->communicator, &slot->request)
                   : mpi->receive(&slot->byte_count, count, mpi->byte_type, rank->number, TAG,
                                  mpi->communicator, &slot->request));
}

/* 1 if nothing is under way in a slot any more, -1 if that has failed. */
static int64_t test_slot(const struct rank *rank, struct slot *slot) {
    int64_t status[STATUS_WORDS];
    int is_done = 1;
    if (slot->is_used && rank->mpi->test(&slot->request, &is_done, status))
        return -1;
    slot->is_used = !is_done;
    return is_done;
}

xla_link *xla_link_to_rank(const xla_mpi *mpi, int32_t number) {
    xla_link *link = xla_link_new(-1);
    struct rank *rank = calloc(1, sizeof *rank);
    if (!link || !rank) {
        free(link);
        free(rank);
        return NULL;
    }
    rank->mpi = mpi;
    rank->number = number;
    link->rank = rank;
    for (int n = 0; n < SLOTS; ++n)
        if (!begin_slot(rank, &rank->in[n], false))
            xla_link_break(link, XLA_LINK_ENDED);
    return link;
}

void xla_link_close(xla_link *link) {
    struct rank *rank = link->rank;
    for (int n = 0; rank && n < SLOTS; ++n)
        if (rank->in[n].is_used) {
            rank->mpi->cancel(&rank->in[n].request);
            test_slot(rank, &rank->in[n]);
        }
    xla_link_break(link, XLA_LINK_ABANDONED);
}

static int64_t write_to_rank(struct rank *rank, const char *data, size_t count) {
    struct slot *slot = &rank->out[rank->next_out];
    int64_t is_free = test_slot(rank, slot);
    if (is_free <= 0)
        return is_free;
    slot->byte_count = count < BUFFER_BYTES ? (int64_t)count : BUFFER_BYTES;
    memcpy(slot->data, data, (size_t)slot->byte_count);
    rank->next_out = (rank->next_out + 1) % SLOTS;
    return begin_slot(rank, slot, true) ? slot->byte_count : -1;
}

static int64_t read_from_rank(struct rank *rank, char *data, size_t count) {
    struct slot *slot = &rank->in[rank->next_in];
    int64_t has_come = test_slot(rank, slot);
    if (has_come <= 0)
        return has_come;
    size_t left = (size_t)(slot->byte_count - rank->taken);
    count = count < left ? count : left;
    memcpy(data, slot->data + rank->taken, count);
    rank->taken += (int64_t)count;
    if (rank->taken < slot->byte_count)
        return (int64_t)count;
    rank->taken = 0;
    rank->next_in = (rank->next_in + 1) % SLOTS;
    return begin_slot(rank, slot, false) ? (int64_t)count : -1;
}

int32_t xla_link_broken(const xla_link *link) { return link->broken; }
uint64_t xla_link_other_program(const xla_link *link) { return link->other_program; }
int64_t xla_link_bytes(const xla_link *link, int32_t sent) {
    return sent ? link->bytes_sent : link->bytes_received;
}

void xla_link_break(xla_link *link, int32_t reason) {
    int32_t none = XLA_LINK_WHOLE;
    if (atomic_compare_exchange_strong(&link->broken, &none, reason))
        shutdown(link->socket, SHUT_RDWR);
}

static void append(struct queue *queue, struct message *message) {
    message->next = NULL;
    *queue->end = message;
    queue->end = &message->next;
}

/* Takes the first message of a rendezvous out of a queue; null if there is none. */
static struct message *take(struct queue *queue, int64_t rendezvous) {
    for (struct message **at = &queue->first; *at; at = &(*at)->next) {
        struct message *found = *at;
        if (found->header.rendezvous != rendezvous)
            continue;
        *at = found->next;
        if (queue->end == &found->next)
            queue->end = at;
        return found;
    }
    return NULL;
}

static void end_message(struct message *message) {
    if (message->pending)
        --*message->pending;
    free(message->pieces);
    free(message);
}

/* Nothing is told who waits for them. */
static void forget_all(struct queue *queue) {
    for (struct message *message = queue->first; message;) {
        struct message *next = message->next;
        free(message->pieces);
        free(message);
        message = next;
    }
    queue->first = NULL;
    queue->end = &queue->first;
}

/* Streams: how many bytes went, 0 if none can now, -1 if the link is broken. */

static int64_t moved(xla_link *link, ssize_t count, bool is_end) {
    if (count > 0)
        return count;
    if (count == 0 && link->rank)
        return 0;
    if (count < 0 && !link->rank && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    if (count < 0 || is_end)
        xla_link_break(link, XLA_LINK_ENDED);
    return -1;
}

static int64_t write_now(xla_link *link, const char *data, size_t count) {
    ssize_t gone = link->rank ? write_to_rank(link->rank, data, count)
                              : send(link->socket, data, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    int64_t sent = moved(link, gone, false);
    link->bytes_sent += sent > 0 ? sent : 0;
    return sent;
}

static int64_t read_now(xla_link *link, char *data, size_t count) {
    ssize_t come = link->rank ? read_from_rank(link->rank, data, count)
                              : recv(link->socket, data, count, MSG_DONTWAIT);
    int64_t found = moved(link, come, true);
    link->bytes_received += found > 0 ? found : 0;
    return found;
}

/* Whether the buffer is empty now; -1 if the link is broken. */
static int64_t flush(xla_link *link) {
    while (link->out_begin < link->out_end) {
        int64_t sent = write_now(link, link->out + link->out_begin, link->out_end - link->out_begin);
        if (sent <= 0)
            return sent;
        link->out_begin += (size_t)sent;
    }
    link->out_begin = link->out_end = 0;
    return 1;
}

static int64_t write_some(xla_link *link, const char *data, size_t count) {
    if (count < BUFFER_BYTES && count <= BUFFER_BYTES - link->out_end) {
        memcpy(link->out + link->out_end, data, count);
        link->out_end += count;
        return (int64_t)count;
    }
    int64_t is_empty = flush(link);
    if (is_empty <= 0)
        return is_empty;
    return count < BUFFER_BYTES ? write_some(link, data, count) : write_now(link, data, count);
}

static int64_t read_some(xla_link *link, char *data, size_t count) {
    if (link->in_begin == link->in_end) {
        if (count >= BUFFER_BYTES)
            return read_now(link, data, count);
        link->in_begin = link->in_end = 0;
        int64_t found = read_now(link, link->in, BUFFER_BYTES);
        if (found <= 0)
            return found;
        link->in_end = (size_t)found;
    }
    size_t ready = link->in_end - link->in_begin;
    size_t taken = count < ready ? count : ready;
    memcpy(data, link->in + link->in_begin, taken);
    link->in_begin += taken;
    return (int64_t)taken;
}

/* Sends, or receives, one row by MPI, without copying it. */
static int64_t move_row(xla_link *link, struct message *message, char *at, bool sends) {
    const xla_mpi *mpi = link->rank->mpi;
    int count = (int)message->header.row_bytes, is_done = 0;
    int64_t status[STATUS_WORDS];
    if (!message->is_under_way) {
        int64_t is_empty = sends ? flush(link) : 1;
        if (is_empty <= 0)
            return is_empty;
        int error = sends ? mpi->send(at, count, mpi->byte_type, link->rank->number, ROW_TAG,
                                      mpi->communicator, &message->request)
                          : mpi->receive(at, count, mpi->byte_type, link->rank->number, ROW_TAG,
                                         mpi->communicator, &message->request);
        if (error)
            return moved(link, -1, true);
        message->is_under_way = 1;
    }
    if (mpi->test(&message->request, &is_done, status))
        return moved(link, -1, true);
    message->is_under_way = !is_done;
    *(sends ? &link->bytes_sent : &link->bytes_received) += is_done ? count : 0;
    return is_done ? count : 0;
}

/* Sends, or receives, what is left of a message: 1 when all is done. */
static int64_t move(xla_link *link, struct message *message, bool sends) {
    bool by_rows = message->header.row_bytes;
    for (; message->piece < message->piece_count; ++message->piece, message->row = 0) {
        const xla_piece *piece = &message->pieces[message->piece];
        for (; message->row < piece->rows; ++message->row, message->offset = 0)
            while (message->offset < piece->row_bytes) {
                char *at = piece->data + message->row * piece->step + message->offset;
                size_t left = (size_t)(piece->row_bytes - message->offset);
                int64_t count = by_rows ? move_row(link, message, at, sends)
                                : sends ? write_some(link, at, left)
                                        : read_some(link, at, left);
                if (count <= 0)
                    return count;
                message->offset += count;
            }
    }
    return 1;
}

static void copy_out(const struct message *early, const struct message *awaited) {
    const char *from = early->pieces->data;
    for (const xla_piece *piece = awaited->pieces; piece < awaited->pieces + awaited->piece_count;
         ++piece)
        for (int64_t row = 0; row < piece->rows; ++row, from += piece->row_bytes)
            memcpy(piece->data + row * piece->step, from, (size_t)piece->row_bytes);
}

/* A message with a buffer of its own for what nobody waits for yet. */
static struct message *new_early(const header *coming) {
    struct message *message = calloc(1, sizeof *message);
    xla_piece *piece = malloc(sizeof *piece + (size_t)coming->byte_count);
    if (!message || !piece) {
        free(message);
        free(piece);
        return NULL;
    }
    *piece = (xla_piece){(char *)(piece + 1), 1, coming->byte_count, 0};
    if (coming->row_bytes > 0)
        *piece = (xla_piece){piece->data, coming->byte_count / coming->row_bytes, coming->row_bytes,
                             coming->row_bytes};
    message->header = *coming;
    message->pieces = piece;
    message->piece_count = 1;
    return message;
}

/* The rows of pieces, one after the other. */
typedef struct {
    const xla_piece *piece;
    int64_t row, offset;
} place;

static char *row_at(const place *at) { return at->piece->data + at->row * at->piece->step + at->offset; }

static void go_ahead(place *at, int64_t count) {
    at->offset += count;
    if (at->offset < at->piece->row_bytes)
        return;
    at->offset = 0;
    if (++at->row < at->piece->rows)
        return;
    at->row = 0;
    ++at->piece;
}

/* Copies a message from where it lies; whether that went well, and the run goes on there. */
static bool copy_lying(xla_link *link, struct message *message, const xla_piece *lying) {
    place here = {message->pieces, 0, 0}, there = {lying, 0, 0};
    int64_t left = message->header.byte_count;
    int32_t broken = XLA_LINK_WHOLE;
    while (left > 0) {
        struct copies copies;
        begin_copies(&copies, link->its_token);
        while (left > 0 && copies.count < COPIES_AT_ONCE - 1) {
            int64_t mine = here.piece->row_bytes - here.offset;
            int64_t count = there.piece->row_bytes - there.offset;
            count = count < mine ? count : mine;
            add_copy(&copies, row_at(&here), row_at(&there), (size_t)count);
            go_ahead(&here, count);
            go_ahead(&there, count);
            left -= count;
        }
        /* Last: a run that has ended before its time may have given its memory to others. */
        add_copy(&copies, &broken, link->coming.broken, sizeof broken);
        if (!make_copies(&copies, link->pid, link->token) || broken)
            return false;
    }
    link->bytes_received += message->header.byte_count;
    return true;
}

/* Copies the message whose header has come, and has the other process told so. */
static bool receive_lying(xla_link *link) {
    const header *coming = &link->coming;
    size_t bytes = (size_t)coming->piece_count * sizeof(xla_piece);
    xla_piece *lying = malloc(bytes);
    struct message *answer = calloc(1, sizeof *answer);
    bool is_copied = lying && answer && link->pid;
    if (is_copied) {
        struct copies copies;
        begin_copies(&copies, link->its_token);
        add_copy(&copies, lying, coming->pieces, bytes);
        is_copied = make_copies(&copies, link->pid, link->token) &&
                    copy_lying(link, link->receiving, lying);
    }
    free(lying);
    if (!is_copied) {
        free(answer);
        xla_link_break(link, XLA_LINK_ENDED);
        return false;
    }
    answer->header = (header){.program = link->program, coming->rendezvous, .row_bytes = IS_COPIED};
    append(&link->sending, answer);
    return true;
}

/* What the message is for whose header has come; whether it fits. */
static bool begin_receiving(xla_link *link) {
    if (link->coming.program != link->program) {
        link->other_program = link->coming.program;
        xla_link_break(link, XLA_LINK_DIFFERS);
        return false;
    }
    if (link->coming.row_bytes == IS_COPIED) {
        struct message *copied = take(&link->lying, link->coming.rendezvous);
        if (copied)
            end_message(copied);
        else
            xla_link_break(link, XLA_LINK_DIFFERS);
        return copied;
    }
    link->receiving = take(&link->awaited, link->coming.rendezvous);
    link->is_early = !link->receiving;
    if (link->is_early)
        link->receiving = new_early(&link->coming);
    else if (link->receiving->header.byte_count != link->coming.byte_count)
        link->receiving->header.byte_count = -1;
    if (!link->receiving || link->receiving->header.byte_count < 0)
        xla_link_break(link, XLA_LINK_DIFFERS);
    return !link->broken;
}

static void end_receiving(xla_link *link) {
    struct message *message = link->receiving;
    link->receiving = NULL;
    if (!link->is_early) {
        end_message(message);
        return;
    }
    struct message *awaited = take(&link->awaited, message->header.rendezvous);
    if (!awaited) {
        append(&link->early, message);
        return;
    }
    copy_out(message, awaited);
    end_message(awaited);
    end_message(message);
}

static int64_t receive_all(xla_link *link) {
    while (link->receiving || link->awaited.first || link->lying.first) {
        if (!link->receiving) {
            size_t left = sizeof link->coming - link->coming_bytes;
            int64_t count = read_some(link, (char *)&link->coming + link->coming_bytes, left);
            if (count <= 0)
                return count;
            link->coming_bytes += (size_t)count;
            if (link->coming_bytes < sizeof link->coming)
                continue;
            link->coming_bytes = 0;
            if (!begin_receiving(link))
                return -1;
            if (!link->receiving)
                continue;
        }
        int64_t is_done = link->coming.row_bytes == LIES_THERE ? (receive_lying(link) ? 1 : -1)
                                                               : move(link, link->receiving, false);
        if (is_done <= 0)
            return is_done;
        end_receiving(link);
    }
    return 1;
}

static int64_t send_all(xla_link *link) {
    while (link->sending.first) {
        struct message *message = link->sending.first;
        while (message->header_bytes < sizeof message->header) {
            size_t left = sizeof message->header - message->header_bytes;
            char *at = (char *)&message->header + message->header_bytes;
            int64_t count = write_some(link, at, left);
            if (count <= 0)
                return count;
            message->header_bytes += (size_t)count;
        }
        bool lies_there = message->header.row_bytes == LIES_THERE;
        int64_t is_done = lies_there ? 1 : move(link, message, true);
        if (is_done <= 0)
            return is_done;
        message = take(&link->sending, message->header.rendezvous);
        if (!lies_there) {
            end_message(message);
            continue;
        }
        link->bytes_sent += message->header.byte_count;
        append(&link->lying, message);
    }
    return flush(link);
}

bool xla_link_progress(xla_link *link) {
    return !link->broken && send_all(link) >= 0 && receive_all(link) >= 0 && send_all(link) >= 0;
}

bool xla_link_is_quiet(const xla_link *link) {
    return !link->sending.first && !link->lying.first && link->out_begin == link->out_end;
}

void xla_link_begin(xla_link *link, uint64_t program) { link->program = program; }

void xla_link_abandon(xla_link *link) {
    xla_link_break(link, XLA_LINK_ABANDONED);
    forget_all(&link->sending);
    forget_all(&link->awaited);
    forget_all(&link->early);
    forget_all(&link->lying);
    if (link->receiving)
        free(link->receiving->pieces);
    free(link->receiving);
    link->receiving = NULL;
}

static struct message *new_message(xla_link *link, int64_t rendezvous, xla_piece *pieces,
                                   int64_t count, int64_t *pending) {
    struct message *message = link->broken ? NULL : calloc(1, sizeof *message);
    if (!message) {
        free(pieces);
        return NULL;
    }
    message->header = (header){link->program, rendezvous, 0, link->rank ? pieces->row_bytes : 0, count,
                               pieces, &link->broken};
    int64_t shortest = MOST_ROW_BYTES;
    for (int64_t n = 0; n < count; ++n) {
        message->header.byte_count += pieces[n].rows * pieces[n].row_bytes;
        shortest = pieces[n].row_bytes < shortest ? pieces[n].row_bytes : shortest;
        if (pieces[n].row_bytes != message->header.row_bytes)
            message->header.row_bytes = 0;
    }
    if (message->header.row_bytes < BUFFER_BYTES || message->header.row_bytes > MOST_ROW_BYTES)
        message->header.row_bytes = 0;
    if (link->pid && message->header.byte_count >= LEAST_COPIED && shortest >= LEAST_COPIED_ROW)
        message->header.row_bytes = LIES_THERE;
    message->pieces = pieces;
    message->piece_count = count;
    message->pending = pending;
    ++*pending;
    return message;
}

bool xla_link_send(xla_link *link, int64_t rendezvous, xla_piece *pieces, int64_t count,
                   int64_t *pending) {
    struct message *message = new_message(link, rendezvous, pieces, count, pending);
    if (!message)
        return false;
    append(&link->sending, message);
    return send_all(link) >= 0;
}

bool xla_link_expect(xla_link *link, int64_t rendezvous, xla_piece *pieces, int64_t count,
                     int64_t *pending) {
    struct message *message = new_message(link, rendezvous, pieces, count, pending);
    if (!message)
        return false;
    struct message *early = take(&link->early, rendezvous);
    if (!early) {
        append(&link->awaited, message);
        return true;
    }
    bool fits = early->header.byte_count == message->header.byte_count;
    if (fits)
        copy_out(early, message);
    else
        xla_link_break(link, XLA_LINK_DIFFERS);
    end_message(message);
    end_message(early);
    return fits;
}

void xla_links_sleep(xla_link *const *links, int64_t count, int64_t passed) {
    if (count && links[0]->rank) {
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
        bool sends = link->sending.first || link->out_begin < link->out_end;
        bool receives = link->receiving || link->awaited.first || link->lying.first;
        if (sends || receives)
            watched[used++] = (struct pollfd){
                link->socket, (short)((sends ? POLLOUT : 0) | (receives ? POLLIN : 0)), 0};
    }
    poll(watched, used, SLEEP_MILLISECONDS);
}


static pthread_mutex_t in_use = PTHREAD_MUTEX_INITIALIZER;

void xla_links_take(void) { pthread_mutex_lock(&in_use); }

void xla_links_give_back(void) { pthread_mutex_unlock(&in_use); }

static xla_piece *name_piece(char *name) {
    xla_piece *piece = malloc(sizeof *piece);
    if (piece)
        *piece = (xla_piece){name, 1, XLA_NAME_BYTES, 0};
    return piece;
}

int32_t xla_links_agree(xla_link *const *links, int64_t count, char *own, char *found,
                        int64_t *pending) {
    if (*pending < 0) {
        *pending = 0;
        for (int64_t n = 0; n < count; ++n) {
            xla_piece *sent = name_piece(own), *expected = name_piece(found + n * XLA_NAME_BYTES);
            xla_link_begin(links[n], 0);
            if (!sent || !expected || !xla_link_send(links[n], -1, sent, 1, pending) ||
                !xla_link_expect(links[n], -1, expected, 1, pending))
                return 0;
        }
    }
    for (int64_t n = 0; n < count; ++n)
        if (!xla_link_progress(links[n]))
            return 0;
    if (*pending)
        xla_links_sleep(links, count, YIELD_NANOSECONDS);
    return 1;
}
