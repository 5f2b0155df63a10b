/*
The process around a program that MLIR's passes have compiled: it reads a numpy file for each
parameter, calls the program with MLIR's descriptors of memrefs, and writes a file for each result.

    program [-o FOLDER] [-n CALLS] PARAMETER...

`driver_table.py` writes what the program takes and returns, `arrays` and its neighbours, before it.
*/

enum { LINE = 64, LONGEST_HEADER = 1 << 16, LONGEST_PATH = 4096 };

/* allocated, aligned, offset, sizes, strides: numbers of 8 bytes, as in MLIR. */
union word {
    char *pointer;
    int64_t number;
};

/* Calls `@xla_program` with the descriptors that a table has the addresses of. */
void xla_call(union word **descriptors);

static const char *program_name;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: error: ", program_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

static char *allocate(int64_t size) {
    char *memory = aligned_alloc(LINE, (size + LINE) / LINE * LINE);
    if (!memory) fail("out of memory: %lld bytes", (long long)size);
    return memory;
}

static int64_t count_of(const struct array *array) {
    int64_t count = 1;
    for (int64_t d = 0; d < array->rank; d++) count *= array->sizes[d];
    return count;
}

/* Copies elements between a dense array, row-major or column-major, and the program's memory. */
static void copy(const struct array *array, char *memory, char *dense, int is_column_major, int is_read) {
    int64_t count = count_of(array);
    for (int64_t number = 0; number < count; number++) {
        int64_t rest = number, place = 0;
        for (int64_t i = 0; i < array->rank; i++) {
            int64_t d = is_column_major ? i : array->rank - 1 - i;
            place += rest % array->sizes[d] * array->strides[d];
            rest /= array->sizes[d];
        }
        char *here = memory + place * array->bytes, *there = dense + number * array->bytes;
        if (is_read) memcpy(here, there, array->bytes);
        else memcpy(there, here, array->bytes);
    }
}

/* The value of a key of the dictionary that a numpy file begins with. */
static const char *entry(const char *header, const char *key, const char *path) {
    const char *found = strstr(header, key);
    if (!found) fail("%s: no numpy file: its header has no %s", path, key);
    for (found += strlen(key); *found == ' ' || *found == ':'; found++) {}
    return found;
}

/* The shape as numpy spells it: (), (3,), (2, 3). */
static int has_shape(const struct array *array, const char *text) {
    if (*text++ != '(') return 0;
    for (int64_t d = 0; d < array->rank; d++) {
        char *end;
        if (strtoll(text, &end, 10) != array->sizes[d] || end == text) return 0;
        for (text = end; *text == ',' || *text == ' '; text++) {}
    }
    return *text == ')';
}

static void read_file(const struct array *array, const char *path, char *memory) {
    unsigned char start[12];
    FILE *file = fopen(path, "rb");
    if (!file) fail("%s: %s", path, strerror(errno));
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6)) fail("%s: no numpy file", path);
    uint32_t length = start[8] | start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2) fail("%s: the file ends in its header", path);
        length |= (uint32_t)start[10] << 16 | (uint32_t)start[11] << 24;
    }
    if (length > LONGEST_HEADER) fail("%s: its header has %u bytes", path, length);
    char *header = calloc(1, length + 1);
    if (!header || fread(header, 1, length, file) != length) fail("%s: the file ends in its header", path);
    const char *type = entry(header, "'descr'", path);
    size_t spelled = strlen(array->descr);
    /* numpy has no bf16 and f8: it stores raw bytes of their width. */
    if (strncmp(type + 1, array->descr, spelled) || type[1 + spelled] != *type)
        fail("%s: expected elements %s for %s, found %.12s", path, array->descr, array->name, type);
    if (!has_shape(array, entry(header, "'shape'", path)))
        fail("%s: expected %s for %s, found shape %.60s", path, array->type, array->name,
             entry(header, "'shape'", path));
    int64_t size = count_of(array) * array->bytes;
    char *dense = allocate(size);
    if (fread(dense, 1, size, file) != (size_t)size) fail("%s: the file ends before its array", path);
    copy(array, memory, dense, *entry(header, "'fortran_order'", path) == 'T', 1);
    free(dense);
    free(header);
    fclose(file);
}

