/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter uses, so that it can be tested alone.
 */

#pragma once

#include <cstdint>
#include <vector>

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
};

}  // namespace cta::tape::drive
