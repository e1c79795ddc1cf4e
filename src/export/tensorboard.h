/* Names of the files that TensorBoard's plugins look for. */
#ifndef TKT_EXPORT_TENSORBOARD_H
#define TKT_EXPORT_TENSORBOARD_H

#include "export/exporter.h"

/* "node7", or "node7.rank3" with several processes; only characters that file names may have. XProf
 * takes it from a file's name, and a file must not claim another one. */
#define TKT_HOST_BYTES 256
void tkt_tensorboard_host(const takt_trace *trace, char out[TKT_HOST_BYTES]);

/* Sets the file name under `directory` and creates its folder. The first is for torch's plugin. */
takt_status tkt_torch_name(const takt_trace *trace, const char *directory, tkt_output *output,
                           takt_error *error);
takt_status tkt_xplane_file_name(const takt_trace *trace, const char *directory,
                                 tkt_output *output, takt_error *error);

/* Removes the folders of a file that could not be written, as far as they are empty. `path` is NULL
 * if the file has no name yet. */
void tkt_xplane_remove_folders(const char *directory, const char *path);

#endif
