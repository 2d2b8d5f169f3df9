/* terms.h - the formula of an algorithm with the numbers of a machine put in */
#pragma once

#include <stdint.h>

#include "collectives/algorithm.h"
#include "collectives/transport.h"
#include "topology/flat.h"

/* ccs_terms_time_us: T of CcsTerms for @size bytes, in microseconds. */
double ccs_terms_time_us(const CcsTerms *terms, const CcsFlatSwitch *flat,
                         const CcsTransport *transport, CcsBytes size);

/* ccs_terms_in_numbers:
 * "14 x 1 us + 14 x 0 us + 1.75 x 20.972 us", in the order a, o, S/B, S/G, without terms that
 * are not there. Returns: (transfer full). */
char *ccs_terms_in_numbers(const CcsTerms *terms, const CcsFlatSwitch *flat,
                           const CcsTransport *transport, CcsBytes size);

/* ccs_terms_in_letters: "14 a + 14 o + 1.75 S/B". Returns: (transfer full). */
char *ccs_terms_in_letters(const CcsTerms *terms);
