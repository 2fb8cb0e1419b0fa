/* Paths of groups and objects, as sink.h has them: names from the root, joined by '/'. Pure, any thread. */
#ifndef VISD_VISCTL_MODEL_PATH_H
#define VISD_VISCTL_MODEL_PATH_H

#define VISD_MODEL_PATH_BYTES (1000u + 2 * 255u + 16u)

/* above + '/' + name, where a '/' or '\' inside the name gets a '\' before it, and bytes that are no UTF-8 become U+FFFD. A name of more than 255
 * bytes keeps its beginning; a path that grows too long keeps its end. above "": the name alone. */
void visd_model_path_join(char out[VISD_MODEL_PATH_BYTES], const char *above, const char *name);

#endif
