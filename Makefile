# phi: what each target does is said by `make help`. Plain GNU make; everything goes to build/.

PYTHON = scripts/python.sh
CC = gcc
CXX = $(if $(findstring clang,$(CC)),clang++,g++)
CLANG = clang
V = asan
BUILD = build

B = $(BUILD)/$(V)
PREFIX = /usr/local
FUZZ_SECONDS = 60
LIBS = -lcurl
# What the tests of extras/ need on top.
also = $(if $(findstring sqlite,$(1)),-lsqlite3)

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef
# Reports of valgrind and the sanitizers need lines alone, which compile and link a quarter faster than what a debugger reads
# (FLAGS_normal='-O2 -g'). Under ASan segments of logs are small, so that what leaves memory leaves it often.
FLAGS_normal = -O2 -g1
FLAGS_asan = -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all \
             -DPHI__SEGMENT_BYTES=512
FLAGS_tsan = -O0 -g1 -fno-omit-frame-pointer -fsanitize=thread
FLAGS_cov = -O0 -g1 --coverage -DPHI__SEGMENT_BYTES=512
FLAGS_fuzz = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
             -fno-sanitize-recover=all
# A warning fails the build, so that `make check` need not compile the same files again (make WERROR= lets it pass).
WERROR = -Werror
# Tests call functions of phi's own, out of a shared library. On a busy machine a killed child takes long to die.
CFLAGS = -std=c99 -D_GNU_SOURCE -fPIC -DPHI__FN= -DPHI__TESTED -DPHI__PROCESS_LAST_MS=5000 $(WARN) $(WERROR) $(FLAGS_$(V))

# Of the shipped header in one piece. For this one warning gcc looks up line after line of its two megabytes, which
# doubles the time; the files of src/ are compiled with it. Under the sanitizers they are optimised, too.
WARN_HEADER = $(WARN) -Wno-misleading-indentation
FLAGS_HEADER = $(FLAGS_$(V)) $(if $(filter asan,$(V)),-O0)

# A linker that takes a third of the time, where the compiler has one.
FAST_LINK := $(firstword $(foreach ld,mold lld gold,$(shell $(CC) -fuse-ld=$(ld) -Wl,--version >/dev/null 2>&1 \
               && echo -fuse-ld=$(ld))))

# The parts of the test suite that run again under valgrind and under the thread sanitizer. What takes many seconds there is
# left to `make valgrind`, which `make soak` begins with. Valgrind is Linux's.
VALGRIND_SLOW = $(filter tests/agent/test_recall.c tests/agent/test_memory_limit.c tests/agent/test_twins.c tests/persist/test_flat.c \
    tests/record/test_event_read.c tests/loop/test_run_memory.c tests/loop/test_cancel_everywhere.c \
    tests/agent/test_summary.c tests/loop/test_compaction.c tests/loop/test_revert.c tests/loop/test_input.c \
    tests/persist/test_sqlite_store.c tests/orchestrate/test_many.c tests/orchestrate/test_subagents_saved.c \
    tests/loop/test_together.c tests/loop/test_crowd_threads.c tests/loop/test_crowd_tools.c \
    tests/loop/test_hooks_threads.c tests/log/test_compact.c tests/log/test_project.c \
    tests/persist/test_journal.c tests/text/test_json_number.c tests/wire/test_fixtures.c \
    tests/features/test_effects.c tests/features/test_effects_random.c tests/orchestrate/test_subagents_freed.c \
    tests/log/test_thread.c tests/wire/test_encoder.c tests/persist/test_entry_json.c tests/loop/test_same.c \
    tests/text/test_schema.c tests/persist/test_file_store.c tests/agent/test_http.c tests/agent/test_forgetting.c \
    tests/agent/test_stored.c tests/agent/test_snapshot_together.c tests/formats/test_yaml_errors.c tests/formats/test_toml.c tests/formats/test_toml_write.c tests/text/test_marks.c tests/loop/test_fetch.c tests/loop/test_cap.c tests/orchestrate/% tests/orchestrate/%, $(TEST_SRC))
