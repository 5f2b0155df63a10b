/*
 * The call of a program on all of its devices, without Python: the plainest of calls. Whatever is
 * unusual undoes what it has done, and has Python execute the program, which finds words for it.
 */
#include "pjrt.h"

#include <stdatomic.h>
#include <string.h>

/* Whether Python makes all calls, as it does while a trace is taken. */
_Atomic int64_t xla_is_traced;

static bool can_run(const PJRT_LoadedExecutable_Execute_Args *args) {
    xla_loaded *program = args->executable;
    return atomic_load_explicit(&program->runs_without_python, memory_order_relaxed) &&
           !atomic_load_explicit(&xla_is_traced, memory_order_relaxed) &&
           args->num_devices == program->device_count && args->num_args == program->parameter_count &&
           (!args->execute_device || args->execute_device == program->device) &&
           (!program->donors || !args->options->num_non_donatable_input_indices);
}

/* Notes and holds the arguments of a device; whether all fit. */
static bool take_arguments(xla_loaded *part, xla_buffer *const *list) {
    size_t n = 0;
    for (; n < part->parameter_count; ++n) {
        xla_buffer *buffer = list[n];
        xla_buffer_hold(buffer);
        bool is_deleted = atomic_load_explicit(&buffer->state, memory_order_relaxed) & XLA_DELETED;
        if (buffer->shape != part->parameter_shapes[n] || is_deleted ||
            buffer->ready != &xla_happened) {
            xla_buffer_drop(buffer);
            break;
        }
        part->pointers[n] = buffer->data;
    }
    part->taken_count = n;
    return n == part->parameter_count;
}

static void drop_arguments(xla_loaded *part, xla_buffer *const *list) {
    for (size_t n = 0; n < part->taken_count; ++n)
        xla_buffer_drop(list[n]);
}

/* The argument that is given away for a result; null if none is. */
static xla_buffer *donor_of(const xla_loaded *part, xla_buffer *const *list, size_t result) {
    if (!part->donors || part->donors[result] == XLA_NOT_DONATED)
        return NULL;
    return list[part->donors[result]];
}

/* Whether a buffer is more than one of the arguments: then it cannot be given away. */
static bool is_given_twice(const xla_loaded *part, xla_buffer *const *list, xla_buffer *given) {
    int found = 0;
    for (size_t n = 0; n < part->parameter_count; ++n)
        found += list[n] == given;
    return found > 1;
}

/* The buffer of a result: in the memory of what is given away for it, or with a copy of that; null
 * where there is no memory, and where what is given away is an argument twice. */
static xla_buffer *new_result(const xla_loaded *part, xla_buffer *const *list, size_t n) {
    const xla_shape *shape = part->result_shapes[n];
    xla_memory *memory = part->result_memories[n];
    xla_buffer *given = donor_of(part, list, n);
    if (!given)
        return xla_buffer_new(shape, NULL, part->device, memory);
    if (xla_buffer_can_be_taken(given))
        return xla_buffer_new(shape, given->data, part->device, memory);
    if (is_given_twice(part, list, given))
        return NULL;
    xla_buffer *result = xla_buffer_new(shape, NULL, part->device, memory);
    if (result)
        memcpy(result->data, given->data, shape->byte_size);
    return result;
}

/* Makes and notes the results of a device; whether all could be made. */
static bool make_results(xla_loaded *part, xla_buffer *const *list, xla_buffer **results) {
    size_t n = 0;
    for (; n < part->result_count; ++n) {
        results[n] = new_result(part, list, n);
        if (!results[n])
            break;
        part->pointers[part->parameter_count + n] = results[n]->data;
    }
    part->made_count = n;
    return n == part->result_count;
}

/* Results are not needed: what they have taken goes back. */
static void discard_results(xla_loaded *part, xla_buffer *const *list, xla_buffer **results) {
    for (size_t n = 0; n < part->made_count; ++n) {
        xla_buffer *given = donor_of(part, list, n);
        if (given && given->data == results[n]->data)
            xla_buffer_leave(results[n]);
        xla_buffer_destroy(results[n]);
    }
}

