/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter uses, so that it can be tested alone.
 */

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cta::catalogue {

struct MediaType {
  std::optional<uint8_t> primaryDensityCode;
};

class MediaTypeCatalogue {
public:
  explicit MediaTypeCatalogue(std::optional<uint8_t> densityCode) : m_densityCode(densityCode) {}
  cta::catalogue::MediaType getMediaTypeByVid(const std::string&) const { return {m_densityCode}; }

private:
  std::optional<uint8_t> m_densityCode;
};

class Catalogue {
public:
  explicit Catalogue(std::optional<uint8_t> densityCode)
      : m_mediaType(std::make_unique<MediaTypeCatalogue>(densityCode)) {}
  const std::unique_ptr<MediaTypeCatalogue>& MediaType() const { return m_mediaType; }

private:
  std::unique_ptr<MediaTypeCatalogue> m_mediaType;
};

}  // namespace cta::catalogue
