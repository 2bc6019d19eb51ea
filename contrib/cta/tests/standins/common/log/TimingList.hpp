/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

#include <list>
#include <string>
#include <utility>

namespace cta::utils {
class Timer;
}

namespace cta::log {

class ScopedParamContainer;

// The names of what was timed. How long it took is nothing that a test could hold on to.
class TimingList : public std::list<std::pair<std::string, double>> {
public:
  void insertAndReset(const std::string& name, cta::utils::Timer&) { emplace_back(name, 0.0); }
  void addToLog(ScopedParamContainer&) const {}
};

}  // namespace cta::log
