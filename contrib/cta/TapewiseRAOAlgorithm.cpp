/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "TapewiseRAOAlgorithm.hpp"

#include "common/exception/Exception.hpp"
#include "common/utils/Timer.hpp"

#include <charconv>
#include <sstream>
#include <tapewise.hpp>

namespace cta::tape::rao {

namespace {

/// The blocks of CTA's tapes: 256 KiB, and about each file three label records and a filemark before the data, a
/// filemark after it, then three more records and a filemark.
constexpr uint64_t c_blockBytes = 262144;
constexpr uint64_t c_labelObjects = 9;

uint64_t number(const std::string& name, const std::string& text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || stop != end) {
    throw cta::exception::Exception("tapewise: the option " + name + " is \"" + text + "\", which is not a number");
  }
  return value;
}

/// The batch of some jobs, on the cartridge as the drive describes it.
tapewise::batch batchOf(const TapewiseOptions& options,
                        const std::vector<drive::endOfWrapPosition>& wrapEnds,
                        const std::optional<uint64_t>& headBlock,
                        const std::vector<std::unique_ptr<cta::RetrieveJob>>& jobs) {
  std::vector<tapewise_wrap_end> ends;
  for (const auto& end : wrapEnds) {
    ends.push_back({.block = end.blockId, .wrap = end.wrapNumber, .partition = end.partition});
  }
  tapewise::cartridge cartridge(options.profile);
  cartridge.set_wrap_ends(ends);

  std::vector<tapewise_extent> files;
  for (const auto& job : jobs) {
    const auto& file = job->selectedTapeFile();
    const uint64_t dataBlocks = file.fileSize / c_blockBytes + (file.fileSize % c_blockBytes > 0 ? 1 : 0);
    tapewise_extent extent = tapewise::blocks(file.blockId, dataBlocks + c_labelObjects);
    extent.bytes = file.fileSize;
    files.push_back(extent);
  }
  // CTA locates to every file: it does not stream over what lies between two.
  tapewise::batch batch(cartridge, c_blockBytes, TAPEWISE_NO_READ_THROUGH);
  batch.add(files);
  if (headBlock.has_value()) {
    batch.set_head(tapewise::at_block(headBlock.value()));
  }
  return batch;
}

/// The caller moves each job out of its place by index, so that a number that is missing or there twice would crash it.
void checkPermutation(const std::vector<uint64_t>& order, size_t jobs) {
  std::vector<bool> seen(jobs, false);
  bool holds = order.size() == jobs;
  for (const uint64_t index : order) {
    holds = holds && index < jobs && !seen[index];
    if (holds) {
      seen[index] = true;
    }
  }
  if (!holds) {
    throw cta::exception::Exception("tapewise: the order does not have every file once");
  }
}

}  // namespace

TapewiseOptions TapewiseOptions::parse(const std::string& options) {
  TapewiseOptions parsed;
  std::istringstream list(options);
  for (std::string option; std::getline(list, option, ',');) {
    const size_t colon = option.find(':');
    const std::string name = option.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : option.substr(colon + 1);
    if (name == "profile") {
      parsed.profile = value;
    } else if (name == "work") {
      parsed.work = number(name, value);
    } else if (name == "budget_ms") {
      parsed.budgetMs = number(name, value);
    } else if (name != "cost_heuristic_name" && !name.empty()) {
      // That one belongs to sltf, and stays in many a configuration.
      throw cta::exception::Exception("tapewise: there is no option \"" + name
                                      + "\"; options are profile, work, budget_ms");
    }
  }
  return parsed;
}

std::string tapewiseProfileOf(std::optional<uint8_t> densityCode) {
  switch (densityCode.value_or(0)) {
    case 0x58: return "lto5";
    case 0x5a: return "lto6";
    case 0x5c: return "lto7";
    case 0x5d: return "lto7-m8";
    case 0x5e: return "lto8";
    case 0x60: return "lto9";
    default:
      throw cta::exception::Exception("tapewise: no profile is known for density code "
                                      + std::to_string(densityCode.value_or(0))
                                      + "; name one with the option profile:NAME");
  }
}

std::unique_ptr<TapewiseRAOAlgorithm> TapewiseRAOAlgorithm::create(const RAOParams& params,
                                                                   drive::DriveInterface* drive,
                                                                   cta::catalogue::Catalogue* catalogue,
                                                                   std::optional<uint64_t> headBlock) {
  TapewiseOptions options = TapewiseOptions::parse(params.getRAOAlgorithmOptions().getOptionsString());
  if (drive == nullptr || (catalogue == nullptr && options.profile.empty())) {
    throw cta::exception::Exception("tapewise: the drive and the catalogue are needed");
  }
  cta::utils::Timer timer;
  cta::log::TimingList timings;
  if (options.profile.empty()) {
    const auto medium = catalogue->MediaType()->getMediaTypeByVid(params.getMountedVid());
    options.profile = tapewiseProfileOf(medium.primaryDensityCode);
    timings.insertAndReset("catalogueGetMediaTypeByVidTime", timer);
  }
  auto wrapEnds = drive->getEndOfWrapPositions();
  timings.insertAndReset("getEndOfWrapPositionsTime", timer);
  auto made = std::make_unique<TapewiseRAOAlgorithm>(options, wrapEnds, headBlock);
  made->m_raoTimings = timings;
  return made;
}

std::vector<uint64_t>
TapewiseRAOAlgorithm::performRAO(const std::vector<std::unique_ptr<cta::RetrieveJob>>& jobs) {
  cta::utils::Timer timer;
  std::vector<uint64_t> order;
  if (jobs.size() == 1) {
    order.push_back(0);
  } else if (!jobs.empty()) {
    try {
      tapewise::batch batch = batchOf(m_options, m_wrapEnds, m_headBlock, jobs);
      tapewise_wanted wanted = tapewise::usual();
      wanted.work = m_options.work;
      wanted.budget_us = m_options.budgetMs * 1000;
      tapewise::ordered found = batch.order(wanted);
      m_predictedSeconds = static_cast<double>(found.estimate.total_us) / 1e6;
      order = std::move(found.requests);
    } catch (const tapewise::error& error) {
      throw cta::exception::Exception(std::string("tapewise: ") + error.what());
    }
  }
  checkPermutation(order, jobs.size());
  m_raoTimings.insertAndReset("RAOAlgorithmTime", timer);
  return order;
}

double TapewiseRAOAlgorithm::price(const std::vector<std::unique_ptr<cta::RetrieveJob>>& jobs,
                                   const std::vector<uint64_t>& order) const {
  try {
    const tapewise_estimate estimate = batchOf(m_options, m_wrapEnds, m_headBlock, jobs).price(order);
    return static_cast<double>(estimate.total_us) / 1e6;
  } catch (const tapewise::error& error) {
    throw cta::exception::Exception(std::string("tapewise: ") + error.what());
  }
}

}  // namespace cta::tape::rao
