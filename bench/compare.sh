#!/usr/bin/env bash
# Compares the benchmarks of two revisions with benchstat.
#
#	bench/compare.sh OLD [NEW]
#
# OLD and NEW are revisions of git. Without NEW it is the working tree as it is.
# The rounds of the two alternate, so that a machine that gets slower meanwhile
# does so for both. Variables choose what is measured:
#
#	BENCH=.          pattern of benchmarks, as for go test -bench
#	PACKAGES=./...   packages
#	COUNT=6          rounds; benchstat wants at least 6
#	TIME=1s          time per benchmark and round
set -euo pipefail
cd "$(dirname "$0")/.."

benchstat=golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo 'usage: bench/compare.sh OLD [NEW]' >&2
	exit 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# tree puts a revision into a folder of its own.
tree() {
	mkdir "$scratch/$1"
	git archive "$2" | tar -x -C "$scratch/$1"
}

tree old "$1"
old=$scratch/old
new=$PWD
if [ $# = 2 ]; then
	tree new "$2"
	new=$scratch/new
fi

# measure appends a round of the benchmarks in a folder to a file. Tests run in
# the order of packages, one after another.
measure() {
	(cd "$1" && go test -p 1 -run '^$' -bench "${BENCH:-.}" -benchtime "${TIME:-1s}" ${PACKAGES:-./...}) >>"$2"
}

for ((round = 1; round <= ${COUNT:-6}; round++)); do
	echo "round $round of ${COUNT:-6}" >&2
	measure "$old" "$scratch/old.txt"
	measure "$new" "$scratch/new.txt"
done
grep -q '^Benchmark' "$scratch/new.txt" || { echo "no benchmark matches ${BENCH:-.}" >&2; exit 1; }
go run "$benchstat" "old=$scratch/old.txt" "new=$scratch/new.txt"
