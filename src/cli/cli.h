/* Declarations that the verbs of the command `takt` share. The command is linked with the library's
 * objects and may call its inner layers, within the limits of test/layers.txt. */
#ifndef TAKT_CLI_CLI_H
#define TAKT_CLI_CLI_H

#include "base/file.h"

#include <takt/report.h>
#include <takt/trace.h>

#include <stdio.h>

/* Exit statuses of the command. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* an operation failed: the file is not a trace, the disk is full */
    CLI_USAGE = 2,  /* the command line is wrong: an unknown option, a missing file name */
    CLI_UNDECIDED = 3, /* takt check: too few runs for a verdict */
    CLI_INCOMPLETE = 4 /* success, but a trace was incomplete */
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

/* An option, for the parser and for the help text. */
typedef struct cli_option {
    char        letter; /* 0: the option has no short form */
    const char *name;   /* without the dashes */
    const char *value;  /* placeholder in the help, such as "N"; NULL: the option takes no value */
    const char *help;
} cli_option;

/* The command line of a verb. The parser and the help text both use this struct. */
typedef struct cli_syntax {
    const char       *verb;  /* such as "report" */
    const char       *usage; /* the part of the usage line after `takt VERB` */
    const char       *text;  /* description; lines of at most 80 columns */
    const cli_option *options;
    size_t            option_count;
    const char       *words; /* permitted operands, separated by spaces; NULL: operands are files */
} cli_syntax;

enum {
    CLI_NO_ITEM = -1, /* all arguments have been read */
    CLI_OPERAND = -2,
    CLI_HELP = -3, /* --help was printed; the verb returns CLI_OK */
    CLI_ERROR = -4 /* the parser reported an error; the verb returns CLI_USAGE */
};

/* State of the parser. Options and operands may be mixed; "--" ends the options. */
typedef struct cli_args {
    const cli_syntax *syntax;
    char            **argv;
    int               argc;
    int               next;
    const char       *letters; /* remaining letters of an argument such as -xo; NULL: none */
    bool              only_operands;
} cli_args;

/* Returns a parser that starts at argv[1]. */
cli_args cli_args_of(const cli_syntax *syntax, int argc, char **argv);

/* Reads the next item. Returns the index of an option, or one of the constants above. *value
 * becomes the option's value (NULL if it takes none), or the operand. */
int cli_args_next(cli_args *args, const char **value);

void cli_print_help(const cli_syntax *syntax);

/* From now on --help of every verb calls `print`. The manual page and the completions are made this
 * way, from the same data as the help. NULL restores the help. */
void cli_on_help(void (*print)(const cli_syntax *syntax));

/* Prints `text` and ends the line. The cursor stands at column `indent`; wrapped lines start there
 * too. */
void cli_print_wrapped(const char *text, int indent);

