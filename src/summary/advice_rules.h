/* The rules of advice.h: each says whether it has something to say. */
#ifndef TKT_SUMMARY_ADVICE_RULES_H
#define TKT_SUMMARY_ADVICE_RULES_H

#include "summary/advice.h"

typedef struct tkt_advising {
    const takt_trace       *trace;
    const tkt_advice_basis *known;
    double                  wall_ns; /* 0: not known */
} tkt_advising;

typedef bool (*tkt_advice_rule)(const tkt_advising *a, tkt_advice *out);

/* Each list ends with NULL. */
extern const tkt_advice_rule tkt_host_rules[];
extern const tkt_advice_rule tkt_device_rules[];

#endif
