/* Files that are part of the command. */
#ifndef TAKT_CLI_EMBED_H
#define TAKT_CLI_EMBED_H

/* What the file at `path` held when this was compiled: the bytes from NAME to NAME_end, and then a
 * zero, so that it can serve as a text. */
#define CLI_EMBED(name, path)                                                                      \
    __asm__(".section .rodata\n" #name ": .incbin \"" path "\"\n" #name "_end: .byte 0\n"           \
            ".previous\n");                                                                        \
    extern const char name[], name##_end[]

#endif
