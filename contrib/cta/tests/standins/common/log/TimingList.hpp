/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter uses, so that it can be tested alone.
 */

#pragma once

#include <list>
#include <string>
#include <utility>

namespace cta::utils {
class Timer;
}

namespace cta::log {

class TimingList : public std::list<std::pair<std::string, double>> {
public:
  void insertAndReset(const std::string& name, cta::utils::Timer&) { emplace_back(name, 0.0); }
};

}  // namespace cta::log
