/* takt diff: compares two traces scope by scope. */
#include "cli/cli.h"

int cli_diff(int argc, char **argv)
{
    (void)argc;
    return cli_error("%s is not here yet", argv[0]);
}
