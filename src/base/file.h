/* Files, folders and facts about the process; the one place for such system calls. */
#ifndef TKT_BASE_FILE_H
#define TKT_BASE_FILE_H

#include <takt/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a whole file into memory that the caller frees with tkt_free; a NUL stands behind it. More
 * than `limit` bytes are TAKT_IO_ERROR. `error` may be NULL. */
takt_status tkt_file_read(const char *path, size_t limit, char **data, size_t *size,
                          takt_error *error);

/* The same without a limit, for a regular file alone, as tkt_file_open() has it. */
takt_status tkt_file_read_regular(const char *path, char **data, size_t *size, takt_error *error);

/* Opens a file to be read in pieces and closed with close(): see base/input.h, which is what most
 * readers want. What is not a regular file is refused: a pipe would be waited for until somebody
 * writes into it. Nothing is mapped: see input.c. */
takt_status tkt_file_open(const char *path, int *fd, takt_error *error);
/* Reads at most `size` bytes; *got is 0 at the end. */
takt_status tkt_file_read_some(int fd, const char *path, void *into, size_t size, size_t *got,
                               takt_error *error);

/* A file that is being written. What happens to the descriptor meanwhile is noticed: a program that
 * closes all descriptors, as daemons do, and opens a file of its own under the same number keeps
 * that file as it is. Descriptors are 3 or more, also where the program has closed 0, 1 and 2. Files
 * have the mode that the umask leaves, and others may never write them. */
typedef struct tkt_file {
    int      fd;
    int      error_number;   /* of the first failed write */
    uint64_t device, inode;  /* of what `fd` was opened for */
    char    *path;           /* with a claimed file, of the name that was free */
    char    *temporary;      /* where it is written; NULL: at `path` itself */
    char    *wish;           /* of a claimed file: the name before a number is put into it */
    size_t   stem;           /* bytes of the wish before the number */
    unsigned number;         /* 1: none is put into the name */
} tkt_file;

/* A file that appears at `path` only when it is complete, and takes the place of one that is there:
 * for names that a user has typed. Links are followed; what is not a regular file is written
 * directly. */
takt_status tkt_file_create(tkt_file *file, const char *path, takt_error *error);

/* The same for a name that Takt has made up. It never takes the place of anything, be it a link or
 * a pipe: where the name is taken, "-2", "-3" and so on is put behind its first `stem` bytes,
 * beginning with `number` (1: nothing). */
takt_status tkt_file_create_new(tkt_file *file, const char *path, size_t stem, unsigned number,
                                takt_error *error);

/* The same for a file that stands at its name from the start and stays there whatever happens. */
takt_status tkt_file_claim(tkt_file *file, const char *path, size_t stem, takt_error *error);

/* Says that a complete file has been renamed over a claimed one, and is meant from now on. */
takt_status tkt_file_follow(tkt_file *file, takt_error *error);

takt_sink tkt_file_sink(tkt_file *file);

/* Says why writing has failed. */
takt_status tkt_file_why(const tkt_file *file, takt_error *error);

/* Renames it to its path when `status` is TAKT_OK, removes it otherwise; returns what became of it.
 * `error` says what failed here; it is left alone when `status` came from elsewhere. After
 * tkt_file_finish() `path` says where the file is, until tkt_file_close() frees it. */
takt_status tkt_file_finish(tkt_file *file, takt_status status, takt_error *error);
takt_status tkt_file_close(tkt_file *file, takt_status status, takt_error *error);

/* Closes it and removes what was written. */
void tkt_file_discard(tkt_file *file);

/* The descriptor, or a copy that is 3 or more: what the program prints must not land in a file of
 * Takt's. An error stays one. */
int tkt_above_standard_streams(int fd);

/* Creates a folder and those above it. */
takt_status tkt_folder_create(const char *path, takt_error *error);

/* Creates a folder that nobody else has: PATH, or PATH-2 and so on where that is there already.
 * Writes its path into `name`. */
takt_status tkt_folder_create_new(const char *path, char *name, size_t size, takt_error *error);

