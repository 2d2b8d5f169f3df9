/* schedule.h - one collective on one communicator: who sends what to whom, and what must
 * have come before
 *
 * A schedule is a timed marked graph. Its nodes are lanes: K messages in order from one
 * rank, one being sent at a time. Its edges are dependencies between the messages of
 * lanes. Nothing is stored per message, so a ring over 65,536 ranks costs one lane and one
 * dependency per rank. A schedule holds no time and no size in bytes: the same one serves
 * every message size.
 *
 * The buffer is cut into channels first, then each channel into the schedule's chunks; both
 * cuts are even to the byte (ccs_layout_offset()). With weights, chunk r of a rank's buffer is
 * what it has for rank r, and each such block is cut into channels. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/lists.h"
#include "base/units.h"
#include "collectives/collective.h"
#include "collectives/weights.h"
#include "topology/communicator.h"

typedef uint32_t CcsLaneId;

#define CCS_NO_LANE UINT32_MAX

/* To whom message k goes: always the same rank, or another one for each k. */
typedef enum {
    CCS_PEER_FIXED, /* first */
    CCS_PEER_SHIFT, /* (source + first + k) mod n */
    CCS_PEER_XOR,   /* source XOR (first + k) */
} CcsPeerKind;

typedef enum { CCS_BUFFER_INPUT, CCS_BUFFER_OUTPUT, CCS_BUFFER_SCRATCH, CCS_N_BUFFERS } CcsBuffer;

/* Which buffers the data are in. Algorithms may take either view: the input buffer is there to
 * read, and the output buffer begins with the input where the collective may work in place. */
typedef enum {
    CCS_PLACING_EITHER,
    CCS_PLACING_IN,  /* in place: only the output buffer, which begins with the input */
    CCS_PLACING_OUT, /* out of place: the output buffer begins empty */
} CcsPlacing;

/* Which chunk a box begins with. */
typedef enum {
    CCS_BOX_RULE,      /* base + scale ((first + step k) mod modulus) */
    CCS_BOX_OF_PEER,   /* base + scale peer */
    CCS_BOX_OF_SOURCE, /* base + scale source */
} CcsBoxKind;

/* A set of chunks of the lane's channel: begin + i stride1 + j stride2 for i < n1, j < n2, i
 * running first. Counts of 0 stand for 1, so that a single chunk needs neither. */
typedef struct {
    CcsBuffer buffer;
    CcsBoxKind kind;
    uint32_t base;
    uint32_t scale;
    uint32_t first; /* below modulus */
    int32_t step;
    uint32_t modulus;
    uint32_t n1, stride1;
    uint32_t n2, stride2;
    uint32_t n_left_out; /* chunks at the end that do not belong to the box; below n1 */
    uint32_t wrap;       /* chunks are counted modulo this, so that stride wrap - 1 goes
                            backwards; 0: they are not */
} CcsBox;

/* Where a message must pass. What is CCS_NO_VERTEX is left to the routes. */
typedef struct {
    CcsVertexId leave_gpu; /* handed over to this GPU first, if it is not the source */
    CcsVertexId leave_nic;
    CcsVertexId enter_nic;
    CcsVertexId enter_gpu; /* handed over by this GPU last, if it is not the target */
} CcsPath;

/* A lane whose peer is its source is local work, a copy, a computation or a join of other
 * lanes: it uses no link, takes `duration` for each message, and does not count as messages. */
typedef struct {
    CcsRank source;
    CcsPeerKind peer_kind;
    uint32_t peer; /* the rank, or the `first` of the rule */
    uint32_t channel;
    uint32_t phase; /* see ccs_schedule_add_phase() */
    uint32_t n_messages;
    uint32_t n_reduced; /* the first so many are added at the peer, the rest copied */
    CcsBox from;
    CcsBox to;
    bool has_fixed_bytes; /* each message has `bytes`, whatever the size of the collective */
    CcsBytes bytes;
    uint32_t sizes; /* see ccs_schedule_add_sizes(); 0: as large as the chunks it is read from */
    bool is_added_there; /* local lanes of the peer add up what is copied to it: the message takes
                            the time of that, too */
    uint32_t queue;   /* its reductions come after those of lane queue - 1, as if the two were one
                         lane; 0: after none but its own */
    CcsTime duration; /* of a local lane's message */
    bool is_early;    /* of a local lane: a rank that comes late does this in the meantime */
    uint32_t label;   /* see ccs_schedule_add_label(); 0: none */
    CcsPath path; /* for a fixed peer; with others ccs_schedule_path() applies to each message */
} CcsLane;

typedef enum {
    CCS_SENT,    /* the message has left its source */
    CCS_ARRIVED, /* it is at its peer, and reduced */
} CcsEvent;

/* Message k >= from of lane @after may start when at least
 * min(K, p_before (floor(k / p_after) + 1 - distance)) messages of lane @before are done,
 * where K is the number of messages of @before. */
