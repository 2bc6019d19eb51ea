# Two commands set everything up: make demo, make test. `make help` lists the rest.

# cargo cannot use the job server of make 4.3, and says so at length.
CARGO ?= env -u MAKEFLAGS -u MFLAGS cargo
TAPEWISE := target/release/tapewise
# The program as the tests have it: of the same profile and the same features, so that nothing is compiled twice.
TESTED := target/debug/tapewise
# What `tapewise --version` prints; a copy without git has no commit.
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1; git rev-parse --short=12 HEAD 2>/dev/null | sed 's/.*/(commit &)/')
PAPERS := nersc cern johnson-miller gniewek hillyer
# `make test` takes one seed where none is given.
SEEDS ?= 1..3

# The extension module finds Python's functions where it is loaded: Python comes without a library to link with.
export PYO3_BUILD_EXTENSION_MODULE := 1

PYTHON := target/python/bin
SIMULATORS := target/simulators/bin/python

.PHONY: help demo demo-site test build check packages packages-verified python python-tests python-package capi cta targets \
    programs unit documented reproduce reproduce-seeds key-points verified bench unseen mounts placement forty-users \
    greedy-user long-queue campaign outside simulators simulate-faults kill-movers fuzz guest-times guest-gigabyte doc book links dist \
    source semver web web-test page other-systems windows clean

help: ## list these commands
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 17

demo: build ## the main job, without hardware
	@$(TAPEWISE) demo

demo-site: build ## a site in two minutes: two libraries, three movers, forty users, and what goes wrong (best as root)
	@python3 packaging/demo-site --program $(TAPEWISE)

test: ## everything that must hold: style, lints, tests, the papers' claims
	@# The lints fill the processors while packages come over the network, the papers while a test waits for its guest.
	@+$(MAKE) --no-print-directory --jobs 2 check targets
	@+$(MAKE) --no-print-directory packages programs page
	@+$(MAKE) --no-print-directory --jobs 2 unit reproduce documented python-tests \
	    $(if $(filter file,$(origin SEEDS)),SEEDS=1)

build: ## the program, optimised
	@echo "building tapewise (release; some minutes the first time)"
	@TAPEWISE_VERSION="$(VERSION)" $(CARGO) build --release --quiet --package tapewise-cli

PREFIX ?= /usr/local
BATCHES ?= 40
# Files, cartridges, recalls and seed of `make campaign`.
CAMPAIGN ?= 20000 40 4000

capi: ## the library for C and C++, below PREFIX (DESTDIR is honoured)
	$(CARGO) build --release --quiet --package tapewise-capi
	crates/capi/link.sh target/release/libtapewise_capi.a $(PREFIX)

check: python links ## formatting, lints and links
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

python: $(PYTHON)/mypy ## lints and types of what Python there is
	cd bench && ../$(PYTHON)/ruff check --quiet . && ../$(PYTHON)/ruff format --check --quiet . && ../$(PYTHON)/mypy .

$(PYTHON)/mypy: bench/check.txt
	python3 -m venv target/python
	$(PYTHON)/pip install --quiet --disable-pip-version-check -r bench/check.txt
	@touch $@

IN_PYTHON = cd python && PATH=$(CURDIR)/target/python-package/bin:$$PATH VIRTUAL_ENV=$(CURDIR)/target/python-package \
    PYTHONPATH=$(CURDIR)/python/package sh -ec
PYTHON_CHECKS := ruff check --quiet .; ruff format --check --quiet .; mypy; stubtest tapewise._tapewise; pytest --quiet -rs

python-tests: programs target/python-package/installed ## the package for Python: style, types, stub, tests and notebooks
	@cp -f target/debug/lib_tapewise.so python/package/tapewise/_tapewise.abi3.so
	@$(IN_PYTHON) '$(PYTHON_CHECKS)'

python-package: target/python-package/installed ## the same, built by maturin as for its users, and the stub made again; minutes
	@$(IN_PYTHON) ' \
	    maturin develop --quiet; ./stubs.sh $(CURDIR)/target/python-package/stub.pyi; \
	    diff package/tapewise/_tapewise.pyi $(CURDIR)/target/python-package/stub.pyi; $(PYTHON_CHECKS)'

target/python-package/installed: python/tests.txt
	python3 -m venv target/python-package
	target/python-package/bin/pip install --quiet --disable-pip-version-check -r python/tests.txt
	@touch $@

packages: ## every crate can be packaged and documented; `make packages-verified` compiles each package by itself
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	@$(CARGO) publish --dry-run --workspace --no-verify --allow-dirty --quiet

packages-verified:
	@$(CARGO) publish --dry-run --workspace --allow-dirty --quiet

targets: ## real SCSI targets and servers for the tests, from packages (as root; skipped loudly otherwise)
	@crates/scsi/tests/targets/install.sh $${CARGO_TARGET_DIR:-target}/linux
	@house/peers/install.sh target/peers

