/* Log lines. What goes to standard error depends on the environment, which is read once, so those
 * tests run in children that have not logged yet, and stand first. */
#include "base/error.h"

#include "base/thread.h"

#include "support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say_all(void)
{
    tkt_log(TAKT_LOG_ERROR, "error %d", 1);
    tkt_log(TAKT_LOG_WARNING, "warning");
    tkt_log(TAKT_LOG_INFO, "info");
}

static void redirect_and_say(int fd, const char *wish, void (*say)(void))
{
    dup2(fd, STDERR_FILENO);
    if (wish)
        setenv("TAKT_LOG", wish, 1);
    else
        unsetenv("TAKT_LOG");
    say();
    _exit(0);
}

/* What a child says on standard error with TAKT_LOG set to `wish`. */
static void hear(const char *wish, void (*say)(void), char *heard, size_t capacity)
{
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0)
        redirect_and_say(pipe_ends[1], wish, say);
    close(pipe_ends[1]);
    size_t size = 0;
    for (ssize_t got; (got = read(pipe_ends[0], heard + size, capacity - size - 1)) > 0;)
        size += (size_t)got;
    heard[size] = 0;
    close(pipe_ends[0]);
    waitpid(child, NULL, 0);
}

TEST(errors_and_warnings_go_to_standard_error)
{
    char heard[256];
    hear(NULL, say_all, heard, sizeof heard);
    assert_string_equal(heard, "takt: error 1\ntakt: warning\n");
    hear("whatever", say_all, heard, sizeof heard);
    assert_string_equal(heard, "takt: error 1\ntakt: warning\n");
}

TEST(takt_log_info_prints_stages_too)
{
    char heard[256];
    hear("info", say_all, heard, sizeof heard);
    assert_string_equal(heard, "takt: error 1\ntakt: warning\ntakt: info\n");
}

TEST(takt_log_off_prints_nothing)
{
    char heard[256];
    hear("off", say_all, heard, sizeof heard);
    assert_string_equal(heard, "");
}

static void say_something_long(void)
{
    char text[5000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    tkt_log(TAKT_LOG_ERROR, "%s", text);
}

TEST(a_long_line_is_cut_and_still_ends)
{
    static char heard[8000];
    hear(NULL, say_something_long, heard, sizeof heard);
    size_t size = strlen(heard);
    assert_in_range(size, 500, 1100);
    assert_int_equal(heard[size - 1], '\n');
    assert_ptr_equal(strchr(heard, '\n'), heard + size - 1);
}

/* What a hook was told last. */
typedef struct told {
    int count;
    takt_log_level level;
    char line[200];
} told;

static void remember(takt_log_level level, const char *line, void *user)
{
    told *mine = user;
    mine->count++;
    mine->level = level;
    strncpy(mine->line, line, sizeof mine->line - 1);
}

TEST(a_hook_gets_every_level_and_the_bare_line)
{
    told mine = {0};
    takt_set_log(remember, &mine);
    say_all();
    assert_int_equal(mine.count, 3);
    assert_int_equal(mine.level, TAKT_LOG_INFO);
    assert_string_equal(mine.line, "info");
    tkt_log(TAKT_LOG_WARNING, "two\nlines of %s", "\x1B[0m");
    assert_int_equal(mine.level, TAKT_LOG_WARNING);
    assert_string_equal(mine.line, "two?lines of ?[0m");
    takt_set_log(NULL, NULL);
}

static void say_after_a_hook(void)
{
    told mine = {0};
    takt_set_log(remember, &mine);
    tkt_log(TAKT_LOG_ERROR, "hidden");
    takt_set_log(NULL, NULL);
    tkt_log(TAKT_LOG_ERROR, "shown");
}

TEST(null_restores_standard_error)
{
    char heard[256];
    hear(NULL, say_after_a_hook, heard, sizeof heard);
    assert_string_equal(heard, "takt: shown\n");
}

static void log_again(takt_log_level level, const char *line, void *user)
{
    told *mine = user;
    mine->count++;
    if (level == TAKT_LOG_INFO)
        return;
    tkt_log(TAKT_LOG_INFO, "%s again", line);
    takt_set_log(remember, mine);
    tkt_log(TAKT_LOG_INFO, "third");
}

TEST(a_hook_may_log_and_set_hooks)
{
    told mine = {0};
    takt_set_log(log_again, &mine);
    tkt_log(TAKT_LOG_ERROR, "first");
    takt_set_log(NULL, NULL);
    assert_int_equal(mine.count, 3);
    assert_string_equal(mine.line, "third");
}

static void spoil_errno(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)line, (void)user;
    errno = ENOENT;
}

TEST(logging_keeps_errno)
{
    takt_set_log(spoil_errno, NULL);
    errno = EDOM;
    tkt_log(TAKT_LOG_ERROR, "line");
    assert_int_equal(errno, EDOM);
    takt_set_log(NULL, NULL);
}

/* Two hooks, each of which knows its own user pointer. */
static int first_user, second_user;
static _Atomic int crossed, heard_lines;

static void first_hook(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)line;
    crossed += user != &first_user;
    heard_lines++;
}

static void second_hook(takt_log_level level, const char *line, void *user)
{
    (void)level, (void)line;
    crossed += user != &second_user;
    heard_lines++;
}

static void *log_often(void *argument)
{
    (void)argument;
    for (int i = 0; i < 20000; i++)
        tkt_log(TAKT_LOG_INFO, "line %d", i);
    return NULL;
}

TEST(a_swapped_hook_never_gets_the_others_user)
{
    tkt_thread threads[2];
    takt_set_log(first_hook, &first_user);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tkt_thread_start(&threads[i], "logs", log_often, NULL), TAKT_OK);
    for (int i = 0; heard_lines < 2 * 20000; i++)
        takt_set_log(i % 2 ? first_hook : second_hook, i % 2 ? &first_user : &second_user);
    for (int i = 0; i < 2; i++)
        tkt_thread_join(threads[i]);
    takt_set_log(NULL, NULL);
    assert_int_equal(crossed, 0);
    assert_int_equal(heard_lines, 2 * 20000);
}

TEST_MAIN(NULL, NULL)
