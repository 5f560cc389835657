/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "ctrl/api/commands.h"
#include "ctrl/api/pages.h"
#include "ctrl/api/socket.h"
#include "ctrl/core/log.h"
#include "ctrl/core/router.h"
#include "ctrl/daemon/checks.h"
#include "ctrl/daemon/eal.h"
#include "ctrl/daemon/notify.h"

#define EXIT_CONFIG 2

static const char usage[] =
	"usage: kvlaned [-c FILE]\n"
	"  -c, --config FILE   configuration (default /etc/kvlane/kvlane.yaml)\n"
	"  -V, --version\n"
	"  -h, --help\n"
	"SIGHUP reloads, SIGTERM and SIGINT stop. `kvlanectl check FILE` tries a file out.\n";

static int options_read(int argc, char **argv, const char **config_path)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	*config_path = "/etc/kvlane/kvlane.yaml";
	while ((c = getopt_long(argc, argv, "c:Vh", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			*config_path = optarg;
			break;
		case 'V':
			puts("kvlaned " KVL_VERSION);
			exit(0);
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			return -EINVAL;
		}
	}
	if (optind == argc)
		return 0;
	fprintf(stderr, "kvlaned: \"%s\": no such argument\n%s", argv[optind], usage);
	return -EINVAL;
}

static void diags_log(const struct kvl_diags *diags)
{
	for (size_t i = 0; i < diags->count; i++)
		kvl_log(diags->list[i].severity == KVL_DIAG_ERROR ? KVL_LOG_ERROR : KVL_LOG_WARNING,
			"%s", diags->list[i].text);
	if (diags->dropped != 0)
		kvl_log(KVL_LOG_WARNING, "and %zu more", diags->dropped);
}

static void stop_signal(evutil_socket_t fd, short what, void *arg)
{
	event_base_loopbreak(arg);
}

static void reload_signal(evutil_socket_t fd, short what, void *arg)
{
	struct kvl_diags diags = {0};
	int rc = kvl_router_reload(arg, &diags);

	diags_log(&diags);
	if (rc < 0)
		kvl_log(KVL_LOG_ERROR, "not reloaded: the configuration before stays in force");
}

/* Runs until told to stop. The loop owns the main lcore; workers run beside it. */
static int loop_run(struct kvl_router *r)
{
	struct event *term = evsignal_new(r->base, SIGTERM, stop_signal, r->base);
	struct event *interrupt = evsignal_new(r->base, SIGINT, stop_signal, r->base);
	struct event *hangup = evsignal_new(r->base, SIGHUP, reload_signal, r);
	int rc = term == NULL || interrupt == NULL || hangup == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		event_add(term, NULL);
		event_add(interrupt, NULL);
		event_add(hangup, NULL);
		kvl_notify("READY=1");
		event_base_dispatch(r->base);
		kvl_notify("STOPPING=1");
	}
	if (term != NULL)
		event_free(term);
	if (interrupt != NULL)
		event_free(interrupt);
	if (hangup != NULL)
		event_free(hangup);
	return rc;
}

static int http_start(struct kvl_router *r, char *error, size_t size)
{
	const struct kvl_http_config *config = &r->config->http;
	char text[KVL_ADDR_STRLEN];
	int rc;

	if (!config->on)
		return 0;
	r->http = kvl_http_new(r->base, &config->address, config->port, kvl_pages, r);
	if (r->http != NULL)
		return 0;
	rc = -errno;
	snprintf(error, size, "http: cannot listen on %s port %u: %s",
		kvl_addr_format(&config->address, text), config->port, strerror(-rc));
	return rc;
}

static int daemon_run(struct event_base *base, const char *config_path, struct kvl_config *config)
{
	static struct kvl_router router;
	struct kvl_api *api = NULL;
	char error[512];
	int rc;

	rc = kvl_router_start(&router, base, config_path, config, error, sizeof(error));
	if (rc == 0) {
		api = kvl_api_new(base, router.config->router.control_socket, kvl_commands, &router,
			error, sizeof(error));
		rc = api == NULL ? -errno : 0;
	}
	if (rc == 0)
		rc = http_start(&router, error, sizeof(error));
	if (rc < 0) {
		kvl_log(KVL_LOG_ERROR, "%s", error);
	} else {
		kvl_log(KVL_LOG_NOTICE,
			"running: %u workers, %u services, %u of %zu nodes eligible",
			router.worker_count, router.topology->service_count, router.nodes.eligible,
			router.config->node_count);
		rc = loop_run(&router);
	}
	kvl_http_free(router.http);
	kvl_api_free(api);
	kvl_router_stop(&router);
	return rc;
}

int main(int argc, char **argv)
{
	struct kvl_diags diags = {0};
	const char *config_path;
	struct kvl_config *config;
	struct event_base *base;
	char error[512];
	int rc;

	if (options_read(argc, argv, &config_path) < 0)
		return EXIT_CONFIG;
	config = kvl_config_load(config_path, &diags);
	diags_log(&diags);
	if (config == NULL) {
		kvl_log(KVL_LOG_ERROR, "%s is refused: nothing was started", config_path);
		return EXIT_CONFIG;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* until there is something to reload */

	rc = kvl_start_checks(config, error, sizeof(error));
	if (rc == 0)
		rc = kvl_eal_start(config, error, sizeof(error));
	if (rc < 0) {
		kvl_log(KVL_LOG_ERROR, "%s", error);
		kvl_config_free(config);
		return EXIT_FAILURE;
	}
	base = event_base_new();
	rc = base == NULL ? -ENOMEM : daemon_run(base, config_path, config);
	if (base != NULL)
		event_base_free(base);
	kvl_eal_stop();
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
