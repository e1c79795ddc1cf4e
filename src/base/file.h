/* Files, folders and facts about the process. All such system calls are made here. */
#ifndef TKT_BASE_FILE_H
#define TKT_BASE_FILE_H

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TKT_FILE_MODE      0664
#define TKT_MOST_OF_A_NAME 10000u /* NAME, NAME-2, ... that are tried */

/* Reads a whole file into memory, and adds a NUL. The caller frees it with tkt_free(). A file of
 * more than `limit` bytes is TAKT_IO_ERROR, and so are a pipe without a writer and a device that has
 * nothing now; a writer is waited for. `error` may be NULL. */
takt_status tkt_file_read(const char *path, size_t limit, char **data, size_t *size,
                          takt_error *error);

/* The same without a limit, for regular files only, as in tkt_file_open(). */
takt_status tkt_file_read_regular(const char *path, char **data, size_t *size, takt_error *error);

/* Opens a file to read it in pieces; close it with close(). Most readers want tkt_input instead.
 * Refuses all but regular files: reading a pipe would wait for a writer. Files are not mapped, see
 * input.c. */
takt_status tkt_file_open(const char *path, int *fd, takt_error *error);
/* Reads at most `size` bytes; *got is 0 at the end. */
takt_status tkt_file_read_some(int fd, const char *path, void *into, size_t size, size_t *got,
                               takt_error *error);

/* A file being written. Takt notices when the program closes the descriptor, as daemons do with all
 * of theirs, and opens its own file under the same number: the program's file is left alone.
 * Descriptors are 3 or more, even if the program has closed 0, 1 and 2. The umask determines a
 * file's mode, except that others may never write it. */
typedef struct tkt_file {
    int      fd;
    int      error_number;   /* of the first failure; also after a function that opens has failed */
    uint64_t device, inode;  /* of the file that `fd` was opened for */
    char    *path;           /* with the number that was free */
    char    *temporary;      /* written here, then renamed; NULL: written at `path` itself */
    char    *wish;           /* the path before a number was put into it; or NULL */
    size_t   stem;           /* bytes of `wish` before the number */
    unsigned number;         /* 1: the name has none */
} tkt_file;

/* Creates a file that appears at `path` only when it is complete, and replaces an existing one. For
 * names that a user has typed. Follows links; writes directly to anything that is not a regular
 * file. */
takt_status tkt_file_create(tkt_file *file, const char *path, takt_error *error);

/* The same for a name that Takt has made up. Never replaces anything, not even a link or a pipe: if
 * the name is taken, "-2", "-3" and so on follows its first `stem` bytes, beginning with `number`
 * (1: nothing). */
takt_status tkt_file_create_new(tkt_file *file, const char *path, size_t stem, unsigned number,
                                takt_error *error);

/* The same for a file that has its name from the start, and stays there whatever happens. */
takt_status tkt_file_claim(tkt_file *file, const char *path, size_t stem, takt_error *error);

/* Tells that a complete file has been renamed over a claimed one: from now on *file means it. */
takt_status tkt_file_follow(tkt_file *file, takt_error *error);

takt_sink tkt_file_sink(tkt_file *file);

/* False if somebody has removed or replaced the file. */
bool tkt_file_is_there(const tkt_file *file);

/* Fills *error with the reason why writing has failed. */
takt_status tkt_file_why(const tkt_file *file, takt_error *error);

/* Reasons that are no errno. The program has closed the descriptor, and may have reused its number;
 * for other uses of tkt_file_reason(): the complete file could not be written. */
#define TKT_FILE_CLOSED    127
#define TKT_FILE_NOT_WHOLE 126

/* The text of a reason: of an errno, or of one of these. Returns `out` or a static text. */
#define TKT_FILE_REASON_BYTES 128
const char *tkt_file_reason(int number, char out[TKT_FILE_REASON_BYTES]);

/* Changes one byte of a file whose blocks are on disk already, so no disk is too full for it. Does
 * nothing if the path is another file's by now, or on failure. */
void tkt_file_patch(const tkt_file *file, uint64_t offset, uint8_t byte);

/* Both rename the file to its path when `status` is TAKT_OK, and remove it otherwise. They
 * return the result. `error` tells what failed here; it stays as it is when `status` was a
 * failure already. After tkt_file_finish(), `path` is where the file is, until tkt_file_close()
 * frees it. */
takt_status tkt_file_finish(tkt_file *file, takt_status status, takt_error *error);
takt_status tkt_file_close(tkt_file *file, takt_status status, takt_error *error);

/* Closes the file and removes it. */
void tkt_file_discard(tkt_file *file);

