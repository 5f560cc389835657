/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

socklen_t kvl_sockaddr_write(const struct kvl_endpoint *endpoint, union kvl_sockaddr *out)
{
	memset(out, 0, sizeof(*out));
	if (kvl_addr_is_v4(&endpoint->address)) {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons(endpoint->port);
		out->in.sin_addr.s_addr = kvl_addr_v4(&endpoint->address);
		return sizeof(out->in);
	}
	out->in6.sin6_family = AF_INET6;
	out->in6.sin6_port = htons(endpoint->port);
	memcpy(&out->in6.sin6_addr, endpoint->address.bytes, sizeof(endpoint->address.bytes));
	return sizeof(out->in6);
}

int kvl_sockaddr_read(const struct sockaddr *from, struct kvl_endpoint *out)
{
	const union kvl_sockaddr *a = (const void *)from;

	switch (from->sa_family) {
	case AF_INET:
		out->address = kvl_addr_from_v4(a->in.sin_addr.s_addr);
		out->port = ntohs(a->in.sin_port);
		return 0;
	case AF_INET6:
		memcpy(out->address.bytes, &a->in6.sin6_addr, sizeof(out->address.bytes));
		out->port = ntohs(a->in6.sin6_port);
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

int kvl_endpoint_bind(const struct kvl_endpoint *endpoint, bool both)
{
	union kvl_sockaddr own;
	socklen_t len = kvl_sockaddr_write(endpoint, &own);
	int fd = socket(own.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int only = !both, rc = 0;

	if (fd < 0)
		return -errno;
	if (own.sa.sa_family == AF_INET6)
		rc = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
	if (rc == 0)
		rc = bind(fd, &own.sa, len);
	if (rc == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int port_parse(const char *text, uint16_t *port)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	n = strtoul(text, &end, 10);
	if (*end != '\0' || n == 0 || n > UINT16_MAX)
		return -EINVAL;
	*port = (uint16_t)n;
	return 0;
}

int kvl_endpoint_parse(const char *text, uint16_t port, struct kvl_endpoint *out)
{
	char address[KVL_ADDR_STRLEN];
	struct kvl_endpoint endpoint = {.port = port};
	const char *rest;
	size_t n;

	if (*text == '[') {
		text++;
		n = strcspn(text, "]");
		rest = text[n] == ']' ? text + n + 1 : NULL;
	} else {
		/* With more than one colon it is an IPv6 address alone. */
		const char *colon = strchr(text, ':');

		n = colon != NULL && strchr(colon + 1, ':') == NULL ? (size_t)(colon - text)
								    : strlen(text);
		rest = text + n;
	}
	if (rest == NULL || n >= sizeof(address) || (*rest != '\0' && *rest != ':'))
		return -EINVAL;
	snprintf(address, sizeof(address), "%.*s", (int)n, text);
	if (kvl_addr_parse(address, &endpoint.address) < 0
		|| (*rest == ':' && port_parse(rest + 1, &endpoint.port) < 0) || endpoint.port == 0)
		return -EINVAL;
	*out = endpoint;
	return 0;
}
