#!/bin/sh
# Tries train.sbatch with the stand-in: a job that is sent away twice must leave the same weights as one that was left
# alone. `try.sh PROGRAM` takes this `relish` in place of the one on the PATH.
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] && PATH=$(dirname "$1"):$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
script=$here/../regression/train.relish
set -- --set epochs="${EPOCHS:-800}" --log-every 100000
relish run "$script" --run-dir "$folder/alone" "$@" >"$folder/alone.log" 2>&1 || exit 1
RUN_DIR=$folder/sent sh "$here/stand_in.sh" 2 0.8 "$here/train.sbatch" "$script" "$@" >"$folder/sent.log" 2>&1
code=$?
grep -E "allocation|queue" "$folder/sent.log"
if [ $code -ne 0 ] || ! cmp "$folder/alone/final.safetensors" "$folder/sent/final.safetensors"; then
  cat "$folder/sent.log"
  exit 1
fi
echo "the weights are the same"
