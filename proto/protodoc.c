/* Prints the protocol's page (docs/protocol.md), or with --dict a dictionary for fuzzers: both from the schema, so that neither can be
 * out of date without a test saying so. */
#include <inttypes.h>
#include <stdio.h>

#include "err.h"
#include "schema.h"

static void print_type(const struct visd_field *f)
{
    const char *element = visd_element_name(f->element);
    switch (f->kind) {
    case VISD_KIND_U32: printf("u32"); break;
    case VISD_KIND_U64: printf("u64"); break;
    case VISD_KIND_F64: printf("f64"); break;
    case VISD_KIND_BOOL: printf("bool"); break;
    case VISD_KIND_STR: printf("str, at most %" PRIu32 " bytes", f->max); break;
    case VISD_KIND_STRS: printf("at most %" PRIu32 " str", f->max); break;
    case VISD_KIND_CLIENT: printf("bin, %u bytes", f->columns); break;
    case VISD_KIND_ENUM: printf("u32, a [%s](#%s)", f->names->name, f->names->name); break;
    case VISD_KIND_BITS: printf("u32, bits of [%s](#%s)", f->names->name, f->names->name); break;
    case VISD_KIND_VEC: printf("bin, %u f64", f->columns); break;
    case VISD_KIND_MAP: printf("a [%s](#%s)", f->sub->name, f->sub->name); break;
    case VISD_KIND_LIST: printf("at most %" PRIu32 " [%s](#%s)", f->max, f->sub->name, f->sub->name); break;
    case VISD_KIND_ITEMS: printf("at most %" PRIu32 " [items](#items-of-a-batch)", f->max); break;
    case VISD_KIND_BIN:
    case VISD_KIND_COL:
        printf("bin, ");
        if (f->columns > 1) printf("%u x ", f->columns);
        printf("%s%s", element, f->kind == VISD_KIND_COL ? ", a row each" : "");
        break;
    case VISD_KIND_OFFSETS: printf("bin, u32, a row each and one more"); break;
    }
}

static void print_struct(const struct visd_struct *s)
{
    printf("### %s\n\n%s", s->name, s->doc);
    if (s->class == VISD_CLASS_REQUEST) printf(" Answered by: %s.", s->answers);
    if (s->class == VISD_CLASS_EVENT) printf(" Topic: `%s`.", s->answers);
    printf("\n\n");
    if (!s->count) {
        printf("No fields.\n\n");
        return;
    }
    printf("| field | | type | meaning |\n| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < s->count; i++) {
        printf("| `%s` | %s | ", s->fields[i].name, s->fields[i].optional ? "optional" : "");
        print_type(&s->fields[i]);
        printf(" | %s |\n", s->fields[i].doc);
    }
    printf("\n");
}

static void print_class(const char *heading, enum visd_msg_class class)
{
    printf("## %s\n\n", heading);
    for (unsigned i = 0; i < VISD_MSG_COUNT; i++)
        if (visd_types[i]->class == class) print_struct(visd_types[i]);
}

static void print_enums(void)
{
    printf("## Numbers with names\n\n");
    for (const struct visd_names *const *e = visd_enums; *e; e++) {
        printf("### %s\n\n%s\n\n| number | name | meaning |\n| --- | --- | --- |\n", (*e)->name, (*e)->doc);
        for (uint32_t i = 0; i < (*e)->count; i++)
            printf("| %" PRIu32 " | `%s` | %s |\n", (*e)->values[i].number, (*e)->values[i].text, (*e)->values[i].doc);
        printf("\n");
    }
}

static void print_page(void)
{
    printf("# The protocol, version %d\n\n", VISD_PROTO_VERSION);
    printf("Made by `visd-protodoc` from `proto/schema.def`; change that, then build the target `protocol-doc`.\n\n"
           "A message is one msgpack map: `t`, its type as str; `n`, the request's number (u64), chosen by the client and "
           "carried by the reply;\n"
           "in requests optionally `e` (u64), the epoch it is meant for, so that a daemon of another epoch refuses it "
           "(conflict); and the fields below. Keys are str, in any order, each at most once. What is not listed here is refused "
           "by name, and so is a message that\n"
           "is cut off, followed by other bytes, nested deeper or larger than the limits below, or that holds ext types. A "
           "refused request\n"
           "changes nothing. Bulk data is bin: little-endian, packed, row by row. \"A row each\" means as many rows as the first "
           "bulk field of the same map.\n"
           "f64 fields are finite; whole numbers may be written as integers.\n\n"
           "Transport: SP (nng, nanomsg, mangos) over ipc, tcp or tls. Requests go by REQ; one reply each. Events go to SUB "
           "sockets: the topic, a\n"
           "zero byte, then the message, whose `n` is the subscriber's own sequence number. SUB sockets filter for themselves: "
           "who wants to see gaps subscribes to everything.\n\n");
    printf("[Requests](#requests) · [Items of a batch](#items-of-a-batch) · [Replies](#replies) · [Events](#events) · "
           "[Parts](#parts) · "
           "[Numbers with names](#numbers-with-names) · [Errors](#errors) · [Limits](#limits)\n\n");
    print_class("Requests", VISD_CLASS_REQUEST);
    printf("## Items of a batch\n\nA map with `k`, its kind as str, and the fields below. Items are applied in order.\n\n");
    for (unsigned i = 0; i < VISD_ITEM_COUNT; i++) print_struct(visd_items[i]);
    print_class("Replies", VISD_CLASS_REPLY);
    print_class("Events", VISD_CLASS_EVENT);
    printf("## Parts\n\n");
    for (const struct visd_struct *const *p = visd_parts; *p; p++) print_struct(*p);
    print_enums();
    printf("## Errors\n\n| number | name | meaning |\n| --- | --- | --- |\n");
#define X(name, num, wire, text) printf("| %d | `%s` | %s |\n", num, wire, text);
    VISD_ERR_MAP(X)
#undef X
    printf("\n## Limits\n\n`hello_ok` carries them by name.\n\n| name | at most | |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < visd_limit_count; i++)
        printf("| `%s` | %" PRIu64 " | %s |\n", visd_limit_rows[i].name, visd_limit_rows[i].number, visd_limit_rows[i].text);
}

/* A word as the fuzzer should try it: with its msgpack str header. Names are shorter than 32 bytes, so the header is one byte. */
static void print_word(const char *word)
{
    printf("\"\\x%02zx%s\"\n", 0xa0 + strlen(word), word);
}

static void print_struct_words(const struct visd_struct *s)
{
    print_word(s->name);
    for (uint32_t i = 0; i < s->count; i++) print_word(s->fields[i].name);
}

static void print_dictionary(void)
{
    printf("# Made by visd-protodoc --dict from proto/schema.def.\n");
    print_word("t");
    print_word("n");
    print_word("e");
    print_word("k");
    for (unsigned i = 0; i < VISD_MSG_COUNT; i++) print_struct_words(visd_types[i]);
    for (unsigned i = 0; i < VISD_ITEM_COUNT; i++) print_struct_words(visd_items[i]);
    for (const struct visd_struct *const *p = visd_parts; *p; p++) print_struct_words(*p);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--dict") == 0) print_dictionary();
    else print_page();
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
