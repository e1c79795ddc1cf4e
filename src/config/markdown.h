/* docs/config.md, for the command and tests: libtakt.so is without it. */
#ifndef TKT_CONFIG_MARKDOWN_H
#define TKT_CONFIG_MARKDOWN_H

#include <takt/base.h>

/* Writes the page; TAKT_BAD_ARGUMENT, TAKT_NO_MEMORY, or what the sink returned. */
takt_status tkt_config_markdown(const takt_sink *sink);

#endif
