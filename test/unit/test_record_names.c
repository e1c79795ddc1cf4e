/* Names and texts of run time: what a thread remembers of them is never another one's. */
#include "record/site.h"

#include "support/test.h"

#include <stdio.h>

static void check_name(const char *name, takt_site_kind kind)
{
    tkt_thread_log *log = tkt_log_enter();
    uint32_t id = tkt_name_site(log, name, kind);
    tkt_log_leave(log);
    assert_string_equal(tkt_site_get(id)->name.bytes, name);
    assert_int_equal(tkt_site_get(id)->kind, kind);
}

static void check_text(const char *text)
{
    tkt_thread_log *log = tkt_log_enter();
    uint32_t id = tkt_text_of_value(log, text);
    tkt_log_leave(log);
    assert_string_equal(tkt_text_get(id).bytes, text);
}

/* Far more than a thread remembers, at one address, at several, and of both kinds. */
TEST(each_name_has_its_own_site)
{
    static char buffer[32], array[64][8];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2000; i++) {
            snprintf(buffer, sizeof buffer, i % 3 ? "%d" : "name with a long beginning %d", i);
            check_name(buffer, TAKT_SITE_SCOPE);
            check_name(buffer, TAKT_SITE_MARK);
            snprintf(array[i % 64], sizeof array[0], "a%d", i % 7);
            check_name(array[i % 64], TAKT_SITE_SCOPE);
        }
}

TEST(each_text_has_its_own_id)
{
    char text[64];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2000; i++) {
            snprintf(text, sizeof text, i % 3 ? "%d" : "a text that nobody remembers, %d", i);
            check_text(text);
        }
    check_text("");
}

/* Ids of values come again after as many generations as have a number. */
TEST(a_text_that_was_forgotten_is_not_remembered)
{
    tkt_site_forget_values();
    check_text("left");
    for (int generation = 0; generation < 300; generation++) {
        check_text("right"); /* has the number that "left" had */
        tkt_site_forget_values();
    }
    for (int generation = 0; generation < 300; generation++) {
        check_text("right");
        check_text("left");
        tkt_site_forget_values();
        check_text("between");
        tkt_site_forget_values();
    }
}

/* A thread asks for a name again once it has forgotten it: however often, that takes no room. */
TEST(a_known_name_leaves_the_room_to_others)
{
    tkt_site_limit(16 << 20); /* four mebibytes of names */
    for (int i = 0; i < 100000; i++)
        tkt_site_named("known", TAKT_SITE_SCOPE);
    uint32_t id = tkt_site_named("new", TAKT_SITE_SCOPE);
    assert_string_equal(tkt_site_get(id)->name.bytes, "new");
}

static uint64_t lost_names(void)
{
    uint64_t losses[TAKT_LOSS_COUNT];
    tkt_log_losses(losses);
    return losses[TAKT_LOSS_MORE_NAMES];
}

TEST(a_text_without_room_is_counted_each_time)
{
    char text[64];
    tkt_site_limit(0);
    for (int i = 0; lost_names() == 0; i++) {
        snprintf(text, sizeof text, "filling %d", i);
        tkt_thread_log *log = tkt_log_enter();
        tkt_text_of_value(log, text);
        tkt_log_leave(log);
    }
    for (uint64_t again = 0; again < 5; again++) {
        tkt_thread_log *log = tkt_log_enter();
        uint32_t id = tkt_text_of_value(log, "too late");
        tkt_log_leave(log);
        assert_string_equal(tkt_text_get(id).bytes, "(more names)");
        assert_int_equal(lost_names(), 2 + again);
    }
}

TEST_MAIN(NULL, NULL)
