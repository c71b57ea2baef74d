#!/bin/sh
# Stands in for Slurm where there is none: runs a batch script again as long as it asks for that, and sends SIGTERM to
# it after a while, so that a job lives through several allocations.
#
#     stand_in.sh ALLOCATIONS SECONDS BATCH_SCRIPT [ARGUMENT]…
#
# The first ALLOCATIONS of them last SECONDS, the one behind them as long as the job needs. What the script ends with is
# the exit code.
allocations=$1
seconds=$2
shift 2

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/scontrol" <<'END'
#!/bin/sh
[ "$1" = requeue ] && : >"$STAND_IN_FOLDER/requeued"
END
chmod +x "$folder/scontrol"
export STAND_IN_FOLDER="$folder" PATH="$folder:$PATH" SLURM_JOB_ID=4711 SLURM_CPUS_PER_TASK=2

number=0
while :; do
  number=$((number + 1))
  rm -f "$folder/requeued"
  sh "$@" &
  batch=$!
  if [ $number -le "$allocations" ]; then
    sleep "$seconds"
    echo "allocation $number ends"
    kill -TERM $batch 2>/dev/null
  fi
  wait $batch
  code=$?
  [ -e "$folder/requeued" ] || break
done
echo "done behind $number allocations, exit code $code"
exit $code
