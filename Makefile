# SPDX-License-Identifier: MIT
#
# gpumemtrace: plain GNU make, one file. Every .c file in a module's folder is part of that module,
# so a new file needs no change here.
#
#   make            build everything            make demo     record and report a sample, no GPU needed
#   make check      run the tests               make bench    the cost of recording, compared with heaptrack
#   make smoke                                  ten short scripts on one wheel of PyTorch: three minutes
#   make check-all  SUITES="fuzz hostile"       larger suites one after the other; without SUITES all of them: six hours
#   make check-pytorch                          the real PyTorch, without a GPU (3 GB on disk)
#   make check-pytorch-oldest                   its oldest release compared with its own counters
#   make check-holders                          Python's variables that keep memory, on six versions of Python
#   make check-releases                         every release of it, one after the other: half an hour
#   make check-export                           exports checked against the viewers' own descriptions
#   make check-browser                          the HTML page in a headless Chromium: three minutes
#   make check-cases                            public cases with known right answers, in dry runs: five minutes
#   make check-models                           families of the estimate compared with their libraries: three minutes
#   make check-estimates                        the estimate compared with training loops in dry runs: six minutes
#   make check-trainers                         trainers of other libraries in dry runs: five minutes
#   make check-fleet                            a ClickHouse server: 64 ranks, two shards: five minutes, 1 GB
#   make check-field                            other frameworks in dry runs, as wheels: ten minutes, 3 GB
#   make bench-large                            long recordings: an hour, 10 GB on disk
#   make bench-fleet                            pushing ranks to a ClickHouse server, and queries; also part of make bench
#   make bench-page                             the cost of live, of making a page and of viewing it in a browser
#   make bench-pytorch                          the cost of recording PyTorch, compared with its own recorder
#                                               (all of these write doc/measurements.md with WRITE=1)
#   make check-hostile SEED=N                   every kind of failure, in turn and at random
#   make fuzz SECONDS=60                        libFuzzer on the code that reads files and input
#   make deb, make wheel                        packages for Debian and for pip; make check-packages tests both
#   make install    PREFIX=/usr/local DESTDIR=  make lint     formatting, cppcheck, shellcheck
#
#   O=build         where results go            V=1           show the commands
#   DEVELOPER=1     warnings are errors         CUDA=no       build without NVIDIA's headers

O         ?= build
# A folder has one name, because dependencies apply only to targets of the name that they were written with.
override O := $(patsubst $(CURDIR)/%,%,$(abspath $(O)))
PREFIX    ?= /usr/local
DESTDIR   ?=
PYTHON    ?= /usr/bin/python3
CUDA      ?= auto
SANITIZE  ?=
Q         := $(if $(V),,@)

CFLAGS    ?= -O2 -g
OBJCOPY   ?= objcopy
WARNINGS  := -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wmissing-prototypes $(if $(DEVELOPER),-Werror)
COMMON    := -std=c11 -D_GNU_SOURCE -Iinclude -I. $(WARNINGS) $(CFLAGS) $(SANITIZE) -fvisibility=hidden -pthread

# Uses NVIDIA's cuda.h if it is installed. Without it, include/gpumemtrace/cuda/ declares the same ABI.
CUDA_PLACES  := $(CUDA_HOME)/include /usr/local/cuda/include /usr/include \
                $(wildcard /usr/lib/python3*/*-packages/nvidia/*/include /usr/local/lib/python3*/*-packages/nvidia/*/include)
CUDA_INCLUDE := $(if $(filter no,$(CUDA)),,$(firstword $(foreach dir,$(CUDA_PLACES),$(if $(wildcard $(dir)/cuda_runtime_api.h),$(dir)))))
CUDA_FLAGS   := $(if $(CUDA_INCLUDE),-DGPUMEMTRACE_REAL_CUDA_H $(if $(filter /usr/include,$(CUDA_INCLUDE)),,-isystem $(CUDA_INCLUDE)))

SQLITE_A  := $(shell $(CC) -print-file-name=libsqlite3.a 2>/dev/null)

