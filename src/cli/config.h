/* What the parts of `takt config` share. */
#ifndef TAKT_CLI_CONFIG_H
#define TAKT_CLI_CONFIG_H

#include "cli/cli.h"

#include <takt/config.h>

/* Prints one object: what the configuration means, or where it is NULL, the error. */
void config_put_json(const char *path, const takt_config *config, const takt_error *error);

#endif