/* The working directory's absolute path; false when there is none or it does not fit. */
bool tkt_folder_now(char *out, size_t size);

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
uint32_t tkt_parent_id(void);

/* Which of several processes this one is, and how many there are, as the environment says when this
 * is first asked. The size is 0 where it is not known, and with rank 0 where nothing is. */
void tkt_rank(uint32_t *rank, uint32_t *size);

/* What file names get of it: ".rank3", or nothing for a process that is alone. */
#define TKT_RANK_BYTES 20
void tkt_rank_text(char text[TKT_RANK_BYTES], uint32_t rank, uint32_t size);

/* Runs a program that is found in PATH, without a shell, what it prints on standard error, and waits
 * until it ends. Returns 0, or the errno that says why it was not started. */
int tkt_run_program(char *const arguments[]);

/* Columns of the terminal behind `fd`, or 0 when it is none. */
uint32_t tkt_terminal_width(int fd);

/* ======== Files that are mapped ======== */

/* A new file of a fixed size that is mapped shared: what the process stores in it stays in the file
 * however the process ends. */

/* Creates PATH and the ending, or PATH-2 and so on where a file stands there already, and maps it.
 * All its blocks are reserved first: a full disk is an error here, and no SIGBUS later. Others may
 * never write it. Writes the path into `name`. The memory is zero. */
takt_status tkt_shared_create(const char *path, const char *ending, size_t bytes, char *name,
                              size_t name_size, void **memory, takt_error *error);

/* Removes the file; its memory stays. */
void tkt_shared_remove(const char *name);

void tkt_shared_unmap(void *memory, size_t bytes);

/* ======== Reading in pieces ======== */

/* The bytes of a file, or of memory, through a window that moves over them; unpacked where they are
 * packed with gzip. Memory is bounded by the largest piece that somebody needs in one place, not by
 * the file. A file that is cut while it is read ends there. */

/* Bytes that are there to be read; borrowed memory while `capacity` is 0. */
typedef struct tkt_input_window {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t       *buffer;
    size_t         capacity;
} tkt_input_window;

typedef struct tkt_input {
    tkt_input_window  window;
    uint64_t    end_offset; /* of the window's end in the (unpacked) bytes */
    size_t      step;       /* bytes that are read or unpacked at a time; tests make it small */
    bool        is_packed;
    bool        is_cut;     /* packed data that ends too early or is damaged */
    takt_status status;     /* why there is no more, TAKT_OK at the end */
    const char *name;       /* for messages; borrowed */
    takt_error *error;      /* may be NULL */
    bool        is_over;    /* nothing comes after the window */
    int         fd;         /* -1: none */
    tkt_input_window  packed;     /* of the file's own bytes, if they are packed */
    uint64_t    packed_bytes; /* that have been unpacked */
    struct z_stream_s *unpacking;
} tkt_input;

/* Opens a file. What is not a regular one is refused: a pipe would be waited for until somebody
 * writes into it. After a failure there is nothing to close. */
takt_status tkt_input_open(tkt_input *input, const char *path, takt_error *error);

/* The same for bytes in memory, which stay the caller's. */
takt_status tkt_input_borrow(tkt_input *input, const uint8_t *bytes, size_t size, const char *name,
                             takt_error *error);

void tkt_input_close(tkt_input *input);

/* Makes the window `size` bytes long if there are so many; false if not, with a status where that
 * is not because of the end. What was in the window may have moved. */
bool tkt_input_fill(tkt_input *input, size_t size);

static inline size_t tkt_input_left(const tkt_input *input)
{
    return (size_t)(input->window.end - input->window.at);
}

static inline bool tkt_input_need(tkt_input *input, size_t size)
{
    return __builtin_expect(tkt_input_left(input) >= size, 1) || tkt_input_fill(input, size);
}

/* Reads to the end; returns how many bytes there were, and whether all of them are zero. */
uint64_t tkt_input_drain(tkt_input *input, bool *is_zero);

/* The offset of a place in the window. */
static inline uint64_t tkt_input_offset(const tkt_input *input, const uint8_t *at)
{
    return input->end_offset - (uint64_t)(input->window.end - at);
}

#endif
