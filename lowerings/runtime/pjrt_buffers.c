/*
 * Buffers, which are arrays on devices, and what only reads a field of a handle.
 *
 * The state of a buffer is one word: whether its client has deleted it, has destroyed its handle, and
 * how many hold its data. Whoever makes it a word that says deleted and held by nobody gives the data
 * up, and does so before he lets go: the record is freed by whoever leaves it destroyed and held by
 * nobody, so it lives until then.
 */
#define _GNU_SOURCE
#include "pjrt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* From this size on glibc takes each array from the system, and does not keep it for the next: it is
 * written for the first time, which costs less for pages of 2 MB than of 4 KB. */
enum { LARGE_PAGE = 1 << 21, LARGE_ARRAY = 1 << 25 };

xla_event xla_happened = {1};

static void free_data(void *data, void *argument) {
    (void)argument;
    free(data);
}

/* At least a byte, as others may ask where it lies. */
static void *new_data(size_t byte_size) {
    size_t alignment = byte_size < LARGE_ARRAY ? XLA_HOST_ALIGNMENT : LARGE_PAGE;
    size_t size = byte_size / alignment * alignment + alignment;
    void *data = aligned_alloc(alignment, size);
    if (data && alignment == LARGE_PAGE)
        madvise(data, size, MADV_HUGEPAGE);
    return data;
}

xla_buffer *xla_buffer_new(const xla_shape *shape, void *data, xla_device *device, xla_memory *memory) {
    xla_buffer *buffer = malloc(sizeof *buffer);
    if (buffer && !data)
        data = new_data(shape->byte_size);
    if (!buffer || !data) {
        free(buffer);
        return NULL;
    }
    *buffer = (xla_buffer){
        .shape = shape,
        .data = data,
        .device = device,
        .memory = memory,
        .ready = &xla_happened,
        .release = free_data,
    };
    return buffer;
}

/* Gives the data up, if they are not given up yet. */
static void release_data(xla_buffer *buffer) {
    xla_release *release = atomic_exchange(&buffer->release, NULL);
    if (!release)
        return;
    void *data = buffer->data;
    buffer->data = NULL;
    release(data, buffer->release_argument);
}

void xla_buffer_delete(xla_buffer *buffer) {
    int64_t before = atomic_fetch_or(&buffer->state, XLA_DELETED);
    if (before < XLA_HELD && !(before & XLA_DELETED))
        release_data(buffer);
}

void xla_buffer_destroy(xla_buffer *buffer) {
    xla_buffer_delete(buffer);
    if (atomic_fetch_or(&buffer->state, XLA_DESTROYED) < XLA_HELD)
        free(buffer);
}

void xla_buffer_hold(xla_buffer *buffer) { atomic_fetch_add(&buffer->state, XLA_HELD); }

void xla_buffer_drop(xla_buffer *buffer) {
    int64_t before = atomic_load(&buffer->state);
    do
        if (before < 2 * XLA_HELD && before & XLA_DELETED)
            release_data(buffer);
    while (!atomic_compare_exchange_weak(&buffer->state, &before, before - XLA_HELD));
    if (before - XLA_HELD == (XLA_DELETED | XLA_DESTROYED))
        free(buffer);
}

bool xla_buffer_can_be_taken(xla_buffer *buffer) {
    return atomic_load(&buffer->state) == XLA_HELD && atomic_load(&buffer->release) == free_data;
}

void xla_buffer_leave(xla_buffer *buffer) {
    buffer->data = NULL;
    atomic_store(&buffer->release, NULL);
}

xla_error *native_Buffer_Delete(PJRT_Buffer_Delete_Args *args) {
    xla_buffer_delete(args->buffer);
    return NULL;
}

xla_error *native_Buffer_Destroy(PJRT_Buffer_Destroy_Args *args) {
    xla_buffer_destroy(args->buffer);
    return NULL;
}

xla_error *native_Buffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args *args) {
    xla_buffer_hold(args->buffer);
    return NULL;
}

xla_error *native_Buffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args *args) {
    xla_buffer_drop(args->buffer);
    return NULL;
}

/* Functions that read something of their argument. */
#define READ(function, ...)                                         \
    xla_error *native_##function(PJRT_##function##_Args *args) {    \
        __VA_ARGS__                                                 \
        return NULL;                                                \
    }

READ(Error_Message, args->message = args->error->message; args->message_size = args->error->size;)
READ(Error_GetCode, args->code = args->error->code;)
READ(Device_DefaultMemory, args->memory = args->device->default_memory;)
READ(Memory_Kind, args->kind = args->memory->kind; args->kind_size = args->memory->kind_size;)
READ(Executable_NumReplicas, args->num_replicas = args->executable->replicas;)
READ(Executable_NumPartitions, args->num_partitions = args->executable->partitions;)
READ(Executable_NumOutputs, args->num_outputs = args->executable->results;)
READ(Buffer_ElementType, args->type = args->buffer->shape->element_type;)
READ(Buffer_Dimensions, const xla_shape *shape = args->buffer->shape; args->dims = shape->dimensions;
     args->num_dims = shape->rank;)
