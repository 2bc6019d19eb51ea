/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cta::catalogue {

struct MediaType {
  std::string name;
  std::optional<uint8_t> primaryDensityCode;
  std::optional<uint32_t> nbWraps;
  std::optional<uint64_t> minLPos;
  std::optional<uint64_t> maxLPos;
};

}  // namespace cta::catalogue
