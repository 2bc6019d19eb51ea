/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter and CTA's own orders use.
 */

#pragma once

namespace cta::utils {

class Timer {};

}  // namespace cta::utils
