/* See names.h. */
#include "names.h"

#include "importer.h"
#include "words.h"

#define SPACE '\x1f'
#define TAB '\x1e'

void names_join(struct import *im, const struct words *w)
{
    char *at = (char *)im->source.bytes + (w->word + w->length - (const char *)im->source.bytes), *end = at;
    while (end < w->end && *end != '\n' && *end != '\r') end++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    for (; at < end; at++)
        if (*at == ' ' || *at == '\t') *at = *at == ' ' ? SPACE : TAB;
}

void names_part(struct aiNode *node)
{
    for (ai_uint32 i = 0; i < node->mName.length; i++)
        if (node->mName.data[i] == SPACE || node->mName.data[i] == TAB) node->mName.data[i] = node->mName.data[i] == SPACE ? ' ' : '\t';
    for (unsigned i = 0; i < node->mNumChildren; i++) names_part(node->mChildren[i]);
}
