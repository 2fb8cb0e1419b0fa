/* Reading a model file of any kind that is known: the part of load before a daemon is needed. One thread. */
#ifndef VISD_VISCTL_COMMANDS_LOAD_FILE_H
#define VISD_VISCTL_COMMANDS_LOAD_FILE_H

#include "../model/model.h"
#include "cli.h"

/* Takes the reader that the file's ending, or --format, says. model must be initialised. CLI_DONE, or another status after telling the user. */
int load_file(struct cli *cli, const char *path, struct visd_model *model);

#endif
