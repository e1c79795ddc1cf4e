## Takt, an embeddable profiling SDK.
##
## Targets
##   all            the default: the libraries in lib/, bin/takt, the samples in bin/samples/
##   demo           installs missing packages, builds, runs the sample simulator
##   check          installs missing packages, builds with -Werror, runs the tests; T="word word":
##                  only those with one of the words in their name
##   check-fresh    demo and check on bare Debian 12 and 13, as root and as a user, with and without
##                  packages and network; needs root
##   check-hard     check on a busy machine, on one core, in odd folders, locales and environments, and
##                  twice at a time; HARD="word word": only those, ROUNDS=3: so many times
##   check-no-toolkit  those tests that look for the CUDA toolkit, as if there were none
##   check-aarch64  builds for aarch64 and runs tests under qemu; FULL=1: all, QUICK=1: few
##   check-compilers  installs other compilers; compiles headers and programs with each of them
##   check-with-CC  builds everything with the compiler CC, and runs the tests in C and C++
##   crash          kills a thousand programs while they record, with and without crash_safe
##   check-long     records CUDA windows for minutes, on the stand-ins; checks launches, losses,
##                  memory and flushes; ten million steps, and calls beyond 32 bits
##   stress         threads, signals, forks, exits and plugins, for a minute each
##   simgpu         builds stand-ins for CUDA's libraries in B/simgpu
##   sim-demo       runs a CUDA sample on the stand-ins
##   bench          measures what Takt costs on this machine
##   bench-page     measures a page with a million spans in Chromium
##   pictures       makes the pictures of README.md, in docs/pictures
##   check-gpu      runs test/gpu and the CUDA samples on this machine's GPU
##   bench-gpu      measures what Takt costs programs that use the GPU
##   gpu-kit        puts both into one folder, B/gpu-kit, for a machine with a GPU but no toolkit
##   fuzz           runs each fuzz target of test/fuzz for FUZZ_SECONDS (60), with clang
##   fuzz-coverage  the same, and reports which functions of the readers they reach
##   faults         makes each allocation and system call fail in turn, in the command and in a
##                  program with the library; SAN=address,undefined is possible
##   mutants        puts one-line faults into the sources, and tells which no test finds; T="src/record
##                  src/cli": only those in such files
##   models         checks models of what threads share without a lock, for all orders that C allows;
##                  needs GenMC
##   coverage       reports which lines of the library the tests run, by folder: B/coverage
##   check-layers   checks that each layer includes only the layers allowed in test/layers.txt
##   include-graph  prints which folder of src includes which, for Mermaid
##   check-symbols  checks the libraries' exported and imported symbols and their sizes
##   abi-record     records the library's binary interface; check compares with this record
##   install        installs to PREFIX (and DESTDIR); uninstall removes the files again
##   amalgamation   writes Takt as one source file for other programs, to INTO (B/amalgamation)
##   format         applies .clang-format to .c and .cpp files
##   clean, help
##
## Variables
##   V=1            shows whole commands
##   WERROR=1       makes warnings errors; a build folder keeps the setting until WERROR=0
##   SAN=address,undefined | SAN=thread    builds with sanitizers, by default in build/SAN
##   CUDA=auto|0|1  uses the CUDA toolkit for NVTX ranges and CUDA samples: auto: if it is there,
##                  0: never, 1: it must be there
##   CUDA_HOME      folder of the toolkit (/usr/local/cuda)
##   DEPS=dir       folder of libyaml and zlib, if they are not installed: test/gpu/README.md
##   B=dir          builds out of tree: objects, lib/ and bin/ go to dir
##   PREFIX, LIBDIR, INCLUDEDIR, BINDIR, SHAREDIR, DESTDIR   folders for install
##   CC, CXX, CFLAGS, CXXFLAGS, CPPFLAGS, LDFLAGS, LDLIBS    as usual
##   FUZZ_SECONDS   seconds for each fuzz target (60)
##   SCREENSHOTS=1  tests of pages leave pictures in B/test/screenshots, to be looked at
##   TAKT_NO_INSTALL=1  demo and check install no packages

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
.PHONY: all libs demo demo-built sim-demo check check-built check-long check-long-built simgpu \
        bench bench-built bench-page pictures crash crash-built fuzz fuzz-built fuzz-coverage coverage \
        coverage-built faults check-aarch64 check-emulated check-compilers check-compilers-built check-tests \
        amalgamation check-gpu bench-gpu gpu-built gpu-kit gpu-kit-built stress stress-built \
        check-layers include-graph check-symbols abi-record install uninstall format clean help \
        check-fresh check-hard check-no-toolkit check-no-toolkit-built programs mutants models FORCE

platform := $(shell uname -s)-$(shell uname -m)
ifeq ($(filter Linux-x86_64 Linux-aarch64,$(platform)),)
  $(error Takt runs on Linux, on x86-64 and aarch64; this is $(platform))
endif

ifneq ($(words $(CURDIR)),1)
  $(error Takt cannot be built in "$(CURDIR)", since make takes a blank in a path as the end of a name: \
      rename the folder, or move Takt to one without blanks)
endif

# Derives CXX from CC, unless CXX is given.
ifeq ($(origin CXX),default)
  CXX := $(patsubst cc%,c++%,$(patsubst gcc%,g++%,$(patsubst clang%,clang++%,$(CC))))
endif
# Without a C++ compiler, what is written in C++ or CUDA is left out.
has_cxx  := $(shell command -v $(firstword $(CXX)) >/dev/null && echo yes)
# Sanitizer builds are only for tests, so they use the settings that compile fastest.
CFLAGS   ?= $(if $(SAN),-O1 -g1,-O2 -g)
CXXFLAGS ?= $(CFLAGS)
CUDA     ?= auto

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
BINDIR     ?= $(PREFIX)/bin
SHAREDIR   ?= $(PREFIX)/share

# Only the default build fills lib/ and bin/; other builds keep their results in their own folder.
comma := ,
B     ?= build$(if $(SAN),/$(subst $(comma),-,$(SAN)))
out   := $(if $(filter-out build,$(B))$(SAN),$(B)/)
LIB   := $(out)lib
BIN   := $(out)bin
ifneq ($(filter $(abspath $(B)) $(abspath $(B))/%,$(CURDIR)),)
  $(error B=$(B): the build needs a folder of its own)
endif

