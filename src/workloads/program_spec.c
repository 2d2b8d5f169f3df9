#include "workloads/program_spec.h"

#define TABLE(rows, type, text)                                                                    \
    {                                                                                              \
        .summary = (text), .size = sizeof(type), .fields = (rows), .n_fields = G_N_ELEMENTS(rows)  \
    }

/* The two forms of a set of ranks. */
#define RANKS_FORMS(type, words)                                                                   \
    {.name = "ranks",                                                                              \
     .kind = CCS_FIELD_TEXT,                                                                       \
     .offset = offsetof(type, ranks.text),                                                         \
     .is_required = true,                                                                          \
     .summary = (words)},                                                                          \
    {                                                                                              \
        .name = "ranks", .kind = CCS_FIELD_TEXT, .offset = offsetof(type, ranks.list),             \
        .list_depth = 1, .summary = "several of them"                                              \
    }

#define STREAM_ROW(type)                                                                           \
    {                                                                                              \
        .name = "stream", .kind = CCS_FIELD_NAME, .offset = offsetof(type, stream),                \
        .summary = "calls of one stream come one after the other; main if not said"                \
    }

#define PEER_ROW(key, text)                                                                        \
    {                                                                                              \
        .name = (key), .kind = CCS_FIELD_TEXT, .offset = offsetof(CcsTransferSpec, peer),          \
        .is_required = true, .summary = (text)                                                     \
    }

#define TO_ROW   PEER_ROW("to", "receiver, a rank of the communicator: 3, or rank + 1 mod n")
#define FROM_ROW PEER_ROW("from", "sender, a rank of the communicator: 3, or rank - 1 mod n")

#define SIZE_ROW(is_needed, text)                                                                  \
    {                                                                                              \
        .name = "size", .kind = CCS_FIELD_SIZE, .offset = offsetof(CcsTransferSpec, size),         \
        .is_required = (is_needed), .summary = (text)                                              \
    }

#define SENT_SIZE_ROW     SIZE_ROW(true, "of the message")
#define RECEIVED_SIZE_ROW SIZE_ROW(false, "of the message; if said, it must be what is sent")

#define TAG_ROW                                                                                    \
    {                                                                                              \
        .name = "tag", .kind = CCS_FIELD_COUNT, .offset = offsetof(CcsTransferSpec, tag),          \
        .default_text = "0", .min = 0, .max = 2147483647.0,                                        \
        .summary = "messages of one tag are received in the order in which they are sent"          \
    }

#define COMMUNICATOR_ROW                                                                           \
    {                                                                                              \
        .name = "communicator", .kind = CCS_FIELD_NAME,                                            \
        .offset = offsetof(CcsTransferSpec, communicator), .default_text = "world",                \
        .summary = "in which ranks are counted and messages match; world has all ranks"            \
    }

#define REQUEST_ROW                                                                                \
    {                                                                                              \
        .name = "request", .kind = CCS_FIELD_NAME, .offset = offsetof(CcsTransferSpec, request),   \
        .summary = "a name to wait for"                                                            \
    }

static const CcsField send_fields[] = {
    TO_ROW, SENT_SIZE_ROW, TAG_ROW, COMMUNICATOR_ROW, STREAM_ROW(CcsTransferSpec),
};
static const CcsFieldTable send_table =
    TABLE(send_fields, CcsTransferSpec, "a message, and the sender goes on when it has left");

static const CcsField isend_fields[] = {
    TO_ROW, SENT_SIZE_ROW, TAG_ROW, COMMUNICATOR_ROW, STREAM_ROW(CcsTransferSpec), REQUEST_ROW,
};
static const CcsFieldTable isend_table =
    TABLE(isend_fields, CcsTransferSpec, "a message, and the sender goes on at once");

static const CcsField recv_fields[] = {
    FROM_ROW, RECEIVED_SIZE_ROW, TAG_ROW, COMMUNICATOR_ROW, STREAM_ROW(CcsTransferSpec),
};
static const CcsFieldTable recv_table =
    TABLE(recv_fields, CcsTransferSpec, "the receiver goes on when the message is there");

static const CcsField irecv_fields[] = {
    FROM_ROW,         RECEIVED_SIZE_ROW,           TAG_ROW,
    COMMUNICATOR_ROW, STREAM_ROW(CcsTransferSpec), REQUEST_ROW,
};
static const CcsFieldTable irecv_table =
    TABLE(irecv_fields, CcsTransferSpec, "the receiver goes on at once");

