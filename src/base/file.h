/* Files, folders and facts about the process; the one place for such system calls. */
#ifndef TKT_BASE_FILE_H
#define TKT_BASE_FILE_H

#include <takt/base.h>

/* Reads a whole file into memory that the caller frees with tkt_free; a NUL stands behind it. More
 * than `limit` bytes are TAKT_IO_ERROR. `error` may be NULL. */
takt_status tkt_file_read(const char *path, size_t limit, char **data, size_t *size,
                          takt_error *error);

/* Maps a file read-only; empty files give data NULL and size 0. What is not a regular file is
 * refused: a pipe would be waited for until somebody writes into it. */
takt_status tkt_file_map(const char *path, const uint8_t **data, size_t *size, takt_error *error);
void tkt_file_unmap(const uint8_t *data, size_t size);

/* A file that appears at `path` only when it is complete. */
typedef struct tkt_file {
    int   fd;
    int   error_number; /* of the first failed write */
    char *path;
    char *temporary; /* NULL when the target is no regular file and is written directly */
} tkt_file;

takt_status tkt_file_create(tkt_file *file, const char *path, takt_error *error);
/* The same for a file that stands at `path` from the start and stays there whatever happens. */
takt_status tkt_file_create_open(tkt_file *file, const char *path, takt_error *error);
takt_sink tkt_file_sink(tkt_file *file);
/* Renames it to its path when `status` is TAKT_OK, removes it otherwise; returns what became of it.
 * `error` says what failed here; it is left alone when `status` came from elsewhere. */
takt_status tkt_file_close(tkt_file *file, takt_status status, takt_error *error);

/* Closes it and removes what was written. */
void tkt_file_discard(tkt_file *file);

/* Creates a folder and those above it. */
takt_status tkt_folder_create(const char *path, takt_error *error);

/* Creates a folder that nobody else has: PATH, or PATH-2 and so on where that is there already.
 * Writes its path into `name`. */
takt_status tkt_folder_create_new(const char *path, char *name, size_t size, takt_error *error);

/* The absolute path of a file that is there, without links and dots; false when there is none or it
 * does not fit into `size` bytes. */
bool tkt_file_resolve(const char *path, char *out, size_t size);

/* Calls `found` for each file or folder that matches a shell pattern, in the reverse of the
 * alphabet's order, or with the pattern itself where none does. */
void tkt_file_match(const char *pattern, void (*found)(void *user, const char *path), void *user);

/* A variable of the environment; NULL also where it is empty, and in set-uid programs. */
const char *tkt_environment(const char *name);

/* Short facts, static or thread-local storage. */
const char *tkt_program_name(void);
const char *tkt_host_name(void);
uint32_t tkt_process_id(void);

/* Runs a program that is found in PATH, without a shell, what it prints on standard error, and waits
 * until it ends. Returns 0, or the errno that says why it was not started. */
int tkt_run_program(char *const arguments[]);

/* Columns of the terminal behind `fd`, or 0 when it is none. */
uint32_t tkt_terminal_width(int fd);

#endif
