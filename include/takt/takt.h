/* takt/takt.h - includes all of Takt for host code in C and C++.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TAKT_TAKT_H
#define TAKT_TAKT_H

#include <takt/activity.h>
#include <takt/base.h>
#include <takt/compile.h>
#include <takt/config.h>
#include <takt/device.h>
#include <takt/event.h>
#include <takt/export.h>
#include <takt/memory.h>
#include <takt/profiler.h>
#include <takt/report.h>
#include <takt/scope.h>
#include <takt/system.h>
#include <takt/timer.h>
#include <takt/trace.h>

#endif
