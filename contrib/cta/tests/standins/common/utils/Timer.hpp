/*
 * SPDX-FileCopyrightText: 2026 the tapewise authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stand-in: as much of the interface of this name as the adapter uses, so that it can be tested alone.
 */

#pragma once

namespace cta::utils {

class Timer {};

}  // namespace cta::utils
