/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Tells systemd (Type=notify, sd_notify(3)) when NOTIFY_SOCKET names a socket; else does nothing. */
void kvl_notify(const char *state);
