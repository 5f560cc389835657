/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/proto/request.h"

/*
 * What a client may ask of the router itself, in meta's P and L tokens, which memcached reserves for
 * proxies (SPEC 3.1):
 *
 *	Pstrong, Peventual   consistency of this read
 *	L<n>                 a replica that lags by at most n versions; only ever tightens the
 *	                     service's own bound
 *
 * Takes one such token into the request of a read. False: it says nothing that is known, or is on
 * a command that is no read; it is ignored then, never an error.
 */
bool kvl_hint_take(struct kvl_request *req, const uint8_t *token, size_t len);
