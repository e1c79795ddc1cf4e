/* Names of functions out of what gcc and clang give for __PRETTY_FUNCTION__. Each line was printed
 * by one of them. */
#include "record/site.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *name;
} known[] = {
    {"int main()", "main"},
    {"physics::World::World(int)", "physics::World::World"},
    {"physics::World::~World()", "physics::World::~World"},
    {"virtual void physics::World::step(int) const", "physics::World::step"},
    {"bool physics::World::operator()(int) const", "physics::World::operator()"},
    {"physics::World::operator bool() const", "physics::World::operator bool"},
    {"physics::World::operator std::vector<int>() const",
     "physics::World::operator std::vector<int>"},
    {"bool physics::World::operator<(const physics::World&) const", "physics::World::operator<"},
    {"physics::World *physics::World::operator->()", "physics::World::operator->"},
    {"int physics::World::operator[](int)", "physics::World::operator[]"},
    {"physics::World& physics::operator<<(World&, int)", "physics::operator<<"},
    {"T physics::World::get(T) [with T = float]", "physics::World::get"},
    {"T physics::Box<int, 3>::get() const & [T = int, N = 3]", "physics::Box::get"},
    {"decltype (u) physics::Box<T, N>::map(U) [with U = std::__cxx11::basic_string<char>; "
     "T = int; int N = 3; decltype (u) = std::__cxx11::basic_string<char>]",
     "physics::Box::map"},
    {"<dependent type> physics::Box<int, 3>::map(U) [T = int, N = 3, U = std::string]",
     "physics::Box::map"},
    {"void physics::Box<std::vector<int>, 3>::In::f() [T = std::vector<int>, N = 3]",
     "physics::Box::In::f"},
    {"static std::vector<std::__cxx11::basic_string<char> > "
     "physics::World::names(const std::vector<int>&)",
     "physics::World::names"},
    {"void (* physics::World::fp(int))(float)", "physics::World::fp"},
    {"void (*freefp())(int)", "freefp"},
    {"void physics::{anonymous}::Anon::m()", "physics::Anon::m"},
    {"void physics::(anonymous namespace)::hidden()", "physics::hidden"},
    {"physics::World::step(int) const::<lambda(int)>", "physics::World::step::lambda"},
    {"auto physics::World::step(int)::(anonymous class)::operator()(int) const",
     "physics::World::step::lambda"},
    {"main()::<lambda(auto:1)> [with auto:1 = int]", "main::lambda"},
    {"void f() [with char C = '(']", "f"},
    {"void f() [with char C = ')']", "f"},
    {"void f() [with char C = ']']", "f"},
    {"void f() [with char C = '\\'']", "f"},
    {"void f() [with char C = '\\\\']", "f"},
    {"void f() [C = '\"']", "f"},
    {"void f() [C = L'(']", "f"},
    {"void fs() [with auto S = Str{\"a(b>\"}]", "fs"},
    {"static int S<'>'>::n(char) [C = '>', D = '<']", "S::n"},
    {"bool S<C>::operator<(const S<C>&) const [with char C = '>']", "S::operator<"},
    {"S<C> *S<'('>::operator->() [C = '(']", "S::operator->"},
    {"int S<'<'>::operator->*(int) [C = '<']", "S::operator->*"},
    {"bool S<'>'>::operator bool() const [C = '>']", "S::operator bool"},
    {"void TT<S<'>'>>::k() [T = S<'>'>]", "TT::k"},
    {"lam<'>'>()::<lambda(int)>", "lam::lambda"},
    {"S<'<'>::fnp(void (*)(int), char)::<lambda(int)>", "S::fnp::lambda"},
    {"void S<'('>::S()::(anonymous class)::operator()(int)::In::f() [C = '(']",
     "S::S::lambda::In::f"},
    {"S<'<'>::operator()<'('>(S<'('>)::<lambda(int)>", "S::operator()::lambda"},
    {"S<'<'>::operator< <'>'>(S<'>'>*)::<lambda(int)>", "S::operator<::lambda"},
    {"S<'<'>::operator bool() const::<lambda(int)>", "S::operator bool::lambda"},
    {"bool S<C>::operator()(char**)::K::operator<(int) [with char C = '<']",
     "S::operator()::K::operator<"},
    {"O::fp O::operator void (*)(int)()", "O::operator void (*)(int)"},
    {"O::ar O::operator int (&)[3]()", "O::operator int (&)[3]"},
    {"void S<'<'>::operator void (*)(int)()::K::in() [C = '<']",
     "S::operator void (*)(int)::K::in"},
    {"static void* O::operator new(size_t)", "O::operator new"},
    {"std::strong_ordering Q::operator<=>(const Q&) const", "Q::operator<=>"},
    {"long double operator\"\"_km(long double)", "operator\"\"_km"},
    {"int (& S<C>::ra())[3] [with char C = '<']", "S::ra"},
    {"int (&S<'<'>::ra() [C = '<'])[3]", "S::ra"},
    {"void (S<C>::* S<C>::pm(int))(float) const [with char C = '<'; S<C> = S<'<'>]", "S::pm"},
    {"void (*S<'<'>::operator+(int) [C = '<'])(float)", "S::operator+"},
    {"A::operator T() const requires  X<T> [with T = int]", "A::operator T"},
    {"void r3() requires  C == '(' [with char C = '(']", "r3"},
    {"Cc<(N > 2)> ret() [with int N = 3]", "ret"},
};

