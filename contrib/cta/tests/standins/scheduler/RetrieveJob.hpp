/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter uses, so that it can be tested alone.
 */

#pragma once

#include <cstdint>

namespace cta {

struct TapeFile {
  uint64_t blockId = 0;
  uint64_t fileSize = 0;
};

class RetrieveJob {
public:
  explicit RetrieveJob(const TapeFile& file) : m_file(file) {}
  virtual ~RetrieveJob() = default;
  const TapeFile& selectedTapeFile() const { return m_file; }

private:
  TapeFile m_file;
};

}  // namespace cta
