/* takt view: hands a trace to a browser, once. */
#include "cli/cli.h"

int cli_view(int argc, char **argv)
{
    (void)argc;
    return cli_error("%s is not here yet", argv[0]);
}
