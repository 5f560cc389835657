/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctrl/api/pages.h"

const struct kvl_http_page kvl_pages[] = {
	{"/v1/report", KVL_HTTP_POST, kvl_page_report},
	{"/v1/route", KVL_HTTP_GET, kvl_page_route},
	{"/healthz", KVL_HTTP_GET, kvl_page_healthz},
	{"/metrics", KVL_HTTP_GET, kvl_page_metrics},
	{0},
};
