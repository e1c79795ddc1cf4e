/* What `takt doctor` finds: each finding is fine, worth knowing, or in the way. */
#ifndef TAKT_CLI_DOCTOR_H
#define TAKT_CLI_DOCTOR_H

#include "cli/cli.h"

typedef enum doctor_mark {
    DOCTOR_OK,
    DOCTOR_NOTE,   /* it records, but not all, or not as cheaply */
    DOCTOR_PROBLEM /* something that is there cannot be recorded */
} doctor_mark;

typedef struct doctor_finding {
    doctor_mark mark;
    char        topic[16];
    char        text[512];
    char        advice[256]; /* what to do; "" */
} doctor_finding;

enum {
    DOCTOR_MOST = 96 /* findings; more are not kept */
};

typedef struct doctor_findings {
    doctor_finding items[DOCTOR_MOST];
    size_t         count;
} doctor_findings;

/* `advice` may be NULL. */
void doctor_tell(doctor_findings *findings, doctor_mark mark, const char *topic, const char *advice,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* One line of a file of the system's, without its end; false without. */
bool doctor_read_line(const char *path, const char *prefix, char *out, size_t size);

void doctor_look_at_host(doctor_findings *findings);
void doctor_look_at_environment(doctor_findings *findings);
void doctor_look_at_devices(doctor_findings *findings);

#endif
