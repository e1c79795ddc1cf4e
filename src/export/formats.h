/* The list of export formats, in the order in which people see them. To add one, write an exporter
 * tkt_WORD_exporter in a file of this folder and add a line FORMAT(WORD, NAME) here. */
#ifndef TKT_EXPORT_FORMATS_H
#define TKT_EXPORT_FORMATS_H

/* clang-format off */
#define TKT_FORMATS(FORMAT) TKT_GZIP_FORMATS(FORMAT) TKT_PLAIN_FORMATS(FORMAT)
#define TKT_GZIP_FORMATS(FORMAT) /* outputs that may be packed */ \
    FORMAT(perfetto, "perfetto") \
    FORMAT(chrome, "chrome") \
    FORMAT(folded, "folded") \
    FORMAT(folded_device, "folded-device") \
    FORMAT(stacks, "stacks") \
    FORMAT(stacks_device, "stacks-device") \
    FORMAT(speedscope, "speedscope")
#define TKT_PLAIN_FORMATS(FORMAT) \
    FORMAT(xplane, "xplane")
/* clang-format on */

#endif
