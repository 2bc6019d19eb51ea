/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

namespace cta::utils {

inline void splitString(const std::string& text, char separator, std::vector<std::string>& parts) {
  std::istringstream list(text);
  for (std::string part; std::getline(list, part, separator);) {
    parts.push_back(part);
  }
}

inline void toLower(std::string& text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return std::tolower(letter); });
}

}  // namespace cta::utils
