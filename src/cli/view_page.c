/* The page of `takt view` that fetches the trace from its own server and posts it to the viewer,
 * https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui: the viewer answers PING with
 * PONG as soon as it listens, and trusts pages of the loopback device. A browser opens the viewer's
 * window only at a click. */
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>

/* %1$s is the token, %2$s the name of the file: neither needs escaping. */
static const char page[] =
    "<!doctype html>\n"
    "<html lang=\"en\">\n"
    "<meta charset=\"utf-8\">\n"
    "<title>%2$s - Takt</title>\n"
    "<p><button>Open %2$s in ui.perfetto.dev</button>\n"
    "<p role=\"status\"></p>\n"
    "<script nonce=\"%1$s\">\n"
    "'use strict';\n"
    "const viewer = '" VIEW_VIEWER "', name = '%2$s';\n"
    "const button = document.querySelector('button');\n"
    "const say = (text) => { document.querySelector('[role=status]').textContent = text; };\n"
    "\n"
    "function post(tab, buffer) {\n"
    "    const knock = setInterval(() => tab.postMessage('PING', viewer), 100);\n"
    "    addEventListener('message', (event) => {\n"
    "        if (event.source !== tab || event.origin !== viewer || event.data !== 'PONG')\n"
    "            return;\n"
    "        clearInterval(knock);\n"
    "        if (!button.hidden)\n"
    "            tab.postMessage({perfetto: {buffer, title: name, fileName: name}}, viewer);\n"
    "        button.hidden = true;\n"
    "        say('Handed over. This page can be closed.');\n"
    "    });\n"
    "}\n"
    "\n"
    "button.onclick = async () => {\n"
    "    const tab = open(viewer);\n"
    "    if (!tab)\n"
    "        return say('The browser has not opened a window: allow this page to do so.');\n"
    "    button.disabled = true;\n"
    "    say('Reading the trace ...');\n"
    "    const answer = await fetch(name).catch(() => null);\n"
    "    if (!answer || !answer.ok)\n"
    "        return say('The link is used up, or takt has ended: run takt view again.');\n"
    "    post(tab, await answer.arrayBuffer());\n"
    "};\n"
    "</script>\n";

static const char policy[] =
    "default-src 'none'; script-src 'nonce-%1$s'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

static char *fill_in(const char *text, const view_offer *offer)
{
    char token[VIEW_TOKEN_DIGITS + 1];
    char *filled = NULL;
    snprintf(token, sizeof token, "%.*s", VIEW_TOKEN_DIGITS, offer->path + 1);
    return asprintf(&filled, text, token, offer->path + VIEW_FOLDER) < 0 ? NULL : filled;
}

char *view_page(const view_offer *offer)
{
    return fill_in(page, offer);
}

char *view_page_policy(const view_offer *offer)
{
    return fill_in(policy, offer);
}