typedef struct {
    CcsLaneId after;
    CcsLaneId before;
    CcsEvent event;
    uint32_t p_before;
    uint32_t p_after;
    uint32_t distance;
    uint32_t from;
    bool is_by_sender; /* @before is the lane of rank 0 in a family of one lane per rank, with
                          @after one of them: what counts is that message k - distance, from
                          whichever rank sends it to the source of @after, has arrived */
} CcsDependency;

typedef struct CcsSchedule CcsSchedule;

/* Where a chunk lies. */
typedef struct {
    CcsBuffer buffer;
    CcsRank rank;
    uint32_t channel;
    uint32_t chunk;
} CcsPlace;

/* What the user calls a place of a rank. Returns: (transfer full). */
typedef char *CcsPlaceName(const void *data, const CcsPlace *place);

/* ccs_schedule_new: keeps @communicator, which must outlive the schedule. @root is 0 where
 * the collective has none. */
CcsSchedule *ccs_schedule_new(CcsCollective collective, const CcsCommunicator *communicator,
                              CcsRank root, uint32_t n_channels, uint32_t pipeline);
void ccs_schedule_free(CcsSchedule *schedule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CcsSchedule, ccs_schedule_free)

CcsCollective ccs_schedule_collective(const CcsSchedule *schedule);
const CcsCommunicator *ccs_schedule_communicator(const CcsSchedule *schedule);
CcsRank ccs_schedule_root(const CcsSchedule *schedule);
uint32_t ccs_schedule_n_ranks(const CcsSchedule *schedule);
uint32_t ccs_schedule_n_channels(const CcsSchedule *schedule);
uint32_t ccs_schedule_pipeline(const CcsSchedule *schedule); /* depth that the user asks for */
uint32_t ccs_schedule_n_chunks(const CcsSchedule *schedule); /* of one channel */
uint32_t ccs_schedule_distance(const CcsSchedule *schedule); /* of sendrecv; 1 unless set */
void ccs_schedule_set_distance(CcsSchedule *schedule, uint32_t distance);

/* The sizes of the blocks of alltoallv; NULL, as at first: all equal. Set before lanes are
 * added, and kept, so they must outlive the schedule. */
const CcsWeights *ccs_schedule_weights(const CcsSchedule *schedule);
void ccs_schedule_set_weights(CcsSchedule *schedule, const CcsWeights *weights);
void ccs_schedule_set_n_chunks(CcsSchedule *schedule, uint32_t n_chunks);

/* How many chunks of a channel there is room for in @buffer: in the scratch buffer there may be
 * more of them than the collective has, or fewer. */
uint32_t ccs_schedule_n_places(const CcsSchedule *schedule, CcsBuffer buffer);
void ccs_schedule_set_n_scratch(CcsSchedule *schedule, uint32_t n_places);

/* ccs_schedule_set_placing: where data are before the collective starts and after it. */
CcsPlacing ccs_schedule_placing(const CcsSchedule *schedule);
void ccs_schedule_set_placing(CcsSchedule *schedule, CcsPlacing placing);

/* Where the collective speaks of blocks (the block of rank r), chunk @chunk of @channel belongs
 * to the block of this rank. Unless set otherwise the chunks are dealt out evenly in order. */
CcsRank ccs_schedule_owner(const CcsSchedule *schedule, uint32_t channel, uint32_t chunk);

/* ccs_schedule_set_owners: chunk i of @channel belongs to rank @owners[i]; as many as there
 * are chunks. */
void ccs_schedule_set_owners(CcsSchedule *schedule, uint32_t channel, const CcsRank *owners);

/* A phase is a name for a group of lanes. Returns: its index. */
uint32_t ccs_schedule_add_phase(CcsSchedule *schedule, const char *name);
uint32_t ccs_schedule_n_phases(const CcsSchedule *schedule);
const char *const *ccs_schedule_phases(const CcsSchedule *schedule);

/* ccs_schedule_add_label: a text that messages about a lane show, such as the place of the
 * call behind it. Returns: its number, from 1. */
uint32_t ccs_schedule_add_label(CcsSchedule *schedule, const char *label);
const char *ccs_schedule_label(const CcsSchedule *schedule, uint32_t label); /* NULL for 0 */

/* ccs_schedule_set_place_names: for schedules that are made of what the user has written. @free
 * frees @data with the schedule; copies of the schedule do without names. */
void ccs_schedule_set_place_names(CcsSchedule *schedule, CcsPlaceName *name, void *data,
                                  GDestroyNotify free);

/* ccs_schedule_name_place: "chunk 3" where the schedule has no names of its own; "chunk 3 of
 * channel 0" if @is_full. Returns: (transfer full). */
char *ccs_schedule_name_place(const CcsSchedule *schedule, const CcsPlace *place, bool is_full);

