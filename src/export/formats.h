/* The list of export formats, in the order in which people see them. To add one, write an exporter
 * tkt_WORD_exporter in a file of this folder and add a line FORMAT(WORD, NAME, DESCRIPTION) here. */
#ifndef TKT_EXPORT_FORMATS_H
#define TKT_EXPORT_FORMATS_H

/* clang-format off */
#define TKT_FORMATS(FORMAT) TKT_GZIP_FORMATS(FORMAT) TKT_PLAIN_FORMATS(FORMAT)
#define TKT_GZIP_FORMATS(FORMAT) /* outputs that may be packed */ \
    FORMAT(perfetto, "perfetto", "Takt's own file, for ui.perfetto.dev and takt report") \
    FORMAT(chrome, "chrome", "JSON for chrome://tracing, Perfetto, TensorBoard and Holistic Trace Analysis") \
    FORMAT(folded, "folded", "folded stacks for flame graphs: flamegraph.pl, speedscope, inferno") \
    FORMAT(folded_device, "folded-device", "the same with the time of kernels and copies") \
    FORMAT(stacks, "stacks", "folded stacks of the program's functions (with_stack)") \
    FORMAT(stacks_device, "stacks-device", "the same with the time of kernels and copies") \
    FORMAT(speedscope, "speedscope", "for speedscope.app: flame graphs in the order of time, threads and streams")
#define TKT_PLAIN_FORMATS(FORMAT) \
    FORMAT(xplane, "xplane", "XSpace for XProf, TensorBoard's profile plugin")
/* clang-format on */

#endif