READ(Buffer_UnpaddedDimensions, const xla_shape *shape = args->buffer->shape;
     args->unpadded_dims = shape->dimensions; args->num_dims = shape->rank;)
READ(Buffer_DynamicDimensionIndices, args->num_dynamic_dims = 0;)
READ(Buffer_GetMemoryLayout, args->layout = args->buffer->shape->layout;)
READ(Buffer_OnDeviceSizeInBytes, args->on_device_size_in_bytes = args->buffer->shape->byte_size;)
READ(Buffer_Device, args->device = args->buffer->device;)
READ(Buffer_Memory, args->memory = args->buffer->memory;)
READ(Buffer_IsDeleted, args->is_deleted = atomic_load(&args->buffer->state) & XLA_DELETED;)
READ(Buffer_IsOnCpu, args->is_on_cpu = true;)
READ(Buffer_ReadyEvent, args->event = args->buffer->ready;)
READ(Buffer_UnsafePointer, args->buffer_pointer = args->buffer->data;)
READ(Buffer_OpaqueDeviceMemoryDataPointer, args->device_memory_ptr = args->buffer->data;)
READ(Layouts_PJRT_Buffer_MemoryLayout, args->layout = args->buffer->shape->named_layout;)

/* Layouts stay, with the shapes that have them. */
static void keep_layout(const xla_layout *layout) { (void)layout; }

READ(Layouts_MemoryLayout_Destroy, (void)args;)
READ(Layouts_MemoryLayout_Serialize, args->serialized_bytes = args->layout->text;
     args->serialized_bytes_size = args->layout->text_size; args->serialized_layout = args->layout;
     args->serialized_layout_deleter = keep_layout;)

/* There mostly was no error. */
xla_error *native_Error_Destroy(PJRT_Error_Destroy_Args *args) {
    return args->error ? CALL_PYTHON(Error_Destroy, args) : NULL;
}

/* Functions of an event; Python knows of those that have not happened, or failed. */
#define OF_EVENT(function, ...)                                     \
    xla_error *native_##function(PJRT_##function##_Args *args) {    \
        if (!args->event->has_happened)                             \
            return CALL_PYTHON(function, args);                     \
        __VA_ARGS__                                                 \
        return NULL;                                                \
    }

OF_EVENT(Event_Destroy, )
OF_EVENT(Event_Error, )
OF_EVENT(Event_Await, )
OF_EVENT(Event_IsReady, args->is_ready = true;)
OF_EVENT(Event_OnReady, args->callback(NULL, args->user_arg);)

/* Shapes of row-major arrays that have come from the host, where their hashes say. */
static const xla_shape *_Atomic known_shapes[256];

static const xla_shape *_Atomic *shape_slot(int32_t type, const int64_t *sizes, size_t rank) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (uint64_t)type * factor;
    for (size_t n = 0; n < rank; ++n)
        hash = (hash + (uint64_t)sizes[n]) * factor;
    return &known_shapes[hash >> 56];
}

/* Whether an array of the host has a shape, and lies dense and row-major; `strides` may be null. */
static bool lies_so(const xla_shape *shape, int32_t type, const int64_t *sizes, size_t rank,
                    const int64_t *strides) {
    if (!shape || shape->element_type != type || shape->rank != rank)
        return false;
    int64_t step = (int64_t)shape->item_size;
    for (size_t n = rank; n-- > 0; step *= sizes[n]) {
        if (sizes[n] != shape->dimensions[n])
            return false;
        if (strides && sizes[n] != 1 && strides[n] != step)
            return false;
    }
    return true;
}

/* Puts an array of the host onto a device: one like an array that has been there, which is copied. */
xla_error *native_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args) {
    const int64_t *strides = args->byte_strides;
    if (args->device_layout || (strides && args->num_byte_strides != args->num_dims))
        return CALL_PYTHON(Client_BufferFromHostBuffer, args);
    const xla_shape *_Atomic *slot = shape_slot(args->type, args->dims, args->num_dims);
    const xla_shape *shape = atomic_load(slot);
    if (!lies_so(shape, args->type, args->dims, args->num_dims, strides)) {
        args->buffer = NULL;
        xla_error *error = CALL_PYTHON(Client_BufferFromHostBuffer, args);
        if (args->buffer)
            atomic_store(slot, args->buffer->shape);
        return args->buffer ? NULL : error;
    }
    bool is_lent = args->host_buffer_semantics >= PJRT_IMMUTABLE_ZERO_COPY &&
                   shape->byte_size > XLA_COPIED_BYTES &&
                   (uintptr_t)args->data % XLA_HOST_ALIGNMENT == 0;
    xla_memory *memory = args->memory;
    xla_buffer *buffer = NULL;
    if (!is_lent && memory)
        buffer = xla_buffer_new(shape, NULL, memory->device, memory);
    if (!buffer)
        return CALL_PYTHON(Client_BufferFromHostBuffer, args);
    memcpy(buffer->data, args->data, shape->byte_size);
    args->buffer = buffer;
    args->done_with_host_buffer = &xla_happened;
    return NULL;
}
