/* What the environment says to the command. */
#include "cli/cli.h"

#include <stdlib.h>

const char *cli_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}
