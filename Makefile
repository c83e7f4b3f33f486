PREFIX ?= /usr/local
DESTDIR ?=
NAMES := $(notdir $(wildcard Sources/dm-*))
# 'linked' makes one file of all programs, and a link to it for each; 'separate' makes a file of each.
PROGRAMS ?= linked
# The programs are small and their modules many: with the third flag, printing all messages takes a twentieth less. The last one
# keeps the folder of the program out of the places where each start looks for libraries.
RELEASE = DM_PROGRAMS=1 $(PKG) swift build -c release --static-swift-stdlib -Xswiftc -cross-module-optimization --disable-local-rpath $(SLIM) $(HEADERS)
# A call of the module for regular expressions, such as 'replacing', is an error, because that module is large: see
# Sources/DMModel/ExactString.swift for what to call. With the second flag, types of generic code are looked up by functions
# instead of their names, which were a fifth of the instructions of a short history. Functions in sections of their own can be left
# out, and put in order.
SLIM := $(addprefix -Xswiftc ,-Xfrontend -disable-implicit-string-processing-module-import \
  -Xfrontend -disable-concrete-type-metadata-mangled-name-accessors \
  -Xfrontend -function-sections)
# Where the headers of these libraries are differs between systems. The libraries themselves are loaded when they are needed.
HEADERS = $(foreach l,libpq libcurl libxml-2.0,$(patsubst -I%,-Xcc -I%,$(shell pkg-config --cflags-only-I $l)))
# How a start became short is in docs/decisions/0026. A linker takes the shared library where a folder has both, so .build/static
# has only the others. Nothing in the program unwinds its stack, so that it needs no index of its frames, which would take 300 kB.
STATIC := $(CURDIR)/.build/static
LINK := -Xswiftc -use-ld=lld -Xswiftc -L$(STATIC) \
  $(addprefix -Xlinker ,--no-export-dynamic --no-eh-frame-hdr -O2 -z pack-relative-relocs -z now \
  --symbol-ordering-file=$(CURDIR)/.ci/order.txt --no-warn-symbol-ordering \
  -T$(CURDIR)/.ci/private.ld) -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
# 'static' puts SQLite into the program, if the system has it as an archive, as Debian has; 'shared' uses the library of the system.
SQLITE ?= static
PKG = PKG_CONFIG_PATH="$(STATIC)$(addprefix :,$(PKG_CONFIG_PATH))"
SUDO := $(if $(filter-out 0,$(shell id -u)),sudo)
# Commands that a target needs in addition to those of a build, as COMMAND or COMMAND:DEBIAN-PACKAGE.
TOOLS := pkg-config jq

.PHONY: demo check test torture mutations build install uninstall deb tarball release packages order lint bench generate width docs pictures setup

demo: build
	PATH="$(CURDIR)/bin:$$PATH" sh examples/demo

check test torture: TOOLS += python3
test torture: TOOLS += cc:gcc openssl sqlite3 strace groff mandoc faketime time script:bsdutils ffmpeg vips:libvips-tools \
  heif-enc:libheif-examples exiftool:libimage-exiftool-perl
# For the completions.
test torture: TOOLS += bash zsh fish setsid:util-linux
# For hubs.
test torture: TOOLS += pgbouncer
# For the examples.
test torture: TOOLS += mlr:miller jo sqlite-utils tmux less pgrep:procps fzf curl mypy node:nodejs tsc:node-typescript systemd-analyze:systemd shellcheck
test: setup
	Tests/run

# For the inner loop: what a minute or two can tell.
check: setup lint
	Tests/run check

# The torture tests, for minutes instead of seconds, and the long random run: see docs/reliability.md.
torture: TOOLS += mkfs.ext4:e2fsprogs losetup:mount
torture: setup
	Tests/run torture

# Breaks the code, and sees the tests fail; half an hour.
mutations: setup
	Tests/mutations/run

