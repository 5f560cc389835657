/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "lib/model/addr.h"
#include "lib/score/breakdown.h"

/* Small JSON values that several commands write the same way. */
json_t *kvl_json_hex(uint64_t value);                                  /* "0x0123456789abcdef" */
json_t *kvl_json_mac(const uint8_t mac[6]);                            /* "aa:bb:cc:dd:ee:ff" */
json_t *kvl_json_endpoint(const struct kvl_addr *addr, uint16_t port); /* "10.0.0.1:11211" */
json_t *kvl_json_text(const char *text);                               /* NULL: null */
json_t *kvl_json_number(double value);                                 /* NAN: null */
json_t *kvl_json_terms(const struct kvl_breakdown *b);                 /* {"base": 100.0, ...} */
