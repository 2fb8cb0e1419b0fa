/* Every command in a row: what it is called, what it takes, what it is for. Parsing and help are made from these rows. */
#include "cli.h"
#include "commands.h"

#define OPTIONS(...) (const struct cli_option[]){__VA_ARGS__, {NULL, NULL, NULL}}
#define NO_OPTIONS (const struct cli_option[]){{NULL, NULL, NULL}}
#define METHOD {"method", "M", "frustum, hiz, box or exact; default hiz (query and auto are not supported yet)"}
#define CAMERAS {"cameras", "FILE", "cameras, a JSON object a line; - is standard input"}

const struct cli_command cli_commands[] = {
    {"load", "Loads a model file into a scene.", "FILE",
     "Reads glTF and GLB, and OBJ, STL, PLY, 3MF, FBX, DAE and IFC by a program of its own, visctl-import, which a file may crash at no other cost. The\n"
     "scene is made if there is none; into one that is not empty only with --id-base. A file always gives the same ids: places in a walk of its\n"
     "nodes, from 0. Scenes are in metres, with +Y up. What a file says of its unit and its axes is used; OBJ, STL and PLY say nothing, and their\n"
     "numbers are taken as they stand unless --unit and --up say more. What cannot be read rightly is refused, and nothing is loaded. The last line is\n"
     "{\"scene\",\"objects\",\"meshes\",\"triangles\",\"seconds\"}.",
     "visctl load engine.glb --scene engine\n  visctl load bracket.stl --scene bracket --unit mm --up z",
     OPTIONS({"scene", "S", "the scene to load into"}, {"id-base", "N", "added to all ids; default 0"},
             {"gltf-scene", "NAME", "which of the file's scenes, by name or number; default the file's own default"},
             {"format", "F", "read it as glb, gltf, obj, stl, ply, 3mf, fbx, dae or ifc; default what its name ends with"},
             {"unit", "U", "of OBJ, STL, PLY: what their unit is: m, cm, mm, in, ft, or a number of metres; default m"},
             {"up", "AXIS", "of OBJ, STL, PLY: the axis that points up: x, y or z; default y"},
             {"partial", NULL, "load what can be read of a file that cannot be read whole, with a note"},
             {"import-memory", "MIB", "memory that visctl-import may take; default 8192"},
             {"import-seconds", "N", "processor time that visctl-import may take; default 600"}),
     1, 1, cmd_load},
    {"generate", "Makes a scene to measure with: office, city, mall, random, grid or curtain.", "KIND",
     "The same kind, seed and number always give the same scene. It is streamed to the daemon's --scene, or written to --out.",
     "visctl generate office --scene office --cameras-out flight.jsonl",
     OPTIONS({"scene", "S", "the scene of the daemon to fill"}, {"out", "FILE.glb", "write a file instead; needs no daemon"},
             {"seed", "N", "default 1"}, {"objects", "N", "how many; default the kind's own"}, {"share", "P", "of the curtain: percent that are seen; default 1"}, {"id-base", "N", "added to all ids; default 0"},
             {"cameras-out", "FILE", "write a flight of cameras through it, too"}, {"cameras", "N", "how many; default 300"},
             {"size", "WxH", "of the cameras' pictures; default 960x540"}),
     1, 1, cmd_generate},
    {"scene ls", "Lists the daemon's scenes.", "", NULL, "visctl scene ls", NO_OPTIONS, 0, 0, cmd_scene_ls},
    {"scene info", "Says what is in a scene.", "S", NULL, "visctl scene info engine", NO_OPTIONS, 1, 1, cmd_scene_info},
    {"scene rm", "Removes a scene, its objects and its views.", "S", NULL, "visctl scene rm engine", NO_OPTIONS, 1, 1, cmd_scene_rm},
    {"scene export", "Writes a whole scene to a file, exactly.", "S",
     "The file is a GLB: viewers and visctl load see of it what glTF can say, scene import reads all of it back, to the bit. It holds one\n"
     "revision: if the scene changes meanwhile, it is read again. The last line is {\"file\",\"objects\",\"meshes\",\"triangles\",\"seconds\"}.",
     "visctl scene export engine --out engine-kept.glb", OPTIONS({"out", "FILE.glb", "the file to write"}), 1, 1, cmd_scene_export},
    {"scene import", "Reads an exported scene back, exactly.", "S FILE",
     "The scene is made if there is none; into one that is not empty only with --id-base. A file that scene export did not write, or that is not\n"
     "whole, is refused, and nothing is imported. The last line is {\"scene\",\"objects\",\"meshes\",\"triangles\",\"seconds\"}.",
     "visctl scene import engine-2 engine-kept.glb", OPTIONS({"id-base", "N", "added to all ids; default 0"}), 2, 2, cmd_scene_import},
    {"objects", "Lists a scene's objects, a JSON object a line.", "S",
     "Each line: id, name, path, bounds (in the scene, [min, max]), flags, mesh, group. What an object has not is null.",
     "visctl objects engine | jq .name", NO_OPTIONS, 1, 1, cmd_objects},
    {"cull", "Asks which objects can be seen from cameras.", "S",
     "A line for each camera: {\"frame\",\"visible\":[ids],\"grade\",\"method\",\"revision\",\"lag\",\"stats\":{...}}. Cameras are one flight of one\n"
     "window: history runs on from each to the next unless --fresh makes each a cut.",
     "visctl cull engine --cameras flight.jsonl --method hiz --out seen.jsonl",
     OPTIONS(CAMERAS, METHOD, {"lag", "K", "frames by which the evidence may be late; default 0"},
             {"guard", "M,DEG", "motion in metres and degrees until the list is used"}, {"fresh", NULL, "every camera is a cut: no history"},
             {"delta", NULL, "ask for changes only, and print them too: \"added\" and \"removed\""}, {"profile", NULL, "submit each pass alone, and time it"},
             {"coverage", NULL, "count the samples of all that is in the frustum"},
             {"samples", NULL, "of box and exact: how many samples of each are seen; null: not known"}, {"out", "FILE", "write there, not to standard output"}),
     1, 1, cmd_cull},
    {"set", "Changes the flags of objects.", "S ID... ACTION",
     "ID may be a range, as 10-20. ACTION: hide, show, xray, ghost, solid (neither xray nor ghost), see-through, opaque, pin, unpin,\n"
     "helper, no-helper, occluder-only, no-occluder-only, section-exempt, no-section-exempt.",
     "visctl set engine 4 10-20 hide", NO_OPTIONS, 3, -1, cmd_set},
    {"watch", "Follows the changes of a scene, or of all (S is -), until interrupted.", "S", NULL, "visctl watch engine", NO_OPTIONS, 1, 1, cmd_watch},
    {"snapshot", "Makes a picture of what the daemon sees from a camera.", "S",
     "depth: near warm, far cold. pyramid: its levels side by side. ids: a colour for each object listed. boxes: the boxes of what is listed, over\n"
     "the depth.",
     "visctl snapshot engine --camera flight.jsonl --what ids --out engine.png",
     OPTIONS({"camera", "FILE", "a file of cameras; the first is used"}, {"frame", "N", "use another of them, from 0"}, METHOD,
             {"what", "W", "depth, pyramid, ids or boxes; default depth"}, {"out", "PNG", "the picture to write"}),
     1, 1, cmd_snapshot},
    {"stats", "Shows the daemon's counters.", "", NULL, "visctl stats --json", NO_OPTIONS, 0, 0, cmd_stats},
    {"clients", "Shows who is connected to the daemon.", "", NULL, "visctl clients", NO_OPTIONS, 0, 0, cmd_clients},
    {"bench flight", "Flies cameras through a scene, and reports what was culled, how late, at what cost.", "S",
     "Without --cameras it flies round the scene and through it. Latency and the time of each pass are measured on plain frames; depth complexity\n"
     "(and on a software device the passes) on every 30th, asked a second time. With --pictures it writes depth, pyramid, ids and boxes of a telling frame.",
     "visctl bench flight engine --pictures pictures/",
     OPTIONS(CAMERAS, METHOD, {"count", "N", "cameras to fly without --cameras; default 300"}, {"size", "WxH", "their pictures' size; default 960x540"},
             {"pictures", "DIR", "write PNG files there"}),
     1, 1, cmd_bench_flight},
    {"bench scale", "Measures how cost grows: from few objects to ten million, small pictures to large, little seen to all.", "",
     "Makes scenes of its own, flies through each, and removes it. The first size is that of all other sweeps; sizes are swept with a million\n"
     "objects, or the nearest below. After a warm-up, medians: each pass by device timestamps, camera to answer through the socket, bytes, and, over the\n"
     "same cameras in turn, peers: a frustum test on one CPU thread, a pyramid made by a dispatch a level, and a test that looks at 2 x 2 texels. Last\n"
     "comes the cost model fitted to all. With --out it writes scale.jsonl, and charts as SVG.",
     "visctl bench scale --objects 1k,100k,10M --out figures/",
     OPTIONS(METHOD, {"kinds", "LIST", "of scenes; default grid,office"}, {"objects", "LIST", "default 1k,10k,100k,1M,10M"},
             {"sizes", "LIST", "default 1920x1080, then 256x256 to 3840x2160"}, {"shares", "LIST", "percent seen; default 0.1,1,3,10,30,100"},
             {"share-objects", "N", "in the scene for shares; default 100000"}, {"seed", "N", "default 1"}, {"frames", "N", "a point; default 300"},
             {"seconds", "S", "for the frames of a point, at most; 4 are flown in any case; default 60"}, {"out", "DIR", "write results and charts there"}),
     0, 0, cmd_bench_scale},
    {"bench truth", "Holds answers against a file of what can be seen; fails if anything is missing.", "S",
     "A line of truth for each camera: {\"visible\": {\"ID\": samples}, \"robust\": [ids]}; robust ids may never be missing. With --against it\n"
     "counts the ids that differ from another device's answers, as cull --out wrote them.",
     "visctl bench truth engine --cameras flight.jsonl --truth visible.jsonl",
     OPTIONS(CAMERAS, METHOD, {"truth", "FILE", "what can be seen, a JSON object a line"}, {"fresh", NULL, "every camera is a cut: no history"},
             {"against", "FILE", "answers to compare with, id by id"}),
     1, 1, cmd_bench_truth},
    {NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL},
};
