#!/bin/sh
# Puts the adapter into CTA's own code for recall orders, by the steps of ../README.md, compiles that code and compares
# CTA's order with ours: in-cta.sh CTA LIBRARY WORK. CTA: its sources, of August 2026 or near; LIBRARY: libtapewise.a
# of this version; WORK: a directory to build in. Nothing of CTA is kept in this repository.
set -eu
cta=$1 library=$(realpath "$2") work=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..

[ -f "$cta/taped/rao/RAOManager.cpp" ] || {
    echo "in-cta.sh: $cta has no taped/rao/RAOManager.cpp: it is no checkout of CTA, or one from before 2026" >&2
    exit 2
}
rm -rf "$work"
mkdir -p "$work/taped/scsi"
cp -r "$cta/taped/rao" "$work/taped/"
cp "$cta/taped/scsi/Structures.hpp" "$cta/taped/scsi/Constants.hpp" "$work/taped/scsi/"
cp "$here"/../TapewiseRAOAlgorithm.?pp "$work/taped/rao/"
cd "$work/taped/rao"

# A step that finds its place no more would leave the adapter out in silence.
step() { # FILE EXPRESSION
    sed -E "$2" "$1" > changed
    ! cmp -s "$1" changed || { echo "in-cta.sh: $1 of this CTA is not as the README's step expects" >&2; exit 1; }
    mv changed "$1"
}
type=RAOParams::RAOAlgorithmType
step RAOParams.hpp 's|^( *)sltf +//|\1tapewise,\n&|'
step RAOParams.cpp "s|\{\"sltf\", .*\}|&,\n  {\"tapewise\", $type::tapewise}|"
step RAOAlgorithmFactoryFactory.cpp "s|case $type::sltf:|case $type::tapewise:\n      &|"
step ConfigurableRAOAlgorithmFactory.cpp 's|#include "SLTFRAOAlgorithm.hpp"|&\n#include "TapewiseRAOAlgorithm.hpp"|'
step ConfigurableRAOAlgorithmFactory.cpp \
    "s|switch .*getAlgorithmType.*|&\n    case $type::tapewise:\n      return TapewiseRAOAlgorithm::create(m_raoParams, m_drive, m_catalogue);|"

# Their unit test needs googletest; the rest compiles alone.
rm RAOTest.cpp
c++ -std=c++20 -O1 -I"$work" -I"$here/standins" -I"$root/crates/capi/include" -I"$work/taped/rao" \
    "$here/in_cta_test.cpp" ./*.cpp "$library" -lgcc_s -lpthread -lm -ldl -o "$work/in_cta_test"
"$work/in_cta_test"