static void write_file(const struct array *array, const char *folder, int64_t number, char *memory) {
    char path[LONGEST_PATH], shape[LONGEST_HEADER] = "", header[LONGEST_HEADER + 128];
    if (snprintf(path, sizeof path, "%s/main.%lld.npy", folder, (long long)number) >= LONGEST_PATH)
        fail("%s: the path is too long", folder);
    size_t used = 0;
    for (int64_t d = 0; d < array->rank && used < sizeof shape - 32; d++)
        used += sprintf(shape + used, "%lld, ", (long long)array->sizes[d]);
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                          array->descr, shape);
    /* The array begins at a multiple of 64. */
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    FILE *file = fopen(path, "wb");
    if (!file) fail("%s: %s", path, strerror(errno));
    int64_t size = count_of(array) * array->bytes;
    char *dense = allocate(size);
    copy(array, memory, dense, 0, 0);
    fprintf(file, "%c%s%c%c%c%c%s%*s", 0x93, "NUMPY", 1, 0, padded & 255, padded >> 8, header, padded - length,
            "\n");
    if (fwrite(dense, 1, size, file) != (size_t)size || fclose(file)) fail("%s: %s", path, strerror(errno));
    free(dense);
    printf("%s: %s\n", path, array->type);
}

/* What MLIR calls to copy memrefs that are not dense; a memref of any rank: its rank and descriptor. */
struct any_memref {
    int64_t rank;
    union word *descriptor;
};

void memrefCopy(int64_t bytes, struct any_memref *from, struct any_memref *to) {
    int64_t rank = from->rank, count = 1;
    union word *source = from->descriptor, *target = to->descriptor;
    for (int64_t d = 0; d < rank; d++) count *= source[3 + d].number;
    for (int64_t number = 0; number < count; number++) {
        int64_t rest = number, read = source[2].number, written = target[2].number;
        for (int64_t d = rank - 1; d >= 0; d--) {
            int64_t index = rest % source[3 + d].number;
            rest /= source[3 + d].number;
            read += index * source[3 + rank + d].number;
            written += index * target[3 + rank + d].number;
        }
        memcpy(target[1].pointer + written * bytes, source[1].pointer + read * bytes, bytes);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int count, char **words) {
    program_name = words[0];
    const char *folder = ".";
    long calls = 1;
    /* Files move to the front, `words[1]` on: some C libraries read no options after the first. */
    int files = 0;
    while (optind < count) {
        int option = getopt(count, words, "o:n:");
        if (option == -1) {
            if (optind < count) words[++files] = words[optind++];
        } else if (option == 'o') folder = optarg;
        else if (option != 'n' || (calls = atol(optarg)) < 1)
            fail("usage: [-o FOLDER] [-n CALLS] FILE.npy...; signature: %s", signature);
    }
    if (files != parameter_count)
        fail("%d files for %d parameters; signature: %s", files, parameter_count, signature);
    union word **descriptors = (union word **)allocate((array_count + 1) * sizeof *descriptors);
    for (int number = 0; number < array_count; number++) {
        const struct array *array = &arrays[number];
        union word *words_of = (union word *)allocate((3 + 2 * array->rank) * sizeof *words_of);
        words_of[0].pointer = words_of[1].pointer = allocate(array->memory);
        words_of[2].number = 0;
        for (int64_t d = 0; d < array->rank; d++) {
            words_of[3 + d].number = array->sizes[d];
            words_of[3 + array->rank + d].number = array->strides[d];
        }
        descriptors[number] = words_of;
        if (number < parameter_count) read_file(array, words[1 + number], words_of[1].pointer);
    }
    double shortest = INFINITY;
    for (long call = 0; call < calls; call++) {
        for (int number = 0; number < array_count; number++)
            if (arrays[number].begins_as >= 0)
                memcpy(descriptors[number][1].pointer, descriptors[arrays[number].begins_as][1].pointer,
                       arrays[number].memory);
        double start = seconds();
        xla_call(descriptors);
        double taken = seconds() - start;
        if (taken < shortest) shortest = taken;
    }
    if (calls > 1) printf("%ld calls, the shortest %.3f us\n", calls, shortest * 1e6);
    for (int number = 0; number < result_count; number++)
        write_file(&arrays[parameter_count + number], folder, number,
                   descriptors[parameter_count + number][1].pointer);
    return 0;
}