/* Opens a file, and tries again after EINTR. Returns a descriptor as below, or -1 and errno. */
int tkt_file_open_with(const char *path, int flags);

/* Fills *error with "cannot VERB PATH: reason" for an errno. Returns TAKT_NO_MEMORY or
 * TAKT_IO_ERROR. */
takt_status tkt_file_fail(takt_error *error, const char *verb, const char *path, int number);

/* Returns the descriptor, or a copy that is 3 or more: the program's output must not land in a file
 * of Takt's. Returns an error as it is. */
int tkt_above_standard_streams(int fd);

/* Creates a folder and its parents. */
takt_status tkt_folder_create(const char *path, takt_error *error);

/* Creates a new folder: PATH, or PATH-2 and so on if that exists already. Writes its path into
 * `name`. With `own`, a folder that exists already will do, unless one of its files' names begins
 * with `own`. */
takt_status tkt_folder_create_new(const char *path, const char *own, char *name, size_t size,
                                  takt_error *error);

/* The same for processes that are to share the folder, and name a job `id`: the first of them
 * creates it, and the others find it by a symbolic link that the first one leaves beside it, even
 * if their own `path` differs. Links from before `since_s` (seconds since 1970) do not count. */
takt_status tkt_folder_meet(const char *path, const char *id, int64_t since_s, char *name,
                            size_t size);

/* True if the folder has a file whose name ends like that. */
bool tkt_folder_has(const char *path, const char *ending);

/* Creates a folder that only this user may enter, below TMPDIR or /tmp, and writes its path into
 * `name`. */
takt_status tkt_folder_create_private(char *name, size_t size, takt_error *error);

/* Removes a folder if it is empty. */
void tkt_folder_remove(const char *path);

/* Removes a file, if there is one, and the folder that has nothing else in it. */
void tkt_folder_remove_with(const char *folder, const char *file);

/* When a file was last written, in ns of CLOCK_REALTIME; false if there is none. */
bool tkt_file_date(const char *path, uint64_t *date_ns);

bool tkt_folder_exists(const char *path);

/* True for a terminal, /dev/null and the like. */
bool tkt_file_is_device(const char *path);

/* The size of a file in bytes; 0 if there is none. */
uint64_t tkt_file_bytes(const char *path);

/* Writes the working directory's absolute path; false when there is none or it does not fit. */
bool tkt_folder_now(char *out, size_t size);

/* Writes the absolute path of an existing file, without links and dots. False when there is none,
 * or when it does not fit into `size` bytes. */
bool tkt_file_resolve(const char *path, char *out, size_t size);

/* Calls `found` for each file or folder that matches a shell pattern, in reverse alphabetical
 * order; without a match, calls it with the pattern itself. */
void tkt_file_match(const char *pattern, void (*found)(void *user, const char *path), void *user);

/* The value of an environment variable; NULL if it is empty or missing, and in set-uid programs. */
const char *tkt_environment(const char *name);

/* Static or thread-local strings. */
const char *tkt_program_name(void);
const char *tkt_host_name(void);
uint32_t tkt_process_id(void);
/* True for the operating system's name of the process's first thread, which threads without a name
 * of their own share. */
bool tkt_is_first_thread_name(const char *name);
/* Random, chosen once; from 1 to 2^53 - 1, which JSON's numbers can hold. */
uint64_t tkt_process_key(void);
uint32_t tkt_parent_id(void);

/* This process's number in a parallel job, and the job's size, as the environment has them at the
 * first call. The size is 0 if it is unknown; without any rank, both are 0. */
void tkt_rank(uint32_t *rank, uint32_t *size);

/* When the launcher of this process, or else the process, began: seconds of CLOCK_REALTIME, the
 * same for all ranks that one launcher starts. */
int64_t tkt_job_time(void);

/* The id that the launcher has given to this process's job, fit for a file's name. False if it
 * gives none. */
#define TKT_JOB_ID_BYTES 128
bool tkt_job_id(char id[TKT_JOB_ID_BYTES]);

/* The suffix of file names: ".rank3", or "" for a process that is alone. */
#define TKT_RANK_BYTES 20
void tkt_rank_text(char text[TKT_RANK_BYTES], uint32_t rank, uint32_t size);

/* Runs a program from PATH, without a shell, with its output on standard error, and waits until it
 * ends. Returns 0, or the errno of a failure to start it. */
int tkt_run_program(char *const arguments[]);

/* The width of the terminal at `fd` in columns; 0 if it is not a terminal. */
uint32_t tkt_terminal_width(int fd);

/* True for a terminal that shows colors, unless NO_COLOR is set. */
bool tkt_terminal_has_color(int fd);

