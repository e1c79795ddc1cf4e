/* The page around the blocks, put together by assemble.sh when this is built. */
#include "cli/html/html.h"

/* What a file holds, as the bytes from NAME to NAME_end. */
#define EMBED(name, path)                                                                          \
    __asm__(".section .rodata\n" #name ": .incbin \"" path "\"\n" #name "_end:\n.previous\n");     \
    extern const char name[], name##_end[]

EMBED(html_head_bytes, TKT_HTML_HEAD);
EMBED(html_tail_bytes, TKT_HTML_TAIL);

html_asset html_head(void)
{
    return (html_asset){html_head_bytes, (size_t)(html_head_bytes_end - html_head_bytes)};
}

html_asset html_tail(void)
{
    return (html_asset){html_tail_bytes, (size_t)(html_tail_bytes_end - html_tail_bytes)};
}