# Every .c and .S file below a room's folder belongs to the room. trace/ and common/ are archives: a program links only the
# functions that it calls.
room       = $(sort $(shell find $(1) -name '*.[cS]'))
objects    = $(patsubst %,$(O)/obj/%.o,$(basename $(1)))
matrix_src    := $(wildcard tests/programs/matrix/*.c)
library_src   := $(wildcard tests/programs/library/*.c)
runtime_src   := $(wildcard tests/programs/simulator/sim_runtime_*.c)
program_src   := $(filter-out $(matrix_src) $(library_src),$(shell find tests/programs -name '*.c' -o -name '*.cc'))
sample_src    := $(wildcard samples/*.c)
unit_src      := $(call room,tests/unit)
fuzz_src      := $(filter-out tests/fuzz/feed.c,$(wildcard tests/fuzz/*.c))

interpose_obj := $(call objects,$(call room,interpose))
analyzer_obj  := $(call objects,$(call room,analyzer))
driver_obj    := $(call objects,$(call room,simulator/driver))
runtime_obj   := $(call objects,$(call room,simulator/runtime))
trace_a       := $(O)/obj/trace.a
common_a      := $(O)/obj/common.a

LIBRARY    := $(O)/libgpumemtrace.so
COMMAND    := $(O)/gpumemtrace
# "soname:list:runtime:version" of each library that stands in for one of NVIDIA's in a dry run.
STANDINS   := $(shell sed -n 's/^STANDIN("\([^"]*\)", *\([a-z]*\), *"\([^"]*\)", *\([0-9]*\)).*/\1:\2:\4:\3/p' simulator/libraries.def)
SIMULATOR  := $(addprefix $(O)/simulator/,$(shell sed -n 's/^\(DRIVER\|RUNTIME\|STANDIN\)("\([^"]*\)".*).*/\2/p' simulator/libraries.def))
MATRIX     := $(addprefix $(O)/tests/,matrix matrix12 matrix_bare matrix_plugin.so matrix_plugin12.so)
PROGRAMS   := $(addprefix $(O)/tests/,$(notdir $(basename $(program_src)))) $(MATRIX) \
              $(patsubst tests/programs/simulator/%.c,$(O)/tests/%_12,$(runtime_src)) \
              $(patsubst tests/programs/library/%.c,$(O)/tests/%.so,$(library_src)) $(O)/tests/faulty/libgpumemtrace.so
SAMPLES    := $(patsubst samples/%.c,$(O)/samples/%,$(sample_src))
UNITS      := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(unit_src))
recorder_units = $(filter $(O)/tests/unit/interpose/% $(O)/tests/unit/trace/% $(O)/tests/unit/common/%,$(UNITS))
FUZZ       := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%,$(fuzz_src))
PRODUCTS   := $(LIBRARY) $(COMMAND) $(SIMULATOR)
# Files that the built command writes: its manual page, shell completions and pkg-config file. Their paths are those
# below an installation prefix.
GUIDES     := $(addprefix $(O)/share/,man/man1/gpumemtrace.1 bash-completion/completions/gpumemtrace zsh/site-functions/_gpumemtrace \
              fish/vendor_completions.d/gpumemtrace.fish pkgconfig/gpumemtrace.pc)
VERSION    := $(shell sed -n 's/.*GMT_VERSION "\(.*\)"/\1/p' include/gpumemtrace/version.h)

.DEFAULT_GOAL := all
.PHONY: all deps demo check check-all check-asan check-tsan check-pythons check-aarch64 check-gpu check-pytorch check-pytorch-oldest check-holders check-releases check-field check-cases check-models check-estimates check-trainers check-fleet check-browser check-export check-mutations check-long check-hostile smoke pictures fuzz bench bench-fleet bench-large bench-page \
        bench-pytorch lint install uninstall deb wheel check-packages clean programs samples units demo-run check-run tsan-run pythons-run aarch64-run pytorch pytorch-run
.SECONDARY:

all: $(PRODUCTS) $(GUIDES)
programs: $(PROGRAMS) $(O)/tests/faulty/gpumemtrace
samples: $(SAMPLES)
units: $(UNITS) $(FUZZ)

# --- compiling ------------------------------------------------------------------------------------

say = @$(if $(V),:,printf '  %-6s %s\n' $(1) $(2))

$(O)/obj/%.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(COMMON) $(NO_SANITIZE) $(CUDA_SEEN) -fPIC -MMD -MP -c $< -o $@
$(O)/obj/%.o: %.S
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -Iinclude -I. $(ASSETS) -fPIC -MMD -MP -c $< -o $@
# Only the recorder and its tests are compiled with NVIDIA's headers: the simulator must export the same functions on
# every machine.
$(interpose_obj) $(O)/tests/unit/interpose/%: CUDA_SEEN := $(CUDA_FLAGS)
# These files are compiled without a sanitizer. A sanitizer looks up its functions through our dlsym before its own
# memory is set up, and the unwinder reads memory between variables on purpose.
$(addprefix $(O)/obj/interpose/,loader/dlsym.o $(addprefix image/,scope.o image_list.o elf_image.o libc_function.o) \
    $(addprefix stack/native/,unwind_memory.o frame_rules.o frame_walk.o unwind_table.o)): NO_SANITIZE := -fno-sanitize=all
