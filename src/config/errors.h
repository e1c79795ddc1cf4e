/* All errors of a configuration, each with the line of the file that it is about. */
#ifndef TKT_CONFIG_ERRORS_H
#define TKT_CONFIG_ERRORS_H

#include <takt/base.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define TKT_CONFIG_ERRORS_MAX 20 /* errors kept; further ones are only counted */
#define TKT_CONFIG_SHOWN      120

typedef struct tkt_config_fault {
    takt_error error;
    char       shown[TKT_CONFIG_SHOWN]; /* the line, or its part around the error; "" without */
    uint32_t   caret;                   /* terminal columns of `shown` before the error */
} tkt_config_fault;

/* Starts as {0}. */
typedef struct tkt_config_errors {
    size_t           count; /* may exceed TKT_CONFIG_ERRORS_MAX */
    tkt_config_fault items[TKT_CONFIG_ERRORS_MAX];
} tkt_config_errors;

/* A configuration file, for the places of errors in it. */
typedef struct tkt_config_text {
    const char *bytes;
    size_t      size;
    const char *name; /* printable */
} tkt_config_text;

/* Returns how many errors are kept. */
size_t tkt_config_errors_kept(const tkt_config_errors *errors);

/* Logs the kept errors from this index on, and the number of further ones. */
void tkt_config_errors_log(const tkt_config_errors *errors, size_t first);

/* Adds "NAME:LINE:COLUMN: MESSAGE". Line and column count from 1. */
void tkt_config_errors_add(tkt_config_errors *errors, const tkt_config_text *text, uint32_t line,
                           uint32_t column, const char *format, va_list arguments)
    __attribute__((format(printf, 5, 0)));

/* Adds an error without a place in a file. */
void tkt_config_errors_add_plain(tkt_config_errors *errors, const takt_error *error);

/* Sets *error to "WHAT 'GIVEN'; did you mean 'MEANT'?", or to "WHAT 'GIVEN'" if `meant` is NULL. */
takt_status tkt_config_unknown(takt_error *error, const char *what, const char *given,
                               const char *meant);

/* Removes the errors at or behind a place. */
void tkt_config_errors_cut(tkt_config_errors *errors, uint32_t line, uint32_t column);

/* Returns the first byte of a line, which counts from 1, and sets *end to its end. */
const char *tkt_config_line(const tkt_config_text *text, uint32_t line, const char **end);

/* Returns the byte of a column, which counts from 1, between `begin` and `end`. */
const char *tkt_config_column(const char *begin, const char *end, uint32_t column);

#endif
