/* Facts about the process. Whether the environment is hidden from set-uid programs is tried with a
 * set-uid copy of this program, which only root can make. */
#include "base/file.h"
#include "support/test.h"
#include "support/emulated.h"
#include "support/skip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SEES_VARIABLE = 10,
    SEES_NOTHING,
    IS_NOT_SECURE
};

TEST(the_first_thread_has_the_name_that_the_kernel_gave_it_or_its_own)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    assert_true(tkt_is_first_thread_name(name));
    assert_false(tkt_is_first_thread_name("takt of another"));
    assert_false(tkt_is_first_thread_name(""));
    prctl(PR_SET_NAME, "simulator");
    assert_true(tkt_is_first_thread_name("simulator"));
    assert_false(tkt_is_first_thread_name("simulato"));
    prctl(PR_SET_NAME, name);
}

TEST(the_environment_is_read)
{
    setenv("TAKT_TEST_VARIABLE", "value", 1);
    assert_string_equal(tkt_environment("TAKT_TEST_VARIABLE"), "value");
    setenv("TAKT_TEST_VARIABLE", "", 1); /* as if it were not there */
    assert_null(tkt_environment("TAKT_TEST_VARIABLE"));
    unsetenv("TAKT_TEST_VARIABLE");
    assert_null(tkt_environment("TAKT_TEST_VARIABLE"));
}

/* What the set-uid copy says about itself. */
static int look_around(void)
{
    if (!getauxval(AT_SECURE))
        return IS_NOT_SECURE;
    return tkt_environment("TAKT_TEST_VARIABLE") ? SEES_VARIABLE : SEES_NOTHING;
}

static bool make_set_uid_copy(const char *path)
{
    char command[5000];
    snprintf(command, sizeof command, "cp /proc/%d/exe '%s'", (int)getpid(), path);
    return geteuid() == 0 && system(command) == 0 && chown(path, 65534, 65534) == 0 &&
           chmod(path, 04755) == 0;
}

TEST(set_uid_programs_see_no_variables)
{
    if (test_runner())
        SKIP_CASE("an emulator hands no set-uid bit on");
    char path[4200];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/takt-set-uid-%d", folder ? folder : "/tmp", (int)getpid());
    int status = -1;
    if (make_set_uid_copy(path)) {
        pid_t child = fork();
        if (child == 0) {
            setenv("TAKT_TEST_VARIABLE", "value", 1);
            execl(path, path, "look around", (char *)NULL);
            _exit(IS_NOT_SECURE);
        }
        waitpid(child, &status, 0);
    }
    unlink(path);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == IS_NOT_SECURE)
        SKIP_CASE("a set-uid program cannot be made here: only root can, where it may be run");
    assert_int_equal(WEXITSTATUS(status), SEES_NOTHING);
}

TEST(the_programs_name_is_without_its_folders)
{
    assert_null(strchr(tkt_program_name(), '/'));
    assert_string_equal(tkt_program_name(), program_invocation_short_name);
    char *before = program_invocation_short_name;
    program_invocation_short_name = (char *)(uintptr_t) "";
    assert_string_equal(tkt_program_name(), "program");
    program_invocation_short_name = before;
}

TEST(the_hosts_name_is_that_of_the_kernel)
{
    char expected[256] = "";
    FILE *file = fopen("/proc/sys/kernel/hostname", "r");
    if (!file)
        SKIP_CASE("there is no /proc/sys/kernel/hostname");
    assert_int_equal(fscanf(file, "%255s", expected), 1);
    fclose(file);
    assert_string_equal(tkt_host_name(), expected);
}

TEST(the_process_id_is_that_of_the_kernel)
{
    assert_int_equal(tkt_process_id(), getpid());
}

/* Read once, so each in a child. */
static int rank_of_8(const char *rank)
{
    uint32_t number, size;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        clearenv();
        setenv("RANK", rank, 1);
        setenv("WORLD_SIZE", "8", 1);
        tkt_rank(&number, &size);
        _exit((int)(number * 10 + size));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ranks_count_from_0_in_a_job_of_their_size)
{
    assert_int_equal(rank_of_8("0"), 8);
    assert_int_equal(rank_of_8("7"), 78);
    assert_int_equal(rank_of_8("8"), 80); /* a job of 8 has none, so the size is unknown */
}

TEST(only_terminals_have_a_width)
{
    int null = open("/dev/null", O_RDONLY);
    assert_int_equal(tkt_terminal_width(null), 0);
    assert_int_equal(tkt_terminal_width(-1), 0);
    close(null);
    int ours = posix_openpt(O_RDWR | O_NOCTTY);
    if (ours < 0 || grantpt(ours) != 0 || unlockpt(ours) != 0)
        SKIP_CASE("no pseudo-terminals (/dev/pts)");
    int theirs = open(ptsname(ours), O_RDWR | O_NOCTTY);
    assert_true(theirs >= 0);
    assert_int_equal(tkt_terminal_width(theirs), 80); /* it does not know */
    struct winsize size = {.ws_col = 133};
    assert_int_equal(ioctl(ours, TIOCSWINSZ, &size), 0);
    assert_int_equal(tkt_terminal_width(theirs), 133);
    close(ours);
    close(theirs);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        _exit(look_around()); /* set-uid processes cannot be looked at by LeakSanitizer */
    return run_all_tests(NULL, NULL);
}
