/* Libraries at run time, and what loaded objects contain. */
#include "base/dynlib.h"
#include "support/test.h"
#include "support/skip.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not loaded with this program, and part of every C library here. */
#define UNLOADED "libBrokenLocale.so.1"

static const char *const nothing[] = {NULL};

__attribute__((section(".takt_marker"), used)) static char marker[8];

TEST(symbols_of_loaded_libraries_are_found)
{
    void *library = tkt_library_loaded("libc.so.6");
    assert_non_null(library);
    size_t (*length)(const char *) = NULL;
    void *address = tkt_library_symbol(library, "strlen");
    memcpy(&length, &address, sizeof length);
    assert_int_equal(length("takt"), 4);
    assert_null(tkt_library_symbol(library, "takt_has_no_such_function"));
    assert_null(tkt_library_open("libtakt-does-not-exist.so"));
}

TEST(loaded_objects_are_found_by_name)
{
    char path[512], again[512];
    assert_true(tkt_objects_path("libc.so", 0, path, sizeof path));
    assert_int_equal(path[0], '/');
    assert_non_null(strstr(path, "/libc.so"));
    assert_false(tkt_objects_path("libc.so", 1, again, sizeof again));
    assert_false(tkt_objects_path("libc.so", 0, again, 4));
    assert_true(tkt_objects_path("lib", 1, again, sizeof again));
    assert_false(tkt_objects_path("takt-has-no-such-object", 0, again, sizeof again));
}

TEST(an_unloadable_library_has_a_reason)
{
    assert_null(tkt_library_open("libtakt-does-not-exist.so"));
    assert_non_null(strstr(tkt_library_error(), "libtakt-does-not-exist.so"));
    assert_string_equal(tkt_library_error(), "");
}

TEST(loading_a_library_counts)
{
    assert_null(tkt_library_loaded(UNLOADED));
    uint64_t before = tkt_objects_added();
    if (!tkt_library_open(UNLOADED)) {
        SKIP_CASE("there is no " UNLOADED);
    }
    assert_true(tkt_objects_added() > before);
    assert_non_null(tkt_library_loaded(UNLOADED));
}

TEST(objects_are_found_by_file_name)
{
    const char *const one[] = {"libtakt-does-not-exist.so", "libcmocka.so", NULL};
    const char *const none[] = {"libtakt-does-not-exist.so", "cmocka", NULL};
    assert_true(tkt_objects_have(one, nothing));
    assert_false(tkt_objects_have(none, nothing));
}

TEST(objects_are_found_by_section)
{
    const char *const ours[] = {".another", ".takt_mark", NULL};
    const char *const nobodys[] = {".another", ".takt_markers", NULL};
    marker[0] = 1;
    assert_true(tkt_objects_have(nothing, ours));
    assert_false(tkt_objects_have(nothing, nobodys));
}

static void write_object(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A file takes the place of a loaded object: the header's numbers of sections are too small for it,
 * so the first section has them. The loader looked at neither. */
TEST(more_sections_than_the_header_can_count_are_looked_at)
{
    char from[512], path[] = "/tmp/takt-sections-XXXXXX";
    const char *const last[] = {".takt_last", NULL};
    const struct {
        ElfW(Ehdr) head;
        ElfW(Shdr) sections[3];
        char names[16];
    } file = {.head = {.e_ident = {0x7F, 'E', 'L', 'F', ELFCLASS64},
                       .e_shoff = sizeof file.head,
                       .e_shstrndx = SHN_XINDEX},
              .sections = {{.sh_size = 3, .sh_link = 1},
                           {.sh_offset = sizeof file.head + sizeof file.sections,
                            .sh_size = sizeof file.names},
                           {.sh_name = 1}},
              .names = "\0.takt_last"};
    if (!tkt_library_open(UNLOADED) || !tkt_objects_path(UNLOADED, 0, from, sizeof from))
        SKIP_CASE("there is no " UNLOADED);
    char *library = malloc(1 << 20);
    FILE *original = fopen(from, "rb");
    size_t size = fread(library, 1, 1 << 20, original);
    fclose(original);
    close(mkstemp(path));
    write_object(path, library, size);
    assert_non_null(tkt_library_open(path));
    assert_int_equal(unlink(path), 0);
    write_object(path, &file, sizeof file);
    assert_true(tkt_objects_have(nothing, last));
    unlink(path);
    free(library);
}

TEST_MAIN(NULL, NULL)