programs: ## the programs and libraries of the tests
	$(CARGO) build --workspace --quiet --lib --bins --tests

unit: targets ## unit, property and front-door tests
	$(CARGO) test --workspace --quiet --tests

# `make web` gets what compiles to WebAssembly; the test command takes it where it is there already.
page:
	@[ ! -d "$$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ] && [ ! -x target/sid/usr/bin/wasm-opt ] \
	    || crates/web/build.sh

other-systems: ## does the program compile for Windows and macOS? Gets what rustup needs for it; two minutes
	@CARGO="$(CARGO)" packaging/other-systems.sh

windows: ## the same commands with the programs for Linux and, under wine, for Windows: output compared
	@CARGO="$(CARGO)" packaging/other-systems.sh run

documented: ## the examples in the documentation of the crates
	$(CARGO) test --workspace --quiet --doc

guest-gigabyte: targets ## 1 GiB through the tape driver of a Linux guest and back, by filemarks, by blocks and by seek
	$(CARGO) test --quiet --workspace --test front_door -- --ignored --nocapture guest::a_gigabyte

guest-times: targets ## the program in a Linux guest on a scaled clock: the times it measures beside those of the emulator
	$(CARGO) test --quiet --workspace --test front_door -- --ignored --nocapture guest::the_host_measures

reproduce: ## the papers' tables on three seeds; fails when a claim that is to hold does not
	@mkdir -p target/reproduce
	@$(CARGO) test --workspace --quiet --no-run --test front_door
	@printf '%s\n' $(PAPERS) | xargs -P 2 -I PAPER sh -c 'echo "reproduce PAPER --seeds $(SEEDS) -> target/reproduce/PAPER.txt"; \
	    $(TESTED) reproduce PAPER --seeds $(SEEDS) > target/reproduce/PAPER.txt \
	        || { grep -E "^claim|FAILS" target/reproduce/PAPER.txt; exit 1; }'

reproduce-seeds: build ## the same on ten seeds, as one page: docs/papers/report.html
	@mkdir -p target/reproduce
	$(TAPEWISE) reproduce all --seeds 1..10 --html docs/papers/report.html > target/reproduce/all.txt \
	    || { grep -E '^claim|FAILS' target/reproduce/all.txt; exit 1; }

key-points: ## how good the key points of a DLT4000 are after some hours of locates, on five emulated cartridges
	@$(CARGO) run --quiet --package tapewise-papers --example key_points

verified: build ## the README's table of verified drives, from the reports in verified/
	@$(TAPEWISE) drive check --table verified > target/verified.md
	@awk '/^<!-- made by `make verified`/ { while ((getline line < "target/verified.md") > 0) print line; old = 1 } \
	    !old { print } /^<!-- end of verified -->/ { old = 0 }' README.md > target/README.md
	@cp target/README.md README.md

bench: target/simulators/installed ## how good and how fast orders are, beside those of others, as tables
	$(CARGO) bench --quiet --package tapewise-order --bench gaps
	$(CARGO) bench --quiet --package tapewise-order --bench peers
	$(CARGO) bench --quiet --package tapewise-order --bench models
	$(CARGO) bench --quiet --package tapewise-order --bench table
	$(CARGO) bench --quiet --package tapewise-formats --bench ltfs_index
	$(CARGO) bench --quiet --package tapewise-archive --bench stream
	$(CARGO) bench --quiet --package tapewise-sim --bench speed -- --python $(SIMULATORS)

unseen: ## fits of drives whose laws no model of ours has, and what their orders are worth beside CTA's
	$(CARGO) bench --quiet --package tapewise --bench unseen

mounts: ## every mount policy on ten scenarios at four loads beside a bound: target/mounts.md and .csv; about 20 minutes
	$(CARGO) run --quiet --release --package tapewise-sim --example mounts -- target

cta: ## CTA's own driver code with our adapter, and both orders compared: make cta CTA=(a directory with its sources)
	CTA_SOURCES=$(abspath $(or $(CTA),$(error name CTA's sources: make cta CTA=DIRECTORY))) \
	    $(CARGO) test --quiet --package tapewise-house --test contrib cta_itself -- --nocapture

placement: ## what grouping files at writing saves at recall and costs, as tables in target/placement.md; minutes
	$(CARGO) run --quiet --release --package tapewise-archive --example placement > target/placement.md

forty-users: ## an emulated library of eight drives asked by forty users, beside its simulation; minutes
	$(CARGO) run --quiet --release --package tapewise-archive --example forty_users

greedy-user: ## one user who asks for very much, beside thirty others: emulated drives and their simulation; minutes
	$(CARGO) run --quiet --release --package tapewise-archive --example greedy_user

long-queue: ## how fast a mover works off a very long queue: make long-queue LONG="FILES CARTRIDGES SECONDS"; a minute or more
	$(CARGO) run --quiet --release --package tapewise-archive --example long_queue -- $(LONG)

campaign: ## a whole archive: drive-hours of ours, by block, as CTA orders, and through a service; minutes
	$(CARGO) run --quiet --release --package tapewise-archive --example campaign -- $(CAMPAIGN)

outside: ## OR-Tools and HiGHS on the same batches; installs them below target/
	python3 -m venv target/outside
	target/outside/bin/pip install --quiet --disable-pip-version-check ./bench
	cd bench && ../target/outside/bin/python outside.py

simulators: target/simulators/installed ## SimPy and Ciw on queues with known answers; installs them below target/
	$(SIMULATORS) bench/simulation.py

target/simulators/installed: bench/simulation.txt
	python3 -m venv target/simulators
	target/simulators/bin/pip install --quiet --disable-pip-version-check -r bench/simulation.txt
	@touch $@

# Coverage counters without a nightly compiler: LLVM's pass is chosen by flags that stable rustc takes.
SECONDS ?= 60
CORPORA := fixtures/fuzz
SANCOV := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing
HOST = $(shell rustc -vV | sed -n 's/^host: //p')

fuzz: ## every parser under libFuzzer, SECONDS=60 for each (TARGETS="tar sums" for some); keeps what is new in fixtures/fuzz
	@RUSTFLAGS='$(SANCOV)' $(CARGO) build --quiet --profile fuzz --package tapewise-fuzz --features libfuzzer \
	    --target-dir target/fuzz --target $(HOST)
	@crates/fuzz/fuzz.sh target/fuzz/$(HOST)/fuzz/tapewise-fuzz $(CORPORA) $(SECONDS) $(TARGETS)

simulate-faults: ## whole archives with everything that goes wrong around them, SECONDS=60 or YEARS=10000 (SEED=13 for one again, LIVES=together for several hosts)
	@$(CARGO) build --quiet --profile simulate --package tapewise-world
	@FROM=$(FROM) EVENTS=$(EVENTS) YEARS=$(YEARS) SECONDS=$(if $(YEARS),,$(SECONDS)) SEED=$(SEED) ONLY="$(ONLY)" LIVES=$(LIVES) WITHOUT="$(WITHOUT)" \
	    target/simulate/tapewise-world

kill-movers: build ## SIGKILL at KILLS=500 instants of a site's movers and of its PostgreSQL: about half an hour
	@python3 packaging/kill-movers.py --program $(TAPEWISE) --kills $(or $(KILLS),500)

book: target/dist-tools/ready ## the manual as a book: target/book/index.html
	@target/dist-tools/bin/mdbook build docs
	@echo "target/book/index.html"

links: $(PYTHON)/mypy ## every link between our pages leads somewhere
	@$(PYTHON)/lychee --quiet --no-progress --offline --include-fragments --exclude-path docs/SUMMARY.md *.md docs bench crates/*/README.md verified

dist: target/dist-tools/ready ## what is published: tarball, deb, rpm and checksums in target/dist
	@PATH="$(CURDIR)/target/dist-tools/bin:$$PATH" packaging/dist.sh

source: ## the sources with all crates they need, for machines without a network: target/tapewise-VERSION-source.tar.gz
	@packaging/source.sh

semver: ## changes of the libraries since the last tag that would break a caller; needs cargo-semver-checks
	@tag=$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null) \
	    || { echo "no tag v* yet: there is no version to compare with"; exit 0; }; \
	    $(CARGO) semver-checks --workspace --baseline-rev "$$tag"

web: build ## the page for the browser: target/web/index.html, and target/web/tapewise.html in one file
	@crates/web/build.sh
	@if [ -f target/web/tapewise.wasm ]; then node crates/web/same.mjs target/web/tapewise.wasm $(TAPEWISE) $(BATCHES); fi

web-test: target/web-tools/node_modules/axe-core ## the pages in Chromium and Firefox, axe included, after `make web`
	$(CARGO) test --quiet --package tapewise-web --test all -- --nocapture page one_file
	$(CARGO) test --quiet --package tapewise-serve --test all -- --nocapture pages

target/web-tools/node_modules/axe-core:
	npm install --silent --no-fund --no-audit --prefix target/web-tools axe-core@4

target/dist-tools/ready: packaging/tools.txt
	python3 -m venv target/dist-tools
	target/dist-tools/bin/pip install --quiet --disable-pip-version-check -r packaging/tools.txt
	@touch $@


doc: build ## API documentation, man pages, shell completions
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(TAPEWISE) manual target/man
	@echo "target/doc/tapewise_order/index.html, target/man"

clean: ## remove what was built
	$(CARGO) clean
	rm -rf demo
