/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

#include <exception>
#include <string>

namespace cta::exception {

class Exception : public std::exception {
public:
  explicit Exception(const std::string& context) : m_message(context) {}
  std::string getMessageValue() const { return m_message; }
  const char* what() const noexcept override { return m_message.c_str(); }

private:
  std::string m_message;
};

}  // namespace cta::exception
