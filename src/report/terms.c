#include "report/terms.h"

#include <string.h>

#define N_TERMS 4

/* How often each term counts, and what it is. */
typedef struct {
    const char *letters[N_TERMS];
    double factors[N_TERMS];
    double us[N_TERMS];
} Parts;

static Parts parts_of(const CcsTerms *terms)
{
    return (Parts){
        .letters = {"a", "o", "S/B", "S/G"},
        .factors = {terms->latencies, terms->costs, terms->sizes, terms->reductions},
    };
}

static double move_us(CcsBytes size, CcsRate rate)
{
    return rate >= CCS_RATE_UNLIMITED ? 0 : (double)size / ccs_rate_GBps(rate) / 1e3;
}

static Parts timed_parts_of(const CcsTerms *terms, const CcsFlatSwitch *flat,
                            const CcsTransport *transport, CcsBytes size)
{
    Parts parts = parts_of(terms);

    parts.us[0] = ccs_time_us(flat->latency);
    parts.us[1] = ccs_time_us(transport->message_cost);
    parts.us[2] = move_us(size, flat->bandwidth);
    parts.us[3] = move_us(size, transport->reduce_rate);
    return parts;
}

double ccs_terms_time_us(const CcsTerms *terms, const CcsFlatSwitch *flat,
                         const CcsTransport *transport, CcsBytes size)
{
    Parts parts = timed_parts_of(terms, flat, transport, size);
    double sum = ccs_time_us(transport->launch);

    for (size_t i = 0; i < N_TERMS; i++)
        sum += parts.factors[i] * parts.us[i];
    return sum;
}

/* At most six decimals, and none that say nothing. */
static char *plain_number(double number)
{
    char *text = g_strdup_printf("%.6f", number);
    size_t length = strlen(text);

    while (text[length - 1] == '0')
        length--;
    text[text[length - 1] == '.' ? length - 1 : length] = '\0';
    return text;
}

char *ccs_terms_in_numbers(const CcsTerms *terms, const CcsFlatSwitch *flat,
                           const CcsTransport *transport, CcsBytes size)
{
    Parts parts = timed_parts_of(terms, flat, transport, size);
    GString *text = g_string_new(NULL);

    if (transport->launch > 0)
        g_string_append_printf(text, "%.3f us launch", ccs_time_us(transport->launch));
    for (size_t i = 0; i < N_TERMS; i++) {
        g_autofree char *factor = plain_number(parts.factors[i]);
        if (parts.factors[i] != 0)
            g_string_append_printf(text, "%s%s x %.3f us", text->len > 0 ? " + " : "", factor,
                                   parts.us[i]);
    }
    return g_string_free(text, false);
}

char *ccs_terms_in_letters(const CcsTerms *terms)
{
    Parts parts = parts_of(terms);
    GString *text = g_string_new(NULL);

    for (size_t i = 0; i < N_TERMS; i++) {
        g_autofree char *factor = plain_number(parts.factors[i]);
        if (parts.factors[i] != 0)
            g_string_append_printf(text, "%s%s %s", text->len > 0 ? " + " : "", factor,
                                   parts.letters[i]);
    }
    return g_string_free(text, false);
}
