# Rondo. `make help` lists the targets.

MPICC ?= mpicc
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
# Of whose ABIs the library for every MPI is made, and on which tests run.
MPICC_OPENMPI ?= mpicc.openmpi
MPICC_MPICH ?= mpicc.mpich
MPICCS = "$(MPICC_OPENMPI)" "$(MPICC_MPICH)"
# The file that `make demo` broadcasts: one that is on every machine.
FILE ?= $(shell command -v cargo)
RANKS ?= 4
# Ranks on a node for `make sim`; all if not given.
SHAPES ?=

.DEFAULT_GOAL := build
.PHONY: help setup setup-build setup-one setup-wheel build both build-openmpi build-mpich one demo test test-large
.PHONY: matrix deep check tsan header bench sim install uninstall wheel dist deb
.PHONY: clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup: ## install what is missing (Debian and Ubuntu, as root), or say what to install
	@scripts/setup

# The same for what the build for one MPI takes, and for what the library for every MPI takes.
setup-build:
	@scripts/setup --build "$(MPICC)"

setup-one:
	@scripts/setup --build $(MPICCS)

setup-wheel:
	@scripts/setup --build --wheel $(MPICCS)

build: setup-build ## build for the MPI of MPICC (default mpicc) into build/<flavour>/
	@scripts/build "$(MPICC)"

both: setup ## build for Open MPI and MPICH, Debian's unless MPICC_OPENMPI and MPICC_MPICH name others
	@$(MAKE) --no-print-directory -j2 build-openmpi build-mpich

build-openmpi:
	@scripts/build "$(MPICC_OPENMPI)"

build-mpich:
	@scripts/build "$(MPICC_MPICH)"

one: setup-one ## build librondo.so for every MPI, to be preloaded, into build/one/
	@scripts/build one

demo: both ## broadcast FILE to RANKS ranks, bare and under Rondo, on both MPIs
	@scripts/demo "$(FILE)" "$(RANKS)"

test: setup ## run the tests; the last line is "N passed, N failed"
	@scripts/test

test-large: both ## messages of more than 2 GiB; needs 10 GiB of memory
	RONDO_TEST_LARGE=only RONDO_TEST_JOBS=1 MPICC="$(MPICC_OPENMPI)" CARGO_TARGET_DIR=build/openmpi/cargo \
	    cargo test --locked --test mpi

matrix: both ## newer MPI libraries, the library for every MPI, wheel and packages; FILTER=... for some rows
	@scripts/setup --matrix
	@scripts/matrix $(FILTER)

deep: both ## programs under valgrind; jobs in which every call of the MPI library by Rondo fails once
	@scripts/setup --matrix
	@scripts/deep

check: both ## all of CI but make matrix, and format, lints, documentation, the header, licences and advisories
	cargo fmt --check
	@for mpicc in $(MPICCS); do \
	    flavour=$$(scripts/flavour "$$mpicc") || exit 1; \
	    echo "lints for $$flavour"; \
	    MPICC=$$mpicc CARGO_TARGET_DIR=build/$$flavour/cargo \
	        cargo clippy --locked --all-targets --features bench,cli -- -D warnings || exit 1; \
	done
	MPICC="$(MPICC_MPICH)" CARGO_TARGET_DIR=build/mpich/cargo \
	    cargo clippy --locked --lib --features direct -- -D warnings
	CARGO_TARGET_DIR=build/openmpi/cargo cargo clippy --locked --lib --no-default-features -- -D warnings
	MPICC="$(MPICC_OPENMPI)" CARGO_TARGET_DIR=build/openmpi/cargo RUSTDOCFLAGS="-D warnings" \
	    cargo doc --locked --no-deps
	@scripts/deny
	@scripts/test

tsan: ## the tests of shared memory under ThreadSanitizer; FILTER=... for some
	@scripts/tsan $(FILTER)

header: both ## write include/rondo.h anew from src/abi/rondo.rs
	cp build/openmpi/rondo.h include/rondo.h

bench: both ## time the construction of schedules, and what learning costs a call
	MPICC="$(MPICC_OPENMPI)" CARGO_TARGET_DIR=build/openmpi/cargo \
	    cargo bench --locked --features bench --bench schedule --bench learn

sim: both ## simulate a cluster of 36 nodes with SimGrid: against MPI libraries (scripts/sim), and against the model
	@scripts/setup --own-mpi --sim
	@scripts/sim $(SHAPES)
	@SIM_OUT=build/smpi-direct/all SIM_HOSTS=all SIM_RONDO=all scripts/sim 1 >/dev/null
	@scripts/predictions

# Root may have no Rust, and is not to install packages here: what the user has built is taken as it is.
install: ## install into DESTDIR and PREFIX (LIBDIR for the libraries), and build before if that is not done
	@scripts/build --is-current "$(MPICC)" 2>/dev/null || \
	    { scripts/setup --print --build "$(MPICC)" && scripts/build "$(MPICC)"; }
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" scripts/install "$$(scripts/flavour "$(MPICC)")"

uninstall: ## remove what make install put into DESTDIR, PREFIX and LIBDIR for the MPI of MPICC
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" scripts/install --remove "$$(scripts/flavour "$(MPICC)")"

wheel: setup-wheel ## make build/wheel/rondo_mpi-VERSION-...whl: the library for every MPI and the tool, for pip install
	@scripts/wheel

dist: ## make build/dist/rondo-VERSION.tar.gz: the last commit with its packages, builds without a network
	@scripts/dist

deb: both ## make build/deb/rondo_VERSION_ARCH.deb, a Debian package with all libraries, and check it
	@scripts/setup --own-mpi --deb
	@scripts/build standard
	@scripts/build one
	@scripts/deb

clean: ## remove build/
	rm -rf build
