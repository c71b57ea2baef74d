#!/bin/bash
# Compiles a precompiled header (the arguments are the compiler's command) and writes beside it a sum of what it was
# made from. The compiler cache compares that in place of the header, which is never twice the same bytes. What
# stands there from before goes first: the preprocessor would read it in place of the headers' text.
set -eo pipefail
preprocess=() output=""
for ((i = 1; i <= $#; ++i)); do
  case "${!i}" in
    -o) ((++i)); output="${!i}" ;;
    -MF | -MT) ((++i)) ;;
    -MD | -c) ;;
    *) preprocess+=("${!i}") ;;
  esac
done
rm -f "$output" "$output.sum"
sum="$({ printf '%s\n' "$*"; "${preprocess[@]}" -E -dD -P; } | sha256sum)"
"$@"
printf '%s\n' "$sum" >"$output.sum"
