#include "profiler/print.h"

#include "base/file.h"

#include <stdio.h>

static takt_status write_stdout(void *user, const void *data, size_t size)
{
    (void)user;
    bool is_written = fwrite(data, 1, size, stdout) == size && fflush(stdout) == 0;
    return is_written ? TAKT_OK : TAKT_IO_ERROR;
}

takt_sink tkt_print_sink(void)
{
    return (takt_sink){write_stdout, NULL};
}

void tkt_print_text(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

bool tkt_print_in_color(void)
{
    return tkt_terminal_width(1) > 0 && !tkt_environment("NO_COLOR");
}
