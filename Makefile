# Habit's entry points. Nothing is built here: cargo and CMake do the work, the scripts named below do
# the set-up and the checks. `make demo` and `make test` need no preparation on a machine with Rust.

PREFIX ?= /usr/local
BUILD  := build/cmake
CARGO  ?= cargo

.DEFAULT_GOAL := build
.PHONY: help build demo test test-avx512 bench performance install headers headers-check fmt clippy dist clean

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

build: ## shared and static library, in build/cmake
	@tests/setup.sh build
	cmake -S . -B $(BUILD) -DCORTEN_CARGO_TARGET_DIR=$(CURDIR)/target
	cmake --build $(BUILD)

demo: ## build, install into build/demo, run the examples, run NumPy on the library
	@tests/setup.sh demo
	@tests/demo.sh

test: ## everything that CI checks
	@tests/setup.sh test
	@tests/run.sh

test-avx512: ## the AVX-512 kernels on an emulated CPU (about ten minutes)
	@tests/setup.sh test
	@tests/emulated/run.sh

bench: ## the benchmarks of bench/ (BENCH="arguments")
	@tests/setup.sh build
	@$(MAKE) --no-print-directory -C bench

performance: ## race on 1 and 2 threads, and write the figures of docs/performance.md
	@tests/setup.sh build
	@$(MAKE) --no-print-directory -C bench performance

install: build ## into PREFIX=/usr/local (DESTDIR is honoured)
	cmake --install $(BUILD) --prefix $(PREFIX)

headers: ## regenerate include/*.h from the Rust source (cbindgen)
	$(CARGO) run --quiet --locked --manifest-path ffi/headers/Cargo.toml

headers-check: ## fail if regenerating the headers or ffi/exports.txt would change them
	@$(CARGO) run --quiet --locked --manifest-path ffi/headers/Cargo.toml -- --check

fmt: ## format all Rust code
	$(CARGO) fmt --all
	$(CARGO) fmt --manifest-path tests/Cargo.toml
	$(CARGO) fmt --manifest-path ffi/headers/Cargo.toml
	$(CARGO) fmt --manifest-path bench/Cargo.toml

clippy: ## lints of all Rust code; a warning is an error
	$(CARGO) clippy --quiet --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --quiet --locked --manifest-path tests/Cargo.toml --all-targets -- -D warnings
	$(CARGO) clippy --quiet --locked --manifest-path ffi/headers/Cargo.toml --all-targets -- -D warnings
	$(CARGO) clippy --quiet --locked --manifest-path bench/Cargo.toml --all-targets -- -D warnings

dist: ## source tarball with vendored crates, in build/
	@cmake/dist.sh

clean: ## remove everything that was built
	rm -rf build target tests/target ffi/headers/target bench/target
