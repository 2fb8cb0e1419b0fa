/* Filling in a refusal. Internal to daemon/scene. */
#ifndef VISD_SCENE_REFUSE_H
#define VISD_SCENE_REFUSE_H

#include "scene.h"

/* Returns err. why may be NULL; its ids are cleared first. */
__attribute__((format(printf, 4, 5)))
enum visd_err refuse(struct visd_refusal *why, enum visd_err err, uint64_t item, const char *format, ...);
/* The same for one id. The text should name it. */
__attribute__((format(printf, 5, 6)))
enum visd_err refuse_id(struct visd_refusal *why, enum visd_err err, uint64_t item, uint64_t id, const char *format, ...);
enum visd_err refuse_memory(struct visd_refusal *why);

/* Collecting several ids before one refusal: note each, then close with the reason, which reads on after
 * "object 7" or "3 objects (1, 2, 3)". */
struct blame {
    uint64_t ids[VISD_REFUSAL_IDS];
    uint64_t count;
};
void blame_note(struct blame *b, uint64_t id);
enum visd_err blame_refuse(const struct blame *b, struct visd_refusal *why, uint64_t item, const char *one, const char *many, const char *reason);

#endif
