/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Up to size bytes: what is read may have grown or shrunk since it was measured. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t r = read(fd, buf + n, size - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		n += (size_t)r;
	}
	return (ssize_t)n;
}

static int fd_read(int fd, size_t max, char **text, size_t *len)
{
	struct stat st;
	ssize_t n;
	char *buf;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((size_t)st.st_size > max)
		return -EFBIG;
	buf = malloc((size_t)st.st_size + 1);
	if (buf == NULL)
		return -ENOMEM;
	n = read_all(fd, buf, (size_t)st.st_size);
	if (n < 0) {
		free(buf);
		return (int)n;
	}
	buf[n] = '\0';
	*text = buf;
	*len = (size_t)n;
	return 0;
}

int file_read(const char *path, size_t max, char **text, size_t *len)
{
	/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int ret;

	if (fd < 0)
		return -errno;
	ret = fd_read(fd, max, text, len);
	close(fd);
	return ret;
}
