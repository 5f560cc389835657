/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

/* A Unix socket that listens, and how to tell its file from a later one of the same name. */
struct kvl_api_listener {
	int fd; /* -1 = none */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	dev_t dev;
	ino_t ino;
};

/* See kvl_api_new(). Returns 0 or a negative errno with words in `why`. */
int kvl_api_listen(struct kvl_api_listener *listener, const char *path, char *why, size_t why_len);

/* Removes the file first, so that nobody connects to what is about to close. */
void kvl_api_unlisten(struct kvl_api_listener *listener);