/* ======== Mapped files ======== */

/* A new file of fixed size, mapped shared: the process's stores to it stay in the file, however the
 * process ends. It lies in /dev/shm, since a store to a file on a disk may wait for that disk. */
typedef struct tkt_shared {
    char  name[4096];   /* the file, or a link to it */
    char  memory[512];  /* the file in /dev/shm; "": there is none */
    void *at;           /* zero */
    bool  is_reserved;  /* all of it has memory or blocks */
} tkt_shared;

/* Creates PATH with the ending, or PATH-2 and so on if that exists already, and maps it. Where
 * /dev/shm cannot have the file, the folder has it, and the log says why. Others may never write it. */
takt_status tkt_shared_create(const char *path, const char *ending, size_t bytes, tkt_shared *made,
                              takt_error *error);

/* Gives a part memory before its first store, which would raise SIGBUS where none is left. False if
 * there is none. Any thread. */
bool tkt_shared_ready(const tkt_shared *shared, void *at, size_t bytes);

/* Removes the file and the link; the memory stays. */
void tkt_shared_remove(const tkt_shared *shared);

void tkt_shared_unmap(const tkt_shared *shared, size_t bytes);

/* ======== Unpacking ======== */

/* Packed data that unpack to more than this many times their size are no trace of Takt's, except
 * for the first 32 MiB. */
#define TKT_UNPACKED_RATIO 256

bool tkt_is_bomb(uint64_t packed_bytes, uint64_t unpacked_bytes);

/* Unpacks blocks of tkt_packer_run(), one after the other. TAKT_UNSUPPORTED in a build without
 * zlib. */
typedef struct tkt_unpacker tkt_unpacker;
takt_status tkt_unpacker_create(tkt_unpacker **out);
void tkt_unpacker_destroy(tkt_unpacker *unpacker); /* ignores NULL */

/* The block is valid until the next call. TAKT_BAD_TRACE if it is damaged, cut off or too large. */
takt_status tkt_unpacker_run(tkt_unpacker *unpacker, const void *data, size_t size,
                             const uint8_t **out, size_t *out_size);

/* ======== Reading in pieces ======== */

/* The bytes of a file, or of memory, through a window that moves over them. Data packed with gzip
 * is unpacked. The memory is bounded by the largest piece that a caller needs at once, not by the
 * file. If the file is truncated while it is read, the input ends there. */

/* Bytes ready to be read; the memory is borrowed while `capacity` is 0. */
typedef struct tkt_input_window {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t       *buffer;
    size_t         capacity;
} tkt_input_window;

typedef struct tkt_input {
    tkt_input_window  window;
    uint64_t    end_offset; /* of the window's end, in unpacked bytes */
    size_t      step;       /* bytes read or unpacked at a time; tests make it small */
    bool        is_packed;
    bool        is_cut;     /* packed data that ends too early or is damaged */
    takt_status status;     /* why there are no more bytes; TAKT_OK at the end */
    const char *name;       /* for messages; borrowed */
    takt_error *error;      /* may be NULL */
    bool        is_over;    /* the window is the last one */
    int         fd;         /* -1: none */
    tkt_input_window  packed;     /* the file's own bytes, if they are packed */
    uint64_t    packed_bytes; /* unpacked so far */
    struct z_stream_s *unpacking;
} tkt_input;

/* Opens a file. Refuses all but regular files: reading a pipe would wait for a writer. After a
 * failure there is nothing to close. */
takt_status tkt_input_open(tkt_input *input, const char *path, takt_error *error);

/* The same for bytes in memory, which the caller keeps. */
takt_status tkt_input_borrow(tkt_input *input, const uint8_t *bytes, size_t size, const char *name,
                             takt_error *error);

void tkt_input_close(tkt_input *input);

/* Makes the window at least `size` bytes long. False if the input ends before that, or fails: then
 * `status` is the failure. The bytes of the window may move. */
bool tkt_input_fill(tkt_input *input, size_t size);

static inline size_t tkt_input_left(const tkt_input *input)
{
    return (size_t)(input->window.end - input->window.at);
}

static inline bool tkt_input_need(tkt_input *input, size_t size)
{
    return __builtin_expect(tkt_input_left(input) >= size, 1) || tkt_input_fill(input, size);
}

/* Reads to the end. Returns the number of bytes that were left, and whether all were zero. */
uint64_t tkt_input_drain(tkt_input *input, bool *is_zero);

/* The offset of `at`, which lies in the window. */
static inline uint64_t tkt_input_offset(const tkt_input *input, const uint8_t *at)
{
    return input->end_offset - (uint64_t)(input->window.end - at);
}

#endif
