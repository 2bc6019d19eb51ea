/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

#include "catalogue/MediaType.hpp"

#include <memory>
#include <string>

namespace cta::catalogue {

class MediaTypeCatalogue {
public:
  explicit MediaTypeCatalogue(const cta::catalogue::MediaType& medium) : m_medium(medium) {}
  cta::catalogue::MediaType getMediaTypeByVid(const std::string&) const { return m_medium; }

private:
  cta::catalogue::MediaType m_medium;
};

class Catalogue {
public:
  explicit Catalogue(const cta::catalogue::MediaType& medium)
      : m_mediaType(std::make_unique<MediaTypeCatalogue>(medium)) {}
  const std::unique_ptr<MediaTypeCatalogue>& MediaType() const { return m_mediaType; }

private:
  std::unique_ptr<MediaTypeCatalogue> m_mediaType;
};

}  // namespace cta::catalogue