TEST(a_signature_is_cut_down_to_its_name)
{
    char name[100];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(tkt_signature_name(name, sizeof name, known[i].text),
                         strlen(known[i].name));
        assert_string_equal(name, known[i].name);
    }
}

TEST(what_is_no_signature_is_left_alone)
{
    static const char *const texts[] = {
        "", "step", "solve (fast) now", "a<b", "(((", ")", "()", "]", "> ", "::", "[]", "x]"};
    char name[100];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(tkt_signature_name(name, sizeof name, texts[i]), 0);
}

TEST(a_name_without_room_is_none)
{
    char name[6] = "";
    assert_int_equal(tkt_signature_name(name, 6, "void solve()"), 5);
    assert_string_equal(name, "solve");
    assert_int_equal(tkt_signature_name(name, 5, "void solve()"), 0);
    assert_int_equal(tkt_signature_name(name, 0, "void solve()"), 0);
}

/* Pieces of signatures in any order, and cut anywhere: nothing beyond either text is touched, and
 * what is given is a name. */
TEST(any_text_is_read_within_its_bounds)
{
    static const char *const pieces[] = {"(",
                                         ")",
                                         "<",
                                         ">",
                                         "[",
                                         "]",
                                         "{",
                                         "}",
                                         "::",
                                         " ",
                                         "~",
                                         "operator",
                                         "()",
                                         "->",
                                         "const",
                                         "&",
                                         "lambda",
                                         "(anonymous class)",
                                         "(anonymous namespace)",
                                         "step"};
    uint32_t random = 1;
    for (int round = 0; round < 100000; round++) {
        char text[64];
        size_t used = 0;
        for (int i = 0; i < 8; i++) {
            random = random * 1664525 + 1013904223;
            const char *piece = pieces[(random >> 16) % (sizeof pieces / sizeof *pieces)];
            size_t size = strlen(piece);
            if (used + size < sizeof text)
                memcpy(text + used, piece, size), used += size;
        }
        char *exact = malloc(used + 1), *name = malloc(used + 1);
        assert_true(exact && name);
        memcpy(exact, text, used);
        exact[used] = '\0';
        size_t size = tkt_signature_name(name, used + 1, exact);
        if (size > 0)
            assert_int_equal(strlen(name), size);
        free(exact);
        free(name);
    }
}

TEST_MAIN(NULL, NULL)
