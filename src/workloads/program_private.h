/* program_private.h - what the parts of a program share: program.c, sites.c, expand.c, match.c,
 * order.c, lanes.c */
#pragma once

#include "config/config.h"
#include "workloads/program.h"
#include "workloads/program_spec.h"
#include "workloads/rank_text.h"

#define CCS_NO_CALL UINT32_MAX

typedef enum {
    CCS_CALL_SEND,
    CCS_CALL_RECV,
    CCS_CALL_ISEND,
    CCS_CALL_IRECV,
    CCS_CALL_COMPUTE,
    CCS_CALL_WAIT,
    CCS_CALL_GROUP_START,
    CCS_CALL_GROUP_END,
    CCS_N_CALL_KINDS
} CcsCallKind;

extern const char *const ccs_call_names[CCS_N_CALL_KINDS]; /* "send", ... */

/* A call as it stands in the file; each rank that runs it has a call of its own. */
typedef struct {
    CcsCallKind kind;
    uint32_t entry;                  /* index in the key `program` */
    uint32_t index;                  /* among the calls of the entry */
    const CcsTransferSpec *transfer; /* of a message, as are the next three */
    CcsPeerRule peer;
    uint32_t communicator;
    bool has_size;
    CcsTime duration;            /* of compute */
    const char *const *requests; /* of wait */
    uint32_t n_requests;
    const char *stream; /* NULL if not said */
    char *place;        /* "file:line:column"; owned */
    bool is_wrong;      /* an error has been told: one is enough */
} CcsCallSite;

typedef struct {
    GArray *ranks;       /* of CcsRank, in its own order; owned */
    GHashTable *indices; /* from a rank of the job to its rank in here, plus 1; owned */
} CcsSubcommunicator;

typedef struct {
    CcsCallKind kind;
    uint32_t site;
    CcsRank rank;
    CcsRank peer; /* of a message, as are the next two; a rank of the job */
    CcsBytes bytes;
    uint32_t match;   /* the call at the peer */
    uint32_t before;  /* the call after which this one comes; CCS_NO_CALL if it is the first */
    uint32_t awaited; /* of a wait and the end of a group: the calls that it waits for begin here
                         in the list of all */
    uint32_t n_awaited;
} CcsCall;

/* An item of the key `program`. */
typedef struct {
    GArray *ranks; /* of CcsRank; owned */
    uint32_t first_site;
    uint32_t n_sites;
} CcsProgramEntry;

struct CcsProgram {
    CcsConfig *config;
    CcsProgramSpec spec;
    const CcsCommunicator *world; /* not owned */
    char *name;
    GArray *communicators; /* of CcsSubcommunicator; the first is world */
    GArray *entries;       /* of CcsProgramEntry */
    GArray *sites;         /* of CcsCallSite */
    GArray *calls;         /* of CcsCall; those of a rank side by side, in the order of the file */
    GArray *awaited;       /* of uint32_t: calls */
    CcsBytes bytes;
};

static inline const CcsCall *ccs_program_call(const CcsProgram *program, uint32_t call)
{
    return &g_array_index(program->calls, CcsCall, call);
}

static inline CcsCallSite *ccs_program_site(const CcsProgram *program, uint32_t site)
{
    return &g_array_index(program->sites, CcsCallSite, site);
}

static inline bool ccs_call_sends(CcsCallKind kind)
{
    return kind == CCS_CALL_SEND || kind == CCS_CALL_ISEND;
}

static inline bool ccs_call_receives(CcsCallKind kind)
{
    return kind == CCS_CALL_RECV || kind == CCS_CALL_IRECV;
}

/* ccs_program_is_eager: the message of @call may leave before its receiver is ready. */
static inline bool ccs_program_is_eager(const CcsProgram *program, const CcsCall *call)
{
    return call->bytes <= program->spec.eager_threshold;
}

/* ccs_program_error: adds an error at the place of @site, or of its @key (may be NULL), unless it
 * has one already. */
G_GNUC_PRINTF(4, 5)
void ccs_program_error(CcsProgram *program, uint32_t site, const char *key, const char *format,
                       ...);

/* ccs_call_describe: "file:line:column: send to 3 (64 KiB)". Returns: (transfer full). */
char *ccs_call_describe(const CcsProgram *program, uint32_t call);

/* ccs_program_find_sites: communicators and sites, out of the decoded file. */
void ccs_program_find_sites(CcsProgram *program);

/* ccs_program_expand: a call for each rank that runs a site. */
void ccs_program_expand(CcsProgram *program);

/* ccs_program_match: which recv gets which message. */
void ccs_program_match(CcsProgram *program);

/* Two moments in the life of each call: it is reached, and what it is about is done. An isend is
 * reached long before its message has left. */
static inline uint32_t ccs_call_reached(uint32_t call)
{
    return 2 * call;
}

static inline uint32_t ccs_call_done(uint32_t call)
{
    return 2 * call + 1;
}

/* ccs_program_moment_needs: the @index-th of the moments that must come before @moment;
 * CCS_NO_CALL if there are no more. */
uint32_t ccs_program_moment_needs(const CcsProgram *program, uint32_t moment, uint32_t index);

/* ccs_program_order: all moments, each after those that it needs. Returns: (transfer full)
 * (element-type uint32_t); NULL with CCS_ERROR_CHECK, which names the calls of a deadlock. */
GArray *ccs_program_order(const CcsProgram *program, GError **error);
