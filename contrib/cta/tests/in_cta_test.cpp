/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// CTA's own RAOManager orders the same jobs with `linear`, `sltf` and `tapewise`: every order is a permutation, ours is
// never the longer one, an error of the library makes CTA read in linear order; and a table of the three.

#include "RAOManager.hpp"
#include "TapewiseRAOAlgorithm.hpp"
#include "catalogue/Catalogue.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

namespace {

using cta::tape::drive::endOfWrapPosition;
using cta::tape::rao::RAOManager;
using cta::tape::rao::RAOParams;
using cta::tape::rao::TapewiseOptions;
using cta::tape::rao::TapewiseRAOAlgorithm;
using Jobs = std::vector<std::unique_ptr<cta::RetrieveJob>>;

constexpr uint64_t c_fileBytes = 500'000'000;
constexpr int c_batches = 5;

void check(bool holds, const std::string& what) {
  if (!holds) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::exit(1);
  }
}

/// A full cartridge: its medium as CTA's catalogue has it, and how many blocks of 256 KiB a wrap holds.
struct Tape {
  const char* profile;
  uint8_t densityCode;
  uint16_t wraps;
  uint64_t minLPos;
  uint64_t maxLPos;
  uint64_t blocksOfAWrap;
};

constexpr Tape c_tapes[] = {
  {"lto6",    0x5a, 136, 0,    147579, 72937 },
  {"lto7",    0x5c, 112, 2696, 171097, 208214},
  {"lto7-m8", 0x5d, 168, 2696, 171097, 208216},
  {"lto8",    0x5e, 208, 2696, 171097, 221718},
  {"lto9",    0x60, 280, 0,    182100, 250866},
};

/// No two wraps hold the same: a bad spot costs a few data sets.
std::vector<endOfWrapPosition> wrapEnds(const Tape& tape) {
  std::vector<endOfWrapPosition> ends;
  uint64_t block = 0;
  for (uint16_t wrap = 0; wrap < tape.wraps; ++wrap) {
    block += tape.blocksOfAWrap - wrap % 7 * 150;
    ends.push_back({wrap, block, 0});
  }
  return ends;
}

struct Drive : public cta::tape::drive::DriveInterface {
  explicit Drive(const std::vector<endOfWrapPosition>& ends) : wrapEnds(ends) {}
  std::vector<endOfWrapPosition> getEndOfWrapPositions() override { return wrapEnds; }
  std::vector<endOfWrapPosition> wrapEnds;
};

std::unique_ptr<cta::RetrieveJob> job(uint64_t block) {
  const cta::common::dataStructures::ArchiveFile file {c_fileBytes, {{block, c_fileBytes, 1, 1}}};
  return std::make_unique<cta::RetrieveJob>(nullptr,
                                            cta::common::dataStructures::RetrieveRequest(),
                                            file,
                                            1,
                                            cta::PositioningMethod::ByBlock);
}

/// Files at random places, in the order in which they lie on tape: so CTA's queue hands them out.
Jobs jobs(size_t count, uint64_t lastBlock, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<uint64_t> place(0, lastBlock - 3000);
  std::vector<uint64_t> blocks(count);
  std::generate(blocks.begin(), blocks.end(), [&] { return place(random); });
  std::sort(blocks.begin(), blocks.end());
  Jobs made;
  for (const uint64_t block : blocks) {
    made.push_back(job(block));
  }
  return made;
}

void checkPermutation(std::vector<uint64_t> order, size_t count, const std::string& name) {
  std::sort(order.begin(), order.end());
  std::vector<uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  check(order == numbers, name + ": not every file once");
}

std::string row(const Tape& tape, size_t count) {
  const auto ends = wrapEnds(tape);
  Drive drive(ends);
  cta::catalogue::Catalogue catalogue({tape.profile, tape.densityCode, tape.wraps, tape.minLPos, tape.maxLPos});
  const TapewiseRAOAlgorithm judge(TapewiseOptions {tape.profile, 0, 0}, ends);

  double seconds[3] = {};
  for (int batch = 0; batch < c_batches; ++batch) {
    const Jobs files = jobs(count, ends.back().blockId, 1000 * count + batch);
    const char* const names[] = {"linear", "sltf", "tapewise"};
    double took[3] = {};
    for (int at = 0; at < 3; ++at) {
      cta::log::LogContext log;
      RAOManager manager(RAOParams(true, names[at], "cost_heuristic_name:cta", "V00001"), &drive, &catalogue);
      const auto order = manager.queryRAO(files, log);
      const std::string executed = "executedRAOAlgorithm=\"" + std::string(names[at]) + "\"";
      check(log.lines.size() == 1 && log.lines[0].find(executed) != std::string::npos, log.lines[0]);
      checkPermutation(order, count, names[at]);
      took[at] = judge.price(files, order);
      seconds[at] += took[at] / c_batches;
    }
    check(took[2] <= std::min(took[0], took[1]), std::string(tape.profile) + ": ours takes longer");
  }
  char text[160];
  std::snprintf(text, sizeof text, "| %s | %zu | %.0f s | %.0f s | %.0f s | %.0f %% |", tape.profile, count,
                seconds[0], seconds[1], seconds[2], 100 * (1 - seconds[2] / seconds[1]));
  return text;
}

void fallsBackToLinear() {
  // The drive's table ends long before the files do.
  Drive drive({{0, 999, 0}, {1, 1999, 0}});
  cta::catalogue::Catalogue catalogue({"lto8", uint8_t {0x5e}, 208, 2696, 171097});
  Jobs files;
  for (const uint64_t block : {134975, 120000, 125000}) {
    files.push_back(job(block));
  }
  cta::log::LogContext log;
  RAOManager manager(RAOParams(true, "tapewise", "", "V00001"), &drive, &catalogue);
  const auto order = manager.queryRAO(files, log);
  checkPermutation(order, files.size(), "linear");
  check(log.lines.size() == 2, "two lines are logged");
  check(log.lines[0].find("134975") != std::string::npos, log.lines[0]);
  check(log.lines[1].find("executedRAOAlgorithm=\"linear\"") != std::string::npos, log.lines[1]);
  std::printf("%s\n%s\n", log.lines[0].c_str(), log.lines[1].c_str());
}

/// CTA asks for an order of no files, and of one.
void takesFewFiles() {
  Drive drive(wrapEnds(c_tapes[3]));
  cta::catalogue::Catalogue catalogue({"lto8", uint8_t {0x5e}, 208, 2696, 171097});
  for (const size_t count : {0, 1, 2}) {
    cta::log::LogContext log;
    RAOManager manager(RAOParams(true, "tapewise", "", "V00001"), &drive, &catalogue);
    checkPermutation(manager.queryRAO(jobs(count, 1'000'000, 1), log), count, "tapewise");
    check(log.lines.size() == 1, "few files: " + log.lines[0]);
  }
}

}  // namespace

int main() {
  takesFewFiles();
  fallsBackToLinear();
  std::printf("\n| drive | files | linear | sltf | tapewise | less than sltf |\n|---|---:|---:|---:|---:|---:|\n");
  for (const Tape& tape : c_tapes) {
    for (const size_t count : {20, 100, 400, 1000}) {
      std::printf("%s\n", row(tape, count).c_str());
      std::fflush(stdout);
    }
  }
  return 0;
}
