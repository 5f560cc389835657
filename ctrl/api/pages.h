/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "ctrl/api/http.h"

/* The pages of the HTTP server, one file each. All take the struct kvl_router as context.
 * docs/http.md describes them. */
extern const struct kvl_http_page kvl_pages[];

void kvl_page_report(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer);
void kvl_page_route(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer);
void kvl_page_healthz(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer);
void kvl_page_metrics(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer);
