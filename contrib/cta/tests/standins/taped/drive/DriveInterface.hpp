/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

// CTA's header of this name brings it along, and its orders count on that.
#include "common/exception/Exception.hpp"

#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace cta::tape::SCSI::Structures::RAO {
class blockLims;
}

namespace cta::tape::drive {

struct endOfWrapPosition {
  uint16_t wrapNumber;
  uint64_t blockId;
  uint16_t partition;
};

class DriveInterface {
public:
  virtual ~DriveInterface() = default;
  virtual std::vector<endOfWrapPosition> getEndOfWrapPositions() = 0;
  // For the drives that order by themselves; none here does.
  virtual void queryRAO(std::list<SCSI::Structures::RAO::blockLims>&, int) {}
};

}  // namespace cta::tape::drive
