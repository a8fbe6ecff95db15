#!/usr/bin/env bash
# Submits an array of SHARDS tasks and a job that merges their runs when all have ended well.
#
#   export TOOLCERT_BASE_URL=https://api.vendor.example/v1 TOOLCERT_MODEL=the-model TOOLCERT_API_KEY=...
#   ./submit.sh requests.jsonl runs
#
# TOOLCERT_CONCURRENCY and TOOLCERT_RPM are for each task: the vendor sees SHARDS times as much.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

export DATASET=${1:?the dataset is missing} RUNS=${2:?the folder for the runs is missing} SHARDS=${SHARDS:-8}

array=$(sbatch --parsable --export=ALL --array="1-$SHARDS" "$here/verify.sbatch")
merge=$(sbatch --parsable --export=ALL --dependency="afterok:$array" --kill-on-invalid-dep=yes "$here/merge.sbatch")
echo "shards: job $array, merge: job $merge"
# A task that failed goes on where it was: DATASET=... RUNS=... SHARDS=8 sbatch --export=ALL --array=3 verify.sbatch
