/* Runs the device for JAX by itself, with a Python that only counts: `driver buffers 1`. */
#include "pjrt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 2000, ELEMENTS = 16 };

#define REQUIRE(condition)                                          \
    do                                                              \
        if (!(condition)) {                                         \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition);     \
            exit(1);                                                \
        }                                                           \
    while (0)

static const int64_t sizes[] = {ELEMENTS};
static const xla_shape shape = {
    .dimensions = sizes, .rank = 1, .byte_size = 4 * ELEMENTS, .element_type = 11, .item_size = 4};
static xla_device device;
static xla_memory memory = {.device = &device};

/* The table as a client has it. */
static struct table {
    size_t struct_size;
    void *extension_start;
    struct {
        size_t struct_size;
        void *extension_start;
        int32_t major_version, minor_version;
    } version;
    void *functions[FIRST_OF_LAYOUTS];
} *table;

#define CALL(name, ...)                                                                          \
    (((xla_error * (*)(PJRT_##name##_Args *)) table->functions[NUMBER_##name])(                   \
        &(PJRT_##name##_Args){.struct_size = offsetof(PJRT_##name##_Args, end), __VA_ARGS__}))

static _Atomic int asked, given_back, is_running = 1;

static int is_initialized(void) { return is_running; }

static intptr_t ask(void *args) {
    (void)args;
    ++asked;
    return 0;
}

/* Puts any array. */
static intptr_t put(void *args) {
    PJRT_Client_BufferFromHostBuffer_Args *put = args;
    ++asked;
    put->buffer = xla_buffer_new(&shape, NULL, &device, &memory);
    memcpy(put->buffer->data, put->data, shape.byte_size);
    return 0;
}

static void give_back(void *data, void *argument) {
    (void)data, (void)argument;
    ++given_back;
}

static void start(void) {
    static xla_python_function *functions[FUNCTION_COUNT];
    static xla_event interruption;
    static xla_pjrt_python python = {is_initialized, functions, give_back, &interruption};
    for (int n = 0; n < FUNCTION_COUNT; ++n)
        functions[n] = ask;
    functions[NUMBER_Client_BufferFromHostBuffer] = put;
    table = xla_pjrt_start(&python, NULL);
}

static void on_threads(void *(*work)(void *), void *argument) {
    pthread_t threads[THREADS];
    for (int n = 0; n < THREADS; ++n)
        REQUIRE(!pthread_create(&threads[n], NULL, work, argument));
    for (int n = 0; n < THREADS; ++n)
        pthread_join(threads[n], NULL);
}

/* The data of a buffer are there while somebody holds them, and go once. */

static void *use(void *argument) {
    xla_buffer *buffer = argument;
    static _Atomic int turn;
    if (++turn % THREADS == 0)
        CALL(Buffer_Destroy, .buffer = buffer);
    else if (turn % 2)
        CALL(Buffer_DecreaseExternalReferenceCount, .buffer = buffer);
    else
        xla_buffer_drop(buffer);
    return NULL;
}

static void buffers(void) {
    static char lent[4 * ELEMENTS];
    for (int n = 0; n < ROUNDS / 10; ++n) {
        xla_buffer *buffer = xla_buffer_new(&shape, n % 2 ? lent : NULL, &device, &memory);
        if (n % 2)
            buffer->release = xla_give_back;
        for (int k = 0; k < THREADS - 1; ++k)
            CALL(Buffer_IncreaseExternalReferenceCount, .buffer = buffer);
        on_threads(use, buffer);
        REQUIRE(given_back == (n + 1) / 2);
    }
    /* Held once more after it was deleted. */
    xla_buffer *buffer = xla_buffer_new(&shape, lent, &device, &memory);
    buffer->release = xla_give_back;
    given_back = 0;
    xla_buffer_delete(buffer);
    xla_buffer_hold(buffer);
    xla_buffer_drop(buffer);
    REQUIRE(given_back == 1 && !buffer->data);
    xla_buffer_destroy(buffer);
    REQUIRE(given_back == 1);
}

/* A program that adds one to its argument: all callers get the right sums, or ask Python. */

static void add_one(void *arguments) {
    float **arrays = arguments;
    for (int n = 0; n < ELEMENTS; ++n)
        arrays[1][n] = arrays[0][n] + 1;
}

static xla_buffer *put_array(const float *data) {
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = offsetof(PJRT_Client_BufferFromHostBuffer_Args, end),
        .data = data, .type = 11, .dims = sizes, .num_dims = 1, .memory = &memory};
    xla_error *(*function)(void *) = table->functions[NUMBER_Client_BufferFromHostBuffer];
    REQUIRE(!function(&args));
    return args.buffer;
}

static void *call(void *argument) {
    xla_loaded *program = argument;
    float data[ELEMENTS];
    xla_buffer *array = NULL;
    for (int n = 0; n < ROUNDS; ++n) {
        if (!array) {
            for (int k = 0; k < ELEMENTS; ++k)
                data[k] = (float)(n + k);
            array = put_array(data);
        }
        float expected = ((float *)array->data)[3] + 1;
        xla_buffer *result = NULL;
        xla_buffer **results = &result, *const *arguments = &array;
        PJRT_ExecuteOptions options = {.struct_size = sizeof options};
        xla_event *event = NULL;
        REQUIRE(!CALL(LoadedExecutable_Execute, .executable = program, .options = &options,
                      .argument_lists = &arguments, .num_devices = 1, .num_args = 1,
                      .output_lists = &results, .device_complete_events = &event));
        if (!result) /* Another thread runs it. */
            continue;
        REQUIRE(event == &xla_happened && ((float *)result->data)[3] == expected);
        REQUIRE(!program->donors == !(array->state & XLA_DELETED));
        CALL(Buffer_Destroy, .buffer = array);
        array = n % 16 ? result : NULL;
        if (!array)
            CALL(Buffer_Destroy, .buffer = result);
    }
    if (array)
        CALL(Buffer_Destroy, .buffer = array);
    return NULL;
}

static void calls(void) {
    static const xla_shape *shapes[] = {&shape};
    static xla_memory *memories[] = {&memory};
    static const int64_t donors[] = {0};
    for (int donates = 0; donates < 2; ++donates) {
        void *pointers[2];
        xla_loaded program = {
            .runs_without_python = 1, .entry = add_one, .pointers = pointers,
            .parameter_count = 1, .parameter_shapes = shapes,
            .result_count = 1, .result_shapes = shapes, .result_memories = memories,
            .donors = donates ? donors : NULL, .device = &device, .device_count = 1};
        program.parts = &program;
        on_threads(call, &program);
    }
}

/* When Python ends, the calls of others end first, and no more begin. */

static void *ask_often(void *argument) {
    (void)argument;
    for (int n = 0; n < ROUNDS; ++n)
        CALL(Plugin_Initialize, .extension_start = NULL);
    return NULL;
}

static void ends(void) {
    pthread_t other;
    REQUIRE(!pthread_create(&other, NULL, ask_often, NULL));
    while (!asked)
        ;
    xla_pjrt_close(INT64_C(60) * 1000 * 1000 * 1000);
    int before = asked;
    on_threads(ask_often, NULL);
    REQUIRE(asked == before);
    pthread_join(other, NULL);
    /* The thread that ends Python may call it still. */
    CALL(Plugin_Initialize, .extension_start = NULL);
    REQUIRE(asked == before + 1);
    is_running = 0;
    REQUIRE(CALL(Client_Compile, .client = NULL)->code == PJRT_CANCELLED);
    REQUIRE(!CALL(Plugin_Initialize, .extension_start = NULL));
    REQUIRE(asked == before + 1);
}

int main(int count, char **words) {
    REQUIRE(count > 1);
    start();
    if (!strcmp(words[1], "buffers"))
        buffers();
    else if (!strcmp(words[1], "calls"))
        calls();
    else
        ends();
    return 0;
}
