/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

#include "common/exception/Exception.hpp"

#include <cstdint>
#include <vector>

// CTA's header of this name brings these along, and its orders count on that.
namespace cta::catalogue {
class Catalogue;
struct MediaType;
}  // namespace cta::catalogue

namespace cta {

namespace common::dataStructures {

struct TapeFile {
  uint64_t blockId = 0;
  uint64_t fileSize = 0;
  uint64_t fSeq = 0;
  uint8_t copyNb = 1;
};

struct ArchiveFile {
  uint64_t fileSize = 0;
  std::vector<TapeFile> tapeFiles;
};

struct RetrieveRequest {};

}  // namespace common::dataStructures

enum class PositioningMethod { ByBlock, ByFSeq };

class RetrieveMount;

class RetrieveJob {
public:
  RetrieveJob(RetrieveMount*,
              const common::dataStructures::RetrieveRequest&,
              const common::dataStructures::ArchiveFile& file,
              uint64_t,
              PositioningMethod)
      : archiveFile(file) {}

  virtual ~RetrieveJob() = default;

  const common::dataStructures::TapeFile& selectedTapeFile() const { return archiveFile.tapeFiles.at(0); }

  common::dataStructures::ArchiveFile archiveFile;
};

}  // namespace cta
