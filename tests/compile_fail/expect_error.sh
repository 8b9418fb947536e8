# Succeeds when a compiler fails with a message that matches an extended regular expression.
# usage: expect_error.sh REGEX COMPILER ARGUMENTS...
set -eu
regex=$1
shift
if message=$(LC_ALL=C "$@" 2>&1); then
  echo "compiled, but must not: $*"
  exit 1
fi
echo "$message"
echo "$message" | grep -Eq -e "$regex" || {
  echo "no match for: $regex"
  exit 1
}
