/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#pragma once

#include "RAOAlgorithm.hpp"
#include "RAOParams.hpp"
#include "catalogue/Catalogue.hpp"
#include "taped/drive/DriveInterface.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cta::tape::rao {

/// What the options of the configuration say: `profile:lto8,work:20000000,budget_ms:2000`, each of them optional.
struct TapewiseOptions {
  /// The profile of the drive; empty: the one of the medium's density code.
  std::string profile;
  /// How many moves may be looked at; 0: as many as are usual. The same work always gives the same order.
  uint64_t work = 0;
  /// How many milliseconds a search may take; 0: as many as the work lasts.
  uint64_t budgetMs = 0;

  /// @throws cta::exception::Exception if an option is unknown or no number
  static TapewiseOptions parse(const std::string& options);
};

/**
 * Orders the jobs so that the tape is read soonest, with libtapewise.
 *
 * It throws nothing but cta::exception::Exception, upon which CTA reads in linear order. What it returns has the index
 * of every job once, also for no job and for one.
 */
class TapewiseRAOAlgorithm : public RAOAlgorithm {
public:
  /**
   * Asks the catalogue for the medium and the drive for its table of wrap ends
   * @param headBlock the block behind the last file that was handed to the drive; nothing: the tape is at its beginning
   */
  static std::unique_ptr<TapewiseRAOAlgorithm> create(const RAOParams& params,
                                                      drive::DriveInterface* drive,
                                                      cta::catalogue::Catalogue* catalogue,
                                                      std::optional<uint64_t> headBlock = std::nullopt);

  /// @param wrapEnds the table as the drive gives it, unaltered
  TapewiseRAOAlgorithm(const TapewiseOptions& options,
                       const std::vector<drive::endOfWrapPosition>& wrapEnds,
                       std::optional<uint64_t> headBlock = std::nullopt)
      : m_options(options),
        m_wrapEnds(wrapEnds),
        m_headBlock(headBlock) {}

  std::vector<uint64_t> performRAO(const std::vector<std::unique_ptr<cta::RetrieveJob>>& jobs) override;

  std::string getName() const override { return "tapewise"; }

  /// What the library says the last order takes, in seconds.
  double getPredictedSeconds() const { return m_predictedSeconds; }

  /// What the library says another order of the same jobs takes, in seconds: to compare with.
  double price(const std::vector<std::unique_ptr<cta::RetrieveJob>>& jobs, const std::vector<uint64_t>& order) const;

private:
  TapewiseOptions m_options;
  std::vector<drive::endOfWrapPosition> m_wrapEnds;
  std::optional<uint64_t> m_headBlock;
  double m_predictedSeconds = 0;
};

/// The profile for a medium by its primary density code.
/// @throws cta::exception::Exception if the code is unknown
std::string tapewiseProfileOf(std::optional<uint8_t> densityCode);

}  // namespace cta::tape::rao
