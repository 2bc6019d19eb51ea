#!/bin/sh
# Runs targets under libFuzzer: fuzz.sh PROGRAM CORPORA SECONDS [TARGET ...]. Inputs that reach new code are put into
# CORPORA/TARGET, the smallest of the fewest that reach all that was reached; one that fails stays in
# target/fuzz/failures.
set -eu
program=$1 corpora=$2 seconds=$3
shift 3
failures=target/fuzz/failures
mkdir -p "$failures"
[ $# -gt 0 ] || set -- $(ls "$corpora")
failed=0
for target in "$@"; do
    work=target/fuzz/work/$target
    mkdir -p "$work" "$corpora/$target"
    export TAPEWISE_FUZZ_TARGET=$target
    # Small inputs reach every branch soonest; memory and time are limited so that what amplifies is found.
    case $target in
    plan_json | profile | scenario | tar) longest=12000 ;;
    # Four bytes are a step, and a damaged byte.
    catalogue_steps | catalogue_file) longest=256 ;;
    *) longest=2048 ;;
    esac
    if ! "$program" -max_total_time="$seconds" -max_len="$longest" -len_control=0 -timeout=10 -rss_limit_mb=1024 \
        -use_value_profile=0 -print_final_stats=1 -artifact_prefix="$failures/$target-" \
        "$work" "$corpora/$target" > "target/fuzz/$target.log" 2>&1; then
        failed=1
        echo "$target: FAILED, see target/fuzz/$target.log and $failures"
    fi
    kept=target/fuzz/kept/$target
    rm -rf "$kept"
    mkdir -p "$kept"
    "$program" -merge=1 -max_len="$longest" -timeout=10 -rss_limit_mb=1024 "$kept" "$corpora/$target" "$work" \
        > "target/fuzz/$target-merge.log" 2>&1 || true
    # The smallest say most in the least room; the others stay below target/.
    for file in $(ls -Sr "$kept" | head -n 30); do
        cp -n "$kept/$file" "$corpora/$target/"
    done
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "target/fuzz/$target.log")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\).*/\1 edges, \2 features/p' "target/fuzz/$target.log" | tail -n 1)
    echo "$target: ${inputs:-?} inputs, ${coverage:-?}, $(ls "$corpora/$target" | wc -l) kept"
done
exit $failed
