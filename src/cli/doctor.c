/* takt doctor: tells what can be recorded on this machine. */
#include "cli/cli.h"

int cli_doctor(int argc, char **argv)
{
    (void)argc;
    return cli_error("%s is not here yet", argv[0]);
}