number_of = $(shell awk '$$2 == "TAKT_$(1)" { print $$3 }' include/takt/base.h)
version   := $(call number_of,VERSION_MAJOR).$(call number_of,VERSION_MINOR).$(call number_of,VERSION_PATCH)
abi       := $(call number_of,ABI)

# A folder that was built with WERROR=1 keeps this setting, so that `make` after `make check` does
# not rebuild everything.
WERROR ?= $(if $(findstring -Werror,$(file <$(B)/flags.stamp)),1)

CUDA_HOME   ?= /usr/local/cuda
nvtx_header := $(wildcard $(CUDA_HOME)/include/nvtx3/nvToolsExt.h)
ifneq ($(CUDA),0)
  nvtx := $(patsubst %/nvtx3/nvToolsExt.h,-DTKT_HAVE_NVTX -isystem %,$(nvtx_header))
endif
no_nvtx_because = $(if $(filter 0,$(CUDA)),CUDA=0,no CUDA toolkit in $(CUDA_HOME) (CUDA_HOME))
ifeq ($(CUDA)$(nvtx),1)
  $(error CUDA=1, but there is no $(CUDA_HOME)/include/nvtx3/nvToolsExt.h: set CUDA_HOME)
endif

# CUDA sources (only samples and tests) are compiled if there is a toolkit. Sanitizer builds omit
# them, because the memory of the runtime and the driver would cause false reports.
toolkit := $(if $(filter 0,$(CUDA))$(SAN)$(if $(has_cxx),,none),,$(patsubst %/bin/nvcc,%,$(wildcard $(CUDA_HOME)/bin/nvcc)))

sanitize := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# gcc gives false warnings with sanitizers, so warnings are errors only in other builds.
common   := -Wall -Wextra -Wpedantic -Wshadow $(if $(filter 1$(SAN),$(WERROR)),-Werror) \
            $(sanitize) -pthread -Iinclude
ours     := $(common) -fvisibility=hidden -ffunction-sections -fPIC -fno-common -ftls-model=initial-exec \
            -D_GNU_SOURCE -Isrc
c_ours   := -std=c11 $(ours) -Wstrict-prototypes -Wmissing-prototypes \
            -Werror=incompatible-pointer-types
cxx_ours := -std=c++17 $(ours)
needs    := -lyaml -lz -lm -ldl

