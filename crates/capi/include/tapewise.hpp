// tapewise for C++20: RAII, exceptions and spans over tapewise.h. One file, nothing to link but libtapewise.
//
// Licensed under MIT or Apache-2.0, at your choice.

#ifndef TAPEWISE_HPP
#define TAPEWISE_HPP

#include "tapewise.h"

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tapewise {

/// A call that failed: what() is the library's sentence.
class error : public std::runtime_error {
public:
  error(tapewise_status status, const char* text) : std::runtime_error(text), m_status(status) {}
  tapewise_status status() const noexcept { return m_status; }

private:
  tapewise_status m_status;
};

/// A cartridge: the profile of its drive, and what is known of this very tape.
class cartridge {
public:
  /// By the profile's name, such as "lto8", or the path of a TOML file.
  explicit cartridge(const std::string& profile) {
    tapewise_cartridge* opened = nullptr;
    const tapewise_status status = tapewise_cartridge_open(profile.c_str(), &opened);
    m_handle.reset(opened);
    check(status);
  }

  /// The drive's table of wrap ends, unaltered.
  void set_wrap_ends(std::span<const tapewise_wrap_end> ends) {
    check(tapewise_cartridge_set_wrap_ends(m_handle.get(), ends.data(), ends.size()));
  }

  /// Places that the drive reported for a few blocks; see tapewise.h for beside_bytes.
  void set_places(std::span<const tapewise_place> places, std::uint64_t beside_bytes = 0) {
    check(tapewise_cartridge_set_places(m_handle.get(), places.data(), places.size(), beside_bytes));
  }

  /// One of TAPEWISE_LAYOUT_...
  void set_layout(std::uint32_t layout) { check(tapewise_cartridge_set_layout(m_handle.get(), layout)); }

  const tapewise_cartridge* get() const noexcept { return m_handle.get(); }

private:
  struct closer {
    void operator()(tapewise_cartridge* handle) const noexcept { tapewise_cartridge_free(handle); }
  };
  void check(tapewise_status status) const {
    if (status != TAPEWISE_STATUS_OK) {
      throw error(status, tapewise_cartridge_error(m_handle.get()));
    }
  }
  std::unique_ptr<tapewise_cartridge, closer> m_handle;
};

/// What is wanted, with the usual in every field.
inline tapewise_wanted usual() noexcept {
  tapewise_wanted wanted{};
  wanted.size = sizeof wanted;
  return wanted;
}

/// A run of blocks in a partition.
inline tapewise_extent blocks(std::uint64_t first, std::uint64_t count, std::uint32_t partition = 0) noexcept {
  tapewise_extent extent{};
  extent.first_block = first;
  extent.blocks = count;
  extent.partition = partition;
  return extent;
}

/// The beginning of a block, as a place for the head.
inline tapewise_location at_block(std::uint64_t block, std::uint32_t partition = 0) noexcept {
  tapewise_location location{};
  location.at = TAPEWISE_AT_BLOCK;
  location.block = block;
  location.partition = partition;
  return location;
}

/// An order and what it takes.
struct ordered {
  std::vector<std::uint64_t> requests;
  tapewise_estimate estimate;
};

/// Requests on a cartridge, numbered from 0 in the order in which they are added.
class batch {
public:
  explicit batch(const cartridge& on, std::uint64_t block_bytes = 0, std::uint32_t flags = 0) {
    tapewise_batch* opened = nullptr;
    const tapewise_status status = tapewise_batch_open(on.get(), block_bytes, flags, &opened);
    m_handle.reset(opened);
    check(status);
  }

  void add(std::span<const tapewise_extent> extents) {
    check(tapewise_batch_add(m_handle.get(), extents.data(), extents.size(), sizeof(tapewise_extent)));
    for (const tapewise_extent& extent : extents) {
      m_waiting += (extent.flags & TAPEWISE_EXTENT_CONTINUES) == 0 ? 1 : 0;
    }
  }

  /// Where the head is; after the last read it is left anywhere.
  void set_head(const tapewise_location& head) { check(tapewise_batch_set_head(m_handle.get(), &head, nullptr)); }

  /// Where the head is, and where to leave it.
  void set_head(const tapewise_location& head, const tapewise_location& end) {
    check(tapewise_batch_set_head(m_handle.get(), &head, &end));
  }

  /// These were read or handed on; the next order is one of the rest.
  void set_read(std::span<const std::uint64_t> requests) {
    check(tapewise_batch_set_read(m_handle.get(), requests.data(), requests.size()));
    m_waiting -= requests.size();
  }

  /// The order in which what waits is read soonest.
  ordered order(const tapewise_wanted& wanted = usual()) {
    ordered found{std::vector<std::uint64_t>(m_waiting), empty()};
    check(tapewise_batch_order(m_handle.get(), &wanted, found.requests.data(), found.requests.size(),
                               &found.estimate));
    return found;
  }

  /// What an order of one's own takes.
  tapewise_estimate price(std::span<const std::uint64_t> order) {
    tapewise_estimate estimate = empty();
    check(tapewise_batch_price(m_handle.get(), order.data(), order.size(), &estimate));
    return estimate;
  }

  /// How many requests wait.
  std::size_t waiting() const noexcept { return m_waiting; }

private:
  struct closer {
    void operator()(tapewise_batch* handle) const noexcept { tapewise_batch_free(handle); }
  };
  static tapewise_estimate empty() noexcept {
    tapewise_estimate estimate{};
    estimate.size = sizeof estimate;
    return estimate;
  }
  void check(tapewise_status status) const {
    if (status != TAPEWISE_STATUS_OK) {
      throw error(status, tapewise_batch_error(m_handle.get()));
    }
  }
  std::unique_ptr<tapewise_batch, closer> m_handle;
  std::size_t m_waiting = 0;
};

}  // namespace tapewise

#endif
