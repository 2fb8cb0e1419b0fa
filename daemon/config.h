/* What the daemon was told: flags on the command line, and a file whose keys are the flags' names.
 *
 * One table (config.c) holds each key once: flag, file key, help line and parser come from it. A flag wins over the
 * file. Whoever calls owns the struct and finishes it. Errors are sentences for people, the file's with its line number. */
#ifndef VISD_DAEMON_CONFIG_H
#define VISD_DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/log.h"
#include "proto/err.h"

#define VISD_CONFIG_MAX_LISTEN 16

enum visd_worker_kind { VISD_WORKER_THREAD, VISD_WORKER_PROCESS };

struct visd_config {
    char *listen[VISD_CONFIG_MAX_LISTEN];
    unsigned listens;
    char *device;       /* "auto", "cpu" or an index */
    enum visd_worker_kind worker;
    char *state_dir;    /* "none" or a directory */
    char *http;         /* NULL, or ADDR:PORT */
    char *tls_cert_key; /* NULL, or a PEM file with certificate and key */
    char *tls_ca;       /* NULL, or a PEM file: clients must show a certificate that it signed */
    unsigned socket_mode;
    uint64_t triangles; /* budgets a submission; 0: the device's default */
    uint64_t samples;
    bool validate;      /* Vulkan's validation layers */
    enum visd_log_level log_level;
    char *file;         /* NULL, or the file that was read */
};

enum visd_config_result {
    VISD_CONFIG_RUN,     /* config is complete */
    VISD_CONFIG_HELP,    /* --help was asked for */
    VISD_CONFIG_VERSION, /* --version was asked for */
    VISD_CONFIG_USAGE,   /* why says what is wrong */
};

/* Fills a zeroed or uninitialised config from defaults, then the file (--config), then the flags. */
enum visd_config_result visd_config_init(struct visd_config *config, int argc, char **argv, char *why, size_t why_size);
void visd_config_finish(struct visd_config *config); /* a zeroed one is fine */

/* What this version cannot do yet, and what cannot go together. NOT_SUPPORTED or BAD_VALUE with a reason, else OK. */
enum visd_err visd_config_check(const struct visd_config *config, char *why, size_t why_size);

void visd_config_help(FILE *out);

#endif
