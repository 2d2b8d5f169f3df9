/* markup.h - XML whose elements and attributes know their place
 *
 * GMarkup reads the text and tells of each element; here its attributes are asked for, as
 * numbers or words, with errors that name the place. The text comes from anyone: nothing is
 * fetched, no entities are defined, and a document type is refused. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

typedef struct {
    const char *label; /* what messages call it */
    const char *text;
    size_t n_bytes;
} CcsMarkupText;

typedef struct {
    uint32_t line; /* both from 1 */
    uint32_t column;
} CcsMarkupPlace;

typedef struct CcsMarkup CcsMarkup;

/* What is told of each element; false with an error ends it. */
typedef struct {
    bool (*start)(CcsMarkup *markup, const char *element, void *data, GError **error);
    bool (*end)(CcsMarkup *markup, const char *element, void *data, GError **error);
} CcsMarkupHandlers;

/* ccs_markup_parse: Returns: false with CCS_ERROR_INPUT, or with the error of a handler. */
bool ccs_markup_parse(const CcsMarkupText *text, const CcsMarkupHandlers *handlers, void *data,
                      GError **error);

/* While `start` is told of an element: its place and its attributes. */
CcsMarkupPlace ccs_markup_place(const CcsMarkup *markup);
const char *ccs_markup_attribute(const CcsMarkup *markup, const char *name); /* NULL if missing */

/* Numbers from @least to @most are allowed; what is missing is @otherwise, or an error if that is
 * CCS_MARKUP_NEEDED. */
typedef struct {
    const char *name;
    int64_t least;
    int64_t most;
    int64_t otherwise;
} CcsMarkupNumber;

#define CCS_MARKUP_NEEDED INT64_MIN

bool ccs_markup_number(const CcsMarkup *markup, const CcsMarkupNumber *number, int64_t *ret_number,
                       GError **error);

/* ccs_markup_text: the attribute @name, which must be there. NULL with an error. */
const char *ccs_markup_text(const CcsMarkup *markup, const char *name, GError **error);

/* ccs_markup_word: the index in @words (NULL-terminated) of the attribute @name, which must be
 * there and be one of them. */
bool ccs_markup_word(const CcsMarkup *markup, const char *name, const char *const *words,
                     uint32_t *ret_index, GError **error);

/* ccs_markup_fail: sets an error at the attribute @attribute of the element, or at the element
 * itself if that is NULL or missing. Returns: false. */
bool ccs_markup_fail(const CcsMarkup *markup, const char *attribute, GError **error,
                     const char *format, ...) G_GNUC_PRINTF(4, 5);

/* ccs_markup_fail_at: the same at @place of @text, which may be had from earlier. */
bool ccs_markup_fail_at(const CcsMarkupText *text, CcsMarkupPlace place, GError **error,
                        const char *format, ...) G_GNUC_PRINTF(4, 5);

/* So much of a text that a message stays readable. Returns: (transfer full). */
char *ccs_markup_shorten(const char *text);