# Children of fork that end without freeing anything have leaked, for valgrind.
VALGRIND_FORKS = tests/agent/test_leave.c tests/persist/test_crash.c
VALGRIND_TESTS = $(and $(filter Linux,$(shell uname -s)), $(filter-out $(VALGRIND_SLOW) $(VALGRIND_FORKS), $(filter tests/base/% tests/text/% tests/model/% tests/wire/% tests/codecs/% \
    tests/log/% tests/log/% tests/persist/% tests/loop/% tests/agent/% tests/features/% tests/orchestrate/%, $(TEST_SRC))))
TSAN_TESTS = $(filter %_inbox.c %_threads.c, $(TEST_SRC))

SRC := $(sort $(wildcard src/*/*.c))
SUPPORT := $(sort $(wildcard tests/support/*.c))
# tests/windows/ is run by `make windows` alone
TEST_SRC := $(filter-out tests/windows/%, $(sort $(wildcard tests/*/test_*.c)))
PROG_SRC := $(sort $(wildcard tests/*/prog_*.c tests/interop/mcp/*.c))
TEST_PY := $(sort $(wildcard tests/*/test_*.py))
# town.c needs SDL2; `make town` installs it. Its headers are not to be warned about.
SDL := $(patsubst -I%,-isystem %,$(shell sdl2-config --cflags --libs 2>/dev/null))
EXAMPLE_SRC := $(filter-out $(if $(SDL),,examples/town.c), $(sort $(wildcard examples/*.c)))
EXAMPLE_CPP := $(sort $(wildcard examples/*.cpp))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
HEADERS = phi_json.h phi.h phi_tools.h

SRC_OBJ = $(SRC:%.c=$(B)/%.o)
SUPPORT_OBJ = $(SUPPORT:%.c=$(B)/%.o)
TESTS = $(TEST_SRC:%.c=$(B)/%)
PROGS = $(PROG_SRC:%.c=$(B)/%)
# npc.c and npc.cpp are two programs.
EXAMPLES = $(EXAMPLE_SRC:%.c=$(B)/%) $(EXAMPLE_CPP:%.cpp=$(B)/%_cpp)

ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

.PHONY: all help demo live site openapi schema town interop windows windows-zip cross test check coverage mutants bench \
        callgrind fuzz soak valgrind examples install uninstall deps deps-bench clean format install-headers libphi \
        install-libphi release packages \
        objects programs example-programs one always
.DELETE_ON_ERROR:
.SECONDARY: $(FUZZ_SRC:%.c=$(BUILD)/fuzz/%.o)

all:
	@$(PYTHON) amalgamate.py

help:
	@echo 'make            writes phi.h, phi_tools.h and phi_json.h from src/'
	@echo 'make demo       runs an agent against a local scripted model (LIVE=1: a real one)'
	@echo 'make live       one conversation with each provider whose key is set; costs money'
	@echo 'make openapi SPEC=file   the operations and tools of an OpenAPI document, with time and memory'
	@echo 'make schema     writes docs/phi.schema.json, a JSON Schema of configurations, and the reference of docs/configuration.md'
	@echo 'make site       the pages with search, into $(BUILD)/site (mkdocs-material of PyPI), and a check of their links'
	@echo 'make town       installs SDL2 and Xvfb, tests examples/town.c, and writes docs/town.png'
	@echo 'make interop    against packages of npm, PyPI and Go (node 20, Python 3.11, go); LLAMA=1: llama.cpp, too'
	@echo 'make cross      tests on s390x, aarch64 and armv7 under qemu; a static phi over musl and its size; PARTS="s390x musl"'
	@echo 'make test       builds and runs all tests (sanitizers, then valgrind)'
	@echo 'make check      stale headers, layers, formatting, every dialect and compiler'
	@echo 'make windows    builds all for Windows with mingw-w64 and runs the tests under Wine (T=tests/base: some of them)'
	@echo 'make windows-zip  a zip of headers, phi.exe and libcurl for 64-bit Windows'
	@echo 'make mutants M="src/loop/tools.c --count 50"   which statements no test would miss (scripts/mutants.py)'
	@echo 'make callgrind OLD=rev   instructions of the benchmark programs, at an older revision and now (scripts/callgrind.py)'
	@echo 'make one T=tests/base/test_arena.c   one test program, whatever else does not compile'
	@echo 'make bench | fuzz | soak | valgrind | examples | format | clean'
	@echo 'make install PREFIX=/usr/local   the headers and the command phi, with its manual page (make uninstall)'
	@echo 'make install-headers | libphi | install-libphi   the headers alone; a shared and a static library (docs/packages.md)'
	@echo 'make release REPOSITORY=https://...   archives with checksums in $(BUILD)/release, and the command that tags the version'
	@echo 'make packages   a program against phi of each package manager; PARTS="cmake meson": some of them'
	@echo 'make coverage   which lines and branches the C tests run, per room (gcovr); pages in $(BUILD)/coverage'
	@echo 'make deps       installs what demo, test and check need; each does so itself'

# ---- per-file development build ----

objects: $(SRC_OBJ) $(SUPPORT_OBJ)
programs: $(TESTS) $(PROGS)

# What tests do themselves need not be fast; they compile in half the time.
$(B)/tests/%.o: UNOPTIMISED = -O0
$(B)/tests/support/%.o: UNOPTIMISED =

# Objects of other flags, and a library of files that are gone, are made anew.
NOW = $(CFLAGS) $(SRC_OBJ)
$(B)/flags: always
	@mkdir -p $(@D)
	@echo '$(NOW)' | cmp -s - $@ || echo '$(NOW)' > $@

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@$(CC) $(CFLAGS) $(UNOPTIMISED) -Isrc -Itests -MMD -MP -c $< -o $@

$(B)/libphi.a: $(SRC_OBJ) $(B)/flags
	@rm -f $@
	@$(AR) rcs $@ $(SRC_OBJ)

# Test programs share one library, beside them: three hundred of them link in a quarter of the time.
$(B)/libphi.so: $(SRC_OBJ) $(B)/flags
	@echo '  LINK  $@'
	@$(CC) $(FLAGS_$(V)) -shared $(SRC_OBJ) $(FAST_LINK) $(LIBS) -lm -lpthread -o $@

LIBRARY = $(B)/libphi.so
BESIDE = -L$(B) -lphi -Wl,-rpath,'$$ORIGIN/../..' -Wl,-rpath,'$$ORIGIN/../../..'
ifeq ($(shell uname -s),Darwin) # which has other words for "beside it"
LIBRARY = $(B)/libphi.a
BESIDE = $(B)/libphi.a
endif
$(TESTS) $(PROGS): $(B)/%: $(B)/%.o $(SUPPORT_OBJ) $(LIBRARY)
	@echo '  LINK  $@'
	@$(CC) $(FLAGS_$(V)) $(filter %.o,$^) $(BESIDE) $(FAST_LINK) $(LIBS) $(call also,$@) -lm -lpthread -o $@

# One program while other parts of the tree do not compile.
one:
	@mkdir -p $(B)
	@$(MAKE) -k --no-print-directory V=$(V) objects > $(BUILD)/log_$(notdir $(T:.c=)) 2>&1 \
	    || grep 'error:' $(BUILD)/log_$(notdir $(T:.c=)) | head -n 5
	@$(MAKE) --no-print-directory V=$(V) $(T:%.c=$(B)/%.o)
	@rm -f $(T:%.c=$(B)/%.a) && $(AR) rcs $(T:%.c=$(B)/%.a) $$(ls $(SRC_OBJ) $(SUPPORT_OBJ) 2>/dev/null)
	@$(CC) $(FLAGS_$(V)) $(T:%.c=$(B)/%.o) $(T:%.c=$(B)/%.a) $(FAST_LINK) $(LIBS) $(call also,$(T)) -lm -lpthread -o $(T:%.c=$(B)/%)
	@$(if $(VALGRIND),valgrind -q --error-exitcode=9 --leak-check=full) $(abspath $(T:%.c=$(B)/%)) $(ONLY)

# ---- the headers, as a user compiles them ----

$(BUILD)/include/.stamp: amalgamate.py $(wildcard src/*.txt src/*/*.[ch]) LICENSE
	@mkdir -p $(BUILD)/include
	@$(PYTHON) amalgamate.py --out $(BUILD)/include
	@touch $@

$(B)/phi_all.o: $(BUILD)/include/.stamp
	@mkdir -p $(@D)
	@printf '#define PHI_IMPLEMENTATION\n#include "phi_tools.h"\n' > $(B)/phi_all.c
	@echo '  CC    $@'
	@$(CC) -std=c99 $(WARN_HEADER) $(FLAGS_HEADER) -I$(BUILD)/include -c $(B)/phi_all.c -o $@

$(B)/libphi_all.a: $(B)/phi_all.o
	@rm -f $@
	@$(AR) rcs $@ $<

# An example that holds the implementation is read as a user compiles it, and then takes the one that is compiled
# already: the same code once more for each of them would be a quarter of what `make test` takes.
$(B)/declared/.stamp: $(BUILD)/include/.stamp
	@mkdir -p $(@D)
	@for h in phi phi_tools; do \
	    printf '#undef PHI_IMPLEMENTATION\n#include "../../include/%s.h"\n' $$h > $(@D)/$$h.h; done
	@touch $@

$(B)/examples/%: examples/%.c $(B)/libphi_all.a $(B)/declared/.stamp
	@mkdir -p $(@D)
	@echo '  CC    $<'
	@! grep -q '^#define PHI_IMPLEMENTATION' $< || \
	    $(CC) -std=c99 $(WARN_HEADER) $(WERROR) -D_GNU_SOURCE -I$(BUILD)/include $(SDL_OF_IT) -fsyntax-only $<
	@$(CC) -std=c99 $(WARN_HEADER) $(WERROR) $(FLAGS_HEADER) -D_GNU_SOURCE -I$(B)/declared $< $(B)/libphi_all.a \
	    $(FAST_LINK) $(LIBS) $(SDL_OF_IT) -lm -o $@

$(B)/examples/%_cpp: examples/%.cpp $(wildcard extras/*.hpp) $(B)/libphi_all.a $(B)/declared/.stamp
	@mkdir -p $(@D)
	@echo '  CXX   $<'
	@$(CXX) -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(FLAGS_HEADER) -D_GNU_SOURCE -I$(B)/declared -Iextras \
	    $< $(B)/libphi_all.a $(FAST_LINK) $(LIBS) -lm -o $@

$(B)/examples/phi: $(wildcard examples/*.h examples/phi/*.h)
$(B)/examples/town: $(wildcard examples/town*.h)
$(B)/examples/town: SDL_OF_IT = $(SDL)
$(B)/examples/npc: examples/npc_mind.h examples/block.h
$(B)/examples/server: examples/server_http.h

example-programs: $(EXAMPLES)
	@$(if $(SDL),,echo 'examples/town.c is left out: there is no SDL2 (make town installs it)')

# Runs the town under Xvfb, and writes the picture for the README.
town:
	@scripts/deps.sh test town
	@$(MAKE) --no-print-directory V=asan $(BUILD)/asan/examples/town
	@TOWN_PNG=docs/town.png PHI_BUILD=$(BUILD)/asan $(PYTHON) tests/examples/test_town.py

examples:
	@$(MAKE) --no-print-directory V=normal example-programs
	@echo 'built in $(BUILD)/normal/examples/'

openapi:
	@test -n "$(SPEC)" || { echo 'make openapi SPEC=file: an OpenAPI document, JSON or YAML' >&2; exit 1; }
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory V=normal $(BUILD)/normal/tests/interop/prog_openapi > $(BUILD)/log_openapi 2>&1 \
	    || { cat $(BUILD)/log_openapi; exit 1; }
	@$(BUILD)/normal/tests/interop/prog_openapi $(SPEC)

# The schema that editors complete and check a configuration by; a test says when it is stale.
schema:
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory V=normal $(BUILD)/normal/tests/config/prog_config_schema > $(BUILD)/log_schema 2>&1 \
	    || { cat $(BUILD)/log_schema; exit 1; }
	@$(BUILD)/normal/tests/config/prog_config_schema > docs/phi.schema.json.tmp && mv docs/phi.schema.json.tmp docs/phi.schema.json
	@$(MAKE) --no-print-directory V=normal $(BUILD)/normal/tests/config/prog_config_reference > $(BUILD)/log_schema 2>&1 \
	    || { cat $(BUILD)/log_schema; exit 1; }
	@python3 tests/config/reference.py $(BUILD)/normal/tests/config/prog_config_reference

live:
	@$(MAKE) --no-print-directory V=normal $(BUILD)/normal/tests/live/prog_live > $(BUILD)/log_live 2>&1 \
	    || { cat $(BUILD)/log_live; exit 1; }
	@$(BUILD)/normal/tests/live/prog_live

# A browser shows the pages from the disk; the search needs a server: python3 -m http.server -d build/site
site:
	@scripts/deps.sh site
	@NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict > $(BUILD)/log_site 2>&1 || { cat $(BUILD)/log_site; exit 1; }
	@$(PYTHON) scripts/check_site.py

interop:
	@MAKE="$(MAKE)" CC="$(CC)" LLAMA="$(LLAMA)" $(PYTHON) scripts/interop.py $(PARTS)

# BITS: 64 or 32 alone; T: files or folders of tests.
windows:
	@scripts/deps.sh windows
	@CC="$(CC)" WARN="$(WARN)" PYTHON="$(PYTHON)" $(PYTHON) scripts/windows.py $(BITS:%=--bits %) $(T)

# The headers, phi.exe and libcurl, for users: build/windows/phi-VERSION-windows-x64.zip.
windows-zip:
	@scripts/deps.sh windows
	@CC="$(CC)" WARN="$(WARN)" PYTHON="$(PYTHON)" $(PYTHON) scripts/windows.py --bits 64 --build-only zip

# PARTS: s390x aarch64 armv7 musl.
cross:
	@scripts/deps.sh cross
	@MAKE="$(MAKE)" CLANG="$(CLANG)" PYTHON="$(PYTHON)" $(PYTHON) scripts/cross.py $(PARTS)

# ---- tests ----

RUN = $(PYTHON) scripts/run_tests.py

# The header in one piece, which the examples wait for, compiles for as long as a quarter of the rest: it begins first.
test:
	@scripts/deps.sh test
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory V=asan $(if $(EXAMPLE_SRC),example-programs) programs > $(BUILD)/log_asan 2>&1 \
	    || { cat $(BUILD)/log_asan; exit 1; }
	@$(MAKE) --no-print-directory V=normal $(VALGRIND_TESTS:%.c=$(BUILD)/normal/%) > $(BUILD)/log_normal 2>&1 \
	    || { cat $(BUILD)/log_normal; exit 1; }
	@$(if $(TSAN_TESTS),$(MAKE) --no-print-directory V=tsan $(TSAN_TESTS:%.c=$(BUILD)/tsan/%) > $(BUILD)/log_tsan 2>&1 \
	    || { cat $(BUILD)/log_tsan; exit 1; })
	@$(RUN) --build $(BUILD)/asan --valgrind $(BUILD)/normal $(TEST_PY) $(DOC_TEST) $(TEST_SRC:%.c=$(BUILD)/asan/%) \
	    $(VALGRIND_TESTS:%.c=$(BUILD)/normal/%) $(TSAN_TESTS:%.c=$(BUILD)/tsan/%)

valgrind:
	@scripts/deps.sh test
	@mkdir -p $(BUILD)
	@$(MAKE) --no-print-directory V=normal $(VALGRIND_TESTS:%.c=$(BUILD)/normal/%) $(VALGRIND_SLOW:%.c=$(BUILD)/normal/%) \
	    > $(BUILD)/log_normal 2>&1 || { cat $(BUILD)/log_normal; exit 1; }
	@$(RUN) --valgrind $(BUILD)/normal $(VALGRIND_TESTS:%.c=$(BUILD)/normal/%) $(VALGRIND_SLOW:%.c=$(BUILD)/normal/%)

# The code blocks of README.md and docs/, once there is a public header to compile them against.
DOC_TEST = $(if $(wildcard src/agent/agent.h src/head_phi.h.txt),scripts/check_docs.py)

check:
	@scripts/deps.sh check
	@$(PYTHON) scripts/check.py

# gcc alone: its gcov is what gcovr reads.
coverage:
	@scripts/deps.sh test coverage
	@$(MAKE) --no-print-directory V=cov $(TEST_SRC:%.c=$(BUILD)/cov/%) $(PROG_SRC:%.c=$(BUILD)/cov/%) > $(BUILD)/log_cov 2>&1 \
	    || { cat $(BUILD)/log_cov; exit 1; }
	@$(PYTHON) scripts/coverage.py $(TEST_SRC:%.c=$(BUILD)/cov/%)

demo:
	@scripts/deps.sh demo
	@LIVE="$(LIVE)" PYTHON="$(PYTHON)" MAKE="$(MAKE)" scripts/demo.sh

soak:
	@test -x scripts/$@.sh || { echo '$@: there is no scripts/$@.sh in this version' >&2; exit 1; }
	@scripts/deps.sh test
	@LIVE="$(LIVE)" PYTHON="$(PYTHON)" MAKE="$(MAKE)" scripts/$@.sh

# All of it takes hours: M names files or folders, and options of the script.
M = src/loop src/agent src/thread --count 300 --seed 1
mutants:
	@scripts/deps.sh test
	@CC="$(CC)" $(PYTHON) scripts/mutants.py $(M)

bench: deps-bench
	@PYTHON="$(PYTHON)" MAKE="$(MAKE)" $(PYTHON) bench/run.py $(ONLY)

# OLD: a revision; ONLY: words of the programs' names.
callgrind:
	@$(PYTHON) scripts/callgrind.py $(OLD) $(ONLY)

fuzz:
	@scripts/deps.sh fuzz
	@$(MAKE) --no-print-directory V=fuzz CC=$(CLANG) $(FUZZ_SRC:%.c=$(BUILD)/fuzz/%)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh $(FUZZ_SRC:%.c=$(BUILD)/fuzz/%)

$(BUILD)/fuzz/tests/fuzz/fuzz_%: $(BUILD)/fuzz/tests/fuzz/fuzz_%.o $(BUILD)/fuzz/libphi.a
	@echo '  LINK  $@'
	@$(CLANG) $(FLAGS_fuzz) -fsanitize=fuzzer $^ $(LIBS) -lm -lpthread -o $@

deps:
	@scripts/deps.sh demo test check

deps-bench:
	@scripts/deps.sh test bench

# The command as a user compiles it: one file and the headers.
$(BUILD)/phi: examples/phi.c $(wildcard examples/*.h examples/phi/*.h) $(BUILD)/include/.stamp
	@echo '  CC    $@'
	@$(CC) -std=c99 -O2 -D_GNU_SOURCE -I$(BUILD)/include examples/phi.c $(FAST_LINK) $(LIBS) -lm -o $@

VERSION := $(shell sed -n 's/^\#define PHI_VERSION "\(.*\)"/\1/p' src/base/base.h)
TO = $(DESTDIR)$(PREFIX)
EXTRAS = extras/phi.hpp extras/phi_store_sqlite.h
install-headers: all
	install -d $(TO)/include $(TO)/share/pkgconfig $(TO)/share/cmake/phi
	install -m 644 $(HEADERS) $(EXTRAS) $(TO)/include
	install -m 644 packaging/cmake/* $(TO)/share/cmake/phi
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' packaging/phi.pc > $(TO)/share/pkgconfig/phi.pc

install: install-headers $(BUILD)/phi
	install -d $(TO)/bin $(TO)/share/man/man1 $(TO)/share/bash-completion/completions $(TO)/share/zsh/site-functions
	install -m 755 $(BUILD)/phi $(TO)/bin
	install -m 644 docs/phi.1 $(TO)/share/man/man1
	install -m 644 scripts/completion/phi.bash $(TO)/share/bash-completion/completions/phi
	install -m 644 scripts/completion/_phi $(TO)/share/zsh/site-functions

# The library for programs that do not hold the implementation. Before 1.0 each minor version has a SONAME.
NUMBERS = $(subst ., ,$(VERSION))
SERIES = $(firstword $(NUMBERS))$(if $(filter 0.%,$(VERSION)),.$(word 2,$(NUMBERS)))
SHARED = libphi.so.$(SERIES)
libphi: $(BUILD)/lib/libphi.a $(BUILD)/lib/$(SHARED)

$(BUILD)/lib/phi.o: packaging/cmake/phi_implementation.c $(BUILD)/include/.stamp
	@mkdir -p $(@D)
	@echo '  CC    $@'
	@$(CC) -std=c99 -O2 -fPIC -I$(BUILD)/include -c $< -o $@

$(BUILD)/lib/libphi.a: $(BUILD)/lib/phi.o
	@rm -f $@
	@$(AR) rcs $@ $<

$(BUILD)/lib/$(SHARED): $(BUILD)/lib/phi.o packaging/libphi.map
	@echo '  LINK  $@'
	@$(CC) -shared -Wl,-soname,$(@F) -Wl,--version-script=packaging/libphi.map -Wl,-z,defs $< $(LIBS) -o $@
	@ln -sf $(@F) $(BUILD)/lib/libphi.so

install-libphi: install-headers libphi
	install -d $(TO)/lib
	install -m 644 $(BUILD)/lib/libphi.a $(BUILD)/lib/$(SHARED) $(TO)/lib
	ln -sf $(SHARED) $(TO)/lib/libphi.so

uninstall:
	rm -f $(patsubst %,$(TO)/include/%,$(HEADERS) $(notdir $(EXTRAS))) $(TO)/bin/phi $(TO)/share/man/man1/phi.1 $(TO)/share/pkgconfig/phi.pc \
	    $(TO)/lib/libphi.a $(TO)/lib/libphi.so $(TO)/lib/$(SHARED) $(TO)/share/bash-completion/completions/phi $(TO)/share/zsh/site-functions/_phi
	rm -rf $(TO)/share/cmake/phi

# REPOSITORY: the address that releases have; archives are below it, at releases/download/vVERSION.
REPOSITORY = https://example.org/phi
release:
	@REPOSITORY="$(REPOSITORY)" $(PYTHON) scripts/packages.py release

# PARTS: see scripts/packages.py.
packages:
	@scripts/deps.sh packages
	@MAKE="$(MAKE)" CC="$(CC)" CLANG="$(CLANG)" REPOSITORY="$(REPOSITORY)" $(PYTHON) scripts/packages.py $(PARTS)

format:
	clang-format -i $(wildcard src/*/*.[ch] tests/*/*.[ch] examples/*.[ch] examples/phi/*.h bench/*.[ch] extras/*.h extras/*.hpp \
	    tests/*/*.cpp examples/*.cpp)

clean:
	rm -rf $(BUILD)

-include $(SRC_OBJ:.o=.d) $(SUPPORT_OBJ:.o=.d) $(TESTS:=.d) $(PROGS:=.d) $(FUZZ_SRC:%.c=$(B)/%.d)
