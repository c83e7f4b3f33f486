#!/bin/sh
# The files of a release, packed twice from a copy of the sources. The programs in it are stand-ins: what the compiler makes is
# tried by 'make packages'.
. "$(dirname "$0")/lib.sh"
sources=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v dpkg-deb >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
  echo '1..0 # skip there is no dpkg-dev'
  exit 0
fi
if ! git -C "$sources" rev-parse HEAD >/dev/null 2>&1; then
  echo '1..0 # skip the sources are not in git'
  exit 0
fi
if ! command -v swiftc >/dev/null || ! command -v cc >/dev/null; then
  echo '1..0 # skip there is no compiler'
  exit 0
fi
unset SOURCE_DATE_EPOCH

# copy FOLDER: the sources that are committed or will be, with programs.
copy() {
  mkdir "$1"
  (cd "$sources" && git ls-files -z --cached --others --exclude-standard | xargs -0 tar -c --ignore-failed-read 2>/dev/null) |
    tar -xC "$1"
  mkdir "$1/bin"
  cp /bin/true "$1/bin/dm"
  for program in "$sources"/Sources/dm-*; do ln -s dm "$1/bin/${program##*/}"; done
}

# packed FOLDER: makes the package and the archive.
packed() { (cd "$1" && sh .ci/deb . && sh .ci/tarball /bin/true) >"$work/log" 2>&1 || sed 's/^/# /' "$work/log"; }

copy "$work/one"
(umask 077 && copy "$work/two")
find "$work/two" -exec touch -h -d '2001-02-03' {} +
export SOURCE_DATE_EPOCH=1700000000
packed "$work/one"
(umask 077 && packed "$work/two")
version=$(cd "$work/one" && sh .ci/version)
package=dm_${version}_$(dpkg --print-architecture).deb
archive=dm-$version-$(uname -m)-linux
for file in "$package" "$archive.tar.gz"; do
  ok "$file is the same when it is made by another copy, at another time, with another umask" \
    cmp "$work/one/$file" "$work/two/$file"
done

# The package.
is "$(dpkg-deb -f "$work/one/$package" Package Version Maintainer | head -n 2 | tr '\n' ' ')" \
  "Package: dm Version: $version " 'the package has its name and its version'
like "$(dpkg-deb -f "$work/one/$package" Depends)" '*libc6*' 'it depends on the libraries of its programs'
dpkg-deb -x "$work/one/$package" "$work/installed"
is "$(cd "$work/installed" && find usr -type f -perm /022 | head -n 3)" '' 'only root can write its files'
is "$(cd "$work/installed/usr/share/man/man1" && echo dm-*.1.gz | wc -w)" "$(ls "$sources"/man/*.1 | wc -l)" 'it has the manual pages'
like "$(cat "$work/installed/usr/share/doc/dm/copyright")" '*Swift*libstdc++*' 'its copyright names the libraries that are linked in'
is "$(find "$work/installed/usr" -type f -printf '%TY\n' | sort -u)" 2023 'its times are those of SOURCE_DATE_EPOCH'

# The archive.
tar -C "$work" -xf "$work/one/$archive.tar.gz"
is "$(cd "$work/$archive" && echo *)" 'INSTALL.md LICENSE NOTICES README.md bin share' 'the archive explains itself at the top'
for library in Swift libstdc++ glibc SQLite; do
  like "$(cat "$work/$archive/NOTICES")" "*$library*" "its notices name $library"
done
is "$(cd "$work/$archive" && grep -o '[A-Za-z0-9.-]*\.txt' NOTICES | sort -u | grep -v license.txt | while read -r file; do
  [ -s "share/doc/dm/licenses/$file" ] || echo "$file"; done)" '' 'and each license that they name is in the archive'
is "$(readlink "$work/$archive/bin/dm-hub") $(readlink "$work/$archive/bin/dm-send")" 'dm-sync dm' \
  'programs that load libraries are not static'

# The sources and the sums.
cd "$work/one" || exit 1
git init -q . && git add . && git -c user.name=a -c user.email=a@example.org commit -qm one
ok 'the sources of a commit are packed' sh .ci/release
mv "dm-$version.tar.gz" first.tar.gz
ok 'and again' sh .ci/release
ok 'to the same bytes' cmp "dm-$version.tar.gz" first.tar.gz
is "$(tar -tf "dm-$version.tar.gz" "dm-$version/debian/rules")" "dm-$version/debian/rules" 'with debian/rules'
is "$(sha256sum -c SHA256SUMS | grep -c ': OK$')" 3 'SHA256SUMS has three files'
echo >>README.md
exits 2 'a release of sources that are not committed' make -s release
like "$err" '*without a commit*' 'is refused'

# Another version in debian/changelog.
sed -i '1s/(.*)/(9.9)/' debian/changelog
exits 65 'a package of another version' sh .ci/deb .
like "$err" "*$version*9.9*" 'is refused'

# No package is installed with SETUP=no, whatever is missing.
mkdir "$work/bin"
printf '#!/bin/sh\necho "$0 $*" >>%s/called\nexit 1\n' "$work" >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
cp "$work/bin/apt-get" "$work/bin/sudo"
# shellcheck disable=SC2016
printf '#!/bin/sh\nexit 1\n' >"$work/bin/pkg-config"
chmod +x "$work/bin/pkg-config"
ok 'make setup SETUP=no' env PATH="$work/bin:$PATH" make -s setup SETUP=no
is "$(cat "$work/called" 2>/dev/null)" '' 'calls no package manager'
done_testing
