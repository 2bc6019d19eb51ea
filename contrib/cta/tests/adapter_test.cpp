/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The adapter alone, on stand-ins for the host's interfaces: every order is a permutation, every error is the host's
// exception, and no order is longer than reading by block.

#include "TapewiseRAOAlgorithm.hpp"
#include "common/exception/Exception.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numeric>

namespace {

using cta::tape::drive::endOfWrapPosition;
using cta::tape::rao::RAOParams;
using cta::tape::rao::TapewiseOptions;
using cta::tape::rao::TapewiseRAOAlgorithm;
using Jobs = std::vector<std::unique_ptr<cta::RetrieveJob>>;

void check(bool holds, const char* what) {
  if (!holds) {
    std::cerr << what << '\n';
    std::exit(1);
  }
}

/// A table of wrap ends of a cartridge that is written on `wraps` wraps.
std::vector<endOfWrapPosition> wrapEnds(uint16_t wraps) {
  std::vector<endOfWrapPosition> ends;
  for (uint16_t wrap = 0; wrap < wraps; ++wrap) {
    ends.push_back({wrap, (wrap + 1) * 208000ULL + wrap % 7 * 150, 0});
  }
  return ends;
}

class Drive : public cta::tape::drive::DriveInterface {
public:
  std::vector<endOfWrapPosition> getEndOfWrapPositions() override { return wrapEnds(60); }
};

std::unique_ptr<cta::RetrieveJob> job(uint64_t block, uint64_t bytes) {
  const cta::common::dataStructures::ArchiveFile file {bytes, {{block, bytes, 1, 1}}};
  return std::make_unique<cta::RetrieveJob>(nullptr,
                                            cta::common::dataStructures::RetrieveRequest(),
                                            file,
                                            1,
                                            cta::PositioningMethod::ByBlock);
}

Jobs jobs(size_t count) {
  Jobs made;
  for (uint64_t at = 0; at < count; ++at) {
    made.push_back(job(at * 7919 % 1201 * 10000, at % 5 * 1000000000));
  }
  return made;
}

bool isPermutation(std::vector<uint64_t> order, size_t count) {
  std::sort(order.begin(), order.end());
  std::vector<uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return order == numbers;
}

template <typename Work>
bool throwsTheHostsException(Work work, const std::string& word) {
  try {
    work();
  } catch (const cta::exception::Exception& error) {
    return error.getMessageValue().find(word) != std::string::npos;
  }
  return false;
}

}  // namespace

int main() {
  Drive drive;
  cta::catalogue::Catalogue catalogue({"LTO8", uint8_t {0x5e}, 208, 2696, 171097});
  const RAOParams usual("work:2000000");
  for (const size_t count : {0, 1, 2, 3, 50, 400}) {
    const Jobs files = jobs(count);
    const auto algorithm = TapewiseRAOAlgorithm::create(usual, &drive, &catalogue);
    const auto order = algorithm->performRAO(files);
    check(isPermutation(order, count), "not a permutation");
    if (count > 1) {
      std::vector<uint64_t> byBlock = order;
      std::sort(byBlock.begin(), byBlock.end(), [&files](uint64_t one, uint64_t other) {
        return files[one]->selectedTapeFile().blockId < files[other]->selectedTapeFile().blockId;
      });
      check(algorithm->getPredictedSeconds() <= algorithm->price(files, byBlock), "longer than by block");
    }
    const auto moved = TapewiseRAOAlgorithm::create(usual, &drive, &catalogue, 5000000);
    check(isPermutation(moved->performRAO(files), count), "not a permutation from another head");
  }

  const Jobs beyond = [] {
    Jobs made = jobs(2);
    made.push_back(job(99000000, 1));
    return made;
  }();
  const auto fails = [&](const std::string& options, const std::string& word) {
    const auto work = [&] {
      TapewiseRAOAlgorithm::create(RAOParams(options), &drive, &catalogue)->performRAO(beyond);
    };
    check(throwsTheHostsException(work, word), word.c_str());
  };
  fails("", "99000000");
  fails("profile:lto99", "lto99");
  fails("work:many", "many");
  fails("speed:1", "no option");
  const auto withoutDrive = [&] { TapewiseRAOAlgorithm::create(usual, nullptr, &catalogue); };
  check(throwsTheHostsException(withoutDrive, "drive"), "no drive");
  cta::catalogue::Catalogue unknown({"unknown", std::nullopt, 208, 2696, 171097});
  const auto withoutMedium = [&] { TapewiseRAOAlgorithm::create(usual, &drive, &unknown); };
  check(throwsTheHostsException(withoutMedium, "profile:NAME"), "no medium");
  check(TapewiseOptions::parse("cost_heuristic_name:cta,budget_ms:5").budgetMs == 5, "options");
  const TapewiseRAOAlgorithm empty(TapewiseOptions {"lto8", 0, 0}, {});
  std::cout << "adapter: all holds\n";
  return 0;
}
