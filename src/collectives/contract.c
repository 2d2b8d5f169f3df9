#include "collectives/contract.h"

static bool input_holds(const CcsSchedule *schedule, CcsRank rank, uint32_t channel, uint32_t chunk)
{
    switch (ccs_schedule_collective(schedule)) {
    case CCS_ALLGATHER:
    case CCS_GATHER:
        return ccs_schedule_owner(schedule, channel, chunk) == rank;
    case CCS_BROADCAST:
    case CCS_SCATTER:
        return rank == ccs_schedule_root(schedule);
    case CCS_ALLREDUCE:
    case CCS_REDUCESCATTER:
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
    case CCS_REDUCE:
    case CCS_SENDRECV:
    case CCS_BARRIER:
    case CCS_PROGRAM:
        break;
    }
    return true;
}

bool ccs_contract_holds_at_start(const CcsSchedule *schedule, CcsBuffer buffer, CcsRank rank,
                                 uint32_t channel, uint32_t chunk)
{
    CcsPlacing placing = ccs_schedule_placing(schedule);
    bool is_output = buffer == CCS_BUFFER_OUTPUT;

    if (placing != CCS_PLACING_EITHER)
        return buffer == (placing == CCS_PLACING_IN ? CCS_BUFFER_OUTPUT : CCS_BUFFER_INPUT) &&
               input_holds(schedule, rank, channel, chunk);
    switch (ccs_schedule_collective(schedule)) {
    case CCS_ALLREDUCE:
    case CCS_REDUCESCATTER:
    case CCS_REDUCE:
    case CCS_BARRIER:
        return buffer != CCS_BUFFER_SCRATCH;
    case CCS_ALLGATHER:
    case CCS_GATHER:
        return is_output && ccs_schedule_owner(schedule, channel, chunk) == rank;
    case CCS_BROADCAST:
    case CCS_SCATTER:
        return is_output && rank == ccs_schedule_root(schedule);
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
    case CCS_SENDRECV:
        return buffer == CCS_BUFFER_INPUT;
    case CCS_PROGRAM:
        return true;
    }
    return false;
}

/* The chunk of the sender's input that chunk @chunk of the output at @rank comes from. */
static uint32_t alltoall_origin(const CcsSchedule *schedule, CcsRank rank, uint32_t chunk)
{
    uint32_t per_block = ccs_schedule_n_chunks(schedule) / ccs_schedule_n_ranks(schedule);
    return rank * per_block + chunk % per_block;
}

bool ccs_contract_promises(const CcsSchedule *schedule, CcsRank rank, uint32_t channel,
                           uint32_t chunk, CcsPromise *ret_promise)
{
    uint32_t n = ccs_schedule_n_ranks(schedule);
    CcsRank root = ccs_schedule_root(schedule);
    CcsRank owner = ccs_schedule_owner(schedule, channel, chunk);

    *ret_promise = (CcsPromise){chunk, CCS_NO_RANK};
    switch (ccs_schedule_collective(schedule)) {
    case CCS_ALLREDUCE:
    case CCS_BARRIER:
        return true;
    case CCS_REDUCESCATTER:
        return owner == rank;
    case CCS_REDUCE:
        return rank == root;
    case CCS_ALLGATHER:
        ret_promise->only = owner;
        return true;
    case CCS_GATHER:
        ret_promise->only = owner;
        return rank == root;
    case CCS_BROADCAST:
        ret_promise->only = root;
        return true;
    case CCS_SCATTER:
        ret_promise->only = root;
        return owner == rank;
    case CCS_SENDRECV:
        ret_promise->only = (rank + n - ccs_schedule_distance(schedule) % n) % n;
        return true;
    case CCS_ALLTOALL:
    case CCS_ALLTOALLV:
        *ret_promise = (CcsPromise){alltoall_origin(schedule, rank, chunk), owner};
        return true;
    case CCS_PROGRAM:
        break;
    }
    return false;
}

bool ccs_contract_allows_repeats(CcsCollective collective)
{
    return collective == CCS_BARRIER;
}
