/* takt check: fails where a trace is slower than another. */
#include "cli/cli.h"

int cli_check(int argc, char **argv)
{
    (void)argc;
    return cli_error("%s is not here yet", argv[0]);
}
