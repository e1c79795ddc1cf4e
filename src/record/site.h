/* The registry of call sites and of texts that events refer to. A site gets its id at its first
 * recorded hit; equal sites (same text, same place) get equal ids, so that a scope in an inline
 * function is one site. What is registered is copied and stays for the life of the process. */
#ifndef TKT_RECORD_SITE_H
#define TKT_RECORD_SITE_H

#include <takt/profiler.h>
#include <takt/scope.h>

#define TKT_CATEGORIES 15 /* the top four bits of the mask word are for other things */

typedef struct tkt_text {
    const char *bytes; /* NUL-terminated */
    size_t      size;
} tkt_text;

/* A registered site. */
typedef struct tkt_site {
    tkt_text name;
    tkt_text category; /* "" for the default one */
    tkt_text file;
    tkt_text function;
    tkt_text device;
    uint32_t name_id; /* text id of the name */
    uint32_t line;
    uint32_t filter;
    uint8_t  kind; /* takt_site_kind */
    uint8_t  level;
    uint64_t bits; /* of the mask word */
    uint32_t mark;    /* of a scope named at run time: the mark and the counter of that name; */
    uint32_t counter; /* atomic; 0: nobody has asked for it */
} tkt_site;

/* Gives `site` its id and mask bits, and returns the id; 0 when there is no room or no memory. */
uint32_t tkt_site_register(takt_site *site);

/* The id of a scope with a name of run time. */
uint32_t tkt_site_named(const char *name, takt_site_kind kind);

/* The mark or counter that has the name of that scope; 0 as above. The first does not make one. */
uint32_t tkt_site_known_twin(uint32_t scope, takt_site_kind kind);
uint32_t tkt_site_twin(uint32_t scope, takt_site_kind kind);

/* The registered site; `id` came from one of the functions above. Any thread. */
const tkt_site *tkt_site_get(uint32_t id);

/* Calls both for everything that is registered, with the registry's lock held. */
void tkt_site_visit(void (*site)(uint32_t id, const tkt_site *site),
                    void (*text)(uint32_t id, tkt_text text));

/* The id of a value has this bit, then the number of its generation: none that was forgotten is
 * taken for a later one. Names have ids below. */
#define TKT_VALUE                0x80000000u
#define TKT_VALUE_BITS           24
#define TKT_VALUE_INDEX(id)      ((id) & ((1u << TKT_VALUE_BITS) - 1))
#define TKT_VALUE_GENERATION(id) ((id) >> TKT_VALUE_BITS)

/* Interns a name; 0, which stands for "", when there is no memory. Any thread. */
uint32_t tkt_text_intern(const char *text);
tkt_text tkt_text_get(uint32_t id);

/* The same for the value of an argument, which is forgotten when no chunk is kept any more.
 * `is_own`: the id stands for this text, and not for all that found no room. */
uint32_t tkt_text_intern_value(const char *text, bool *is_own);
uint32_t tkt_value_generation(void); /* counts how often values were forgotten; no lock */
void tkt_site_forget_values(void);

/* Names that come at run time may take a quarter of that, and so may values. Later ones are one
 * name, "(more names)", and counted. */
void tkt_site_limit(uint64_t max_bytes);

/* Forgets all, when nothing of the program can come any more. */
void tkt_site_free_all(void);

/* The mask of all categories at levels up to `level`, without those that are switched off. */
uint64_t tkt_site_mask(uint32_t level, const takt_category_switch *switches, size_t count);

#endif
