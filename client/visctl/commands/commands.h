/* The commands, one function each; their rows stand in table.c. */
#ifndef VISD_VISCTL_COMMANDS_COMMANDS_H
#define VISD_VISCTL_COMMANDS_COMMANDS_H

struct cli;

int cmd_load(struct cli *cli);
int cmd_generate(struct cli *cli);
int cmd_scene_ls(struct cli *cli);
int cmd_scene_info(struct cli *cli);
int cmd_scene_rm(struct cli *cli);
int cmd_scene_export(struct cli *cli);
int cmd_scene_import(struct cli *cli);
int cmd_objects(struct cli *cli);
int cmd_cull(struct cli *cli);
int cmd_set(struct cli *cli);
int cmd_watch(struct cli *cli);
int cmd_stats(struct cli *cli);
int cmd_clients(struct cli *cli);
int cmd_snapshot(struct cli *cli);
int cmd_bench_flight(struct cli *cli);
int cmd_bench_scale(struct cli *cli);
int cmd_bench_truth(struct cli *cli);

#endif
