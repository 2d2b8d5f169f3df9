#include "formats/msccl_draft.h"

typedef struct {
    uint32_t number;
    CcsMscclBlock head;
    GArray *steps;      /* of CcsMscclStep, which wait for steps by the numbers of a draft */
    GHashTable *waited; /* by block: steps of it that are done when the next step begins */
    GHashTable *added;  /* likewise, but only for MSCCL */
} Block;

/* What one step of the file waits for. */
typedef struct {
    CcsMscclRef step;
    bool is_unordered;
} Wait;

struct CcsMscclDraft {
    GPtrArray *blocks; /* of Block, owned */
};

static void free_block(gpointer data)
{
    Block *block = data;

    g_array_unref(block->steps);
    g_hash_table_unref(block->waited);
    g_hash_table_unref(block->added);
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
    block->added = g_hash_table_new(NULL, NULL);
    g_ptr_array_add(draft->blocks, block);
    return draft->blocks->len - 1;
}

static CcsMscclRef append(CcsMscclDraft *draft, uint32_t block, const CcsMscclStep *step, Wait wait)
{
    GArray *steps = block_at(draft, block)->steps;
    CcsMscclStep added = *step;

    added.wait_block = wait.step.block;
    added.wait_step = wait.step.step;
    added.is_unordered = wait.is_unordered;
    if (wait.step.block != CCS_MSCCL_NONE) {
        Block *self = block_at(draft, block);
        Block *other = block_at(draft, wait.step.block);
        g_array_index(other->steps, CcsMscclStep, wait.step.step).is_waited_for = true;
        g_hash_table_insert(wait.is_unordered ? self->added : self->waited,
                            GUINT_TO_POINTER(wait.step.block),
                            GUINT_TO_POINTER(wait.step.step + 1));
    }
    g_array_append_val(steps, added);
    return (CcsMscclRef){block, steps->len - 1};
}

/* Of several steps of one block only the last one matters. */
static void add_latest(GArray *latest, Wait wait)
{
    for (guint i = 0; i < latest->len; i++) {
        Wait *other = &g_array_index(latest, Wait, i);
        if (other->step.block == wait.step.block) {
            other->step.step = MAX(other->step.step, wait.step.step);
            return;
        }
    }
    g_array_append_val(latest, wait);
}

static uint32_t n_done(GHashTable *of, uint32_t block)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(of, GUINT_TO_POINTER(block)));
}

/* Whether @block does not come to its next step before @step anyway. */
static bool is_news(const CcsMscclDraft *draft, uint32_t block, CcsMscclRef step)
{
    return step.block != block && step.step >= n_done(block_at(draft, block)->waited, step.block);
}

/* Those of @waits that say something new, or all of them. Returns: of Wait. */
static GArray *select_waits(const CcsMscclDraft *draft, uint32_t block, const GArray *waits,
                            bool is_all)
{
    GArray *latest = g_array_new(false, false, sizeof(Wait));

    for (guint i = 0; waits != NULL && i < waits->len; i++) {
        Wait wait = {g_array_index(waits, CcsMscclRef, i), false};
        if (wait.step.block != CCS_MSCCL_NONE && (is_all || is_news(draft, block, wait.step)))
            add_latest(latest, wait);
    }
    return latest;
}

static bool is_among(const GArray *waits, CcsMscclRef step)
{
    for (guint i = 0; i < waits->len; i++) {
        CcsMscclRef other = g_array_index(waits, Wait, i).step;
        if (other.block == step.block && other.step >= step.step)
            return true;
    }
    return false;
}

/* Those of @added that say something new besides @needed. Returns: of Wait. */
static GArray *select_unordered(const CcsMscclDraft *draft, uint32_t block, const GArray *added,
                                const GArray *needed)
{
    GArray *latest = g_array_new(false, false, sizeof(Wait));

    for (guint i = 0; added != NULL && i < added->len; i++) {
        Wait wait = {g_array_index(added, CcsMscclRef, i), true};
        if (is_news(draft, block, wait.step) && !is_among(needed, wait.step) &&
            wait.step.step >= n_done(block_at(draft, block)->added, wait.step.block))
            add_latest(latest, wait);
    }
    return latest;
}

/* The step waits for the last of all, `nop`s before it for the others. What is posted comes at the
 * end, and a `nop` that does not wait keeps it apart. */
CcsMscclRef ccs_msccl_draft_add(CcsMscclDraft *draft, uint32_t block, const CcsMscclStep *step,
                                const CcsMscclWaits *waits)
{
    const CcsMscclStep nop = {.type = CCS_MSCCL_NOP};
    const Wait nothing = {{CCS_MSCCL_NONE, CCS_MSCCL_NONE}, false};
    g_autoptr(GArray) needed = select_waits(draft, block, waits->needed, false);
    g_autoptr(GArray) posted = select_waits(draft, block, waits->posted, true);
    g_autoptr(GArray) all = select_unordered(draft, block, waits->added, needed);

    if (needed->len > 0)
        g_array_append_vals(all, needed->data, needed->len);
    if (posted->len > 0 && all->len > 0)
        g_array_append_val(all, nothing);
    if (posted->len > 0)
        g_array_append_vals(all, posted->data, posted->len);
    for (guint i = 0; i + 1 < all->len; i++)
        append(draft, block, &nop, g_array_index(all, Wait, i));
    return append(draft, block, step,
                  all->len == 0 ? nothing : g_array_index(all, Wait, all->len - 1));
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