ifdef DEPS
  override CPPFLAGS += $(addprefix -I,$(wildcard $(addprefix $(DEPS)/,include usr/include)))
  override LDFLAGS  += $(addprefix -L,$(wildcard $(addprefix $(DEPS)/,lib usr/lib usr/lib/*-linux-gnu)))
endif

# The compiler's features are tested only when they matter, not each time make starts.
# $(call can,COMMAND,FUNCTION) is "yes" if the command compiles and links that function.
can    = $(shell echo 'int $(2)(void) { return 0; }' | \
             $(1) -x c - -o /dev/null 2>/dev/null && echo yes)
# ThreadSanitizer gives false reports for libgomp.
openmp = $(if $(and $(if $(findstring thread,$(SAN)),,yes),$(call can,$(CC) -fopenmp,main)),\
    -fopenmp,-Wno-unknown-pragmas)

# $(call objects,SOURCES) lists their object files.
objects = $(addprefix $(B)/obj/,$(addsuffix .o,$(basename $(1))))

cli_objects  := $(call objects,$(wildcard src/import/*.c src/cli/*.c src/cli/*/*.c))
lib_objects  := $(call objects,$(filter-out src/import/% src/cli/%,$(wildcard src/*/*.c)))
# Sources that only the command needs. They are not in the shared library, and programs that link
# the archive do not pull them in.
command_only := $(call objects,$(addprefix src/,config/page.c trace/resolve.c))
help_objects := $(call objects,$(wildcard test/support/lib_*.c))

static  := $(LIB)/libtakt.a
shared  := $(LIB)/libtakt.so.$(version)
support := $(B)/test/libsupport.a

cmake_files   := taktConfig.cmake taktConfigVersion.cmake
package_files := $(LIB)/pkgconfig/takt.pc $(addprefix $(LIB)/cmake/takt/,$(cmake_files))

c_samples   := $(patsubst samples/%.c,$(BIN)/samples/%,$(wildcard samples/*.c))
cxx_samples := $(if $(has_cxx),$(patsubst samples/%.cpp,$(BIN)/samples/%,$(wildcard samples/*.cpp)))
dir_samples := $(sort $(patsubst samples/%/,$(BIN)/samples/%,$(dir $(wildcard samples/*/*.c))))
cu_samples  := $(if $(toolkit),$(patsubst samples/%.cu,$(BIN)/samples/%,$(filter-out \
    $(if $(wildcard $(toolkit)/include/cublas_v2.h),,samples/cublas_%),$(wildcard samples/*.cu))))
samples     := $(c_samples) $(cxx_samples) $(dir_samples) $(cu_samples)

# test/gpu/gpu_NAME is a program for a GPU or for the stand-ins: test/gpu/README.md.
gpu_programs := $(if $(toolkit),$(patsubst %.cu,$(B)/%,$(wildcard test/gpu/gpu_*.cu)))

# test/*/test_NAME is a test; test/*/prog_NAME is a program that script tests run.
cxx_tests := $(patsubst %.cpp,$(B)/%,$(wildcard test/*/test_*.cpp))
tests     := $(patsubst %.c,$(B)/%,$(wildcard test/*/test_*.c)) $(cxx_tests)
# Builds with sanitizers do not build the tests that they leave out.
left_out  := $(if $(SAN),$(addprefix $(B)/test/,$(shell test/support/left-out.sh '$(SAN)'))) \
    $(if $(has_cxx),,$(cxx_tests))
tests_here := $(filter-out $(left_out),$(tests))
progs     := $(patsubst %.c,$(B)/%,$(wildcard test/*/prog_*.c))
scripts   := $(wildcard test/check-*.sh test/*/check_*.sh test/*/check_*.py) \
             $(filter-out test/cli/lib_%,$(wildcard test/cli/*.sh))
fuzzers   := $(patsubst test/fuzz/%.c,%,$(wildcard test/fuzz/fuzz_*.c))

# Stand-ins for CUDA's libraries, for machines without a GPU: test/simgpu/README.md. A flavour is a
# folder for LD_LIBRARY_PATH.
sim          := $(B)/simgpu
sim_cupti    := $(sim)/12/libcupti.so.12 $(sim)/13/libcupti.so.13 $(sim)/multi/libcupti.so.13
sim_common   := libtaktsim.so libcuda.so.1 libcudart.so.13
sim_libs     := $(foreach flavour,12 13 multi,$(addprefix $(sim)/$(flavour)/,$(sim_common))) \
                $(sim_cupti) $(sim)/libsimlocks.so
# Tests and programs in these folders are linked like programs that use CUDA.
cuda_tests   := $(filter $(B)/test/simgpu/% $(B)/test/gpu/%,$(tests) $(progs))

all: libs $(BIN)/takt $(samples)
	$(if $(has_cxx),,@echo 'takt: no C++ compiler ($(CXX)): the samples in C++ are left out')
libs: $(static) $(LIB)/libtakt.so $(package_files)

# Compiling. `say` prints the short line, with a number that shows how far make is; Q hides the long
# line.
said :=
say = $(if $(filter 1,$(V)),,$(eval said += x)@echo '[$(words $(said))] $(1)')
Q   = $(if $(filter 1,$(V)),,@)

$(B)/obj/src/%.o:        flags = $(c_ours)
$(B)/obj/src/nvtx/%.o:   flags = $(c_ours) $(nvtx)

# If an optional library is missing, the command reports that when a user needs it.
# $(call found,PACKAGE) is "yes" if pkg-config knows the package.
found    = $(shell pkg-config --exists $(1) 2>/dev/null && echo yes)
has_sqlite := $(call found,sqlite3)
has_server := $(call found,libmicrohttpd)
has_dw     := $(call found,libdw)
cli_can    := $(strip $(if $(has_sqlite),-DTKT_HAVE_SQLITE) \
    $(if $(has_server),-DTKT_HAVE_MICROHTTPD) $(if $(has_dw),-DTKT_HAVE_DW))
sqlite     := $(if $(has_sqlite),-lsqlite3)
cli_libs   := $(sqlite) $(if $(has_server),-lmicrohttpd) $(if $(has_dw),-ldw)
$(B)/obj/src/cli/%.o $(B)/obj/src/import/%.o: flags = $(c_ours) $(cli_can)

# The page of `takt report --html` is assembled here and embedded in the command.
html_page := $(addprefix $(B)/html/,head.html tail.html)
$(B)/obj/src/cli/html/report_html.o: flags = $(c_ours) \
    -DTKT_HTML_HEAD='"$(abspath $(B))/html/head.html"' -DTKT_HTML_TAIL='"$(abspath $(B))/html/tail.html"'
$(B)/obj/src/cli/html/report_html.o: $(html_page)
$(B)/html/tail.html: $(B)/html/head.html
$(B)/html/head.html: docs/reports.md docs/comparing.md $(foreach ending,sh awk html css js,$(wildcard src/cli/html/*.$(ending)))
	$(call say,HTML $(B)/html/page.html)
	$(Q)mkdir -p $(@D)
	$(Q)src/cli/html/assemble.sh '$(abspath $(@D))'

# The views of `takt export --sqlite` are also embedded in the command.
$(B)/obj/src/cli/tables/sqlite.o: $(wildcard src/cli/tables/*.sql)

# Code that runs for every event is optimised for speed, other code of the library for size; and for
# size at any cost where no loop runs over what was recorded. Adding up samples and tasks
# (fold_named) is as fast either way. CFLAGS from the user remain unchanged.
hot := $(filter-out $(patsubst %,src/record/%.c,addresses control fold_named keeper log_moment log_read \
        mapping pool signature), \
    $(wildcard src/record/*.c)) $(patsubst %,src/%.c, \
    $(addprefix base/,clock containers histogram text unwind writer) \
    $(addprefix cuda/,callback decode decode_names decode_other store) \
    $(addprefix trace/,devices model_finish model_fold nest order read_common seal) \
    $(addprefix export/,chrome_event chrome_span perfetto_device perfetto_event) \
    profiler/profiler summary/owners)
rare := $(filter-out $(hot), \
    $(wildcard $(patsubst %,src/%/*.c,base config cuda nvtx profiler record report)) \
    $(wildcard src/summary/advice*.c src/export/xplane*.c) $(patsubst %,src/%.c, \
    $(addprefix trace/,arrivals bodies device_memory graphs lanes lane_kernels model perfetto phases public \
        public_events read_facts read_fold read_phases read_run recover recover_log recover_parts resolve run \
        seal_fold skew) \
    $(addprefix export/,chrome_head chrome_phases export folded perfetto_facts perfetto_names \
        perfetto_phases perfetto_rows phases speedscope tensorboard) \
    $(addprefix summary/,activities arguments compile counters memory ops phases regions steps tasks \
        threads waits)))
understood = $(shell $(CC) -Werror $(1) -c -x c /dev/null -o /dev/null 2>/dev/null && echo $(1))
# NaN is "no value": an engine's -ffast-math is not for Takt.
numbers := -fno-fast-math $(call understood,-fno-single-precision-constant)
smallest := $(or $(call understood,-Oz),-Os) $(call understood,-fno-caller-saves \
    -fno-inline-functions-called-once -fno-move-loop-invariants -fno-tree-loop-im)
ifeq ($(origin CFLAGS)$(SAN),file)
  $(filter-out $(call objects,$(hot) $(rare)),$(lib_objects)): private CFLAGS += -Os
  $(call objects,$(rare)): private CFLAGS += $(smallest)
  # Aligned targets of jumps make them 4 KB larger and no faster, aligned functions 2.6 KB.
  $(call objects,$(hot)): private CFLAGS += $(call understood,-falign-jumps=1) $(call understood,-falign-functions=1)
endif

# Only these files have unwind tables. Their functions lie between the program and Takt's own walk
# of the stack, or between the program and its callbacks.
unwound := $(patsubst %,src/%.c, \
    $(addprefix base/,error unwind writer) \
    $(addprefix cuda/,callback event event_mark) \
    $(addprefix profiler/,at_exit cycle devices profiler timer transitions) \
    $(addprefix record/,event name pair scope stack) \
    $(addprefix report/,formats report text))
no_tables := -fno-asynchronous-unwind-tables -fno-unwind-tables
ifeq ($(origin CFLAGS)$(SAN),file)
  $(filter-out $(call objects,$(unwound)),$(lib_objects)): private CFLAGS += $(no_tables)
endif

# Tests that count nothing of their own code need no optimiser, which takes two thirds of their time.
ifeq ($(origin CFLAGS)$(SAN),file)
  $(foreach part,cli import simgpu support unit,$(B)/obj/test/$(part)/%.o): private CFLAGS := -O0 -g
endif
$(B)/obj/test/%.o:       flags = $(c_ours) -Itest
$(B)/obj/test/faults/%.o: flags = -std=gnu11 -Wall -Wextra -fPIC -D_GNU_SOURCE
$(B)/obj/test/simgpu/%.o: flags = $(c_ours) -ftls-model=global-dynamic -Itest
$(B)/obj/test/bench/%.o: flags = $(c_ours) $(nvtx) $(lttng_cflags) $(cli_can) -Itest/bench
$(B)/obj/test/bench/device.o: flags = $(cxx_ours) -Itest/bench -fno-exceptions
$(B)/obj/test/fuzz/%.o:  flags = $(c_ours) $(cli_can) -Itest -Wno-missing-prototypes
$(B)/obj/samples/%.o:    flags = -std=gnu11 $(common) $(openmp)
$(B)/obj/samples/sph/%.o: flags = -std=gnu11 $(common) $(openmp) $(if $(toolkit),-DSPH_CUDA)
$(cxx_tests:$(B)/%=$(B)/obj/%.o): flags = $(cxx_ours) -Itest
$(cxx_samples:$(BIN)/%=$(B)/obj/%.o): flags = -std=c++17 $(common)

$(B)/obj/%.o: %.c $(B)/flags.stamp
	$(call say,CC $<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(flags) -MMD -MP $(CPPFLAGS) $(CFLAGS) $(numbers) -c -o $@ $<

$(B)/obj/%.o: %.cpp $(B)/flags.stamp
	$(call say,CXX $<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(flags) -MMD -MP $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

# Device code for A100 and for H100 and H200, plus PTX that the driver translates for other GPUs
# from Turing on. NVCCFLAGS overrides this, for example with -arch=native. One virtual architecture
# for all three keeps compile times short. Unused functions from headers are not errors: in nvcc
# (177), and in clang, which gets headers and source from nvcc as one file. nvcc fails with a TMPDIR
# that has a blank in it, and with a closed standard input.
NVCCFLAGS ?= -gencode 'arch=compute_75,code=[compute_75,sm_80,sm_90]'
$(B)/obj/%.o: %.cu $(B)/flags.stamp
	$(call say,NVCC $<)
	$(Q)mkdir -p $(@D)
	$(Q)TMPDIR='$(abspath $(@D))' $(toolkit)/bin/nvcc -ccbin $(firstword $(CXX)) -std=c++17 -O2 \
	    $(if $(filter $(B)/obj/test/%,$@),,-g) -Iinclude -Werror all-warnings -diag-suppress 177 \
	    $(addprefix -Xcompiler ,-Wall -Wextra -Wno-unused-function $(sanitize)) \
	    -MMD -MF $(@:.o=.d) -DSPH_CUDA $(CPPFLAGS) $(NVCCFLAGS) -c -o $@ $< </dev/null

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

# A stamp contains a text and changes only with the text: flags, or lists of sources, which may
# shrink.
$(B)/flags.stamp:   text = $(CC) $(CXX) $(c_ours) $(no_tables) $(nvtx) $(toolkit) $(cli_can) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) \
                           $(LDFLAGS) $(LDLIBS)
# Sorted, since wildcard goes by the locale.
$(B)/sources.stamp: text = $(version) $(sort $(wildcard $(addsuffix /*.c,src/* src/*/* samples/* test/*)))
$(B)/%.stamp: FORCE
	@mkdir -p $(@D)
	@echo '$(text)' | cmp -s - $@ || echo '$(text)' >$@

# Libraries
$(static): $(lib_objects) $(B)/sources.stamp
	$(call say,AR $@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(lib_objects)
	$(if $(nvtx),,@echo 'takt: no NVTX ranges in this build: $(no_nvtx_because)')

shared_objects := $(filter-out $(command_only),$(lib_objects))
# Short relocations save 28 KB. A C library older than glibc 2.36 cannot read them.
relr = $(if $(shell grep -saom1 GLIBC_ABI_DT_RELR "$$($(CC) -print-file-name=libc.so.6)"),\
    -Wl$(comma)-z$(comma)pack-relative-relocs)
$(shared): $(shared_objects) src/takt.map $(B)/sources.stamp
	$(call say,LD $@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,libtakt.so.$(abi) -Wl,--version-script=src/takt.map \
	    $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,-z,relro,-z,now,-z,nodelete -Wl,--as-needed \
	    -Wl,--gc-sections,-Bsymbolic-functions,-z,noseparate-code $(relr) \
	    $(sanitize) $(CFLAGS) $(LDFLAGS) -o $@ $(shared_objects) -pthread $(needs) $(LDLIBS)

$(LIB)/libtakt.so.$(abi): $(shared)
	$(Q)ln -sf $(<F) $@
$(LIB)/libtakt.so: $(LIB)/libtakt.so.$(abi)
	$(Q)ln -sf $(<F) $@

# Package files use relative paths, so the same file works here, installed and staged.
# $(call package_file,FOLDER) fills in a template for the folder where it will be.
package_file = sed -e 's|@VERSION@|$(version)|' -e 's|@ABI@|$(abi)|' \
    -e "s|@INCLUDEDIR@|$$(realpath -ms --relative-to='$(1)' '$(INCLUDEDIR)')|"

$(package_files): INCLUDEDIR = include
$(package_files): src/packaging/$$(@F).in $(B)/sources.stamp
	$(Q)mkdir -p $(@D)
	$(Q)$(call package_file,$(@D)) $< >$@

$(support): $(help_objects) $(B)/sources.stamp
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(help_objects)

# Stand-ins. $(call link_sim,SONAME,FLAGS) links one of them from the objects it depends on.
define link_sim
	$(call say,LD $@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(1) -Wl,-rpath,'$$ORIGIN' $(sanitize) $(LDFLAGS) -o $@ \
	    $(filter %.o,$^) $(2) -pthread -ldl
endef
sim_objects = $(call objects,$(wildcard test/simgpu/$(1)))

$(sim)/13/libtaktsim.so: $(call sim_objects,sim_*.c) $(B)/sources.stamp
	$(call link_sim,$(@F))
$(sim)/13/libcuda.so.1: $(call sim_objects,cuda_*.c) $(sim)/13/libtaktsim.so
	$(call link_sim,$(@F),$(@D)/libtaktsim.so)
$(sim)/13/libcudart.so.13: $(call sim_objects,cudart_*.c) $(sim)/13/libcuda.so.1
	$(call link_sim,$(@F),$(@D)/libcuda.so.1 $(@D)/libtaktsim.so \
	    -Wl$(comma)--version-script=test/simgpu/cudart.map)
$(sim)/libsimlocks.so: $(call objects,test/simgpu/simlocks.c)
	$(call link_sim,$(@F))

# Hard links to the same files, so that a process that loads two flavours has one simulator.
$(addprefix $(sim)/12/,$(sim_common)) $(addprefix $(sim)/multi/,$(sim_common)): $(sim)/13/$$(@F)
	$(Q)mkdir -p $(@D)
	$(Q)ln -f $< $@

# $(call cupti_rule,LIBRARY) compiles libcupti for one release.
define cupti_rule
$(B)/obj/sim$(1)/%.o: test/simgpu/cupti/%.c $(B)/flags.stamp
	$$(call say,CC $$< for CUPTI $(1))
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(c_ours) -ftls-model=global-dynamic -Itest -DSIM_CUPTI_LIBRARY=$(1) -MMD -MP \
	    $$(CPPFLAGS) $$(CFLAGS) -c -o $$@ $$<
endef
$(foreach library,12 13 133,$(eval $(call cupti_rule,$(library))))

cupti_objects = $(patsubst test/simgpu/cupti/%.c,$(B)/obj/sim$(1)/%.o,$(wildcard test/simgpu/cupti/*.c))
$(sim)/12/libcupti.so.12:    $(call cupti_objects,12)
$(sim)/13/libcupti.so.13:    $(call cupti_objects,13)
$(sim)/multi/libcupti.so.13: $(call cupti_objects,133)
$(sim_cupti): $$(@D)/libtaktsim.so
	$(call link_sim,$(@F),$(@D)/libtaktsim.so)

simgpu: $(sim_libs)

# Programs
define link
	$(call say,LD $@)
	$(Q)mkdir -p $(@D)
	$(Q)$(linker) $(sanitize) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(filter %.a,$^) \
	    -pthread $(link_flags) $(needs) $(LDLIBS)
endef
linker = $(CC)
$(cxx_samples) $(cxx_tests) $(cu_samples) $(gpu_programs): linker = $(CXX)
# In the kit the libraries are in ../lib; that folder does not exist here.
cuda_link = -L$(toolkit)/lib64 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../lib:$(toolkit)/lib64' \
    -lcudart
$(samples):        link_flags = $(openmp)
# With UBSan, a program that may be loaded anywhere has up to 160,000 relocations, which triple its
# start: those that scripts run many times have a fixed place.
placed := $(if $(SAN),-no-pie)
$(tests):          link_flags = -lcmocka -ljansson
$(progs):          link_flags = -lcmocka -ljansson $(placed)
$(cuda_tests):     link_flags = -lcmocka -ljansson $(addprefix $(sim)/13/,$(sim_common)) \
                       -Wl,-rpath,'$$ORIGIN/../../simgpu/13'
$(cuda_tests):     $(sim_libs)
$(cu_samples) $(gpu_programs): link_flags = $(cuda_link)
$(BIN)/samples/cublas_builtin: link_flags = $(cuda_link) -lcublas
$(if $(toolkit),$(dir_samples)): linker = $(CXX)
$(if $(toolkit),$(dir_samples)): link_flags = $(openmp) $(cuda_link)
$(B)/takt-bench:   link_flags = $(lttng_libs) $(sqlite)
$(B)/fuzz_%:       link_flags = -fsanitize=fuzzer
$(B)/fuzz_nsys:    link_flags = -fsanitize=fuzzer $(sqlite)
# The command's readers of JSON and SQLite, for their tests.
json_objects := $(call objects,$(filter-out src/import/nsys% src/import/open%,$(wildcard src/import/*.c)))
nsys_objects := $(call objects,$(wildcard src/import/nsys*.c))
$(B)/fuzz_import $(filter $(B)/test/import/%,$(tests)): $(json_objects)
$(B)/fuzz_nsys: $(json_objects) $(nsys_objects)

$(BIN)/takt:       link_flags = $(cli_libs) $(placed)
$(BIN)/takt: $(cli_objects) $(static)
	$(link)
$(c_samples) $(cxx_samples) $(cu_samples): $(BIN)/%: $(B)/obj/%.o $(static)
	$(link)
$(gpu_programs): $(B)/%: $(B)/obj/%.o $(static)
	$(link)
$(B)/test/gpu/gpu_record: $(B)/obj/test/gpu/recorder.o $(support)
$(B)/test/gpu/gpu_record: link_flags = $(static) $(cuda_link)
$(B)/test/gpu/gpu_cost: link_flags = $(cuda_link) -Wl,--wrap=dlsym
$(dir_samples): $(BIN)/%: $$(call objects,$$(wildcard $$*/*.c $$(if $(toolkit),$$*/*.cu))) $(static)
	$(link)
$(tests) $(progs): $(B)/%: $(B)/obj/%.o $(support) $(static)
	$(link)
$(B)/takt-bench: $(call objects,$(wildcard test/bench/*.c test/bench/*.cpp)) $(json_objects) $(nsys_objects) $(static)
	$(link)
# A program that uses Takt, linked with the archive and with the shared library.
user_bench := $(addprefix $(B)/test/bench/user/user_,archive library)
$(B)/test/bench/user/user_library: link_flags = -L$(LIB) -ltakt -Wl,-rpath,$(abspath $(LIB))
$(B)/test/bench/user/user_archive: $(static)
$(B)/test/bench/user/user_library: | $(LIB)/libtakt.so
$(user_bench): $(B)/obj/test/bench/user/prog_user.o
	$(link)
$(addprefix $(B)/,$(fuzzers)): $(B)/%: $(B)/obj/test/fuzz/%.o $(support) $(static)
	$(link)

# A library to preload, which makes calls of a program fail.
inject := $(B)/test/faults/libinject.so
$(inject): $(B)/obj/test/faults/inject.o
	$(call say,LD $@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -o $@ $^ -ldl

# The fluid sample with the shared library, so that calls by Takt and by the program can be
# distinguished.
fault_host := $(B)/test/faults/sph
$(fault_host): $(call objects,$(wildcard samples/sph/*.c $(if $(toolkit),samples/sph/*.cu))) $(LIB)/libtakt.so
	$(link)
$(fault_host): link_flags = $(openmp) $(if $(toolkit),$(cuda_link)) -L$(LIB) -ltakt \
    -Wl,-rpath,'$(abspath $(LIB))'
$(if $(toolkit),$(fault_host)): linker = $(CXX)

# Running. The second make sees the packages that the first one installed. It uses all cores unless
# -j is given.
again = $(MAKE) $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# $(call about,OBJECTS) says how many lines the build will print, if it is new.
about = $(if $(wildcard $(firstword $(1))),what has changed,about $(words $(1)) files)
demo_objects  = $(static) $(BIN)/takt $(BIN)/samples/sph $(lib_objects) $(cli_objects) \
    $(call objects,$(wildcard samples/sph/*.c))
check_objects = $(tests_here) $(tests_here) $(progs) $(progs) $(samples) $(samples) $(help_objects) \
    $(lib_objects) $(cli_objects) $(sim_libs) $(call objects,$(wildcard test/simgpu/*.c))

demo:
	@echo 'takt: 1 of 3: packages of Debian or Ubuntu that are missing'
	@test/support/install-packages.sh demo
	@echo 'takt: 2 of 3: compiling $(call about,$(demo_objects))'
	@+$(again) demo-built

demo-built: $(static) $(BIN)/takt $(BIN)/samples/sph
	@echo 'takt: 3 of 3: running a fluid simulator: 1000 steps, five of which are recorded'
	@touch -d '1 second ago' $(B)/demo.start
	OMP_WAIT_POLICY=$${OMP_WAIT_POLICY:-passive} $(BIN)/samples/sph --profile samples/sph/profile.yaml
	@echo && echo 'Traces (open a .pftrace in https://ui.perfetto.dev):'
	@find runs -type f -newer $(B)/demo.start | sort | sed 's/^/  /'
	@echo && echo 'Next: bin/takt view TRACE opens it in your browser; samples/hello.c and' && \
	    echo 'docs/getting-started.md show how to put Takt into your program; make check runs the tests.'

# The demo from Warp's documentation on profiling, on simulated devices with the same durations.
sim-demo: $(sim_libs) $(if $(toolkit),$(BIN)/samples/inc_loop)
	@$(if $(toolkit),,echo 'sim-demo needs nvcc: $(no_nvtx_because)' >&2 && exit 1)
	LD_LIBRARY_PATH=$(sim)/13 TAKT_SIM_SCRIPT=test/simgpu/inc_loop.sim $(BIN)/samples/inc_loop

test_env = TAKT_ROOT='$(CURDIR)' TAKT_BIN='$(abspath $(BIN))' TAKT_LIB='$(abspath $(LIB))' \
    TAKT_BUILD='$(abspath $(B))' CC='$(CC)' CXX='$(CXX)' SAN='$(SAN)'

check:
	@echo 'takt: 1 of 3: packages of Debian or Ubuntu that are missing'
	@test/support/install-packages.sh check
	@echo 'takt: 2 of 3: compiling $(call about,$(check_objects))'
	@+$(again) WERROR=1 check-built

programs: all $(progs) $(inject) $(fault_host) $(sim_libs)
check-built: programs $(tests_here) $(if $(SAN),,$(if $(toolkit),gpu-kit-built))
	@$(if $(SAN),,$(if $(call can,$(fuzz_cc) -fsanitize=fuzzer,LLVMFuzzerTestOneInput),$(MAKE) fuzz-built))
	@echo 'takt: 3 of 3: tests'
	@$(test_env) T='$(T)' test/support/run-tests.sh \
	    $(tests) $(addprefix $(B)/fuzz/,$(fuzzers)) $(scripts)
	@$(if $(T),,echo 'takt: what this machine can run has passed. Next: make install PREFIX=..., and' && \
	    echo '      docs/getting-started.md, which shows how to put Takt into your program.')

# What a machine without a toolkit builds, and the scripts that look for one.
check-no-toolkit:
	@+CUDA_HOME=/nonexistent $(again) B='$(B)/no-toolkit' CUDA=0 WERROR=1 CFLAGS='-O1 -g1' $@-built
check-no-toolkit-built: all $(progs) $(sim_libs)
	@$(test_env) test/support/run-tests.sh $(shell grep -lE 'CUDA_HOME|nvcc|CUDA toolkit' $(scripts))

# These build in roots or clones of their own.
check-fresh:
	@test/support/install-packages.sh fresh
	@test/fresh/run.sh
check-hard:
	@test/support/install-packages.sh check
	@MAKEFLAGS= test/fresh/hard.sh $(ROUNDS)

# Tests of a build for another processor. TAKT_BIN contains scripts that start each program in the
# emulator. By default, tests that take longer than two seconds in the emulator are skipped; FULL=1
# runs all. QUICK=1 runs only tests of features that depend on the processor: clocks, memory orders,
# call stacks, signals, names of threads.
emulated      := $(patsubst $(BIN)/%,$(B)/emulated/%,$(BIN)/takt $(samples))
emulated_slow := $(addprefix $(B)/test/unit/test_, base_alloc base_input base_strtab base_text \
    chrome_check chrome_devices chrome_parts chrome_value export fold perfetto perfetto_report \
    profiler_memory record_model record_threads report_cuda report_text summary_device summary_gaps \
    summary_gaps_of_devices summary_launches summary_scopes trace_devices trace_model trace_open \
    trace_read)
emulated_some := $(filter-out $(emulated_slow),$(filter $(B)/test/unit/%,$(tests))) \
    $(addprefix $(B)/test/stress/test_,sealing signals thread_ends forks)
emulated_quick := $(addprefix $(B)/test/,$(addprefix unit/test_,base_clock profiler_lists same_tick \
    names pairs session stacks timing) $(addprefix stress/test_,sealing signals))
emulated_tests   := $(if $(FULL),$(tests),$(if $(QUICK),$(emulated_quick),$(emulated_some)))
emulated_scripts := $(if $(QUICK),test/aarch64/orders.sh,$(filter-out %/check.sh,\
    $(wildcard test/aarch64/*.sh)) test/cli/test_cli_samples.sh) test/cli/fluid.sh
$(emulated): $(B)/emulated/%: $(BIN)/%
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec %s "%s" "$$@"\n' '$(TEST_RUNNER)' '$(abspath $<)' >$@
	$(Q)chmod +x $@

check-aarch64:
	@test/support/install-packages.sh aarch64 || echo 'takt: packages could not be installed'
	@+MAKE='$(MAKE)' B='$(B)' test/aarch64/check.sh $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
check-emulated: all $(emulated) $(emulated_tests)
	@$(test_env) TAKT_BIN='$(abspath $(B))/emulated' T='$(T)' test/support/run-tests.sh \
	    $(emulated_tests) $(emulated_scripts)

check-compilers:
	@test/support/install-packages.sh compilers
	@+$(again) check-compilers-built
check-compilers-built: all
	@$(test_env) PLACES='20 200' LEVEL=-O2 TEST_SECONDS=7200 test/support/run-tests.sh \
	    $(addprefix test/compile/check_,headers.sh names.sh programs.sh disable.sh places.sh modules.sh) \
	    test/install/check_amalgamation.sh

check-with-%:
	@+$(again) B='$(B)/with/$*' CC='$*' CUDA=0 WERROR=1 check-tests
check-tests: all $(tests)
	@$(test_env) T='$(T)' test/support/run-tests.sh $(tests)

# Its copies of the working tree have builds of their own.
mutants:
	@test/support/install-packages.sh check
	@MAKEFLAGS= test/mutants/run.sh $(T)

models:
	@test/models/run.sh

faults: all $(inject) $(fault_host) $(B)/test/cli/prog_trace
	@$(test_env) python3 test/faults/check_faults.py all
	@$(test_env) python3 test/faults/check_library.py all

check-long:
	@+$(again) check-long-built
long_tests := $(addprefix $(B)/test/,stress/test_ends simgpu/test_bounded)
check-long-built: all $(sim_libs) $(B)/test/simgpu/prog_busy $(long_tests)
	@$(test_env) test/simgpu/check_busy.sh long
	@for test in $(long_tests); do $(test_env) TEST_LONG=1 $$test || exit 1; done

crash:
	@+$(again) crash-built
crash-built: $(addprefix $(B)/test/stress/prog_,crash crashing)
	@$(test_env) CRASH_KILLS=1000 test/stress/check_crash.sh

# Programs that look for ways in which Takt harms its host, for TAKT_STRESS seconds each.
stress_tests := $(filter-out $(left_out),$(B)/test/unit/test_record_model \
    $(addprefix $(B)/test/stress/test_, \
    signals forks thread_ends comings misuse bounded_memory allocations))
stress:
	@+$(again) stress-built
stress-built: libs $(stress_tests)
	@$(test_env) test/stress/repeat.sh $(stress_tests)
	@LOADS=300 $(test_env) test/stress/check_plugin.sh

check-layers:
	@$(test_env) test/check-layers.sh
include-graph:
	@test/check-layers.sh graph
check-symbols: libs $(BIN)/takt
	@$(test_env) test/check-symbols.sh

abi-record: libs
	@$(test_env) test/abi/check_abi.sh record

bench:
	@$(if $(SAN),echo 'make bench measures the plain build: leave SAN out' >&2 && exit 1)
	@test/support/install-packages.sh bench
	@+$(again) bench-built

bench-built: $(B)/takt-bench $(user_bench) libs $(BIN)/takt
	@$(test_env) $(B)/takt-bench

pictures: $(BIN)/takt $(BIN)/samples/sph
	@$(test_env) test/html/pictures.sh docs/pictures

bench-page: $(BIN)/takt $(sim_libs) $(B)/test/simgpu/prog_large
	@$(test_env) test/html/bench_page.sh

check-gpu bench-gpu:
	@$(if $(toolkit),,echo 'make $@ needs nvcc: set CUDA_HOME' >&2 && exit 1)
	@+$(again) gpu-built
	@$(test_env) test/gpu/run.sh $(@:-gpu=)

gpu-built: $(gpu_programs) $(cu_samples) $(BIN)/samples/sph

# Files that make_kit.sh copies. The command is linked again with an old-style rpath, which the
# loader also uses for its libraries' own dependencies.
kit_programs := $(gpu_programs) $(cu_samples) $(BIN)/samples/sph
gpu-kit:
	@$(if $(toolkit),,echo 'make $@ needs nvcc: set CUDA_HOME' >&2 && exit 1)
	@rm -f $(B)/gpu-kit.tar.gz # it names the commit
	@+$(again) gpu-kit-built

gpu-kit-built: $(B)/gpu-kit.tar.gz
$(B)/gpu-kit.tar.gz: $(kit_programs) $(B)/kit/takt $(B)/kit/libpython_takt.so \
    $(wildcard test/gpu/*.sh test/gpu/*.py samples/sph/profile.yaml)
	$(call say,KIT $(B)/gpu-kit)
	$(Q)test/gpu/make_kit.sh '$(B)/gpu-kit' '$(toolkit)' $(kit_programs) $(B)/kit/takt \
	    $(B)/kit/libpython_takt.so
$(B)/kit/takt: link_flags = $(cli_libs) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib'
$(B)/kit/takt: $(cli_objects) $(static)
	$(link)
$(B)/kit/libpython_takt.so: $(B)/obj/test/gpu/python_takt.o $(static)
	$(call say,LD $@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-z,defs,-z,nodelete,--disable-new-dtags,-rpath,'$$ORIGIN' -o $@ \
	    $^ -pthread $(needs) $(LDLIBS)

# The benchmark also measures LTTng-UST if it is installed.
lttng_libs   = $(shell pkg-config --libs lttng-ust 2>/dev/null)
lttng_cflags = $(if $(lttng_libs),-DTKT_BENCH_LTTNG $(shell pkg-config --cflags lttng-ust))

# A separate build, because libFuzzer uses the coverage of the whole library. The few inputs of `make
# check` take less time than an optimiser; who searches for longer wants one.
FUZZ_SECONDS ?= 60
fuzz_cc      := $(if $(findstring clang,$(CC)),$(CC),clang)
fuzz_run      = $(test_env) FUZZ_SECONDS='$(FUZZ_SECONDS)' xargs -n 1 -P $(shell nproc) \
    test/support/run-fuzz.sh
fuzz-built:
	$(Q)$(MAKE) B=$(B)/fuzz CC='$(fuzz_cc)' SAN=fuzzer-no-link,address,undefined \
	    CFLAGS='$(or $(FUZZ_CFLAGS),-O0 -g1)' $(addprefix $(B)/fuzz/,$(fuzzers))
fuzz:
	@test/support/install-packages.sh fuzz
	@+$(again) FUZZ_CFLAGS='-O1 -g1' fuzz-built
	@echo $(addprefix $(B)/fuzz/,$(fuzzers)) | $(fuzz_run)

# Without sanitizers, which would only slow it down.
fuzz-coverage:
	@test/support/install-packages.sh fuzz
	@+$(again) B=$(B)/fuzz-coverage CC='$(fuzz_cc)' SAN=fuzzer-no-link LDFLAGS=-fprofile-instr-generate \
	    CFLAGS='-O1 -g -fprofile-instr-generate -fcoverage-mapping' \
	    $(addprefix $(B)/fuzz-coverage/,$(fuzzers))
	@rm -f $(B)/fuzz-coverage/*.profraw
	@echo $(addprefix $(B)/fuzz-coverage/,$(fuzzers)) | \
	    LLVM_PROFILE_FILE='$(abspath $(B))/fuzz-coverage/%p.profraw' $(fuzz_run)
	@test/support/fuzz-coverage.py $(B)/fuzz-coverage $(addprefix $(B)/fuzz-coverage/,$(fuzzers))

# A separate build with coverage counters. It skips tests that check sources, the build or the page
# in a browser, tests with programs without counters, and fuzz targets. It also skips tests that
# make calls fail, because the counters' own calls would fail too.
coverage_tests = $(tests) $(filter-out test/check-% test/cli/test_cli_docs.sh \
    $(foreach dir,abi compile faults gpu html install newcomer viewers,test/$(dir)/%),$(scripts))
coverage:
	@test/support/install-packages.sh check
	@+$(again) B=$(B)/coverage CFLAGS='-O1 -g --coverage -fprofile-update=atomic' \
	    LDFLAGS='--coverage -Wl,-u,__gcov_dump' coverage-built
coverage-built: all $(tests) $(progs) $(inject) $(fault_host) $(sim_libs)
	@find $(B) -name '*.gcda' -delete
	@$(test_env) T='$(T)' test/support/run-tests.sh $(coverage_tests); status=$$?; \
	    test/support/coverage.py $(B) && exit $$status

# Installing
headers     := $(wildcard include/takt/*.h* include/takt/*.cuh)
inner       := $(wildcard include/takt/compat/*.h include/takt/detail/*.h)
shares      := man/man1/takt.1 bash-completion/completions/takt zsh/site-functions/_takt \
               fish/vendor_completions.d/takt.fish
to_include   = $(DESTDIR)$(INCLUDEDIR)/takt
to_lib       = $(DESTDIR)$(LIBDIR)
to_cmake     = $(to_lib)/cmake/takt
to_bin       = $(DESTDIR)$(BINDIR)
to_share     = $(DESTDIR)$(SHAREDIR)

# The command generates its manual page and completions from its own options.
$(B)/share/%: $(BIN)/takt
	$(Q)mkdir -p $(@D)
	$(Q)$(BIN)/takt $(words_for_$(firstword $(subst /, ,$*))) >$@
words_for_man             := help --man
words_for_bash-completion := completion bash
words_for_zsh             := completion zsh
words_for_fish            := completion fish

# The amalgamation, which simulation engines can vendor. The sources of NVTX come last, because
# their pragma remains in effect.
INTO ?= $(B)/amalgamation
one_file := $(foreach layer,base record cuda config trace summary report export profiler nvtx,\
    $(patsubst $(B)/obj/%.o,%.c,$(filter $(B)/obj/src/$(layer)/%,$(filter-out $(command_only),$(lib_objects)))))
amalgamation:
	$(Q)src/packaging/amalgamate.py '$(INTO)' $(version) $(one_file)
	@echo 'wrote takt.c, takt.h, takt.hpp, device.cuh and CMakeLists.txt into $(INTO)'

install: libs $(BIN)/takt $(addprefix $(B)/share/,$(shares))
	install -d $(to_include)/compat $(to_include)/detail $(to_lib)/pkgconfig $(to_cmake) $(to_bin)
	install -m 644 $(headers) $(to_include)
	for file in $(inner:include/takt/%=%); do install -m 644 include/takt/$$file $(to_include)/$$file; done
	install -m 644 $(static) $(to_lib)
	install -m 755 $(shared) $(to_lib)
	ln -sf $(notdir $(shared)) $(to_lib)/libtakt.so.$(abi)
	ln -sf libtakt.so.$(abi) $(to_lib)/libtakt.so
	$(call package_file,$(LIBDIR)/pkgconfig) src/packaging/takt.pc.in >$(to_lib)/pkgconfig/takt.pc
	$(foreach file,$(cmake_files),\
	    $(call package_file,$(LIBDIR)/cmake/takt) src/packaging/$(file).in >$(to_cmake)/$(file);)
	install -m 755 $(BIN)/takt $(to_bin)
	for file in $(shares); do install -D -m 644 $(B)/share/$$file $(to_share)/$$file; done

uninstall:
	rm -f $(addprefix $(to_include)/,$(notdir $(headers))) $(inner:include/takt/%=$(to_include)/%)
	rm -f $(addprefix $(to_cmake)/,$(cmake_files))
	rm -f $(addprefix $(to_lib)/,libtakt.a libtakt.so libtakt.so.$(abi) libtakt.so.$(version))
	rm -f $(to_lib)/pkgconfig/takt.pc $(to_bin)/takt $(addprefix $(to_share)/,$(shares))
	-rmdir $(to_include)/compat $(to_include)/detail $(to_include) $(to_cmake)

format:
	clang-format -i $(wildcard $(foreach dir,src/* src/*/* samples samples/* test/*,$(dir)/*.c $(dir)/*.cpp))

clean:
	rm -rf $(B) $(BIN) $(addprefix $(LIB)/,libtakt.* cmake pkgconfig)

help:
	@sed -n 's/^## \{0,1\}//p' Makefile
