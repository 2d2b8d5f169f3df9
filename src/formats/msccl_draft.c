#include "formats/msccl_draft.h"

typedef struct {
    uint32_t number;
    CcsMscclBlock head;
    GArray *steps;      /* of CcsMscclStep, which wait for steps by the numbers of a draft */
    GHashTable *waited; /* by block: steps of it that are done when the next step begins */
} Block;

struct CcsMscclDraft {
    GPtrArray *blocks; /* of Block, owned */
};

static void free_block(gpointer data)
{
    Block *block = data;

    g_array_unref(block->steps);
    g_hash_table_unref(block->waited);
    g_free(block);
}

CcsMscclDraft *ccs_msccl_draft_new(void)
{
    CcsMscclDraft *draft = g_new0(CcsMscclDraft, 1);

    draft->blocks = g_ptr_array_new_with_free_func(free_block);
    return draft;
}

void ccs_msccl_draft_free(CcsMscclDraft *draft)
{
    if (draft == NULL)
        return;
    g_ptr_array_unref(draft->blocks);
    g_free(draft);
}

static Block *block_at(const CcsMscclDraft *draft, uint32_t index)
{
    return g_ptr_array_index(draft->blocks, index);
}

uint32_t ccs_msccl_draft_add_block(CcsMscclDraft *draft, const CcsMscclBlock *head)
{
    Block *block = g_new0(Block, 1);

    block->number = draft->blocks->len;
    block->head = *head;
    block->steps = g_array_new(false, true, sizeof(CcsMscclStep));
    block->waited = g_hash_table_new(NULL, NULL);
    g_ptr_array_add(draft->blocks, block);
    return draft->blocks->len - 1;
}

static CcsMscclRef append(CcsMscclDraft *draft, uint32_t block, const CcsMscclStep *step,
                          CcsMscclRef wait)
{
    GArray *steps = block_at(draft, block)->steps;
    CcsMscclStep added = *step;

    added.wait_block = wait.block;
    added.wait_step = wait.step;
    if (wait.block != CCS_MSCCL_NONE) {
        Block *other = block_at(draft, wait.block);
        g_array_index(other->steps, CcsMscclStep, wait.step).is_waited_for = true;
        g_hash_table_insert(block_at(draft, block)->waited, GUINT_TO_POINTER(wait.block),
                            GUINT_TO_POINTER(wait.step + 1));
    }
    g_array_append_val(steps, added);
    return (CcsMscclRef){block, steps->len - 1};
}

/* Of several steps of one block only the last one matters. */
static void add_latest(GArray *latest, CcsMscclRef wait)
{
    for (guint i = 0; i < latest->len; i++) {
        CcsMscclRef *other = &g_array_index(latest, CcsMscclRef, i);
        if (other->block == wait.block) {
            other->step = MAX(other->step, wait.step);
            return;
        }
    }
    g_array_append_val(latest, wait);
}

/* Those of @waits that say something new, or all of them. */
static GArray *select_waits(const CcsMscclDraft *draft, uint32_t block, const GArray *waits,
                            bool is_all)
{
    GArray *latest = g_array_new(false, false, sizeof(CcsMscclRef));

    for (guint i = 0; waits != NULL && i < waits->len; i++) {
        CcsMscclRef wait = g_array_index(waits, CcsMscclRef, i);
        if (wait.block == CCS_MSCCL_NONE)
            continue;
        uint32_t n_done = GPOINTER_TO_UINT(
            g_hash_table_lookup(block_at(draft, block)->waited, GUINT_TO_POINTER(wait.block)));
        if (is_all || (wait.block != block && wait.step >= n_done))
            add_latest(latest, wait);
    }
    return latest;
}

CcsMscclRef ccs_msccl_draft_add(CcsMscclDraft *draft, uint32_t block, const CcsMscclStep *step,
                                const GArray *waits, const GArray *posted)
{
    const CcsMscclStep nop = {.type = CCS_MSCCL_NOP};
    const CcsMscclRef nothing = {CCS_MSCCL_NONE, CCS_MSCCL_NONE};
    g_autoptr(GArray) own = select_waits(draft, block, waits, false);
    g_autoptr(GArray) shown = select_waits(draft, block, posted, true);
    GArray *last = shown->len > 0 ? shown : own;

    for (guint i = 0; i + 1 < own->len || (last == shown && i < own->len); i++)
        append(draft, block, &nop, g_array_index(own, CcsMscclRef, i));
    if (shown->len > 0 && own->len > 0) /* a `nop` that does not wait keeps the two apart */
        append(draft, block, &nop, nothing);
    for (guint i = 0; i + 1 < shown->len; i++)
        append(draft, block, &nop, g_array_index(shown, CcsMscclRef, i));
    return append(draft, block, step,
                  last->len == 0 ? nothing : g_array_index(last, CcsMscclRef, last->len - 1));
}

static int compare_blocks(gconstpointer a, gconstpointer b)
{
    const Block *first = *(const Block *const *)a;
    const Block *second = *(const Block *const *)b;

    if (first->head.rank != second->head.rank)
        return first->head.rank < second->head.rank ? -1 : 1;
    return (first->number > second->number) - (first->number < second->number);
}

static void move_block(const Block *block, const uint32_t *ids, CcsMsccl *msccl)
{
    CcsMscclGpu *gpu = &msccl->gpus[block->head.rank];
    CcsMscclBlock head = block->head;

    head.id = ids[block->number];
    head.first_step = msccl->steps->len;
    head.n_steps = block->steps->len;
    for (guint i = 0; i < block->steps->len; i++) {
        CcsMscclStep step = g_array_index(block->steps, CcsMscclStep, i);
        step.block = msccl->blocks->len;
        if (step.wait_block != CCS_MSCCL_NONE)
            step.wait_block = ids[step.wait_block];
        g_array_append_val(msccl->steps, step);
    }
    if (gpu->n_blocks++ == 0)
        gpu->first_block = msccl->blocks->len;
    g_array_append_val(msccl->blocks, head);
}

void ccs_msccl_draft_finish(CcsMscclDraft *draft, CcsMsccl *msccl)
{
    g_autofree uint32_t *ids = g_new(uint32_t, draft->blocks->len + 1);
    g_autofree uint32_t *n_blocks = g_new0(uint32_t, msccl->n_ranks);

    for (guint i = 0; i < draft->blocks->len; i++)
        ids[i] = n_blocks[block_at(draft, i)->head.rank]++;
    g_ptr_array_sort(draft->blocks, compare_blocks);
    for (guint i = 0; i < draft->blocks->len; i++)
        move_block(block_at(draft, i), ids, msccl);
    g_ptr_array_set_size(draft->blocks, 0);
}
