/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter uses.
 */

#pragma once

#include "common/log/TimingList.hpp"
#include "scheduler/RetrieveJob.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cta::tape::rao {

class RAOAlgorithm {
public:
  virtual ~RAOAlgorithm() = default;
  virtual std::vector<uint64_t> performRAO(const std::vector<std::unique_ptr<cta::RetrieveJob>>& jobs) = 0;
  virtual std::string getName() const = 0;

protected:
  cta::log::TimingList m_raoTimings;
};

}  // namespace cta::tape::rao
