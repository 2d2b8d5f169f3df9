/* msccl.h - MSCCL algorithm files: a program of thread blocks for each GPU, in XML
 *
 * A GPU has thread blocks, each with at most one GPU to send to, one to receive from, and a
 * channel for these connections. A block executes its steps in order, all blocks at once; a step
 * may wait for one of another block of its GPU. What is sent on a connection is received in the
 * same order. The buffers are counted in chunks, nchunksperloop of them being the size of the
 * collective (microsoft/msccl-tools, msccl/language/ir.py, writes such files,
 * Azure/msccl-executor-nccl, src/misc/msccl/msccl_parser.cc, reads them).
 *
 * The file comes from anyone, so everything in it is checked before it is used: a CcsMsccl
 * that ccs_msccl_read() returns has a peer for each connection, a receive for each send, and no
 * steps that wait for each other in a circle.
 *
 * Attributes that begin with ccsim_ carry what the format has no words for; MSCCL ignores them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "collectives/schedule.h"
#include "formats/markup.h"

#define CCS_MSCCL_NONE UINT32_MAX /* no step, no block */

typedef enum {
    CCS_MSCCL_SEND,
    CCS_MSCCL_RECV,
    CCS_MSCCL_RECV_COPY_SEND,        /* stores what it receives, and sends it on */
    CCS_MSCCL_RECV_REDUCE_SEND,      /* adds its source to what it receives, and sends that on */
    CCS_MSCCL_RECV_REDUCE_COPY,      /* adds its source to what it receives, and stores that */
    CCS_MSCCL_RECV_REDUCE_COPY_SEND, /* both */
    CCS_MSCCL_COPY,
    CCS_MSCCL_REDUCE, /* adds its source to its target */
    CCS_MSCCL_NOP,    /* only waits */
    CCS_MSCCL_N_TYPES
} CcsMscclType;

/* What a type of step does, and with which of its ends. */
typedef struct {
    const char *name;
    bool sends;
    bool receives;
    bool reduces;
    bool has_source;
    bool has_target;
} CcsMscclTypeInfo;

const CcsMscclTypeInfo *ccs_msccl_type_info(CcsMscclType type);

typedef struct {
    CcsMscclType type;
    CcsBuffer source;
    CcsBuffer target;
    uint32_t source_chunk; /* the first of them */
    uint32_t target_chunk;
    uint32_t n_chunks;
    uint32_t wait_block;  /* id of the block whose step it waits for; CCS_MSCCL_NONE */
    uint32_t wait_step;   /* index of that step in its block */
    bool is_waited_for;   /* hasdep */
    bool is_rendezvous;   /* ccsim_rendezvous: a send that leaves when its receive has what it
                             waits for, not before */
    bool is_reduced_next; /* ccsim_reduced: a receive whose data the next steps add up */
    bool is_unordered;    /* ccsim_unordered: what it waits for only adds to chunks that this step,
                             or the one after this `nop`, adds to, too */
    bool is_early;        /* ccsim_early: a local step that a GPU does although it comes late */
    uint32_t block;       /* index of all blocks */
    uint32_t waits_for;   /* index of all steps; CCS_MSCCL_NONE */
    uint32_t sent_by;     /* of a step that receives, likewise */
    uint32_t received_by; /* of a step that sends */
    CcsMarkupPlace place;
} CcsMscclStep;

typedef struct {
    CcsRank rank; /* of the GPU it belongs to */
    uint32_t id;
    CcsRank send; /* CCS_NO_RANK: to nobody */
    CcsRank recv;
    uint32_t channel;     /* of its connections */
    uint32_t nic_channel; /* ccsim_channel: by which its messages find their NICs */
    bool is_on_rail;      /* ccsim_rail: between nodes by the rail of that channel */
    uint32_t first_step;  /* index of all steps */
    uint32_t n_steps;
    CcsMarkupPlace place;
} CcsMscclBlock;

typedef struct {
    bool is_there;
    uint32_t n_chunks[CCS_N_BUFFERS];
    uint32_t first_block; /* index of all blocks */
    uint32_t n_blocks;
    uint32_t *order; /* ccsim_order: where its chunks come in each part; NULL: in order. Owned */
    CcsMarkupPlace place;
} CcsMscclGpu;

typedef struct {
    char *label; /* of the file; owned, as its text and the name are */
    char *source;
    size_t n_source;
    char *name;
    uint32_t protocol;        /* index in ccs_msccl_protocols */
    CcsCollective collective; /* CCS_PROGRAM where no collective is promised */
    const char *coll;         /* as the file names it; static */
    uint32_t n_ranks;
    uint32_t n_channels;
    uint32_t n_chunks; /* nchunksperloop */
    uint32_t n_parts;  /* ccsim_channels: the buffer is cut into so many parts, these into chunks */
    bool is_in_place;
    bool is_out_of_place;
    uint64_t min_bytes;
    uint64_t max_bytes; /* 0: no limit */
    CcsRank root;       /* ccsim_root: 0 unless it is said */
    CcsMarkupPlace place;
    CcsMscclGpu *gpus;
    bool has_unordered; /* some step is */
    GArray *blocks;     /* of CcsMscclBlock, GPU by GPU */
    GArray *steps;      /* of CcsMscclStep, block by block */
    uint32_t *order;    /* indices of all steps such that what a step waits for comes before it */
} CcsMsccl;

extern const char *const ccs_msccl_protocols[]; /* NULL-terminated */

void ccs_msccl_free(CcsMsccl *msccl);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsMsccl, ccs_msccl_free)

/* ccs_msccl_read: from @n_bytes of text, which messages call @label.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT. */
CcsMsccl *ccs_msccl_read(const char *label, const char *text, size_t n_bytes, GError **error);

/* ccs_msccl_load: from a file; "-" is stdin. CCS_ERROR_IO if it cannot be read. */
CcsMsccl *ccs_msccl_load(const char *file, GError **error);

/* How a program is executed. */
typedef struct {
    CcsRank root;
    uint32_t n_loops;  /* so many times, each time for a part of every chunk, as MSCCL does where a
                          chunk is larger than what it sends at once */
    bool is_in_place;  /* must be one of the two that the file serves */
    bool is_by_letter; /* as MSCCL does it: ccsim_unordered, which only shortens the time, is
                          ignored, and steps that add disturb each other */
} CcsMscclUse;

/* ccs_msccl_schedule:
 * The schedule on @communicator, which must have as many ranks.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT. */
CcsSchedule *ccs_msccl_schedule(const CcsMsccl *msccl, const CcsCommunicator *communicator,
                                const CcsMscclUse *use, GError **error);

/* ccs_msccl_from_schedule:
 * Writes @schedule as such a program. What @notes (of owned texts) is given says what of the
 * schedule it does not carry, or what MSCCL may not take.
 *
 * Returns: (transfer full), or NULL with CCS_ERROR_INPUT where it cannot be written so. */
CcsMsccl *ccs_msccl_from_schedule(const CcsSchedule *schedule, const char *name, GPtrArray *notes,
                                  GError **error);

/* The text of the file. Returns: (transfer full). */
char *ccs_msccl_text(const CcsMsccl *msccl);

/* For those who read it. */
const CcsMscclBlock *ccs_msccl_block(const CcsMsccl *msccl, CcsRank rank, uint32_t index);
CcsMscclStep *ccs_msccl_step(const CcsMsccl *msccl, uint32_t index);
