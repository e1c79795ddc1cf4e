/* Names of kernels as compilers make them, and what tables are to show. The mangled names were made
 * by nvcc 13 and g++ from sources with templates, lambdas and namespaces without names. */
#include "cuda/kernel.h"

#include "base/alloc.h"
#include "support/test.h"
#include "support/skip.h"

#include <takt/activity.h>

#include <stdio.h>
#include <string.h>

static void assert_short(const char *demangled, const char *expected)
{
    char out[256];
    assert_string_equal(tkt_name_shorten(out, sizeof out, demangled), expected);
}

TEST(demangles_and_shortens_what_nvcc_makes)
{
    static const char *const names[][3] = {
        {"_Z4statPi", "stat(int*)", "stat"},
        {"cname", "cname", "cname"},
        {"_Z3depIiEN2eiIT_E4typeEPS1_", "ei<int>::type dep<int>(int*)", "dep<...>"},
        {"_Z2enIL1E1EEvPi", "void en<(E)1>(int*)", "en<...>"},
        {"_Z3decIiEDTcmcv2eiIT_E_EcvvLi0EEPS1_",
         "decltype (((ei<int>)()),((void)(0))) dec<int>(int*)", "dec<...>"},
        {"_ZN33_GLOBAL__N__1ad6ef5d_4_a_cu_cname5anon2EPi", "(anonymous namespace)::anon2(int*)",
         "(anonymous namespace)::anon2"},
        {"_ZN33_GLOBAL__N__1ad6ef5d_4_a_cu_cname4anonIfEEvPT_",
         "void (anonymous namespace)::anon<float>(float*)", "(anonymous namespace)::anon<...>"},
        {"_ZN2ns5applyIZ4mainEUliE0_EEvT_Pi",
         "void ns::apply<main::{lambda(int)#2}>(main::{lambda(int)#2}, int*)", "ns::apply<...>"},
        {"_ZN2ns3numILi4ELb1EEEvRAT__f", "void ns::num<4, true>(float (&) [4])", "ns::num<...>"},
        {"_Znotaname", "_Znotaname", "_Znotaname"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *demangled = tkt_name_demangle(names[i][0]);
        assert_non_null(demangled);
        if (strcmp(demangled, names[i][0]) == 0 && names[i][0][1] == 'Z' && i != 9)
            SKIP_CASE("there is no C++ library");
        assert_string_equal(demangled, names[i][1]);
        assert_short(demangled, names[i][2]);
        tkt_free(demangled);
    }
}

TEST(shortens_what_looks_like_brackets)
{
    assert_short("bool a::operator< <int>(a::b<int> const&)", "a::operator<<...>");
    assert_short("a& operator<< <char>(a&, char)", "operator<<<...>");
    assert_short("a::operator<(a const&) const", "a::operator<");
    assert_short("a::operator->() const", "a::operator->");
    assert_short("a::operator()(int) const", "a::operator()");
    assert_short("void b<int>::operator()<float>(float)", "b<...>::operator()<...>");
    assert_short("a::operator unsigned int() const", "a::operator unsigned int");
    assert_short("a::operator std::vector<int>() const", "a::operator std::vector<...>");
    assert_short("operator new(unsigned long)", "operator new");
    assert_short("std::enable_if<((4)>(2)), void>::type foo<4>(int)", "foo<...>");
    assert_short("void k<&(x::operator>)>(int)", "k<...>");
    assert_short("void k<(a->b)>(int)", "k<...>");
    assert_short("void k<a->b>(int)", "k<...>");
    assert_short("operators<int>(int)", "operators<...>");
    assert_short("my_operator(int)", "my_operator");
    assert_short("a::operator void (*)(int)()", "a::operator void (*)(int)");
    assert_short("a::operator int (&) [3]()", "a::operator int (&) [3]");
    assert_short("a::operator void (b<int>::*)(int)() const", "a::operator void (b<int>::*)(int)");
    assert_short("a::operator delete(void*)", "a::operator delete");
    assert_short("a::operator new(unsigned long, char*)", "a::operator new");
    assert_short("int operator\"\" _t<(char)49>()", "operator\"\" _t<...>");
    assert_short("operator\"\" _km(long double)", "operator\"\" _km");
    assert_short("a<(char)40>::operator()(int) const", "a<...>::operator()");
}

/* As other demanglers than the C++ library's write them. */
TEST(shortens_around_characters_and_strings)
{
    assert_short("void f<'('>(int)", "f<...>");
    assert_short("void f<')', '>', '<'>(int)", "f<...>");
    assert_short("void f<'\\'', '\"', '\\\\'>(int)", "f<...>");
    assert_short("void s<'>'>::f<'('>(int)", "s<...>::f<...>");
    assert_short("run(a<')'>, int)::{lambda(a<'}'>)#2}::operator()(a<'{'>) const",
                 "run::{lambda#2}::operator()");
    assert_short("void f<a{\"(>\"}>(int)", "f<...>");
    assert_short("void f<'>(int)", "f<...>");
    const char *base;
    assert_int_equal(tkt_name_base("void s<'>'>::f<'('>(int)", &base), 1);
    assert_memory_equal(base, "f<", 2);
}

TEST(shortens_what_is_local)
{
    assert_short("main::{lambda(int, float)#1}::operator()(int) const",
                 "main::{lambda#1}::operator()");
    assert_short("run(int)::{lambda()#2}::operator()() const", "run::{lambda#2}::operator()");
    assert_short("void run<int>(int)::k<float>(float)", "run<...>::k<...>");
    assert_short("main::'lambda'(int)::operator()(int) const", "main::'lambda'::operator()");
    assert_short("f(int)::{unnamed type#1}::g()", "f::{unnamed type#1}::g");
    assert_short("_INTERNAL_2f_4_a_cu_main::k(int*)", "k");
    assert_short("k(int*) [clone .constprop.0]", "k");
    assert_short("void (anonymous namespace)::k((anonymous namespace)::t)",
                 "(anonymous namespace)::k");
    assert_short("unsigned long long f<int>(int)", "f<...>");
    assert_short("decltype(auto) f<int>(int)", "f<...>");
}

/* What no demangler makes must end all the same, and within bounds. */
TEST(shortens_anything)
{
    assert_short("", "");
    assert_short("<", "<...>");
    assert_short("a<b", "a<...>");
    assert_short("a<b(", "a<...>");
    assert_short("(", "(");
    assert_short("a(", "a");
    assert_short("{lambda(", "{lambda");
    assert_short("void ", "void ");
    assert_short("operator", "operator");
    assert_short(">>>", ">>>");
    assert_short("a]b)c}", "a]b)c}");
}

TEST(cuts_to_fit)
{
    char out[16];
    assert_string_equal(tkt_name_shorten(out, 9, "integrate(int)"), "integ...");
    assert_string_equal(tkt_name_shorten(out, 10, "integrate(int)"), "integrate");
    assert_string_equal(tkt_name_shorten(out, 9, "long_type_name::very f()"), "f");
    assert_string_equal(tkt_name_shorten(out, 9, "wort\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"),
                        "wort...");
    assert_string_equal(tkt_name_shorten(out, 1, "integrate"), "");
    assert_string_equal(tkt_name_shorten(out, 3, "integrate"), "");
}

static void assert_class(const char *demangled, uint32_t filter, const char *expected)
{
    char label[128];
    assert_int_equal(tkt_name_classify(demangled, label, sizeof label), filter);
    assert_string_equal(label, expected);
}

TEST(knows_kernels_of_libraries)
{
    static const char *const names[] = {
        "void cub::CUB_300000_SM_900::DeviceReduceKernel<int>(int*)",
        "void at_cuda_detail::cub::DeviceScanKernel<int>(int*)",
        "void thrust::cuda_cub::core::_kernel_agent<int>(int)",
        "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm>(int)",
        "cutlass_80_tensorop_d884gemm_64x32_16x4_tn_align1",
        "ampere_sgemm_128x64_nn",
        "volta_dgemm_64x64_nt",
        "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_kernel",
        "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT",
        "void gemv2T_kernel_val<int, int, float>(int)",
        "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(int)",
        "void cublasLt::splitKreduce_kernel<32, 16, int>(int)",
        "void dot_kernel<float, 128, 0, cublasDotParams<int> >(cublasDotParams<int>)",
        "void cudnn::ops::nchwToNhwcKernel<float>(int)",
        "void implicit_convolve_sgemm<float, 128>(int)",
        "void spRadix0064B::kernel1Mem<unsigned int, float>(int)",
        "void vector_fft<256u, int>(int)",
        "void cusparse::csrmv_v3_kernel<int>(int)",
        "void gen_sequenced<curandStateXORWOW, float>(int)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",
    };
    char label[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (tkt_name_classify(names[i], label, sizeof label) != TAKT_TIMING_BUILTIN)
            fail_msg("%s is not builtin", names[i]);
        assert_memory_equal(label, "builtin kernel ", 15);
    }
    assert_class("ampere_sgemm_128x64_nn", TAKT_TIMING_BUILTIN,
                 "builtin kernel ampere_sgemm_128x64_nn");
}

TEST(leaves_the_programs_kernels_alone)
{
    assert_class("inc_loop(float*, int)", TAKT_TIMING_KERNEL, "kernel inc_loop");
    assert_class("dot_kernel(float*, float*)", TAKT_TIMING_KERNEL, "kernel dot_kernel");
    assert_class("void step<thrust::tuple<int> >(int)", TAKT_TIMING_KERNEL, "kernel step<...>");
    assert_class("init(curandStateXORWOW*)", TAKT_TIMING_KERNEL, "kernel init");
    assert_class("sm_90(int)", TAKT_TIMING_KERNEL, "kernel sm_90");
    assert_class("cubic(int)", TAKT_TIMING_KERNEL, "kernel cubic");
}

TEST(names_kernels_of_warp)
{
    assert_class("get_acceleration_a9fb4286_cuda_kernel_forward", TAKT_TIMING_KERNEL,
                 "forward kernel get_acceleration");
    assert_class("inc_loop_cuda_kernel_backward", TAKT_TIMING_KERNEL, "backward kernel inc_loop");
    assert_class("f_deadbeef_cuda_kernel_forward", TAKT_TIMING_KERNEL, "forward kernel f");
    assert_class("_deadbeef_cuda_kernel_forward", TAKT_TIMING_KERNEL, "forward kernel _deadbeef");
    assert_class("_cuda_kernel_forward", TAKT_TIMING_KERNEL, "kernel _cuda_kernel_forward");
    assert_class("f_cuda_kernel_forwards", TAKT_TIMING_KERNEL, "kernel f_cuda_kernel_forwards");
}

/* Rules stay for the life of the process: those of this test match names of its own only. */
TEST(rules_of_the_program_come_first)
{
    assert_int_equal(takt_kernel_label("^sim_(.*)_v([0-9])\\(", "pass \\2 of \\1"), TAKT_OK);
    assert_int_equal(takt_kernel_label("^sim_", "some pass"), TAKT_OK);
    assert_class("sim_density_v3(int)", TAKT_TIMING_KERNEL, "pass 3 of density");
    assert_class("sim_other(int)", TAKT_TIMING_KERNEL, "some pass");
    assert_int_equal(takt_kernel_builtin("^my_library::"), TAKT_OK);
    assert_class("my_library::solve(int)", TAKT_TIMING_BUILTIN, "builtin kernel my_library::solve");
    assert_int_equal(takt_kernel_label("solve", "solver"), TAKT_OK);
    assert_class("my_library::solve(int)", TAKT_TIMING_BUILTIN, "solver");
    assert_class("solve(int)", TAKT_TIMING_KERNEL, "solver");
    assert_int_equal(takt_kernel_label("(.*)_cuda_kernel_adjoint", "adjoint \\1\\9"), TAKT_OK);
    assert_class("f_cuda_kernel_adjoint", TAKT_TIMING_KERNEL, "adjoint f");
    assert_int_equal(takt_kernel_label("^cub::mine", "mine"), TAKT_OK);
    assert_class("cub::mine(int)", TAKT_TIMING_KERNEL, "mine");
}

TEST(refuses_what_is_no_rule)
{
    assert_int_equal(takt_kernel_label("(", "x"), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_kernel_label("x", NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_kernel_label("x", ""), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_kernel_builtin(NULL), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_kernel_builtin(""), TAKT_BAD_ARGUMENT);
    assert_int_equal(takt_kernel_builtin("["), TAKT_BAD_ARGUMENT);
    for (uint64_t failing = 0; failing < 2; failing++) {
        tkt_alloc_fail(failing, 1);
        assert_int_equal(takt_kernel_label("never", "x"), TAKT_NO_MEMORY);
        tkt_alloc_fail(0, 0);
    }
    assert_class("never(int)", TAKT_TIMING_KERNEL, "kernel never");
}

TEST(the_same_rule_twice_takes_no_memory)
{
    assert_int_equal(takt_kernel_builtin("^twice"), TAKT_OK);
    tkt_alloc_fail(0, UINT64_MAX);
    assert_int_equal(takt_kernel_builtin("^twice"), TAKT_OK);
    tkt_alloc_fail(0, 0);
}

TEST(a_label_is_cut_to_fit)
{
    char label[12];
    assert_int_equal(takt_kernel_label("^cut_(.*)$", "a label: \\1"), TAKT_OK);
    tkt_name_classify("cut_everything", label, sizeof label);
    assert_string_equal(label, "a label:...");
    tkt_name_classify("integrate_all", label, sizeof label);
    assert_string_equal(label, "kernel i...");
}

TEST(without_memory_there_is_no_name)
{
    tkt_alloc_fail(0, 1);
    assert_null(tkt_name_demangle("_Z4statPi"));
    tkt_alloc_fail(0, 0);
}

TEST_MAIN(NULL, NULL)
