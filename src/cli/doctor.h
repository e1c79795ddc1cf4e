/* The findings of `takt doctor`. Each finding is fine, a note, or a problem. */
#ifndef TAKT_CLI_DOCTOR_H
#define TAKT_CLI_DOCTOR_H

#include "cli/cli.h"

typedef enum doctor_mark {
    DOCTOR_OK,
    DOCTOR_NOTE,   /* Takt records less than it could, or at a higher cost */
    DOCTOR_PROBLEM /* Takt cannot record something that this machine has */
} doctor_mark;

typedef struct doctor_finding {
    doctor_mark mark;
    char        topic[16];
    char        text[512];
    char        advice[256]; /* what the user can do; "" if nothing */
} doctor_finding;

enum {
    DOCTOR_MOST = 96 /* findings; further ones are dropped */
};

typedef struct doctor_findings {
    doctor_finding items[DOCTOR_MOST];
    size_t         count;
} doctor_findings;

/* Adds a finding. `advice` may be NULL. */
void doctor_tell(doctor_findings *findings, doctor_mark mark, const char *topic, const char *advice,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Finds the first line that starts with `prefix` in a system file, and copies the rest of that line
 * without leading blanks and colons. False if there is none. */
bool doctor_read_line(const char *path, const char *prefix, char *out, size_t size);

void doctor_look_at_host(doctor_findings *findings);
void doctor_look_at_environment(doctor_findings *findings);
void doctor_look_at_devices(doctor_findings *findings);

#endif