static const CcsField compute_fields[] = {
    {.name = "time",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsComputeSpec, time),
     .is_required = true,
     .summary = "how long it takes"},
    STREAM_ROW(CcsComputeSpec),
};
static const CcsFieldTable compute_table =
    TABLE(compute_fields, CcsComputeSpec, "work that needs no network");

static const CcsField wait_fields[] = {
    {.name = "requests",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsWaitSpec, requests),
     .list_depth = 1,
     .is_required = true,
     .summary = "names that isend and irecv gave"},
    STREAM_ROW(CcsWaitSpec),
};
static const CcsFieldTable wait_table =
    TABLE(wait_fields, CcsWaitSpec, "the stream goes on when all of these are done");

static const CcsField group_start_fields[] = {STREAM_ROW(CcsGroupSpec)};
static const CcsFieldTable group_start_table =
    TABLE(group_start_fields, CcsGroupSpec, "what follows up to group_end starts together");

static const CcsFieldTable group_end_table = {
    .summary = "the stream goes on when the whole group is done", .size = sizeof(CcsGroupSpec)};

#define CALL_ROW(key, member, of_table, text)                                                      \
    {                                                                                              \
        .name = (key), .kind = CCS_FIELD_MAPPING, .offset = offsetof(CcsCallSpec, member),         \
        .table = &(of_table), .summary = (text)                                                    \
    }

static const CcsField call_fields[] = {
    CALL_ROW("send", send, send_table, "send a message, and go on when it has left"),
    CALL_ROW("recv", recv, recv_table, "receive a message, and go on when it is there"),
    CALL_ROW("isend", isend, isend_table, "send a message, and go on at once"),
    CALL_ROW("irecv", irecv, irecv_table, "receive a message, and go on at once"),
    {.name = "compute",
     .kind = CCS_FIELD_TIME,
     .offset = offsetof(CcsCallSpec, compute_time),
     .summary = "work that needs no network, for so long, in stream main"},
    CALL_ROW("compute", compute, compute_table, "the same in another stream"),
    {.name = "wait",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsCallSpec, wait_request),
     .summary = "stream main goes on when this request is done"},
    CALL_ROW("wait", wait, wait_table, "the same for several requests, or in another stream"),
    CALL_ROW("group_start", group_start, group_start_table,
             "sends and recvs up to group_end start together"),
    CALL_ROW("group_end", group_end, group_end_table, "go on when the whole group is done"),
};
static const CcsFieldTable call_table =
    TABLE(call_fields, CcsCallSpec, "one call: a single key says which");

static const CcsField communicator_fields[] = {
    {.name = "name",
     .kind = CCS_FIELD_NAME,
     .offset = offsetof(CcsSubcommunicatorSpec, name),
     .is_required = true,
     .summary = "by which calls mean it"},
    RANKS_FORMS(CcsSubcommunicatorSpec, "its ranks in order: the first is rank 0 in it"),
};
static const CcsFieldTable communicator_table =
    TABLE(communicator_fields, CcsSubcommunicatorSpec, "some ranks of the job");

static const CcsField program_fields[] = {
    RANKS_FORMS(CcsRankProgramSpec, "who runs it: all, 3, 0-7, or 0-6/2 for every other one"),
    {.name = "calls",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsRankProgramSpec, calls),
     .list_depth = 1,
     .table = &call_table,
     .is_required = true,
     .summary = "what each of them does, in order"},
};
static const CcsFieldTable rank_program_table =
    TABLE(program_fields, CcsRankProgramSpec, "what some ranks do");

static const CcsField fields[] = {
    {.name = "title",
     .kind = CCS_FIELD_TEXT,
     .offset = offsetof(CcsProgramSpec, title),
     .is_required = true,
     .summary = "shown above the results; the database keeps it"},
    {.name = "description",
     .kind = CCS_FIELD_TEXT,
     .offset = offsetof(CcsProgramSpec, description),
     .summary = "shown before the results"},
    {.name = "eager_threshold",
     .kind = CCS_FIELD_SIZE,
     .offset = offsetof(CcsProgramSpec, eager_threshold),
     .default_text = "8 KiB",
     .summary = "up to this size a message leaves at once; a larger one when its recv is called"},
    {.name = "communicators",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsProgramSpec, communicators),
     .list_depth = 1,
     .table = &communicator_table,
     .summary = "others than world"},
    {.name = "program",
     .kind = CCS_FIELD_MAPPING,
     .offset = offsetof(CcsProgramSpec, programs),
     .list_depth = 1,
     .table = &rank_program_table,
     .is_required = true,
     .summary = "entries of one rank follow one another"},
};

const CcsFieldTable ccs_program_table =
    TABLE(fields, CcsProgramSpec, "what each rank of a job computes, sends and receives");
