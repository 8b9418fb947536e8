# Installs a built tree and moves the result, so that a path of the first place cannot be of use to anybody.
# usage: make_prefix.sh CMAKE BUILD PREFIX
set -eu
rm -rf "$3" "$3.staged"
"$1" --install "$2" --prefix "$3.staged"
mv "$3.staged" "$3"
