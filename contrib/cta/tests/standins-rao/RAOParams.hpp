/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter uses.
 */

#pragma once

#include <string>

namespace cta::tape::rao {

class RAOOptions {
public:
  explicit RAOOptions(const std::string& options) : m_options(options) {}
  const std::string& getOptionsString() const { return m_options; }

private:
  std::string m_options;
};

class RAOParams {
public:
  explicit RAOParams(const std::string& options) : m_options(options) {}
  const RAOOptions& getRAOAlgorithmOptions() const { return m_options; }
  std::string getMountedVid() const { return "V00001"; }

private:
  RAOOptions m_options;
};

}  // namespace cta::tape::rao