/* What was given away is gone when the program has run. */
static void delete_donors(xla_loaded *part, xla_buffer *const *list, xla_buffer **results) {
    for (size_t n = 0; part->donors && n < part->result_count; ++n) {
        xla_buffer *given = donor_of(part, list, n);
        if (!given)
            continue;
        if (given->data == results[n]->data)
            xla_buffer_leave(given);
        xla_buffer_delete(given);
    }
}

/* Results that were not computed are an error for whoever reads them. */
static void interrupt_results(xla_loaded *part, xla_buffer **results) {
    for (size_t n = 0; n < part->made_count; ++n)
        results[n]->ready = xla_interruption();
}

/* Whether a word of a run says that it failed; clears it. */
static bool take_failure(int64_t *word) {
    bool has_failed = *word != 0;
    *word = 0;
    return has_failed;
}

static xla_run_end run_alone(xla_loaded *program) {
    xla_state *state = program->state;
    if (xla_run(program->entry, &program->state, state != NULL, program->pointers))
        return XLA_RUN_INTERRUPTED;
    return state && atomic_exchange(&state->failure, 0) ? XLA_RUN_FAILED : XLA_RUN_DONE;
}

/* Runs a program for one device, which may call functions of Python that fail. */
static xla_run_end run_on_one(xla_loaded *program) {
    if (!program->error)
        return run_alone(program);
    xla_run_end end = XLA_RUN_FAILED;
    if (xla_enter_python()) {
        end = run_alone(program);
        /* Once more: the function may have taken it. */
        xla_release_interrupt(end == XLA_RUN_INTERRUPTED);
        if (take_failure(program->error))
            end = XLA_RUN_FAILED;
    }
    xla_leave_python();
    return end;
}

static xla_run_end run(xla_loaded *program) {
    if (!program->joint)
        return run_on_one(program);
    xla_run_end end = xla_run_jointly(program->joint, 1);
    /* A program that has failed on several devices is left to Python. */
    if (end == XLA_RUN_FAILED)
        atomic_store(&program->runs_without_python, 0);
    return end;
}

xla_error *native_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args) {
    xla_loaded *program = args->executable;
    if (!can_run(args) || atomic_exchange_explicit(&program->is_busy, 1, memory_order_acquire))
        return CALL_PYTHON(LoadedExecutable_Execute, args);
    xla_loaded *parts = program->parts;
    size_t count = program->device_count;
    xla_buffer *const *const *lists = args->argument_lists;
    xla_buffer ***outputs = args->output_lists;
    bool are_taken = true, are_made = true;
    for (size_t n = 0; n < count; ++n)
        are_taken &= take_arguments(&parts[n], lists[n]);
    for (size_t n = 0; are_taken && n < count; ++n)
        are_made &= make_results(&parts[n], lists[n], outputs[n]);
    xla_run_end end = are_taken && are_made ? run(program) : XLA_RUN_FAILED;
    for (size_t n = 0; n < count; ++n) {
        if (end == XLA_RUN_FAILED && are_taken)
            discard_results(&parts[n], lists[n], outputs[n]);
        if (end == XLA_RUN_INTERRUPTED)
            interrupt_results(&parts[n], outputs[n]);
        if (end != XLA_RUN_FAILED)
            delete_donors(&parts[n], lists[n], outputs[n]);
        drop_arguments(&parts[n], lists[n]);
    }
    atomic_store_explicit(&program->is_busy, 0, memory_order_release);
    if (end == XLA_RUN_FAILED)
        return CALL_PYTHON(LoadedExecutable_Execute, args);
    for (size_t n = 0; args->device_complete_events && n < count; ++n)
        args->device_complete_events[n] = &xla_happened;
    return NULL;
}
