/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/config.h"

#include <stdarg.h>

void kvl_diag_add(struct kvl_diags *diags, enum kvl_severity severity, const char *format, ...)
{
	struct kvl_diag *diag;
	va_list ap;

	if (severity == KVL_DIAG_ERROR)
		diags->errors++;
	if (diags->count == KVL_DIAGS_MAX) {
		diags->dropped++;
		return;
	}
	diag = &diags->list[diags->count++];
	diag->severity = severity;
	va_start(ap, format);
	vsnprintf(diag->text, sizeof(diag->text), format, ap);
	va_end(ap);
}
