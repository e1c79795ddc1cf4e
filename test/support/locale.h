/* A locale whose decimal point is a comma, for what must not depend on the host program's. */
#ifndef TEST_LOCALE_H
#define TEST_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* False if the system has none and cannot make one (Debian: packages libc-bin and locales). Call
 * setlocale(LC_ALL, "C") at the end. */
static inline bool use_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ps_AF.UTF-8"};
    char folder[] = "/tmp/takt-locale-XXXXXX", command[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]))
            return true;
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
             folder);
    bool is_made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    bool is_used = is_made && setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 && is_used;
}

#endif