# The programs, stripped, in bin/. They are always linked anew, because the package manager does not know of .ci/order.txt.
build: TOOLS += cc:gcc
build: setup
	rm -rf $(STATIC)
	mkdir -p $(STATIC)
	ln -s "$$(cc -print-file-name=libstdc++.a)" $(STATIC)
	a="$$(cc -print-file-name=libsqlite3.a)"; test $(SQLITE) != static || test ! -e "$$a" || { ln -s "$$a" $(STATIC) && \
	  printf '%s\n' 'Name: SQLite' 'Description: SQLite' 'Version: 3' 'Libs: -L$(STATIC) -lsqlite3' >$(STATIC)/sqlite3.pc; }
	rm -rf bin
	mkdir bin
	set -e; folder="$$($(RELEASE) --show-bin-path)"; for p in dm $(if $(filter separate,$(PROGRAMS)),$(NAMES)); do \
	  rm -f "$$folder/$$p"; $(RELEASE) $(LINK) --product $$p; strip -s -o bin/$$p "$$folder/$$p"; done
	for p in $(NAMES); do test -e bin/$$p || ln -s dm bin/$$p || exit; done

# What was built, so that no compiler and no package manager runs as root.
SHARE := $(DESTDIR)$(PREFIX)/share
# A shell finds the completion of a program in a file of its name, which is a link to that of dm.
BASH := $(SHARE)/bash-completion/completions
ZSH := $(SHARE)/zsh/site-functions
FISH := $(SHARE)/fish/vendor_completions.d
install:
	@test -x bin/dm || { echo "nothing is built; run 'make build' first, not as root" >&2; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(addprefix $(SHARE)/man/man,1 5 7 8) $(SHARE)/doc/dm
	for p in dm $(NAMES); do \
	  if test -L bin/$$p; then ln -sf dm $(DESTDIR)$(PREFIX)/bin/$$p; \
	  else install -m 755 bin/$$p $(DESTDIR)$(PREFIX)/bin; fi || exit; done
	for s in 1 5 7 8; do install -m 644 man/*.$$s $(SHARE)/man/man$$s && gzip -9nf $(SHARE)/man/man$$s/dm*.$$s || exit; done
	install -D -m 644 -t $(ZSH) completions/zsh/_dm
	install -d $(BASH) $(FISH)
	cp -P completions/bash/* $(BASH)
	cp -P completions/fish/* $(FISH)
	chmod 644 $(BASH)/dm $(FISH)/dm.fish
	install -m 644 README.md INSTALL.md CHANGELOG.md LICENSE $(SHARE)/doc/dm
	rm -rf $(SHARE)/doc/dm/examples/import $(SHARE)/dm/import
	cp -R examples $(SHARE)/doc/dm
	install -d $(SHARE)/dm
	mv $(SHARE)/doc/dm/examples/import $(SHARE)/dm/import
	ln -s ../../../dm/import $(SHARE)/doc/dm/examples/import
	rm -rf $(SHARE)/dm/import/__pycache__
	cd $(SHARE)/doc/dm/examples && rm -rf embedding/.build* */__pycache__ .mypy_cache */.mypy_cache

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,dm $(NAMES))
	for s in 1 5 7 8; do (cd man && ls *.$$s) | sed "s|.*|$(SHARE)/man/man$$s/&.gz|" | xargs rm -f || exit; done
	rm -f $(ZSH)/_dm $(foreach p,dm $(NAMES),$(BASH)/$p $(FISH)/$p.fish)
	rm -rf $(SHARE)/doc/dm $(SHARE)/dm

# A package for Debian, of what was built.
deb: TOOLS += dpkg-shlibdeps:dpkg-dev
deb: setup
	sh .ci/deb .

# An archive for machines without Swift and SQLite, whose dm is fully static; make build first.
tarball: TOOLS += cc:gcc
tarball: setup
	dm="$$(sh .ci/static)" && sh .ci/tarball "$$dm"

# The files of a release, of a commit: the package, the archive, the sources and their checksums. INSTALL.md describes them.
release:
	@git diff --quiet HEAD || { echo "there are changes without a commit, which the archive of the sources would not have" >&2; exit 65; }
	$(MAKE) build
	$(MAKE) deb tarball
	sh .ci/release

