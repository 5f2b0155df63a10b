/*
 * The device for JAX: what PJRT's C API defines, and what its handles point to. Python reads the
 * structs and the constants here, and the table of functions, with `declarations.py`.
 */
#ifndef XLA_PJRT_H
#define XLA_PJRT_H

#include "runtime.h"

#include <stdbool.h>
#include <stddef.h>

/* What PJRT defines. */

enum {
    /* From minor version 105 on, clients read tables of C++ functions in our handles; 29 is the least
     * that jaxlib 0.10 takes. */
    PJRT_MAJOR_VERSION = 0,
    PJRT_MINOR_VERSION = 104,
    PJRT_LAYOUTS_EXTENSION = 4,
    PJRT_SHARDINGS_EXTENSION = 19,
    /* An error, by its code. */
    PJRT_CANCELLED = 1,
    /* The memory of an array of the host stays as it is while the array on the device lives. */
    PJRT_IMMUTABLE_ZERO_COPY = 2,
};

/* How an array lies in memory, in the tiled form. */
typedef struct {
    size_t struct_size;
    void *extension_start;
    size_t tiled_struct_size;
    void *tiled_extension_start;
    const int64_t *minor_to_major;
    size_t minor_to_major_size;
    const int64_t *tile_dims;
    const size_t *tile_dim_sizes;
    size_t num_tiles;
    int32_t type;
} PJRT_Buffer_MemoryLayout;

/* The other form of the same struct: the distance of elements in each dimension, in bytes. */
typedef struct {
    size_t struct_size;
    void *extension_start;
    size_t strides_struct_size;
    void *strides_extension_start;
    const int64_t *byte_strides;
    size_t num_byte_strides;
} PJRT_Buffer_MemoryLayout_Strides;

/* A program and the name of its format. */
typedef struct {
    size_t struct_size;
    void *extension_start;
    const char *code;
    size_t code_size;
    const char *format;
    size_t format_size;
} PJRT_Program;

/* An option or attribute: `value` is a pointer to characters or numbers, or the value itself. */
typedef struct {
    size_t struct_size;
    void *extension_start;
    const char *name;
    size_t name_size;
    int32_t type;
    int64_t value;
    size_t size;
} PJRT_NamedValue;

/* What a client calls the store for that processes have in common: to read and to write. The place at
 * `callback_error` has a function that makes errors. */
typedef struct {
    size_t struct_size;
    void *extension_start;
    const char *key;
    size_t key_size;
    int32_t timeout_in_ms;
    void *callback_error;
    void *user_arg;
    const char *value;
    size_t value_size;
    void *value_deleter;
} PJRT_KeyValueGet;

typedef struct {
    size_t struct_size;
    void *extension_start;
    const char *key;
    size_t key_size;
    const char *value;
    size_t value_size;
    void *callback_error;
    void *user_arg;
} PJRT_KeyValuePut;

/* How a program is executed; what follows these fields does not concern us. */
typedef struct {
    size_t struct_size;
    void *extension_start;
    void *send_callbacks;
    void *recv_callbacks;
    size_t num_send_ops;
    size_t num_recv_ops;
    int32_t launch_id;
    const int64_t *non_donatable_input_indices;
    size_t num_non_donatable_input_indices;
} PJRT_ExecuteOptions;

/* What handles point to. */

enum {
    /* What a function of Python adds to the error that it returns, if any, where it has met
     * KeyboardInterrupt: handles are even. */
    XLA_INTERRUPTED = 1,
    /* In `donors`: a result in memory of its own. */
    XLA_NOT_DONATED = -1,
    /* Bytes: large arrays of the host that lie so are used where they are, as by XLA's client; only
     * of those there are views. Others are copied there, so programs may write into them afterwards. */
    XLA_HOST_ALIGNMENT = 64,
    /* Up to which an array of the host is copied, whether it is lent or not: that takes less time. */
    XLA_COPIED_BYTES = 32768,
    /* The state of a buffer: what its client has done, and in steps of XLA_HELD who holds its data. */
    XLA_DELETED = 1,
    XLA_DESTROYED = 2,
    XLA_HELD = 4,
};

/* What has gone wrong; it is read without Python, which may have ended. */
typedef struct {
    const char *message;
    size_t size;
    int32_t code;
} xla_error;

/* Something that is waited for; C knows the one that has happened, and no other. */
typedef struct {
    int64_t has_happened;
} xla_event;

/* How arrays lie, in the words of XLA's text; it lives as long as the process. */
typedef struct {
    const char *text;
    size_t text_size;
} xla_layout;

/* What all buffers of a type have in common; it lives as long as the process. */
typedef struct {
    const int64_t *dimensions;
    size_t rank;
    size_t byte_size;
    PJRT_Buffer_MemoryLayout layout;
    int32_t element_type;
    size_t item_size;
    const xla_layout *named_layout;
} xla_shape;

/* A device, which is its own description. */
typedef struct {
    struct xla_memory *default_memory;
    int32_t id;
} xla_device;

