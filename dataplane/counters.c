/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane/counters.h"

const char *kvl_drop_name(enum kvl_drop drop)
{
	static const char *const names[KVL_DROP_COUNT] = {
#define X(e, name) [e] = name,
		KVL_DROPS(X)
#undef X
	};

	return names[drop];
}
