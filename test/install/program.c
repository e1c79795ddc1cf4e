/* The smallest user of an installed Takt: header and library must be of one version. */
#include <takt/takt.h>

#include <stdio.h>

int main(void)
{
    TAKT_SCOPE("main");
    printf("library %s, headers %s\n", takt_version(), TAKT_VERSION);
    return 0;
}
