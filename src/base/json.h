/* A streaming reader of JSON (RFC 8259): one token after the other, in bounded memory, whatever the
 * size of the file. docs/decisions.md says why libyaml does not do. */
#ifndef TKT_BASE_JSON_H
#define TKT_BASE_JSON_H

#include "base/file.h"

#define TKT_JSON_DEPTH 512u /* deeper nesting is an error */

typedef enum tkt_json_token {
    TKT_JSON_END,   /* of the document; nothing but white space follows */
    TKT_JSON_ERROR, /* input->error has the message with line and column, status the code */
    TKT_JSON_OBJECT,
    TKT_JSON_OBJECT_END,
    TKT_JSON_ARRAY,
    TKT_JSON_ARRAY_END,
    TKT_JSON_KEY,    /* text */
    TKT_JSON_STRING, /* text */
    TKT_JSON_NUMBER, /* number */
    TKT_JSON_TRUE,
    TKT_JSON_FALSE,
    TKT_JSON_NULL
} tkt_json_token;

typedef struct tkt_json {
    tkt_input *input; /* borrowed */
    char *text;       /* the caller's buffer for keys and strings */
    size_t capacity;  /* of it, with the NUL */
    size_t size;      /* of the last key or string; what does not fit is cut, between
                       * characters. A NUL in a string becomes U+FFFD */
    double number;
    takt_status status;
    uint32_t line;       /* of the next byte, from 1 */
    uint64_t line_begin; /* offset of the line's first byte */
    uint32_t depth;
    uint8_t expects;                   /* what may come next: see json.c */
    uint8_t is_object[TKT_JSON_DEPTH]; /* by depth: the open containers */
} tkt_json;

/* Begins to read `input`, which stays open and borrowed, as does `text`. */
void tkt_json_begin(tkt_json *json, tkt_input *input, char *text, size_t capacity);

/* Returns the next token. After TKT_JSON_END or TKT_JSON_ERROR, returns the same again. */
tkt_json_token tkt_json_next(tkt_json *json);

/* Reads to the end of the value that `token` began; does nothing after a string or number. False
 * after an error. */
bool tkt_json_skip(tkt_json *json, tkt_json_token token);

/* Sets an error about the file's content, with the place of the next byte. Returns TKT_JSON_ERROR,
 * which stays. */
tkt_json_token tkt_json_fail(tkt_json *json, const char *problem);

#endif
