/* Files and folders, in a folder of their own below TMPDIR. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/thread.h"

#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int enter_folder(void **state)
{
    static char folder[4096];
    const char *above = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/takt-file-XXXXXX", above ? above : "/tmp");
    *state = folder;
    return !mkdtemp(folder) || chdir(folder);
}

static int leave_folder(void **state)
{
    char command[5000];
    snprintf(command, sizeof command, "rm -rf '%s'", (const char *)*state);
    return chdir("/") || system(command);
}

static void write_plain(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_content(const char *path, const char *expected)
{
    char text[1000] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

/* How many entries a folder has. */
static int entries_of(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static takt_status put(tkt_file *file, const char *text)
{
    takt_sink sink = tkt_file_sink(file);
    return sink.write(sink.user, text, strlen(text));
}

TEST_WITH(a_file_is_read_whole_with_a_nul_behind_it, enter_folder, leave_folder)
{
    char *data;
    size_t size;
    write_plain("a.txt", "content");
    assert_int_equal(tkt_file_read("a.txt", 100, &data, &size, NULL), TAKT_OK);
    assert_int_equal(size, 7);
    assert_string_equal(data, "content");
    tkt_free(data);
    assert_int_equal(tkt_file_read("/dev/null", 100, &data, &size, NULL), TAKT_OK);
    assert_int_equal(size, 0);
    assert_string_equal(data, "");
    tkt_free(data);
}

TEST_WITH(a_file_of_exactly_the_limit_is_read_and_one_more_byte_is_not, enter_folder, leave_folder)
{
    char *data = NULL;
    size_t size = 99;
    takt_error error;
    write_plain("a.txt", "content");
    assert_int_equal(tkt_file_read("a.txt", 7, &data, &size, &error), TAKT_OK);
    tkt_free(data);
    data = NULL;
    size = 99;
    assert_int_equal(tkt_file_read("a.txt", 6, &data, &size, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot read a.txt: it has more than 6 bytes");
    assert_null(data);
    assert_int_equal(size, 99);
    assert_int_equal(tkt_file_read("/dev/zero", 1000000, &data, &size, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot read /dev/zero: it has more than 1000000 bytes");
}

static void *feed(void *argument)
{
    FILE *file = fdopen(*(int *)argument, "w");
    for (int i = 0; i < 300000; i++)
        fprintf(file, "%d\n", i % 10);
    fclose(file);
    return NULL;
}

TEST_WITH(a_pipe_is_read_to_its_end, enter_folder, leave_folder)
{
    int ends[2];
    char path[32];
    char *data;
    size_t size;
    tkt_thread feeder;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(tkt_thread_start(&feeder, "feeds", feed, &ends[1]), TAKT_OK);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(tkt_file_read(path, 1 << 20, &data, &size, NULL), TAKT_OK);
    tkt_thread_join(feeder);
    close(ends[0]);
    assert_int_equal(size, 600000);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(data[i], i % 2 ? '\n' : '0' + (int)(i / 2 % 10));
    tkt_free(data);
}

TEST_WITH(reading_fails_with_the_path_and_the_reason, enter_folder, leave_folder)
{
    char *data;
    int fd;
    size_t size;
    takt_error error;
    assert_int_equal(tkt_file_read("no/file", 9, &data, &size, &error), TAKT_IO_ERROR);
    assert_int_equal(error.status, TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot read no/file: No such file or directory");
    assert_int_equal(tkt_file_read("/", 9, &data, &size, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot read /: Is a directory");
    assert_int_equal(tkt_file_open("no/file", &fd, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot read no/file: No such file or directory");
}

/* As TAKT_CONFIG they would keep a program from starting. */
TEST_WITH(what_may_never_come_is_not_waited_for, enter_folder, leave_folder)
{
    char *data;
    size_t size;
    int ends[2];
    takt_error error;
    char path[32];
    assert_int_equal(mkfifo("pipe", 0666), 0); /* nobody writes into it */
    assert_int_equal(tkt_file_read("pipe", 100, &data, &size, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message,
                        "cannot read pipe: the pipe is empty, and nobody writes to it");
    assert_int_equal(pipe(ends), 0);
    close(ends[1]); /* who wrote has ended, and wrote nothing */
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(tkt_file_read(path, 100, &data, &size, &error), TAKT_IO_ERROR);
    close(ends[0]);
    if (access("/proc/kmsg", R_OK) == 0) /* the kernel's log, which has no end */
        assert_int_equal(tkt_file_read("/proc/kmsg", 1 << 30, &data, &size, &error), TAKT_IO_ERROR);
}

TEST_WITH(only_regular_files_are_opened, enter_folder, leave_folder)
{
    int fd = -7;
    char message[100];
    takt_error error;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0); /* nobody writes into it */
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("pipe", "link"), 0);
    static const char *const paths[] = {"pipe", "link", "folder", "socket", "/dev/null"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(tkt_file_open(paths[i], &fd, &error), TAKT_IO_ERROR);
        snprintf(message, sizeof message, "cannot read %s: it is not a regular file", paths[i]);
        assert_string_equal(error.message, message);
        assert_int_equal(fd, -7);
    }
    close(listener);
}

TEST_WITH(reading_without_memory_fails_and_leaks_nothing, enter_folder, leave_folder)
{
    char *data = NULL;
    size_t size;
    takt_error error;
    write_plain("a.txt", "content");
    tkt_alloc_fail(0, 1);
    assert_int_equal(tkt_file_read("a.txt", 100, &data, &size, &error), TAKT_NO_MEMORY);
    assert_string_equal(error.message, "cannot read a.txt: out of memory");
    tkt_alloc_fail(1, UINT64_MAX); /* the array's growth */
    assert_int_equal(tkt_file_read("/dev/zero", 1 << 20, &data, &size, NULL), TAKT_NO_MEMORY);
    tkt_alloc_fail(0, 0);
    assert_null(data);
}

TEST_WITH(an_open_file_gives_its_bytes_in_pieces, enter_folder, leave_folder)
{
    int fd;
    size_t got = 9;
    char data[8] = "";
    takt_error error;
    write_plain("a.txt", "content");
    assert_int_equal(tkt_file_open("a.txt", &fd, NULL), TAKT_OK);
    assert_int_equal(tkt_file_read_some(fd, "a.txt", data, 4, &got, NULL), TAKT_OK);
    assert_int_equal(got, 4);
    assert_int_equal(tkt_file_read_some(fd, "a.txt", data + 4, 4, &got, NULL), TAKT_OK);
    assert_int_equal(got, 3);
    assert_string_equal(data, "content");
    assert_int_equal(tkt_file_read_some(fd, "a.txt", data, 4, &got, NULL), TAKT_OK);
    assert_int_equal(got, 0);
    close(fd);
    got = 9;
    assert_int_equal(tkt_file_read_some(fd, "a.txt", data, 4, &got, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot read a.txt: Bad file descriptor");
    assert_int_equal(got, 9);
}

TEST_WITH(a_file_appears_when_it_is_complete_and_not_before, enter_folder, leave_folder)
{
    tkt_file file;
    write_plain("a.txt", "old");
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    assert_int_equal(put(&file, "new "), TAKT_OK);
    assert_int_equal(put(&file, "content"), TAKT_OK);
    assert_content("a.txt", "old");
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    assert_content("a.txt", "new content");
    assert_int_equal(entries_of("."), 1);
}

TEST_WITH(the_temporary_file_lies_beside_its_target, enter_folder, leave_folder)
{
    tkt_file file;
    char expected[64];
    assert_int_equal(mkdir("runs", 0777), 0);
    assert_int_equal(tkt_file_create(&file, "runs/x.json", NULL), TAKT_OK);
    snprintf(expected, sizeof expected, "runs/.x.json.%d.tmp", (int)getpid());
    assert_string_equal(file.temporary, expected);
    assert_int_equal(access(expected, F_OK), 0);
    assert_int_equal(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    assert_int_equal(entries_of("runs"), 1);
}

/* A child that is killed while it writes, and one that still does; and names that are not of such
 * files, or of another target. */
TEST_WITH(what_a_killed_writer_left_is_removed_by_the_next, enter_folder, leave_folder)
{
    static const char *const others[] = {".a.txt.1.tmp",  ".a.txt.tmp",
                                         ".a.txt..tmp",   ".a.txt.-5.tmp",
                                         ".a.txt. 5.tmp", ".a.txt.99999999999.tmp"};
    tkt_file file;
    char left[64];
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool is_good = tkt_file_create(&file, "a.txt", NULL) == TAKT_OK &&
                       put(&file, "half") == TAKT_OK && write(ready[1], "", 1) == 1;
        pause();
        _exit(is_good);
    }
    assert_int_equal(read(ready[0], left, 1), 1);
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    snprintf(left, sizeof left, ".a.txt.%d.tmp", (int)child);
    assert_int_equal(access(left, F_OK), 0); /* it may go on */
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);

    char again[80], of_another[80];
    snprintf(again, sizeof again, ".a.txt.%d.2.tmp", (int)child);
    snprintf(of_another, sizeof of_another, ".b.a.txt.%d.tmp", (int)child);
    write_plain(again, "half");
    write_plain(of_another, "half");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        write_plain(others[i], "mine");
    int locked = open(again, O_WRONLY); /* as from another machine */
    assert_int_equal(flock(locked, LOCK_EX), 0);
    assert_int_equal(tkt_file_create(&file, "./a.txt", NULL), TAKT_OK);
    tkt_file_discard(&file);
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(again, F_OK), 0);
    close(locked);
    assert_int_equal(tkt_file_create_new(&file, "a.txt", 1, 1, NULL), TAKT_OK);
    tkt_file_discard(&file);
    assert_int_equal(entries_of("."), 9); /* "a-2.txt" is another target */
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    tkt_file_discard(&file);
    assert_int_equal(entries_of("."), 8);
    close(ready[0]);
    close(ready[1]);
}

TEST_WITH(a_failed_file_leaves_the_old_one_and_nothing_else, enter_folder, leave_folder)
{
    tkt_file file;
    takt_error error = {.message = "untouched"};
    write_plain("a.txt", "old");
    assert_int_equal(tkt_file_create(&file, "a.txt", &error), TAKT_OK);
    assert_int_equal(put(&file, "half"), TAKT_OK);
    assert_int_equal(tkt_file_close(&file, TAKT_BAD_TRACE, &error), TAKT_BAD_TRACE);
    assert_string_equal(error.message, "untouched");
    assert_content("a.txt", "old");
    assert_int_equal(entries_of("."), 1);
}

TEST_WITH(two_writers_of_one_path_do_not_meet, enter_folder, leave_folder)
{
    tkt_file first, second;
    assert_int_equal(tkt_file_create(&first, "a.txt", NULL), TAKT_OK);
    assert_int_equal(tkt_file_create(&second, "a.txt", NULL), TAKT_OK);
    assert_int_equal(put(&first, "first"), TAKT_OK);
    assert_int_equal(put(&second, "second"), TAKT_OK);
    assert_int_equal(tkt_file_close(&first, TAKT_OK, NULL), TAKT_OK);
    assert_content("a.txt", "first");
    assert_int_equal(tkt_file_close(&second, TAKT_OK, NULL), TAKT_OK);
    assert_content("a.txt", "second");
    assert_int_equal(entries_of("."), 1);
}

TEST_WITH(new_files_have_the_mode_that_umask_leaves, enter_folder, leave_folder)
{
    tkt_file file;
    struct stat facts;
    mode_t before = umask(027);
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    umask(before);
    assert_int_equal(stat("a.txt", &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
}

TEST_WITH(no_file_is_everybodys_to_write, enter_folder, leave_folder)
{
    tkt_file file;
    struct stat facts;
    mode_t before = umask(0);
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    assert_int_equal(tkt_folder_create("folder", NULL), TAKT_OK);
    umask(before);
    assert_int_equal(stat("a.txt", &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0664);
    assert_int_equal(stat("folder", &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0775);
}

/* ---- Names that Takt has made up ---- */

TEST_WITH(a_taken_name_gets_the_next_free_number, enter_folder, leave_folder)
{
    tkt_file file;
    write_plain("a.0.txt", "old");
    assert_int_equal(symlink("nowhere", "a.0-2.txt"), 0);
    assert_int_equal(mkfifo("a.0-3.txt", 0600), 0);
    assert_int_equal(tkt_file_create_new(&file, "a.0.txt", 3, 1, NULL), TAKT_OK);
    assert_string_equal(file.path, "a.0-4.txt");
    assert_int_equal(put(&file, "new"), TAKT_OK);
    assert_int_equal(access("a.0-4.txt", F_OK), -1); /* before it is complete */
    assert_int_equal(tkt_file_finish(&file, TAKT_OK, NULL), TAKT_OK);
    assert_string_equal(file.path, "a.0-4.txt");
    assert_int_equal(file.number, 4);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    assert_content("a.0-4.txt", "new");
    assert_content("a.0.txt", "old");
    assert_int_equal(access("nowhere", F_OK), -1);
    assert_int_equal(entries_of("."), 4);
}

/* Which of two has the name is decided when the files are complete. */
TEST_WITH(two_new_files_of_one_name_do_not_meet, enter_folder, leave_folder)
{
    tkt_file first, second;
    assert_int_equal(tkt_file_create_new(&first, "a.txt", 1, 1, NULL), TAKT_OK);
    assert_int_equal(tkt_file_create_new(&second, "a.txt", 1, 1, NULL), TAKT_OK);
    assert_int_equal(put(&first, "first"), TAKT_OK);
    assert_int_equal(put(&second, "second"), TAKT_OK);
    assert_int_equal(tkt_file_close(&second, TAKT_OK, NULL), TAKT_OK);
    assert_int_equal(tkt_file_close(&first, TAKT_OK, NULL), TAKT_OK);
    assert_content("a.txt", "second");
    assert_content("a-2.txt", "first");
    assert_int_equal(entries_of("."), 2);
}

TEST_WITH(a_new_file_that_fails_leaves_nothing, enter_folder, leave_folder)
{
    tkt_file file;
    assert_int_equal(tkt_file_create_new(&file, "a.txt", 1, 1, NULL), TAKT_OK);
    assert_int_equal(tkt_file_close(&file, TAKT_NO_MEMORY, NULL), TAKT_NO_MEMORY);
    assert_int_equal(tkt_file_create_new(&file, "no/a.txt", 1, 1, NULL), TAKT_IO_ERROR);
    assert_int_equal(entries_of("."), 0);
}

TEST_WITH(a_claimed_file_stands_at_once_and_is_no_other, enter_folder, leave_folder)
{
    tkt_file file;
    write_plain("a.txt", "old");
    assert_int_equal(tkt_file_claim(&file, "a.txt", 1, NULL), TAKT_OK);
    assert_int_equal(put(&file, "new"), TAKT_OK);
    assert_content("a-2.txt", "new");
    assert_int_equal(tkt_file_close(&file, TAKT_IO_ERROR, NULL), TAKT_IO_ERROR);
    assert_content("a-2.txt", "new");
    assert_content("a.txt", "old");
    assert_int_equal(tkt_file_claim(&file, "a.txt", 1, NULL), TAKT_OK);
    tkt_file_discard(&file);
    assert_int_equal(entries_of("."), 2);
}

TEST_WITH(a_file_that_is_no_longer_there_is_not_taken_for_another, enter_folder, leave_folder)
{
    tkt_file file;
    assert_int_equal(tkt_file_claim(&file, "a.txt", 1, NULL), TAKT_OK);
    assert_int_equal(rename("a.txt", "moved.txt"), 0);
    write_plain("a.txt", "somebody else's");
    tkt_file_discard(&file);
    assert_content("a.txt", "somebody else's");
}

TEST_WITH(a_byte_of_a_file_is_replaced_where_it_is, enter_folder, leave_folder)
{
    tkt_file file;
    assert_int_equal(tkt_file_claim(&file, "a.txt", 1, NULL), TAKT_OK);
    assert_int_equal(put(&file, "new"), TAKT_OK);
    tkt_file_patch(&file, 1, 'o');
    tkt_file_patch(&file, 3, '!'); /* there is none to replace */
    assert_content("a.txt", "now");
    assert_int_equal(rename("a.txt", "moved.txt"), 0);
    write_plain("a.txt", "somebody else's");
    tkt_file_patch(&file, 0, 'S');
    assert_content("a.txt", "somebody else's");
    tkt_file_discard(&file);
}

TEST_WITH(claiming_without_memory_leaves_no_file, enter_folder, leave_folder)
{
    tkt_file file;
    write_plain("a.txt", "old");
    for (uint64_t after = 0;; after++) {
        takt_error error;
        tkt_alloc_fail(after, 1);
        takt_status status = tkt_file_create_new(&file, "a.txt", 1, 1, &error);
        if (status == TAKT_OK)
            status = tkt_file_close(&file, TAKT_OK, &error);
        tkt_alloc_fail(0, 0);
        if (status == TAKT_OK)
            break;
        assert_int_equal(status, TAKT_NO_MEMORY);
        assert_int_equal(entries_of("."), 1);
    }
    assert_int_equal(entries_of("."), 2);
}

/* ---- Descriptors ---- */

TEST_WITH(a_descriptor_that_the_program_has_taken_is_not_written, enter_folder, leave_folder)
{
    tkt_file file;
    takt_error error;
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    assert_int_equal(put(&file, "first"), TAKT_OK);
    int theirs = open("theirs", O_RDWR | O_CREAT, 0600);
    int number = file.fd;
    assert_int_equal(dup2(theirs, number), number);
    assert_int_equal(put(&file, "second"), TAKT_IO_ERROR);
    assert_int_equal(tkt_file_close(&file, TAKT_IO_ERROR, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message,
                        "cannot write a.txt: the program has closed its file descriptor");
    assert_content("theirs", "");
    assert_int_equal(fcntl(number, F_GETFD), 0); /* still open */
    assert_int_equal(entries_of("."), 1);
    close(number);
    close(theirs);
}

TEST_WITH(standard_streams_numbers_are_left_to_the_program, enter_folder, leave_folder)
{
    tkt_file file;
    int input = dup(0);
    close(0);
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    assert_true(file.fd > 2);
    assert_int_equal(fcntl(file.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    dup2(input, 0);
    close(input);
}

/* ---- Signals ---- */

TEST_WITH(a_closed_pipe_and_a_limit_raise_no_signal, enter_folder, leave_folder)
{
    int ends[2];
    sigset_t pending;
    struct rlimit before, small;
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    takt_sink sink = takt_sink_fd(ends[1]);
    assert_int_equal(sink.write(sink.user, "x", 1), TAKT_IO_ERROR);
    close(ends[1]);
    tkt_file file;
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(put(&file, "x"), TAKT_IO_ERROR);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_IO_ERROR);
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE) || sigismember(&pending, SIGXFSZ));
}

TEST_WITH(a_signal_that_was_pending_before_stays_the_programs, enter_folder, leave_folder)
{
    int ends[2];
    sigset_t pipe_signal, before, pending;
    const struct timespec at_once = {0, 0};
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    raise(SIGPIPE);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    takt_sink sink = takt_sink_fd(ends[1]);
    assert_int_equal(sink.write(sink.user, "x", 1), TAKT_IO_ERROR);
    sigpending(&pending);
    assert_true(sigismember(&pending, SIGPIPE));
    assert_int_equal(sigtimedwait(&pipe_signal, NULL, &at_once), SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
}

TEST_WITH(a_link_is_kept_and_its_target_replaced, enter_folder, leave_folder)
{
    tkt_file file;
    struct stat facts;
    assert_int_equal(mkdir("runs", 0777), 0);
    write_plain("runs/a.txt", "old");
    assert_int_equal(symlink("runs/a.txt", "latest"), 0);
    assert_int_equal(tkt_file_create(&file, "latest", NULL), TAKT_OK);
    assert_int_equal(put(&file, "new"), TAKT_OK);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    assert_content("runs/a.txt", "new");
    assert_int_equal(lstat("latest", &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
}

TEST_WITH(devices_are_written_and_never_replaced, enter_folder, leave_folder)
{
    tkt_file file;
    struct stat facts;
    assert_int_equal(tkt_file_create(&file, "/dev/null", NULL), TAKT_OK);
    assert_null(file.temporary);
    assert_int_equal(put(&file, "gone"), TAKT_OK);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    assert_int_equal(stat("/dev/null", &facts), 0);
    assert_true(S_ISCHR(facts.st_mode));
}

TEST_WITH(names_as_long_as_the_system_allows_can_be_written, enter_folder, leave_folder)
{
    tkt_file file;
    char name[256];
    memset(name, 'x', sizeof name);
    name[255] = 0;
    assert_int_equal(tkt_file_create(&file, name, NULL), TAKT_OK);
    assert_int_equal(put(&file, "content"), TAKT_OK);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, NULL), TAKT_OK);
    assert_content(name, "content");
}

TEST_WITH(a_full_disk_is_named_with_the_path, enter_folder, leave_folder)
{
    tkt_file file;
    takt_error error;
    assert_int_equal(tkt_file_create(&file, "/dev/full", NULL), TAKT_OK);
    assert_int_equal(put(&file, "content"), TAKT_IO_ERROR);
    assert_int_equal(tkt_file_close(&file, TAKT_IO_ERROR, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot write /dev/full: No space left on device");
    assert_int_equal(error.status, TAKT_IO_ERROR);
}

/* A size limit stands in for a disk that fills up half-way: the first write is a short one. */
TEST_WITH(a_write_that_fails_half_way_removes_the_file, enter_folder, leave_folder)
{
    struct rlimit before, small;
    tkt_file file;
    takt_error error;
    char data[5000];
    memset(data, 'x', sizeof data);
    data[sizeof data - 1] = 0;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 3000;
    assert_int_equal(tkt_file_create(&file, "a.txt", NULL), TAKT_OK);
    setrlimit(RLIMIT_FSIZE, &small);
    takt_status status = put(&file, data);
    /* Even who forgets the failed write gets no damaged file. */
    takt_status closed = tkt_file_close(&file, TAKT_OK, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, TAKT_IO_ERROR);
    assert_int_equal(closed, TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot write a.txt: File too large");
    assert_int_equal(entries_of("."), 0);
}

TEST_WITH(creating_fails_with_the_path_and_the_reason, enter_folder, leave_folder)
{
    tkt_file file;
    takt_error error;
    assert_int_equal(tkt_file_create(&file, "no/x.json", &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot write no/x.json: No such file or directory");
    assert_int_equal(tkt_file_close(&file, TAKT_IO_ERROR, &error), TAKT_IO_ERROR);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(tkt_file_create(&file, "folder", &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot write folder: Is a directory");
}

TEST_WITH(a_target_that_became_a_folder_is_an_error, enter_folder, leave_folder)
{
    tkt_file file;
    takt_error error;
    assert_int_equal(tkt_file_create(&file, "a", NULL), TAKT_OK);
    assert_int_equal(mkdir("a", 0777), 0);
    assert_int_equal(tkt_file_close(&file, TAKT_OK, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot write a: Is a directory");
    assert_int_equal(entries_of("."), 1);
}

TEST_WITH(creating_without_memory_leaves_no_file, enter_folder, leave_folder)
{
    tkt_file file;
    for (uint64_t after = 0;; after++) {
        takt_error error;
        tkt_alloc_fail(after, 1);
        takt_status status = tkt_file_create(&file, "a.txt", &error);
        tkt_alloc_fail(0, 0);
        if (status == TAKT_OK)
            break;
        assert_int_equal(status, TAKT_NO_MEMORY);
        assert_string_equal(error.message, "cannot write a.txt: out of memory");
        assert_int_equal(entries_of("."), 0);
    }
    assert_int_equal(tkt_file_close(&file, TAKT_NO_MEMORY, NULL), TAKT_NO_MEMORY);
    assert_int_equal(entries_of("."), 0);
}

TEST_WITH(folders_are_created_with_those_above_them, enter_folder, leave_folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/d//e/", (const char *)*state);
    assert_int_equal(tkt_folder_create("a/b/c", NULL), TAKT_OK);
    assert_int_equal(tkt_folder_create("a/b/c", NULL), TAKT_OK);
    assert_int_equal(tkt_folder_create(path, NULL), TAKT_OK);
    assert_int_equal(tkt_folder_create("/", NULL), TAKT_OK);
    assert_int_equal(entries_of("a/b"), 1);
    assert_int_equal(entries_of("d/e"), 0);
}

TEST_WITH(a_new_folder_takes_the_first_free_name, enter_folder, leave_folder)
{
    char name[8];
    takt_error error;
    assert_int_equal(tkt_folder_create_new("a/b/", NULL, name, sizeof name, NULL), TAKT_OK);
    assert_string_equal(name, "a/b");
    assert_int_equal(tkt_folder_create_new("a/b", NULL, name, sizeof name, NULL), TAKT_OK);
    assert_string_equal(name, "a/b-2");
    assert_int_equal(mkdir("a/b-3", 0777), 0);
    assert_int_equal(tkt_folder_create_new("a/b", NULL, name, sizeof name, NULL), TAKT_OK);
    assert_string_equal(name, "a/b-4");
    assert_int_equal(entries_of("a"), 4);
    /* "own." may share a folder in which no file of its own is. */
    assert_int_equal(tkt_folder_create_new("a/b", "own.", name, sizeof name, NULL), TAKT_OK);
    assert_string_equal(name, "a/b");
    fclose(fopen("a/b/own.0", "w"));
    fclose(fopen("a/b-2/owner", "w"));
    assert_int_equal(tkt_folder_create_new("a/b", "own.", name, sizeof name, NULL), TAKT_OK);
    assert_string_equal(name, "a/b-2");
    assert_int_equal(tkt_folder_create_new("a/long", NULL, name, 6, &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot create folder a/long: File name too long");
    assert_int_equal(tkt_folder_create_new("", NULL, name, sizeof name, &error), TAKT_IO_ERROR);
}

TEST_WITH(a_file_in_the_way_of_a_folder_is_an_error, enter_folder, leave_folder)
{
    takt_error error;
    write_plain("file", "");
    assert_int_equal(tkt_folder_create("file", &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot create folder file: File exists");
    assert_int_equal(tkt_folder_create("file/in/it", &error), TAKT_IO_ERROR);
    assert_string_equal(error.message, "cannot create folder file/in/it: File exists");
    assert_int_equal(tkt_folder_create("", &error), TAKT_IO_ERROR);
    tkt_alloc_fail(0, 1);
    assert_int_equal(tkt_folder_create("a", &error), TAKT_NO_MEMORY);
    assert_string_equal(error.message, "cannot create folder a: out of memory");
}

static _Atomic int alarms;

static void count_alarm(int number)
{
    (void)number;
    alarms++;
}

typedef struct drain {
    int fd;
    uint64_t size;
    uint64_t sum;
} drain;

/* Reads nothing before some signals have interrupted the writer, which waits on the full pipe. */
static void *drain_late(void *argument)
{
    drain *mine = argument;
    unsigned char bytes[777];
    while (alarms < 3)
        sched_yield();
    for (ssize_t got; (got = read(mine->fd, bytes, sizeof bytes)) > 0;) {
        for (ssize_t i = 0; i < got; i++)
            mine->sum = mine->sum * 31 + bytes[i];
        mine->size += (uint64_t)got;
    }
    return NULL;
}

static void write_interrupted(int flags)
{
    enum {
        SIZE = 1 << 20
    };
    int ends[2];
    unsigned char *data = tkt_alloc(SIZE);
    uint64_t sum = 0;
    for (size_t i = 0; i < SIZE; i++) {
        data[i] = (unsigned char)(i * i >> 7);
        sum = sum * 31 + data[i];
    }
    alarms = 0;
    assert_int_equal(pipe2(ends, 0), 0);
    fcntl(ends[1], F_SETFL, flags);
    drain reader = {.fd = ends[0]};
    tkt_thread thread;
    assert_int_equal(tkt_thread_start(&thread, "drains", drain_late, &reader), TAKT_OK);
    struct sigaction action = {.sa_handler = count_alarm}; /* without SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
    takt_sink sink = takt_sink_fd(ends[1]);
    takt_status status = sink.write(sink.user, data, SIZE);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    close(ends[1]);
    tkt_thread_join(thread);
    close(ends[0]);
    tkt_free(data);
    assert_int_equal(status, TAKT_OK);
    assert_int_equal(reader.size, SIZE);
    assert_int_equal(reader.sum, sum);
}

TEST(a_sink_writes_all_bytes_through_signals)
{
    write_interrupted(0);
}

TEST(a_sink_writes_all_bytes_to_a_non_blocking_descriptor)
{
    write_interrupted(O_NONBLOCK);
}

TEST(a_sink_tells_that_its_descriptor_is_bad)
{
    takt_sink sink = takt_sink_fd(-1);
    assert_int_equal(sink.write(sink.user, "x", 1), TAKT_IO_ERROR);
    assert_int_equal(sink.write(sink.user, "x", 0), TAKT_OK);
}

TEST_MAIN(NULL, NULL)