/* ccs_schedule_add_sizes: for lanes whose messages are not as large as the chunks that they are
 * read from, such as those of scratch cells: message k is as large as the @n chunks @chunks[i] + k
 * of its channel. Returns: its number, from 1. */
uint32_t ccs_schedule_add_sizes(CcsSchedule *schedule, const uint32_t *chunks, uint32_t n);

CcsLaneId ccs_schedule_add_lane(CcsSchedule *schedule, const CcsLane *lane);
uint32_t ccs_schedule_n_lanes(const CcsSchedule *schedule);
const CcsLane *ccs_schedule_lane(const CcsSchedule *schedule, CcsLaneId lane);

void ccs_schedule_depend(CcsSchedule *schedule, const CcsDependency *dependency);
uint32_t ccs_schedule_n_dependencies(const CcsSchedule *schedule);
const CcsDependency *ccs_schedule_dependency(const CcsSchedule *schedule, uint32_t index);

/* ccs_schedule_needs: the dependencies of each lane, those of which it is @after. */
CcsLists ccs_schedule_needs(const CcsSchedule *schedule);

/* ccs_schedule_irregularity: for those who need every lane to have one peer and one wait for each
 * of its messages. Returns: what is not so; NULL if all is. */
const char *ccs_schedule_irregularity(const CcsSchedule *schedule);

/* To make a schedule that differs from another one. */
CcsSchedule *ccs_schedule_copy(const CcsSchedule *schedule);
CcsSchedule *ccs_schedule_copy_empty(const CcsSchedule *schedule); /* no lanes, no dependencies */
CcsLane *ccs_schedule_edit_lane(CcsSchedule *schedule, CcsLaneId lane);
CcsDependency *ccs_schedule_edit_dependency(CcsSchedule *schedule, uint32_t index);
void ccs_schedule_drop_dependency(CcsSchedule *schedule, uint32_t index);

/* Shorthands: message k of @after waits until message k - @distance of @before has arrived;
 * any message of @after waits until all of @before have arrived, or have left. */
void ccs_schedule_wait(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before, uint32_t distance);
void ccs_schedule_gate(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before);
void ccs_schedule_gate_sent(CcsSchedule *schedule, CcsLaneId after, CcsLaneId before);

/* ccs_schedule_path:
 * The path of a message from @source to @peer on @channel: between nodes it leaves by the
 * NIC of the source's own GPU and enters by that of the peer's own GPU. */
CcsPath ccs_schedule_path(const CcsSchedule *schedule, CcsRank source, CcsRank peer,
                          uint32_t channel);

/* ccs_schedule_rail_path:
 * The same, but between nodes the message leaves and enters by the rail of @channel; a GPU
 * that does not own the rail's NIC hands over on NVLink to the one that does. */
CcsPath ccs_schedule_rail_path(const CcsSchedule *schedule, CcsRank source, CcsRank peer,
                               uint32_t channel);

/* Readers. */
bool ccs_lane_is_local(const CcsLane *lane);
CcsRank ccs_lane_peer(const CcsLane *lane, uint32_t message, uint32_t n_ranks);

/* For a lane in a family of one lane per rank: who sends message k to @receiver. */
CcsRank ccs_lane_sender(const CcsLane *lane, uint32_t message, CcsRank receiver, uint32_t n_ranks);

/* The first chunk of @box for message k; the others follow by its strides. */
uint32_t ccs_box_begin(const CcsBox *box, const CcsLane *lane, uint32_t message, CcsRank peer);
uint32_t ccs_box_n_chunks(const CcsBox *box);
uint32_t ccs_box_chunk(const CcsBox *box, uint32_t begin, uint32_t index);

/* ccs_layout_offset: where part @index of @count even parts of @bytes begins; the first
 * bytes mod count parts are one byte longer. */
CcsBytes ccs_layout_offset(CcsBytes bytes, uint32_t index, uint32_t count);

/* ccs_schedule_message_bytes: bytes of message k when the collective has @size bytes. */
CcsBytes ccs_schedule_message_bytes(const CcsSchedule *schedule, const CcsLane *lane,
                                    uint32_t message, CcsBytes size);

/* ccs_schedule_even_bytes: bytes of each message of @lane where they need not be looked at one
 * by one, since all are equal; else CCS_UNEVEN. */
#define CCS_UNEVEN UINT64_MAX
CcsBytes ccs_schedule_even_bytes(const CcsSchedule *schedule, const CcsLane *lane, CcsBytes size);

/* Whether all chunks of a collective of @size bytes have one size. */
bool ccs_schedule_is_even(const CcsSchedule *schedule, CcsBytes size);

/* ccs_schedule_lane_bytes: of all messages of @lane. */
CcsBytes ccs_schedule_lane_bytes(const CcsSchedule *schedule, const CcsLane *lane, CcsBytes size);

/* How many messages of dependency's @before must be done before message k may start. */
uint32_t ccs_dependency_needs(const CcsDependency *dependency, uint32_t message,
                              uint32_t n_messages_before);
