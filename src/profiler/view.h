/* Showing the last trace in a browser when the profiler has stopped (output.view). */
#ifndef TKT_PROFILER_VIEW_H
#define TKT_PROFILER_VIEW_H

/* Remembers `path` in *viewable, which the caller frees, if files of this output can be shown; a
 * Perfetto trace rather than a Chrome one. */
void tkt_view_keep(char **viewable, const char *output, const char *path);

/* Runs `takt view` for the file. It prints a link and goes on in the background, as a process that
 * is not the host's child. What goes wrong is logged, with what to type instead. */
void tkt_view(const char *path);

#endif