/* A memory of a device. */
typedef struct xla_memory {
    const char *kind;
    size_t kind_size;
    xla_device *device;
} xla_memory;

/* A program that need not be loaded. */
typedef struct {
    size_t replicas;
    size_t partitions;
    size_t results;
} xla_executable;

typedef void xla_release(void *data, void *argument);

/* An array on a device. Its data go by `release` when it is deleted and nobody holds them. */
typedef struct {
    const xla_shape *shape;
    void *data;
    xla_device *device;
    xla_memory *memory;
    xla_event *ready;
    xla_release *_Atomic release;
    void *release_argument;
    _Atomic int64_t state;
} xla_buffer;

/* A program ready to run, with what is needed to run it without Python. One for several devices has
 * `parts`, one for each, and the `joint` run of all; one for one is its own part. */
typedef struct xla_loaded {
    /* Whether it may run without Python. */
    _Atomic int64_t runs_without_python;
    _Atomic int64_t is_busy;
    xla_entry *entry;
    /* Where the entry finds its arguments, and behind them its results. */
    void **pointers;
    xla_state *state;
    /* Not 0 after a function of Python that the program called has failed. */
    int64_t *error;
    size_t parameter_count;
    const xla_shape *const *parameter_shapes;
    size_t result_count;
    const xla_shape *const *result_shapes;
    xla_memory *const *result_memories;
    /* Of each result the number of the argument whose memory it takes; null if none does. */
    const int64_t *donors;
    xla_device *device;
    size_t device_count;
    struct xla_loaded *parts;
    xla_joint_run *joint;
    /* In a call: the arguments that are held, and the results that are made. */
    size_t taken_count;
    size_t made_count;
} xla_loaded;

typedef void xla_on_ready(xla_error *error, void *argument);
typedef void xla_layout_deleter(const xla_layout *layout);

/* The arguments of all functions; whoever calls one with a newer struct has `end`, too. */
#define NATIVE(name, ...)         \
    typedef struct {              \
        size_t struct_size;       \
        void *extension_start;    \
        __VA_ARGS__               \
        char end;                 \
    } PJRT_##name##_Args;
#define PYTHON(name, ...) NATIVE(name, __VA_ARGS__)
#include "pjrt_functions.def"
#undef NATIVE

/* What the functions in C do with arguments that are not too short. */
#define NATIVE(name, ...) xla_error *native_##name(PJRT_##name##_Args *args);
#undef PYTHON
#define PYTHON(name, ...)
#include "pjrt_functions.def"
#undef NATIVE
#undef PYTHON

enum {
#define NATIVE(name, ...) NUMBER_##name,
#define PYTHON(name, ...) NUMBER_##name,
#include "pjrt_functions.def"
#undef NATIVE
#undef PYTHON
    FUNCTION_COUNT,
    FIRST_OF_LAYOUTS = NUMBER_Layouts_MemoryLayout_Destroy,
    FIRST_OF_SHARDINGS = NUMBER_Shardings_PJRT_Executable_ParameterShardings,
};

/* Returns the address of an error, or null, see XLA_INTERRUPTED. */
typedef intptr_t xla_python_function(void *args);

/* What of Python is called. */
typedef struct {
    int (*is_initialized)(void);
    /* All functions, by their numbers. */
    xla_python_function *const *functions;
    /* Is told that data which the host has lent us are not needed any more. */
    xla_release *give_back;
    /* What those wait for who read results of runs that were interrupted. */
    xla_event *interruption;
} xla_pjrt_python;

/* Makes the table of functions for clients, whose last extension is the one that is given. */
void *xla_pjrt_start(const xla_pjrt_python *python, void *extension);

/* Lets only this thread call Python from now on, as Python is about to end; waits for the calls of
 * others up to so many nanoseconds. */
void xla_pjrt_close(int64_t patience);

/* What those wait for who read results of a run that was interrupted. */
xla_event *xla_interruption(void);

/* Whether Python can be called; xla_leave_python has to follow in any case. */
bool xla_enter_python(void);
void xla_leave_python(void);

/* Has Python compute a function. */
xla_error *xla_call_python(void *args, int number);
#define CALL_PYTHON(name, args) xla_call_python(args, NUMBER_##name)

/* The event that has happened. */
extern xla_event xla_happened;

/* A buffer; with new memory if `data` are null. Null where there is none. */
xla_buffer *xla_buffer_new(const xla_shape *shape, void *data, xla_device *device, xla_memory *memory);

/* Its data stay until it is dropped; its data go when nobody holds them; so does all of it. */
void xla_buffer_hold(xla_buffer *buffer);
void xla_buffer_drop(xla_buffer *buffer);
void xla_buffer_delete(xla_buffer *buffer);
void xla_buffer_destroy(xla_buffer *buffer);

/* Whether nobody but one holder refers to data that we have allocated. */
bool xla_buffer_can_be_taken(xla_buffer *buffer);

/* Leaves the data of a buffer to another. */
void xla_buffer_leave(xla_buffer *buffer);

/* The `release` of data that the host has lent us. */
void xla_give_back(void *data, void *argument);

#endif
