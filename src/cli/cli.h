/* What the verbs of the command `takt` share. The command is linked with the library and uses its
 * layers as they use each other: test/layers.txt says which. */
#ifndef TAKT_CLI_CLI_H
#define TAKT_CLI_CLI_H

#include "base/file.h"

#include <takt/report.h>
#include <takt/trace.h>

#include <stdio.h>

/* What the command returns. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the work: a file that is no trace, a full disk */
    CLI_USAGE = 2,  /* the question: an unknown option, a missing file name */
    CLI_UNDECIDED = 3, /* too few runs to tell (takt check) */
    CLI_INCOMPLETE = 4 /* all went well, but a trace lacks its end */
};

/* ---- Verbs (main.c) ---- */

typedef struct cli_verb {
    const char *name;
    const char *summary; /* its line in the list of verbs */
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
} cli_verb;

int cli_completion(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_config(int argc, char **argv);
int cli_diff(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_view(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_recover(int argc, char **argv);

/* ---- Arguments (args.c) ---- */

/* An option as the parser and the help text see it. */
typedef struct cli_option {
    char        letter; /* 0: none */
    const char *name;   /* without the dashes */
    const char *value;  /* what the help calls its value, such as "N"; NULL: it takes none */
    const char *help;
} cli_option;

/* What a verb takes: the parser reads it, the help is printed from it. */
typedef struct cli_syntax {
    const char       *verb;  /* "report" */
    const char       *usage; /* what follows `takt VERB` */
    const char       *text;  /* what it does, lines of at most 80 columns */
    const cli_option *options;
    size_t            option_count;
    const char       *words; /* that its operands may be, separated by blanks; NULL: files */
} cli_syntax;

enum {
    CLI_NO_ITEM = -1, /* there is nothing left */
    CLI_OPERAND = -2,
    CLI_HELP = -3, /* --help: printed; the verb returns CLI_OK */
    CLI_ERROR = -4 /* told on standard error; the verb returns CLI_USAGE */
};

/* The way through argv. Options and operands may be mixed; "--" ends the options. */
typedef struct cli_args {
    const cli_syntax *syntax;
    char            **argv;
    int               argc;
    int               next;
    const char       *letters; /* what is left of an argument such as -xo */
    bool              only_operands;
} cli_args;

/* Begins after argv[0]. */
cli_args cli_args_of(const cli_syntax *syntax, int argc, char **argv);

/* The next item: the index of an option, whose value is put in *value, or one of the above;
 * operands are put in *value too. */
int cli_args_next(cli_args *args, const char **value);

void cli_print_help(const cli_syntax *syntax);

/* From here on --help of every verb calls `print` instead: so manual page and completion are made
 * from what the help is made from. NULL restores it. */
void cli_on_help(void (*print)(const cli_syntax *syntax));

/* Prints words from column `indent` on, where the cursor stands already, and ends the line. */
void cli_print_wrapped(const char *text, int indent);

/* Tells a mistake in the question, "takt VERB: ...", and where help is. Returns CLI_USAGE. */
int cli_usage_error(const cli_syntax *syntax, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether `text` is a whole number from 1 to `most`, which is put in *out. */
bool cli_parse_count(const char *text, long most, long *out);

/* ---- Things with names, made of files (args.c) ---- */

enum {
    CLI_MOST_NAMES = 32,
    CLI_MOST_OWN = 16
};

/* Starts with its syntax, without options. */
typedef struct cli_choice {
    cli_syntax  syntax;
    cli_option  options[CLI_MOST_NAMES + CLI_MOST_OWN];
    size_t      name_count; /* names that there are; they are the first options */
    const char *wanted[CLI_MOST_NAMES];
    size_t      wanted_count;
    char      **files; /* of argv; the owner frees the list */
    size_t      file_count;
} cli_choice;

/* Takes the verb's own option of this index. Anything but CLI_OK ends the verb. */
typedef int cli_take_option(void *user, int option, const char *value);

/* Makes the names options, and behind them the verb's own: at most CLI_MOST_OWN. */
void cli_choice_offer(cli_choice *choice, const char *(*name_at)(size_t),
                      const char *(*description_at)(size_t), const cli_option *own,
                      size_t own_count);

/* A name that is wanted twice is wanted once. */
void cli_choice_want(cli_choice *choice, const char *name);

/* Returns CLI_NO_ITEM when all is read and there is a file, otherwise the exit status. */
int cli_choice_parse(cli_choice *choice, int argc, char **argv, cli_take_option *take, void *user);

/* ---- Names (args.c) ---- */

/* Looks for the name that `word` was probably meant to be: feed every candidate, then read. */
typedef struct cli_nearest {
    const char *word;
    const char *best; /* NULL: nothing is near */
    size_t      distance;
} cli_nearest;

void cli_nearest_try(cli_nearest *nearest, const char *candidate);

/* ---- Output (output.c) ---- */

/* Tells a failure of the work on standard error, "takt: ...". Control characters of names and paths
 * do not reach the terminal. Returns CLI_FAILED. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A sink that writes to standard output. */
takt_sink cli_stdout_sink(void);

/* "whole", "killed" or "cut". */
const char *cli_ending_name(const takt_facts *facts);

/* A trace that lacks its end was opened. */
extern bool cli_is_incomplete;

/* Flushes standard output. Returns `status`; instead of CLI_OK CLI_INCOMPLETE where that is due, or
 * CLI_FAILED where something could not be written, which is then told. */
int cli_finish(int status);

/* Text of unknown origin without control characters, cut at `size`. Returns `out`. */
const char *cli_clean(char *out, size_t size, const char *text);

/* To standard output, as JSON: a text, NULL as null; a number so that it reads back equal, or
 * `none` where there is none. */
void cli_put_json_text(const char *text);
void cli_put_number(double number, const char *none);

/* "12,345", "1.50 MiB", "1.234 s", for which 32 bytes are enough. Each returns `out`. */
const char *cli_count_text(char *out, size_t size, uint64_t count);
const char *cli_bytes_text(char *out, size_t size, uint64_t bytes);
const char *cli_time_text(char *out, size_t size, double ns);

/* ---- Files that are written (output.c) ---- */

bool cli_is_folder(const char *path);
bool cli_is_same_file(const char *a, const char *b);

/* FOLDER/NAME and the ending, where `file` is .../NAME.pftrace[.gz]; `folder` NULL: beside the
 * file. False where that does not fit. */
bool cli_name_output(char *out, size_t size, const char *folder, const char *file,
                     const char *ending);

/* For a file that is written beside its place and then renamed: puts the file that a link leads to
 * in the place of the link, which would be replaced otherwise. False where there is something that
 * is no file, such as /dev/null. */
bool cli_settle_output(char *path, size_t size);

/* A stream into a file that tkt_file_create() has opened; NULL when there is no memory. Close it
 * before the file. */
FILE *cli_file_stream(tkt_file *file);

/* False if anything that was written to it was not. */
bool cli_stream_close(FILE *stream);

/* Closes the file as tkt_file_close() does, and tells what went wrong. */
int cli_file_close(tkt_file *file, takt_status status);

/* "wrote run.html (1.20 MiB)" */
void cli_tell_written(const char *path);

/* ---- The environment (output.c) ---- */

/* A variable; NULL also where it is empty, as the library takes it. */
const char *cli_variable(const char *name);

/* ---- Work that may take long (output.c) ---- */

/* From here on a line such as "reading FILE" with the seconds gone by stands on the terminal, if
 * standard error is one and a second has passed. `what` and `name` must live until the end. */
typedef struct cli_progress cli_progress;
cli_progress *cli_progress_begin(const char *what, const char *name);
void cli_progress_end(cli_progress *progress);

/* Opens a trace file, with progress; failures are told. NULL then. The caller releases it. */
takt_trace *cli_open_trace(const char *path);

/* ======== Options of tables ======== */

/* How the verbs that print tables are asked to print them: the same options everywhere. */

typedef enum cli_show_option {
    CLI_SHOW_JSON,
    CLI_SHOW_CSV,
    CLI_SHOW_MARKDOWN,
    CLI_SHOW_SORT,
    CLI_SHOW_ROWS,
    CLI_SHOW_WIDTH,
    CLI_SHOW_FULL_NAMES,
    CLI_SHOW_COLOR,
    CLI_SHOW_COUNT
} cli_show_option;

extern const cli_option cli_show_options[CLI_SHOW_COUNT];

typedef enum cli_color {
    CLI_COLOR_AUTO,
    CLI_COLOR_ALWAYS,
    CLI_COLOR_NEVER
} cli_color;

typedef struct cli_show {
    takt_report_options options;
    cli_color           color;
} cli_show;

/* Takes one of the options. Anything but CLI_OK ends the verb. */
int cli_show_take(cli_show *show, const cli_syntax *syntax, int option, const char *value);

/* Everything is taken: decides about colour and width. */
void cli_show_settle(cli_show *show);

/* ======== Verbs ======== */

/* All verbs, for what is made of their help: the manual page and the shells' completion. */

/* In the order of the overview; NULL past the end. */
const cli_verb *cli_verb_at(size_t index);

/* Calls `print` with the syntax of each verb that has one; `help` has none. Stops at the first verb
 * that fails, and returns its status. */
int cli_each_syntax(void (*print)(const cli_syntax *syntax));

/* Prints the manual page takt(1), in man's macros. Returns the exit status. */
int cli_print_manual(void);

/* ======== Names of frames ======== */

/* Functions, files and lines of call stacks, from the debugging information of the programs and
 * libraries that were recorded, as far as they are still there. */

/* Names the frames of a trace, if it has any. What cannot be named is told once. */
void cli_name_frames(takt_trace *trace);

/* ======== Embedded files ======== */

/* Files that are part of the command. */

/* What the file at `path` held when this was compiled: the bytes from NAME to NAME_end, and then a
 * zero, so that it can serve as a text. */
#define CLI_EMBED(name, path)                                                                      \
    __asm__(".section .rodata\n" #name ": .incbin \"" path "\"\n" #name "_end: .byte 0\n"           \
            ".previous\n");                                                                        \
    extern const char name[], name##_end[]

#endif
