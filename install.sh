#!/bin/sh
# Installs familiar from a release: takes the archive for this system, checks its checksum, and puts the program into a directory of yours.
#
#   FROM=https://…/v0.1.0 VERSION=0.1.0 sh install.sh
#
#   FROM      where the release's files are: an address, or a directory such as the dist of .ci/release
#   VERSION   its version; unset: that of the only or last archive in checksums.txt
#   INTO      the directory for the program; unset: ~/.local/bin
#
# It needs no root, and changes nothing else.
set -eu

fail() { echo "install.sh: $*" >&2; exit 1; }

from=${FROM:-} into=${INTO:-$HOME/.local/bin}
[ -n "$from" ] || fail "say where the release is: FROM=ADDRESS-OR-DIRECTORY sh install.sh"

os=$(uname -s | tr '[:upper:]' '[:lower:]')
case $os in linux | darwin) ;; *) fail "there is no archive for $os here; doc/install.md says what else there is" ;; esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no archive for $(uname -m); build it from source" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# get NAME puts a file of the release into $work.
get() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl -fsSL -o "$work/$1" "${from%/}/$1"
      else
        wget -q -O "$work/$1" "${from%/}/$1"
      fi
      ;;
    *) cp "$from/$1" "$work/$1" ;;
  esac || fail "$1 cannot be had from $from"
}

get checksums.txt
archive=$(awk '{print $2}' "$work/checksums.txt" | grep -x "familiar_${VERSION:-[^_]*}_${os}_$arch\.tar\.gz" | tail -n 1)
[ -n "$archive" ] || fail "checksums.txt of $from names no archive for $os/$arch${VERSION:+ of version $VERSION}"
get "$archive"

sum=$(awk -v name="$archive" '$2 == name {print $1}' "$work/checksums.txt")
if command -v sha256sum >/dev/null; then is=$(sha256sum <"$work/$archive"); else is=$(shasum -a 256 <"$work/$archive"); fi
[ "${is%% *}" = "$sum" ] || fail "the checksum of $archive is wrong: nothing was installed"

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$into"
cp "$work/${archive%.tar.gz}/familiar" "$into/.familiar.new"
chmod 755 "$into/.familiar.new"
mv "$into/.familiar.new" "$into/familiar" # also while it runs
"$into/familiar" version
echo "It is $into/familiar. To talk to it: familiar chat"
case :$PATH: in *":$into:"*) ;; *) echo "$into is not in your PATH: add it, or write $into/familiar." ;; esac
