/* rank_text.h - the words by which a program says who is meant
 *
 *   a set    all   3   0-7   0-6/2   0-3, 8
 *   a peer   3   rank + 1   rank - 1 mod n   rank xor 1
 *
 * In a peer `rank` is the rank of who calls and n the number of ranks, both of the call's
 * communicator. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* ccs_rank_set_read:
 * Adds the ranks that @text names, in its order, to @ranks (of uint32_t), which must stay free of
 * repetitions; @is_in tells for each of the @n_ranks ranks of the job whether it is there.
 *
 * Returns: (transfer full): NULL if all went well; else the predicate of a sentence. */
char *ccs_rank_set_read(const char *text, uint32_t n_ranks, bool *is_in, GArray *ranks);

typedef enum { CCS_PEER_RULE_RANK, CCS_PEER_RULE_PLUS, CCS_PEER_RULE_XOR } CcsPeerRuleKind;

typedef struct {
    CcsPeerRuleKind kind; /* the operand alone; rank + operand; rank xor operand */
    int64_t operand;
    bool has_modulus;
    int64_t modulus; /* 0: the number of ranks */
} CcsPeerRule;

/* Returns: (transfer full): NULL if all went well; else the predicate of a sentence. */
char *ccs_peer_rule_read(const char *text, CcsPeerRule *ret_rule);

/* Returns: the peer of @rank; it need not be one of the @n_ranks ranks. */
int64_t ccs_peer_rule_apply(const CcsPeerRule *rule, uint32_t rank, uint32_t n_ranks);