/* Prints "takt VERB: MESSAGE" to standard error, and how to get help. Returns CLI_USAGE. */
int cli_usage_error(const cli_syntax *syntax, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if `text` is a whole number from 1 to `most`; then *out is set. */
bool cli_parse_count(const char *text, long most, long *out);

/* ---- Verbs that make something named out of files (args.c) ---- */

enum {
    CLI_MOST_NAMES = 32,
    CLI_MOST_OWN = 16
};

/* The command line of such a verb. The caller sets the syntax, except for its options. */
typedef struct cli_choice {
    cli_syntax  syntax;
    cli_option  options[CLI_MOST_NAMES + CLI_MOST_OWN];
    size_t      name_count; /* number of names; their options come first */
    const char *wanted[CLI_MOST_NAMES];
    size_t      wanted_count;
    char      **files; /* point into argv; the caller frees the list */
    size_t      file_count;
} cli_choice;

/* Handles the verb's own option with this index. The verb ends if the result is not CLI_OK. */
typedef int cli_take_option(void *user, int option, const char *value);

/* Turns each name into an option. The verb's own options follow, at most CLI_MOST_OWN. */
void cli_choice_offer(cli_choice *choice, const char *(*name_at)(size_t),
                      const char *(*description_at)(size_t), const cli_option *own,
                      size_t own_count);

/* Adds a name to the wanted ones, unless it is there already. */
void cli_choice_want(cli_choice *choice, const char *name);

/* Returns CLI_NO_ITEM if the command line is valid and names a file, otherwise the exit status. */
int cli_choice_parse(cli_choice *choice, int argc, char **argv, cli_take_option *take, void *user);

/* ---- Mistyped words (args.c) ---- */

/* Finds the name that the user probably meant by `word`. Call cli_nearest_try() for every known
 * name, then read `best`. */
typedef struct cli_nearest {
    const char *word;
    const char *best; /* NULL: no name is similar */
    size_t      distance;
} cli_nearest;

void cli_nearest_try(cli_nearest *nearest, const char *candidate);

/* ---- Output (output.c) ---- */

/* Prints "takt: MESSAGE" to standard error, for failures other than a wrong command line. Replaces
 * control characters, which names and paths may contain. Returns CLI_FAILED. */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns a sink that writes to standard output. */
takt_sink cli_stdout_sink(void);

/* True once cli_open_trace() has opened an incomplete trace. */
extern bool cli_is_incomplete;

/* Writes out what was printed. False if standard output failed, now or before. */
bool cli_flush(void);

/* Flushes standard output. Returns `status`, with two exceptions: CLI_INCOMPLETE replaces CLI_OK if
 * a trace was incomplete; and CLI_FAILED replaces both if a write failed, which this function
 * reports. */
int cli_finish(int status);

/* Copies text of unknown origin without control characters, cut to `size` bytes. Returns `out`. */
const char *cli_clean(char *out, size_t size, const char *text);

/* Print JSON to standard output. NULL becomes null. A number keeps all its digits; `none` is
 * printed where there is no number. */
void cli_put_json_text(const char *text);
void cli_put_number(double number, const char *none);

/* Format "12,345" and "1.234 s"; 32 bytes are enough. Each returns `out`. */
const char *cli_count_text(char *out, size_t size, uint64_t count);
const char *cli_time_text(char *out, size_t size, double ns);

/* ---- Trace files and folders of them (files.c) ---- */

/* Paths, which the list owns. */
typedef struct cli_files {
    char **paths;
    size_t count;
} cli_files; /* starts as {0} */

/* Adds a trace. A folder stands for its traces in order of name: Takt's own or, if there are none,
 * *.pt.trace.json(.gz) and *.sqlite. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_files_add(cli_files *files, const char *path);

/* The same for verbs that take no folders: a folder must have exactly one trace. */
int cli_files_add_one(cli_files *files, const char *path);
void cli_files_free(cli_files *files);

/* True if one process recorded both traces. Two clocks of one boot agree to well within a second;
 * in containers, processes of several boots may have the same id. */
bool cli_is_same_process(const takt_facts *a, const takt_facts *b);

/* True for NAME.rankN.CYCLE.pftrace, as Takt names the trace of rank N. */
bool cli_is_of_rank(const char *name, uint32_t rank);

/* Drops the files of other ranks. CLI_FAILED after reporting that none is left; `side` stands for
 * them in the message. */
int cli_files_keep_rank(cli_files *files, uint32_t rank, const char *side);

/* ---- Output files (output.c) ---- */

bool cli_is_same_file(const char *a, const char *b);

/* Makes the name of an output file: FOLDER/NAME and `ending`, where `file` is
 * .../NAME.pftrace[.gz]. If `folder` is NULL, the output goes next to `file`. False if `out` is too
 * small. */
bool cli_name_output(char *out, size_t size, const char *folder, const char *file,
                     const char *ending);

/* For an output that is written to a temporary file and then renamed. Renaming would replace a
 * symbolic link, so this function puts the link's target into `path`. False if the path exists and
 * is not a regular file, such as /dev/null. */
bool cli_settle_output(char *path, size_t size);

/* Returns a stream that writes to a file opened by tkt_file_create(); NULL if memory ran out. Close
 * the stream before the file. */
FILE *cli_file_stream(tkt_file *file);

/* False if any write to the stream failed. */
bool cli_stream_close(FILE *stream);

/* Closes the file like tkt_file_close(), and reports an error. Returns the exit status. */
int cli_file_close(tkt_file *file, takt_status status);

/* Prints a line such as "wrote run.html (1.20 MiB)". */
void cli_tell_written(const char *path);

/* Between these two calls cli_tell_written() prints the files as one array of objects in JSON. */
void cli_written_begin_json(void);
void cli_written_end_json(void);

/* ---- Work that may take long (output.c) ---- */

/* Shows a line such as "reading FILE, 3 s" on standard error while work takes longer than a second,
 * and erases it at the end. Only a terminal gets this line. The strings are copied. NULL if nothing
 * is shown. */
typedef struct cli_progress cli_progress;
cli_progress *cli_progress_begin(const char *what, const char *name);
void cli_progress_end(cli_progress *progress);

/* Opens a trace file and shows progress. Returns NULL after a failure, which it has reported. The
 * caller releases the trace. The second function leaves out activities of the host, but for those
 * on devices whose names begin like `host_devices`; NULL: leaves out none. */
takt_trace *cli_open_trace(const char *path);
takt_trace *cli_open_trace_of(const char *path, const char *host_devices);

/* ======== Options of tables ======== */

/* Options for format, sort order, size and colour. All verbs that print tables share them. */

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

/* Handles one of these options. The verb ends if the result is not CLI_OK. */
int cli_show_take(cli_show *show, const cli_syntax *syntax, int option, const char *value);

/* Call after the last option: chooses colour and width. */
void cli_show_settle(cli_show *show);

/* ======== Verbs ======== */

/* All verbs, for the manual page and the shell completions, which are made from the verbs' help. */

/* Verbs in the order of `takt help`; NULL past the end. */
const cli_verb *cli_verb_at(size_t index);

/* Calls `print` with the syntax of each verb; `help` has none. Stops at the first verb that fails,
 * and returns its status. */
int cli_each_syntax(void (*print)(const cli_syntax *syntax));

/* Prints the manual page takt(1) in man macros. Returns the exit status. */
int cli_print_manual(void);

/* ======== Facts about traces ======== */

/* Formats the begin in UTC, such as "2026-03-01 12:30:59 UTC"; "" if it is unknown. Returns `out`
 * (info.c). */
const char *cli_begin_text(char *out, size_t size, const takt_facts *facts);

/* One kind of record besides spans and activities. */
typedef struct cli_content {
    const char *one;  /* singular, such as "counter sample" */
    const char *many; /* plural */
    const char *key;  /* JSON key, such as "counter_samples" */
    takt_trace_list list;
} cli_content;

/* Returns NULL behind the last one (info.c). */
const cli_content *cli_content_at(size_t index);

/* Prints one object without a newline at its end (info_json.c). False: something is missing, which is
 * told. */
bool cli_info_json(const char *path, const takt_trace *trace);

/* Prints a table with one row for each trace (info_rows.c). Returns the exit status. */
int cli_info_rows(const cli_files *files);

/* ======== Function names in call stacks ======== */

/* Takt reads function names, files and lines from the debug information of the recorded program and
 * its libraries, if these files still exist unchanged. */

/* Names the frames of a trace's call stacks. Reports modules that are missing or newer than the
 * recording, in one line each. */
void cli_name_frames(takt_trace *trace);

/* ======== Embedded files ======== */

/* Files that become part of the command. */

/* Embeds the file at `path` as it is at compile time. Its bytes lie between NAME and NAME_end; a
 * zero follows, so that NAME can serve as a string. */
#define CLI_EMBED(name, path)                                                                      \
    __asm__(".section .rodata\n" #name ": .incbin \"" path "\"\n" #name "_end: .byte 0\n"           \
            ".previous\n");                                                                        \
    extern const char name[], name##_end[]

#endif
