/*
The process that a compiled program is for an emulator of Linux on RISC-V: it maps the file that
its only argument names, calls the program with the arrays in it, and ends.

There is no C library: the compiler's own runtime has what generated code calls, and zig would build
a C library for half a minute.
*/

typedef unsigned long word;

/* What the file begins with; the arrays follow. `emulator.py` writes it. */
struct memory {
    word memory_limit; /* bytes that the program may allocate, its arena included */
    word arena_size;
    word array_count;
    word arrays[]; /* offsets in the file; in memory, addresses; one more for the arena */
};

/* The exit codes; `emulator.py` has a message for each. */
enum { NO_FILE = 120, NO_MEMORY = 121 };

enum { OPENAT = 56, LSEEK = 62, EXIT_GROUP = 94, GETPID = 172, MUNMAP = 215, MMAP = 222 };
enum { AT_FDCWD = -100, O_RDWR = 2, SEEK_END = 2 };
enum { PROT_READ_WRITE = 3, MAP_SHARED = 1, MAP_PRIVATE_ANONYMOUS = 0x22 };

void xla_program(void **arrays) __asm__("main");

static long system_call(long number, long a, long b, long c, long d, long e, long f) {
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "memory");
    return a0;
}

static void end(int code) {
    for (;;) system_call(EXIT_GROUP, code, 0, 0, 0, 0, 0);
}

static void *map(word size, int flags, int file) {
    long address = system_call(MMAP, 0, size, PROT_READ_WRITE, flags, file, 0);
    if (address < 0) end(NO_MEMORY);
    return (void *)address;
}

static word memory_left;

/* A line before each block holds its size. */
enum { LINE = 64 };

void *aligned_alloc(word alignment, word size) {
    (void)alignment; /* at most a line: `emit_alloc` */
    if (size > memory_left || memory_left - size < LINE) end(NO_MEMORY);
    char *block = map(size + LINE, MAP_PRIVATE_ANONYMOUS, -1);
    *(word *)block = size + LINE;
    memory_left -= size + LINE;
    return block + LINE;
}

void free(void *pointer) {
    char *block = (char *)pointer - LINE;
    if (!pointer) return;
    memory_left += *(word *)block;
    system_call(MUNMAP, (long)block, *(word *)block, 0, 0, 0, 0);
}

/*
What LLVM calls where a bf16 lives in a register of f32, as across a branch; libgcc has it, zig's
runtime not. Rounds to even and keeps NaN; the lower half of the result holds the bits.
*/
float __truncsfbf2(float value) {
    union {
        float value;
        unsigned bits;
    } both = {value};
    unsigned is_nan = (both.bits & 0x7fffffff) > 0x7f800000;
    unsigned rounded = both.bits + 0x7fff + (both.bits >> 16 & 1);
    both.bits = 0xffff0000 | (is_nan ? both.bits >> 16 | 0x40 : rounded >> 16);
    return both.value;
}

/* `stack`: the number of arguments, and their addresses. */
__attribute__((used)) static void start(word *stack) {
    long file = stack[0] == 2 ? system_call(OPENAT, AT_FDCWD, stack[2], O_RDWR, 0, 0, 0) : -1;
    long size = file < 0 ? -1 : system_call(LSEEK, file, 0, SEEK_END, 0, 0, 0);
    if (size < (long)sizeof(struct memory)) end(NO_FILE);
    struct memory *memory = map(size, MAP_SHARED, file);
    memory_left = memory->memory_limit;
    for (word number = 0; number < memory->array_count; number++)
        memory->arrays[number] += (word)memory;
    memory->arrays[memory->array_count] = (word)aligned_alloc(LINE, memory->arena_size);
    system_call(GETPID, 0, 0, 0, 0, 0, 0); /* `emulator_counter.c` counts from here */
    xla_program((void **)memory->arrays);
    end(0);
}

__attribute__((naked, noreturn)) void _start(void) {
    __asm__(".option push\n"
            ".option norelax\n"
            "la gp, __global_pointer$\n"
            ".option pop\n"
            "mv a0, sp\n"
            "andi sp, sp, -16\n"
            "call start");
}
