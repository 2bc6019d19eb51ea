/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

#include "common/log/TimingList.hpp"

#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace cta::semconv::log {
inline constexpr const char* exceptionMessage = "exceptionMessage";
}

namespace cta::log {

enum Priority { WARNING = 4, INFO = 6 };

/// Keeps the lines, for the test to look at.
class LogContext {
public:
  void log(int priority, std::string_view message) {
    std::ostringstream line;
    line << (priority == WARNING ? "WARN " : "INFO ") << message;
    for (const auto& [name, value] : params) {
      line << ' ' << name << "=\"" << value << '"';
    }
    lines.push_back(line.str());
  }

  std::map<std::string, std::string> params;
  std::vector<std::string> lines;
};

class ScopedParamContainer {
public:
  explicit ScopedParamContainer(LogContext& context) : m_context(context) {}
  ~ScopedParamContainer() { m_context.params.clear(); }

  template<typename Value>
  ScopedParamContainer& add(const std::string& name, const Value& value) {
    std::ostringstream text;
    text << value;
    m_context.params[name] = text.str();
    return *this;
  }

private:
  LogContext& m_context;
};

}  // namespace cta::log
