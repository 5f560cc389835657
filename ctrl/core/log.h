/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The daemon's log: lines on standard error, with the level in syslog's angle brackets when
 * systemd reads them (JOURNAL_STREAM), as a word otherwise. Never a key, never a value.
 * Control core only; workers do not log.
 */
enum kvl_log_level {
	KVL_LOG_ERROR = 3, /* syslog's numbers */
	KVL_LOG_WARNING = 4,
	KVL_LOG_NOTICE = 5,
	KVL_LOG_INFO = 6,
};

__attribute__((format(printf, 2, 3))) void kvl_log(
	enum kvl_log_level level, const char *format, ...);
