/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "ctrl/api/metrics.h"
#include "ctrl/api/pages.h"
#include "ctrl/core/clock.h"

void metrics_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void kvl_page_metrics(
	void *ctx, const struct kvl_http_request *request, struct kvl_http_answer *answer)
{
	struct kvl_router *r = ctx;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int failed;

	if (out == NULL)
		return; /* the answer was set to a 500 */
	kvl_nodes_judge(&r->nodes, kvl_now_ms());
	metrics_router(out, r);
	metrics_nodes(out, r);
	failed = ferror(out);
	if (fclose(out) != 0 || failed) {
		free(text);
		return;
	}
	*answer = (struct kvl_http_answer){.status = 200,
		.type = "text/plain; version=0.0.4; charset=utf-8",
		.body = text,
		.len = len};
}