# Installs, upgrades and removes the package, and tries the archive, in bare systems; as root.
packages: TOOLS += debootstrap sqlite3 python3
packages: build deb tarball
	Tests/packages/run

# Renews the order of functions in the program, by their first use; after larger changes, and before a release.
order: TOOLS += valgrind python3
order: build
	.ci/order "$$($(RELEASE) --show-bin-path)/dm" >.ci/order.new
	mv .ci/order.new .ci/order.txt

lint:
	swift format lint --strict --recursive Sources Tests Package.swift
	sh .ci/lint

bench: TOOLS += hyperfine python3 sqlite3 time gcc notmuch ffmpeg vips:libvips-tools
bench: build
	PATH="$(CURDIR)/bin:$$PATH" sh bench/run
	PATH="$(CURDIR)/bin:$$PATH" bench/chat
	PATH="$(CURDIR)/bin:$$PATH" sh bench/live
	PATH="$(CURDIR)/bin:$$PATH" sh bench/search
	PATH="$(CURDIR)/bin:$$PATH" sh bench/attach
	PATH="$(CURDIR)/bin:$$PATH" sh bench/hub

# Updates the generated files that are committed: the public API of the library, and the types of the
# examples.
generate: setup
	sh .ci/schema >Sources/DMStore/Migrations/schema.sql
	b="$$(Tests/build --product dm)" || exit; sh .ci/api "$$b" DMKit >docs/api/DMKit.txt || exit; \
	schemas="$$("$$b/dm" tail --schema && "$$b/dm" send --schema)" || exit; \
	printf '%s\n' "$$schemas" | examples/schema-types python >examples/python/dm.py && \
	printf '%s\n' "$$schemas" | examples/schema-types typescript >examples/typescript/dm.d.ts

# The table of the characters that take two columns, from the tables of Unicode that Debian has.
width:
	test -e /usr/share/unicode/EastAsianWidth.txt || $(SUDO) apt-get install -y -qq unicode-data
	sh .ci/width >Sources/DMCLI/Text/WideCharacters.swift

# The pictures in docs, which show what the built programs print; after a change of the text on terminals.
pictures: TOOLS += faketime tmux python3
pictures: build
	PATH="$(CURDIR)/bin:$$PATH" docs/make-terminal-svg

# The documentation of DMKit, in .build/docs; warnings are errors.
docs: setup
	sh .ci/docs "$$(Tests/build --target DMKit)" .build/docs

# The tests of dm-mcp install a client of PyPI into .build.
test torture: VENV := yes

# The tests and the demonstration run servers of PostgreSQL of their own. The package would start one, unless its configuration says not to.
demo test torture mutations bench: POSTGRES := yes
CLUSTER := /etc/postgresql-common/createcluster.conf

# Installs missing packages with apt, and calls it only if one is missing. SETUP=no leaves that to you.
setup:
	@test "$(SETUP)" != no || exit 0; \
	missing="$$(PATH=$$PATH:/usr/sbin:/sbin; for t in $(TOOLS); do command -v $${t%:*} >/dev/null || echo $${t#*:}; done)"; \
	pkg-config --exists sqlite3 2>/dev/null || missing="$$missing libsqlite3-dev"; \
	pkg-config --exists libpq 2>/dev/null || missing="$$missing libpq-dev"; \
	pkg-config --exists libcurl 2>/dev/null || missing="$$missing libcurl4-openssl-dev"; \
	pkg-config --exists libxml-2.0 2>/dev/null || missing="$$missing libxml2-dev"; \
	test -z "$(VENV)" || python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$$missing python3-venv"; \
	test -z "$(POSTGRES)" || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { missing="$$missing postgresql"; \
	  test -e $(CLUSTER) || { $(SUDO) mkdir -p $(dir $(CLUSTER)) && \
	    echo 'create_main_cluster = false' | $(SUDO) tee $(CLUSTER) >/dev/null; }; }; \
	test -z "$$missing" || { $(SUDO) apt-get update -qq && \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; }
