/* Shared by all kernels: sizes that the host code also knows. */
#ifndef COMMON_H
#define COMMON_H

/* Edge of a tile of the matrix product; a work-group has TILE x TILE work-items. */
#define TILE 16
/* Work-items of a group that reduces or counts. */
#define GROUP 256
/* Counters of the histogram. */
#define BINS 64

#endif
