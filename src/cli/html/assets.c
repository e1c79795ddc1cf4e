/* The page around the blocks, put together by assemble.sh when this is built. */
#include "cli/embed.h"
#include "cli/html/html.h"

CLI_EMBED(html_head_bytes, TKT_HTML_HEAD);
CLI_EMBED(html_tail_bytes, TKT_HTML_TAIL);

html_asset html_head(void)
{
    return (html_asset){html_head_bytes, (size_t)(html_head_bytes_end - html_head_bytes)};
}

html_asset html_tail(void)
{
    return (html_asset){html_tail_bytes, (size_t)(html_tail_bytes_end - html_tail_bytes)};
}
