/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/model/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/draft.h"
#include "lib/model/file.h"

/* A few thousand nodes are some hundred KB; this is far above, and bounds memory. */
#define FILE_MAX (16u << 20)

enum top_field {
	TOP_ROUTER,
	TOP_HEALTH,
	TOP_REPORTS,
	TOP_HTTP,
	TOP_PORTS,
	TOP_SERVICES,
	TOP_TENANTS,
	TOP_NODES,
	TOP_TOPOLOGY,
	TOP_FIELDS,
};

static const struct field top_fields[TOP_FIELDS] = {
	[TOP_ROUTER] = {"router", .nested = router_walk},
	[TOP_HEALTH] = {"health", .nested = health_walk},
	[TOP_REPORTS] = {"reports", .nested = reports_walk},
	[TOP_HTTP] = {"http", .nested = http_walk},
	[TOP_PORTS] = {"ports", .nested = ports_walk, .required = true},
	[TOP_SERVICES] = {"services", .nested = services_walk},
	[TOP_TENANTS] = {"tenants", .nested = tenants_walk},
	[TOP_NODES] = {"nodes", .nested = nodes_walk},
	[TOP_TOPOLOGY] = {"topology", set_text, AT(struct draft, topology)},
};

/* All that a topology file may hold. */
static const struct field topology_fields[] = {
	{"nodes", .nested = nodes_walk, .required = true},
};

static int main_walk(struct draft *d, struct walk *w, const char *text, size_t len)
{
	struct pos at[TOP_FIELDS];
	int ret = walk_load(w, text, len);

	if (ret < 0)
		return ret;
	walk_map(w, walk_root(w), "", top_fields, TOP_FIELDS, d, at);
	d->ports_at = at[TOP_PORTS];
	d->nodes_at = at[TOP_NODES];
	d->topology_at = at[TOP_TOPOLOGY];
	if (d->topology[0] != '\0' && walk_find(w, walk_root(w), "nodes") != NULL) {
		walk_fault(w, d->topology_at, "topology", NULL, "nodes are given here as well");
		d->topology[0] = '\0';
	}
	walk_unload(w);
	return 0;
}

static int topology_walk(struct draft *d, struct walk *w, const char *text, size_t len)
{
	int ret = walk_load(w, text, len);

	if (ret < 0)
		return ret;
	walk_map(w, walk_root(w), "", topology_fields, 1, d, &d->nodes_at);
	walk_unload(w);
	return 0;
}

/* Checks across the parts, when both files have been walked. */
static void draft_check(struct draft *d, struct walk *main, struct walk *nodes)
{
	const size_t listed = d->node_count + d->nodes_rejected; /* those kept are in node_count */

	if (d->port_count == 0 && main->diags->errors == 0)
		walk_fault(main, d->ports_at, "ports", NULL, "no port");
	nodes_check(d, nodes);
	services_check(d, main);
	policies_check(d, main);
	nodes_services_check(d, nodes);
	/* A topology that is bad from end to end does not take the good one's place. */
	if (listed > 0 && d->nodes_rejected + d->nodes_kept == listed)
		walk_fault(nodes, d->nodes_at, "nodes", NULL, "none of the %zu is usable", listed);
	/* Warnings about what is refused anyway would only be noise. */
	if (main->diags->errors > 0)
		return;
	if (d->service_count == 0)
		walk_warn(main, (struct pos){1, 1}, "", "no services: nothing is served");
	pools_check(d, main, nodes);
}

static struct walk walk_new(const char *name, struct kvl_diags *diags)
{
	return (struct walk){.name = name, .diags = diags, .severity = KVL_DIAG_ERROR};
}

static int file_text(const char *path, char **text, size_t *len, struct kvl_diags *diags)
{
	int ret = file_read(path, FILE_MAX, text, len);

	if (ret == -EFBIG)
		kvl_diag_add(diags, KVL_DIAG_ERROR, "%s: must be at most %u bytes", path, FILE_MAX);
	else if (ret == -EINVAL)
		kvl_diag_add(diags, KVL_DIAG_ERROR, "%s: must be a regular file", path);
	else if (ret < 0)
		kvl_diag_add(diags, KVL_DIAG_ERROR, "%s: %s", path, strerror(-ret));
	return ret;
}

/* A relative path is relative to the file it stands in. */
static int topology_path(struct draft *d, struct walk *w)
{
	const char *slash = strrchr(w->name, '/');
	const int dir = d->topology[0] == '/' || slash == NULL ? 0 : (int)(slash - w->name + 1);
	const size_t size = sizeof(d->config->topology);

	if ((size_t)snprintf(d->config->topology, size, "%.*s%s", dir, w->name, d->topology) < size)
		return 0;
	walk_fault(w, d->topology_at, "topology", d->topology, "path too long");
	return -ENAMETOOLONG;
}

static int topology_load(struct draft *d, struct walk *main, struct walk *nodes)
{
	size_t len;
	char *text;
	int ret = topology_path(d, main);

	if (ret < 0)
		return ret;
	*nodes = walk_new(d->config->topology, main->diags);
	ret = file_text(nodes->name, &text, &len, nodes->diags);
	if (ret < 0)
		return ret;
	ret = topology_walk(d, nodes, text, len);
	free(text);
	return ret;
}

static void diags_reset(struct kvl_diags *diags)
{
	diags->count = diags->dropped = diags->errors = 0;
}

struct kvl_config *kvl_config_reload(
	const char *path, const struct kvl_config *former, struct kvl_diags *diags)
{
	struct walk main = walk_new(path, diags), topology, *nodes = &main;
	struct draft *d = draft_new();
	char *text = NULL;
	size_t len;
	int ret = -ENOMEM;

	diags_reset(diags);
	if (d == NULL)
		goto out;
	d->former = former;
	ret = file_text(path, &text, &len, diags);
	if (ret < 0)
		goto out;
	ret = main_walk(d, &main, text, len);
	if (ret < 0)
		goto out;
	if (d->topology[0] != '\0') {
		ret = topology_load(d, &main, &topology);
		if (ret < 0)
			goto out;
		nodes = &topology;
	}
	draft_check(d, &main, nodes);
out:
	free(text);
	return draft_result(d, ret, path, diags);
}

struct kvl_config *kvl_config_load(const char *path, struct kvl_diags *diags)
{
	return kvl_config_reload(path, NULL, diags);
}

struct kvl_config *kvl_config_parse(
	const char *text, size_t len, const char *name, struct kvl_diags *diags)
{
	struct walk main = walk_new(name, diags);
	struct draft *d = draft_new();
	int ret = -ENOMEM;

	diags_reset(diags);
	if (d == NULL)
		goto out;
	ret = -EFBIG;
	if (len > FILE_MAX)
		goto out;
	ret = main_walk(d, &main, text, len);
	if (ret < 0)
		goto out;
	if (d->topology[0] != '\0')
		walk_fault(&main, d->topology_at, "topology", d->topology,
			"only a file on disk can name another");
	draft_check(d, &main, &main);
out:
	return draft_result(d, ret, name, diags);
}
