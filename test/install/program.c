/* The smallest user of an installed Takt: header and library must be of one version. */
#include <takt/takt.h>

#include <stdio.h>

int main(void)
{
    TAKT_SCOPE("main");
    printf("library %s, headers %d.%d.%d\n", takt_version(), TAKT_VERSION_MAJOR,
           TAKT_VERSION_MINOR, TAKT_VERSION_PATCH);
    return 0;
}
