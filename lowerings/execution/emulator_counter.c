/*
A plugin for qemu that counts executed instructions, and writes the number to qemu's log when the
process ends. The driver of a program starts the count anew with a call of getpid.

The declarations are those of qemu-plugin.h that all versions have in the same form; no C library is
needed. A block of instructions counts when it is entered.
*/

typedef unsigned long word;
struct block;

int qemu_plugin_version = PLUGIN_VERSION;

void qemu_plugin_outs(const char *text);
word qemu_plugin_tb_n_insns(const struct block *block);
void qemu_plugin_register_vcpu_tb_exec_cb(struct block *block, void (*call)(unsigned, void *),
                                          int flags, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(word id, void (*call)(word, struct block *));
void qemu_plugin_register_vcpu_syscall_cb(word id,
                                          void (*call)(word, unsigned, long, word, word, word,
                                                       word, word, word, word, word));

enum { EXIT_GROUP = 94, GETPID = 172, NO_REGISTERS = 0, DIGITS = 20 };

static word executed;

static void enter(unsigned processor, void *instructions) {
    (void)processor;
    executed += (word)instructions;
}

static void translate(word id, struct block *block) {
    (void)id;
    void *instructions = (void *)qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, enter, NO_REGISTERS, instructions);
}

static void report(void) {
    char text[DIGITS + 1];
    char *digit = text + DIGITS;
    *digit = 0;
    for (word left = executed; left || !*digit; left /= 10) *--digit = '0' + left % 10;
    qemu_plugin_outs(digit);
}

static void system_call(word id, unsigned processor, long number, word a, word b, word c, word d,
                        word e, word f, word g, word h) {
    (void)id, (void)processor, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number == GETPID) executed = 0;
    if (number == EXIT_GROUP) report();
}

int qemu_plugin_install(word id, const void *emulator, int count, char **arguments) {
    (void)emulator, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_vcpu_syscall_cb(id, system_call);
    return 0;
}
