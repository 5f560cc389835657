/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "lib/proto/reply.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvl_reply reply;
	int rc = kvl_reply_parse(data, size, &reply);

	if (rc != 0)
		return rc == -EINVAL ? 0 : (abort(), 0);
	if (size < KVL_FRAME_LEN || reply.kind >= KVL_REPLY_COUNT)
		abort();
	if (reply.id != (data[0] << 8 | data[1]) || (reply.total && reply.sequence >= reply.total))
		abort();
	/* only a message's first datagram says anything */
	if (reply.sequence > 0 && reply.kind != KVL_REPLY_OTHER)
		abort();
	return 0;
}