$(O)/obj/trace/views.o: trace/views.sql
$(O)/obj/interpose/holders/walk_file.o: $(wildcard interpose/holders/*.py)
# The page of --format=html contains a chart library, which Debian packages.
DYGRAPHS ?= /usr/share/javascript/dygraphs
$(O)/obj/analyzer/web/web.o: $(wildcard analyzer/web/*.html analyzer/web/*.css analyzer/web/*.js)
$(O)/obj/analyzer/web/web.o: ASSETS := -Wa,-I$(DYGRAPHS)
$(O)/obj/analyzer/estimate/model/family_files.o: $(wildcard analyzer/estimate/families/*.json)
$(O)/obj/analyzer/fleet/query_files.o: $(wildcard analyzer/fleet/queries/*.sql)
$(O)/obj/simulator/standins/dryrun_values.o: $(wildcard simulator/standins/values*.py)

$(trace_a): $(call objects,$(call room,trace))
$(common_a): $(call objects,$(call room,common))
$(trace_a) $(common_a):
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# --- products -------------------------------------------------------------------------------------

LIBRARY_FLAGS = $(CFLAGS) $(SANITIZE) -pthread -Wl,--version-script=interpose/exports.map -Wl,--exclude-libs,ALL \
    -Wl,-z,defs,-z,now,-z,nodelete,-Bsymbolic -Wl,-soname,libgpumemtrace.so -lm
# SQLite is linked in statically and hidden, because a libsqlite3.so would replace the program's own.
$(LIBRARY): $(interpose_obj) $(trace_a) $(common_a) interpose/exports.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ $(filter-out %.map,$^) $(SQLITE_A) $(LIBRARY_FLAGS)

# SQLite's code starts at a cache line, because the place of the code within a cache line changes the time of reading a
# trace by one twentieth.
sqlite_aligned_a := $(O)/obj/sqlite_aligned.a
$(sqlite_aligned_a): $(SQLITE_A)
	@mkdir -p $(@D)
	$(Q)$(OBJCOPY) --set-section-alignment .text=64 $< $@ 2>/dev/null || cp $< $@

COMMAND_FLAGS = $(CFLAGS) $(SANITIZE) -pthread -ljansson -ldw -lelf -liberty -lz -lncursesw -ltinfo -lm
$(COMMAND): $(analyzer_obj) $(trace_a) $(common_a) $(sqlite_aligned_a)
	$(call say,LINK,$@)
	$(Q)$(CC) -pie -o $@ $^ $(COMMAND_FLAGS)

$(O)/simulator/libcuda.so.1: $(driver_obj) $(common_a) $(wildcard simulator/driver/*.map)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@ $(driver_obj) $(common_a) $(CFLAGS) $(SANITIZE) -pthread -Wl,-z,defs -Wl,-soname,libcuda.so.1 \
	    $(addprefix -Wl$(comma)--version-script=,$(wildcard simulator/driver/*.map))

comma := ,
$(O)/simulator/libcudart.so.%: $(runtime_obj) $(common_a) simulator/runtime/exports.map.in include/gpumemtrace/cuda/runtime_functions.def
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -E -P -undef -x c -Iinclude -DRUNTIME=$(basename $*) -DRUNTIME_SONAME=libcudart.so.$* simulator/runtime/exports.map.in > $(O)/obj/cudart$*.map
	$(Q)$(CC) -shared -o $@ $(runtime_obj) $(common_a) $(CFLAGS) $(SANITIZE) -pthread -Wl,-z,defs -Wl,-soname,libcudart.so.$* \
	    -Wl,--version-script=$(O)/obj/cudart$*.map

# A stand-in library has a function that returns 0 for each name of its list, and real bodies that replace some of these
# functions. It links to the runtime of its own CUDA version.
$(O)/obj/standin/%.o: simulator/standins/entries.S simulator/standins/symbols/%.def $(wildcard simulator/standins/symbols/*_refused.def)
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -fPIC -DSTANDIN_SYMBOLS='"symbols/$*.def"' -c $< -o $@
define STANDIN_RULES
$(O)/simulator/$(1): $(O)/obj/standin/$(2).o $(call objects,$(wildcard simulator/standins/$(2).c simulator/standins/$(2)_*.c simulator/standins/$(2)_*.S simulator/standins/$(2)/*.c)) $(common_a) \
        simulator/standins/exports.map.in simulator/standins/symbols/$(2).def $(4)
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -E -P -undef -x c -DSTANDIN_SYMBOLS='"symbols/$(2).def"' -DSTANDIN_VERSION=$(3) \
	    simulator/standins/exports.map.in > $(O)/obj/standin/$(1).map
	$$(Q)$$(CC) -shared -o $$@ $$(filter %.o %.a,$$^) $(4) $$(CFLAGS) $$(SANITIZE) -Wl,--as-needed -Wl,-soname,$(1) \
	    -Wl,-rpath,'$$$$ORIGIN' -Wl,--version-script=$(O)/obj/standin/$(1).map
endef
standin_field = $(word $(1),$(subst :, ,$(2)))
$(foreach row,$(STANDINS),$(eval $(call STANDIN_RULES,$(call standin_field,1,$(row)),$(call standin_field,2,$(row)),$(call standin_field,4,$(row)),$(O)/simulator/libcudart.so.$(call standin_field,3,$(row)))))

# --- guides: from the same tables as help ---------------------------------------------------------

guide = $(Q)mkdir -p $(@D) && $(COMMAND) help --as=$(1) > $@.new && mv $@.new $@
$(O)/share/man/man1/gpumemtrace.1: analyzer/man/gpumemtrace.1 $(COMMAND)
	$(call say,GUIDE,$@)
	$(call guide,man)
	$(Q)sed -e 's/@VERSION@/$(VERSION)/' -e '/^\.\\" COMMANDS$$/{' -e 'r $@' -e 'd' -e '}' $< > $@.new && mv $@.new $@
$(O)/share/bash-completion/completions/gpumemtrace: $(COMMAND)
	$(call say,GUIDE,$@)
	$(call guide,bash)
$(O)/share/zsh/site-functions/_gpumemtrace: $(COMMAND)
	$(call say,GUIDE,$@)
	$(call guide,zsh)
$(O)/share/fish/vendor_completions.d/gpumemtrace.fish: $(COMMAND)
	$(call say,GUIDE,$@)
	$(call guide,fish)
$(O)/share/pkgconfig/gpumemtrace.pc: include/gpumemtrace/gpumemtrace.pc.in include/gpumemtrace/version.h
	$(call say,GUIDE,$@)
	$(Q)mkdir -p $(@D) && sed 's/@VERSION@/$(VERSION)/' $< > $@

# --- programs: each names what it is linked to in its first lines: "link: cudart12|cudart13|cuda|dl|m"

link_cudart12 := $(O)/simulator/libcudart.so.12
link_cudart13 := $(O)/simulator/libcudart.so.13
link_cuda     := $(O)/simulator/libcuda.so.1
link_dl       :=
link_m        := -lm
link_sqlite   := $(SQLITE_A) -lm
link_allocator := $(call objects,$(wildcard analyzer/allocator/*.c) analyzer/util/array.c) $(common_a)
# The dependency file of a program lies where the dependency file of its object would.
depends = -MMD -MP -MF $(O)/obj/$(basename $<).d
links = $(foreach word,$(shell sed -n '1,5s|.*link: *||p' $(1)),$(link_$(word)))

# Variants of the recorder and the command in which their calls of SQLite can be made to fail. SQLite's calls of its own
# functions are unchanged.
sqlite_faults := open_v2 exec prepare_v2 prepare_v3 step reset finalize create_module create_function_v2 declare_vtab \
    busy_timeout malloc backup_init backup_step backup_finish table_column_metadata column_text
$(O)/obj/faulty/%: $(O)/obj/%
	$(call say,COPY,$@)
	@mkdir -p $(@D)
	$(Q)$(OBJCOPY) $(foreach name,$(sqlite_faults),--redefine-sym sqlite3_$(name)=faulty_$(name)) $< $@
$(O)/tests/faulty/libgpumemtrace.so: $(patsubst $(O)/obj/%,$(O)/obj/faulty/%,$(interpose_obj)) $(O)/obj/faulty/trace.a $(O)/obj/tests/faults/sqlite_faults.o $(common_a) interpose/exports.map
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@ $(filter-out %.map,$^) $(SQLITE_A) $(LIBRARY_FLAGS)
$(O)/tests/faulty/gpumemtrace: $(patsubst $(O)/obj/%,$(O)/obj/faulty/%,$(analyzer_obj)) $(O)/obj/faulty/trace.a $(O)/obj/tests/faults/sqlite_faults.o $(common_a)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -pie -o $@ $^ $(SQLITE_A) $(COMMAND_FLAGS) -Wl,-z,dynamic-undefined-weak
# Libraries for tests: preloaded beside ours (preload_*), preloaded instead of ours with a known mistake (naive_*), or called by
# Python programs (stack_probe*).
$(O)/tests/%.so: tests/programs/library/%.c $(SIMULATOR)
	$(call say,PROG,$@)
	@mkdir -p $(@D) $(O)/obj/$(<D)
	$(Q)$(CC) $(COMMON) -fPIC -shared $(depends) -o $@ $< $(call links,$<)
# Programs: tests/programs/FOLDER/NAME.c becomes $(O)/tests/NAME.
define PROGRAM_RULES
$(O)/tests/%: $(1)%.c $(SIMULATOR)
	$$(call say,PROG,$$@)
	@mkdir -p $$(@D) $(O)/obj/$$(<D)
	$$(Q)$$(CC) $$(COMMON) -fno-omit-frame-pointer -rdynamic $$(depends) -o $$@ $$< -Wl,--no-as-needed $$(call links,$$<)
$(O)/tests/%: $(1)%.cc $(SIMULATOR)
	$$(call say,PROG,$$@)
	@mkdir -p $$(@D) $(O)/obj/$$(<D)
	$$(Q)$$(CXX) -O2 -g -Iinclude -I. -pthread -rdynamic $$(depends) -o $$@ $$< -Wl,--no-as-needed $$(call links,$$<)
endef
$(foreach folder,$(sort $(dir $(program_src))),$(eval $(call PROGRAM_RULES,$(folder))))
$(O)/tests/make_events: $(link_allocator)
# Tests of the simulated runtime are also linked to libcudart.so.12.
$(O)/tests/%_12: tests/programs/simulator/%.c $(O)/tests/%
	$(call say,PROG,$@)
	$(Q)$(CC) $(COMMON) -DRUNTIME=12 -rdynamic -o $@ $< -Wl,--no-as-needed $(link_cudart12)
$(O)/samples/%: samples/%.c $(SIMULATOR)
	$(call say,PROG,$@)
	@mkdir -p $(@D) $(O)/obj/$(<D)
	$(Q)$(CC) $(COMMON) $(depends) -o $@ $< $(call links,$<) -lm

# The matrix builds the same sources linked to either runtime or to none, each as a program and as a plugin.
matrix_obj := $(call objects,$(matrix_src))
link_matrix   = $(link_cudart13) $(link_cuda)
link_matrix12 = $(link_cudart12) $(link_cuda)
link_matrix_plugin.so   = -shared $(link_matrix)
link_matrix_plugin12.so = -shared $(link_matrix12)
$(MATRIX): $(matrix_obj) $(SIMULATOR)
	$(call say,PROG,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE) -pthread -o $@ -Wl,--no-as-needed \
	    $(filter-out %/$(if $(link_$(@F)),bare,linked).o,$(matrix_obj)) $(link_$(@F))

# A unit test links to the room after which its folder is named, and to the rooms that this room uses. The recorder's
# unit tests do not link the recorder's replacements for libc's functions.
interpose_unit_obj := $(filter-out $(call objects,interpose/loader/stubs.S interpose/life/exit.c interpose/image/own_libc.c),$(interpose_obj))
unit_interpose = $(interpose_unit_obj) $(trace_a) $(common_a)
unit_analyzer  = $(filter-out %/command/main.o,$(analyzer_obj)) $(trace_a) $(common_a)
unit_trace     = $(trace_a) $(common_a)
unit_common    = $(common_a)
unit_libraries_analyzer := -ljansson -ldw -lelf -liberty -lz -lncursesw -ltinfo
define UNIT_RULE
$(O)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $(unit_$(1))
	$$(call say,UNIT,$$@)
	@mkdir -p $$(@D) $(O)/obj/$$(<D)
	$$(Q)$$(CC) $$(COMMON) $$(CUDA_SEEN) $$(depends) -o $$@ $$< $$(filter %.o %.a,$$^) $$(SQLITE_A) $$(unit_libraries_$(1)) -lcmocka -lm
endef
$(foreach room,interpose analyzer trace common,$(eval $(call UNIT_RULE,$(room))))
# A target of the fuzzer links to the same files as a unit test of the analyzer. FUZZER sets the flags of libFuzzer,
# which contains main().
FUZZER :=
fuzz_feed = $(O)/obj/tests/fuzz/feed.o
$(O)/tests/fuzz/%: tests/fuzz/%.c $(fuzz_feed) $(unit_analyzer)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D) $(O)/obj/$(<D)
	$(Q)$(CC) $(COMMON) $(depends) -o $@ $< $(unit_analyzer) $(or $(FUZZER),$(fuzz_feed)) $(SQLITE_A) $(COMMAND_FLAGS)

# Adds -jN if the caller gave no -jN.
on_all_cores = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

# --- running --------------------------------------------------------------------------------------

PYTEST      = GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider
# Tests that `make check` leaves out because they need packages from PyPI or much time. The larger suites run them.
not_checked = tests/pytorch tests/trainers tests/cases $(addprefix tests/,export/test_perfetto.py export/test_memory_viz.py fleet/test_engines.py \
    hostile/test_readers.py plugin/test_wheel.py check/test_packages.py)
# Runs the files of two tests at once if pytest-xdist is installed.
TWO_AT_ONCE = $(shell $(PYTHON) -c 'import xdist' 2>/dev/null && echo --numprocesses=2 --dist=loadfile)

deps:
	$(Q)sh .ci/deps build check
	$(Q)sh .ci/deps tools || echo "deps: no mangohud, apitrace, zsh, fish, groff or pkg-config; the tests beside them are skipped"

demo:
	$(Q)sh .ci/deps build
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) demo-run
demo-run: all samples
	$(Q)O=$(O) sh samples/demo

check: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) check-run
# tests/check compares with a build without NVIDIA's headers.
check-run: all programs samples units
	$(Q)$(MAKE) --no-print-directory O=$(O)/plain CUDA=no $(O)/plain/libgpumemtrace.so
	$(Q)$(PYTEST) $(TWO_AT_ONCE) $(or $(TESTS),tests $(addprefix --ignore=,$(not_checked)))

# The larger suites of .ci/suites, with one random seed. tests/results.md has their last results.
check-all:
	$(Q).ci/check-all $(O) $(or $(SEED),$(shell date +%s)) $(SUITES)
# Stands at the end of a recipe, and counts exit status 77 (PyPI cannot be reached) as a skipped test.
or_skip = || { status=$$?; [ $$status = 77 ] && echo "0 passed, 0 failed, 1 skipped" || exit $$status; }

asan_build = O=$(O)/asan CFLAGS='-O1 -g' SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
# The sanitizer's library must be loaded before ours in every program that is not compiled with it.
check-asan: deps
	$(Q)GPUMEMTRACE_PRELOAD_FIRST=$(shell $(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:handle_segv=0 \
	    $(MAKE) --no-print-directory $(on_all_cores) $(asan_build) check-run
# Unit tests of the rooms whose threads share data: ring, drain and the tree of stacks. GCC warns that this sanitizer
# ignores fences. This does no harm, because our fences order only accesses to atomic variables.
check-tsan: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) O=$(O)/tsan CFLAGS='-O1 -g' SANITIZE='-fsanitize=thread -Wno-tsan' tsan-run
tsan-run: $(recorder_units)
	$(Q)$(PYTEST) $(or $(TESTS),$(patsubst $(O)/%,%.c,$^))
# Python frames on every interpreter of this machine and on those of Debian packages in a folder.
check-pythons: deps
	$(Q)sh .ci/deps pythons || echo "check-pythons: no mmdebstrap, so no folder of Debian's packages"
	$(Q)$(MAKE) --no-print-directory pythons-run
pythons-run: all programs wheel
	$(Q)sh tests/python/debian-pythons $(abspath $(O))/pythons
	$(Q)GPUMEMTRACE_PYTHONS=all GPUMEMTRACE_PYTHON_FOLDER=$(abspath $(O))/pythons $(PYTEST) $(or $(TESTS),tests/python tests/plugin)
# The recorder for aarch64 on qemu's user mode; traces are read by this machine's analyzer. Skipped, with the reason, without the
# compiler or the libraries.
aarch64 := $(abspath $(O))/aarch64
check-aarch64: all
	$(Q)sh .ci/aarch64-root $(aarch64)/root && \
	    $(MAKE) --no-print-directory O=$(aarch64) CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ \
	    OBJCOPY=aarch64-linux-gnu-objcopy CUDA=no \
	    CFLAGS='-O2 -g -I$(aarch64)/root/usr/include -L$(aarch64)/root/usr/lib/aarch64-linux-gnu' \
	    SQLITE_A=$(aarch64)/root/usr/lib/aarch64-linux-gnu/libsqlite3.a aarch64-run $(or_skip)
aarch64-run: $(LIBRARY) $(SIMULATOR) $(PROGRAMS) $(SAMPLES) $(recorder_units)
	$(Q)sh tests/aarch64/run $(O) $(CC) $(PYTHON) $(TESTS)
# Makes every kind of failure happen, in turn and at random: see tests/hostile/README.md.
check-hostile: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) $(asan_build) $(O)/asan/gpumemtrace
	$(Q)GPUMEMTRACE_HOSTILE=all GPUMEMTRACE_SEED=$(or $(SEED),1) GPUMEMTRACE_FAULTS=all $(PYTEST) \
	    $(subst loadfile,load,$(TWO_AT_ONCE)) $(or $(TESTS),tests/hostile tests/recorder/test_faults.py)
# Runs each target of tests/fuzz for SECONDS, two at once; TARGETS="trace words" runs only those.
SECONDS ?= 60
fuzz: deps
	$(Q)sh .ci/deps lint
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) O=$(O)/fuzz CC=clang CFLAGS='-O1 -g' FUZZER=-fsanitize=fuzzer \
	    SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' $(FUZZ:$(O)/%=$(O)/fuzz/%)
	$(Q)tests/fuzz/run $(O)/fuzz $(SECONDS) $(or $(SEED),1) $(TARGETS)
# Skipped, with the reason, on a machine without a GPU.
check-gpu: all programs
	$(Q)GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m gpu.check

# Ten scripts on one wheel, which is kept in ~/.cache/gpumemtrace. SMOKE_ENV="NAME=VALUE …" is set while it is fetched and run.
smoke: deps
	$(Q)sh .ci/deps smoke
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all
	$(Q)env $(SMOKE_ENV) $(SHELL) .ci/smoke $(abspath $(O)) $(PYTHON) env $(PYTEST) $(subst loadfile,load,$(TWO_AT_ONCE))

# Runs PyTorch on the stand-ins for NVIDIA's libraries: all tests on the wheel, except those of check-holders, and those
# that compare traces with PyTorch's counters, or traces with each other, on Debian's build, too.
check-pytorch: pytorch
	$(Q)$(MAKE) --no-print-directory pytorch-run
pytorch_tests = tests/pytorch/test_pytorch_$(1).py
recording_tests := $(foreach name,replay counters values_alike import export,$(call pytorch_tests,$(name)))
debian_tests := $(recording_tests) $(foreach name,first_lines diff,$(call pytorch_tests,$(name)))
pytorch-run: all programs
ifdef TESTS
	$(Q)$(PYTEST) $(TWO_AT_ONCE) $(TESTS)
else
	$(Q)status=0; \
	    GPUMEMTRACE_PYTORCH=wheel $(PYTEST) $(TWO_AT_ONCE) tests/pytorch --ignore=tests/pytorch/holders || status=1; \
	    GPUMEMTRACE_PYTORCH=debian $(PYTEST) $(TWO_AT_ONCE) $(debian_tests) || status=1; \
	    exit $$status
endif
# Runs the tests that compare traces with PyTorch's counters and snapshots, on the oldest release that can be recorded.
check-pytorch-oldest: deps
	$(Q)sh .ci/deps pytorch
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs
	$(Q)tests/pytorch/get_wheel oldest $(O)/pytorch/oldest $(abspath $(O))/simulator $(PYTHON) || [ $$? = 77 ]
	$(Q)GPUMEMTRACE_PYTORCH=oldest $(PYTEST) $(subst loadfile,load,$(TWO_AT_ONCE)) $(or $(TESTS),$(recording_tests))
# Runs the tests of the walk over Python's objects on several versions of CPython and PyTorch.
check-holders: deps
	$(Q)sh .ci/deps pytorch
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs
	$(Q)tests/pytorch/get_holders $(O)/pytorch $(abspath $(O))/simulator
	$(Q)GPUMEMTRACE_PYTORCH="$$(. .ci/versions && echo "$$holders_builds")" $(PYTEST) $(or $(TESTS),tests/pytorch/holders)
# Tries every release in use, one wheel of 0.8 GB after the other. RELEASES="2.0.1" tries only that release; WRITE=1
# writes the table.
check-releases: all
	$(Q)RELEASES='$(RELEASES)' WRITE=$(WRITE) GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) tests/pytorch/releases.py
# Tries other frameworks in dry runs, one after the other. FIELD="numba_cuda cupy" tries only these two.
check-field: all
	$(Q)FIELD='$(FIELD)' GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) tests/field/check.py
# Judges the first lines of commands on programs with a known right answer. CASES="leak-ctx-output" tries only this
# case, KEEP=FOLDER keeps the traces, WRITE=1 writes the score.
check-cases: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all
	$(Q)$(get_wheel) && \
	    CASES='$(CASES)' KEEP=$(KEEP) WRITE=$(WRITE) GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m cases.check $(or_skip)
# Compares each family of the estimate, tensor by tensor, with the library that defines the family. SEED=N ROUNDS=N
# tries other configs.
get_wheel = tests/pytorch/get_wheel wheel $(O)/pytorch/wheel $(abspath $(O))/simulator $(PYTHON)
check-models: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all
	$(Q)$(get_wheel) && .ci/pypi $(O)/transformers $(PYTHON) models && \
	    SEED='$(SEED)' ROUNDS='$(ROUNDS)' MODELS='$(MODELS)' GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m models.check $(or_skip)
# Compares the estimate with training loops of transformers. CASES="gpt2 bert" tries only these cases, KEEP=FOLDER keeps
# the traces, WRITE=1 writes the table.
check-estimates: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all
	$(Q)$(get_wheel) && .ci/pypi $(O)/transformers $(PYTHON) models && .ci/pypi $(O)/adapters $(PYTHON) adapters && \
	    CASES='$(CASES)' KEEP='$(KEEP)' WRITE=$(WRITE) GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m estimates.check $(or_skip)
# Compares what trainers count and hold with the commands' figures. TESTS="tests/trainers -k lora" tries only this script.
check-trainers: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all
	$(Q){ $(get_wheel) && .ci/pypi $(O)/transformers $(PYTHON) models && .ci/pypi $(O)/trainers $(PYTHON) trainers && \
	    $(PYTEST) $(or $(TESTS),tests/trainers); } $(or_skip)
# Installs two builds of PyTorch with a launcher for each: $(O)/pytorch/debian/python and $(O)/pytorch/wheel/python.
pytorch: deps
	$(Q)sh .ci/deps pytorch
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/pytorch/get_debian $(O)/pytorch/debian $(abspath $(O))/simulator || [ $$? = 77 ]
	$(Q)$(get_wheel) || [ $$? = 77 ]

# Uses a ClickHouse server of its own on loopback: 64 ranks, two shards; and the newest engine (PyPI, 1 GB).
check-fleet: deps
	$(Q)sh .ci/deps fleet || echo "check-fleet: no clickhouse-server here; what needs it is skipped"
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs samples
	$(Q).ci/pypi $(O)/chdb $(PYTHON) fleet || [ $$? = 77 ]
	$(Q)GPUMEMTRACE_FLEET=all $(PYTEST) $(TWO_AT_ONCE) $(or $(TESTS),tests/fleet)

# Checks exports against the published descriptions of the viewers' formats. Perfetto's descriptors come from PyPI.
check-export: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs
	$(Q).ci/pypi $(O)/perfetto $(PYTHON) perfetto || [ $$? = 77 ]
	$(Q)$(get_wheel) || [ $$? = 77 ]
	$(Q)$(PYTEST) $(TWO_AT_ONCE) $(or $(TESTS),tests/export)

# Tests the HTML pages in a headless Chromium; `make check` tests one page. Leaves pictures of all pages in $(O)/web.
check-browser: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs samples
	$(Q)$(PYTEST) $(TWO_AT_ONCE) $(or $(TESTS),tests/web)

# Takes the manual's pictures again. Run it after a change of the page's appearance.
pictures: pytorch
	$(Q)GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m web.pictures

# Puts small mistakes into the code, one at a time; some test must notice each. Takes half an hour. MISTAKES="13 15"
# makes only the mistakes of lines 13 and 15.
check-mutations: deps
	$(Q)sh .ci/deps fleet || echo "check-mutations: no clickhouse-server here; mistakes in push and fleet are missed"
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs samples units
	$(Q)tests/mutations/run $(MISTAKES)

# Compares the results of a thousand random traces with those of a slow, simple program that reads the same traces.
# `make check` does this with 45 traces.
check-long: deps
	$(Q)$(MAKE) --no-print-directory $(on_all_cores) all programs samples
	$(Q)GPUMEMTRACE_SEEDS=1000 $(PYTEST) $(subst loadfile,load,$(TWO_AT_ONCE)) $(or $(TESTS),tests/reference)

bench: deps
	$(Q)sh .ci/deps bench
	$(Q)$(MAKE) --no-print-directory all programs
	$(Q)O=$(O) WRITE=$(WRITE) PYTHONPATH=tests $(PYTHON) -m bench.bench
	$(Q)$(MAKE) --no-print-directory bench-fleet

# Long traces: an hour, and 10 GB in TMPDIR. SIZES="1 10" reads only traces of 1 and 10 million events.
bench-large: deps
	$(Q)$(MAKE) --no-print-directory all programs
	$(Q)O=$(O) WRITE=$(WRITE) SIZES='$(SIZES)' GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m bench.bench_large

# Measures how much `live` costs a watched program (two minutes), and the cost of making and viewing a page of 1 and of
# 10 million events (five minutes). SIZES="10" measures only the page of 10 million events.
bench-page: deps
	$(Q)$(MAKE) --no-print-directory all programs
	$(Q)O=$(O) WRITE=$(WRITE) SIZES='$(SIZES)' GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m bench.bench_page

# Pushes 64 ranks of a million events to a server of its own: three minutes, 10 GB in TMPDIR. RANKS=8 EVENTS=100000
# makes the measurement small.
bench-fleet: deps
	$(Q)sh .ci/deps fleet || true
	$(Q)$(MAKE) --no-print-directory all programs
	$(Q)O=$(O) WRITE=$(WRITE) RANKS='$(RANKS)' EVENTS='$(EVENTS)' GPUMEMTRACE_BUILD=$(abspath $(O)) PYTHONPATH=tests $(PYTHON) -m bench.bench_fleet

bench-pytorch: deps
	$(Q)sh .ci/deps pytorch
	$(Q)$(MAKE) --no-print-directory all programs pytorch
	$(Q)O=$(O) WRITE=$(WRITE) PYTHONPATH=tests $(PYTHON) -m bench.bench_pytorch

lint: deps all
	$(Q)sh .ci/deps lint
	$(Q)sh .ci/lint $(O)
	$(Q)$(PYTHON) .ci/tasks $(O)

clean:
	$(Q)rm -rf $(O)

# --- installing -----------------------------------------------------------------------------------

# The recipe reads the folder from the environment, because a path may contain spaces and quotes.
install uninstall: export GPUMEMTRACE_PREFIX = $(DESTDIR)$(PREFIX)
install: export PREFIX := $(PREFIX)
put = $(Q)sh .ci/install put "$$GPUMEMTRACE_PREFIX"
define newline


endef

# Debian wants a separate folder for libraries that programs do not link to.
LIBRARY_FOLDER ?= lib
install: all
	$(put) 755 bin $(COMMAND)
	$(put) 755 $(LIBRARY_FOLDER) $(LIBRARY)
	$(put) 755 lib/gpumemtrace/simulator $(SIMULATOR)
	$(put) 644 include/gpumemtrace include/gpumemtrace/gpumemtrace.h
	$(foreach file,$(GUIDES),$(put) 644 $(patsubst $(O)/%/,%,$(dir $(file))) $(file)$(newline))
	$(put) 644 share/gpumemtrace/families $(wildcard analyzer/estimate/families/*.json)
	$(put) 644 share/doc/gpumemtrace NEWS include/gpumemtrace/TRACE-FORMAT.md include/gpumemtrace/MODEL-FORMAT.md $(wildcard doc/*.md)
	$(put) 644 share/doc/gpumemtrace/pictures $(wildcard doc/pictures/*)
	$(put) 644 share/doc/gpumemtrace/examples samples/fleet/grafana.json
	$(put) 755 share/doc/gpumemtrace/examples samples/fleet/push-rank samples/fleet/slurm-epilog
	$(Q)sh .ci/install links "$$GPUMEMTRACE_PREFIX" share/doc/gpumemtrace
	$(Q)case "$$PREFIX" in *[\ :\;\$$]*) echo "install: '$$PREFIX' cannot stand in LD_PRELOAD, which the loader splits at spaces," \
	    "colons, semicolons and dollar signs; 'gpumemtrace run' finds a way round that" >&2 ;; esac

# A package for Debian and Ubuntu: $(O)/gpumemtrace_VERSION_ARCH.deb.
deb:
	$(Q)sh .ci/deps build deb
	$(Q).ci/deb $(O)

# The wheel contains what `pip install .` installs on this machine, for use on other machines.
wheel:
	$(Q)sh .ci/deps build
	$(Q)sh .ci/wheel $(O) $(PYTHON)
# Tests the package in a new Debian, and the wheel in new environments of these interpreters, both without any other
# software.
MACHINES ?= bookworm trixie
check-packages: deb wheel samples
	$(Q)for suite in $(MACHINES); do for what in check package wheel container; do .ci/bare-machine $$suite $$what $(O) || exit 1; done; done
	$(Q)GPUMEMTRACE_PYTHONS=all $(PYTEST) tests/plugin/test_wheel.py tests/check/test_packages.py

uninstall:
	$(Q)sh .ci/install remove "$$GPUMEMTRACE_PREFIX"

# Reads the dependencies of the sources. A dependency on a file that no longer exists is left out.
all_src := $(shell find interpose trace common analyzer simulator samples tests -name '*.[cS]' -o -name '*.cc')
-include $(wildcard $(patsubst %,$(O)/obj/%.d,$(basename $(all_src))))
