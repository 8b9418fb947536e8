# Builds the consumer with what pkg-config says of an installed tree, and runs it.
# usage: pkg_config.sh PKG_CONFIG CXX SOURCE VERSION static|shared PREFIX PROGRAM
set -eu
pkg_config=$1 cxx=$2 source=$3 version=$4 flavour=$5 prefix=$6 program=$7

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name fenchel.pc)")
export PKG_CONFIG_PATH
"$pkg_config" --exact-version="$version" --print-errors fenchel
static=""
[ "$flavour" = shared ] || static=--static
# shellcheck disable=SC2046,SC2086
"$cxx" -std=c++20 "$source" $("$pkg_config" $static --cflags --libs fenchel) -o "$program"
LD_LIBRARY_PATH=$("$pkg_config" --variable=libdir fenchel) "$program" "$version"
