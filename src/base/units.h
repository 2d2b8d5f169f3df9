/* units.h - time, sizes and rates as integers, and their text forms
 *
 * The simulator computes with integers only: results then never depend on the order of
 * additions, and two engines can be compared bit by bit. Floating point appears where
 * a number is printed, nowhere else.
 *
 *   time   picoseconds, int64          106 days of range
 *   size   bytes, uint64
 *   rate   2^-16 bytes per second, uint64; 1 GB/s is 1e9 * 65536; at most 50 TB/s
 *   work   rate x time, unsigned 128 bit: one byte is CCS_WORK_PER_BYTE of it */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

typedef int64_t CcsTime;
typedef uint64_t CcsBytes;
typedef uint64_t CcsRate;
__extension__ typedef unsigned __int128 CcsWork;

#define CCS_PS_PER_US      ((CcsTime)1000000)
#define CCS_PS_PER_S       ((CcsTime)1000000000000)
#define CCS_RATE_PER_BYTE  ((CcsRate)65536) /* the rate of one byte per second */
#define CCS_WORK_PER_BYTE  ((CcsWork)65536 * 1000000000000U)
#define CCS_TIME_MAX       ((CcsTime)1 << 62)                    /* later than any event */
#define CCS_TIME_UNKNOWN   ((CcsTime)-1)                         /* in place of a duration */
#define CCS_RATE_UNLIMITED ((CcsRate)1 << 62)                    /* a link that never limits */
#define CCS_RATE_MAX       (CCS_RATE_PER_BYTE * 50000000000000U) /* largest rate to be written */
#define CCS_BYTES_MAX      ((CcsBytes)1 << 50)                   /* largest size to be written */

/* ccs_time_to_move:
 * The time that @bytes need at @rate (above 0), rounded up to the next picosecond;
 * CCS_TIME_MAX if that would be longer than CCS_TIME_MAX. */
CcsTime ccs_time_to_move(CcsBytes bytes, CcsRate rate);

/* ccs_work_time:
 * The same for @work that is left over. */
CcsTime ccs_work_time(CcsWork work, CcsRate rate);

typedef enum {
    CCS_QUANTITY_TIME, /* 2.5 us        -> picoseconds */
    CCS_QUANTITY_RATE, /* 450 GB/s      -> CcsRate */
    CCS_QUANTITY_SIZE, /* 4 MiB, 8K, 1G -> bytes */
} CcsQuantity;

/* ccs_quantity_parse:
 * Reads a number with its unit, without floating point. A value between two
 * representable ones is rounded to the nearest.
 *
 * Returns: true with @ret_value set; false with CCS_ERROR_INPUT, whose message is the
 * predicate of a sentence: "must be a time such as 2.5 us, not '1'". */
bool ccs_quantity_parse(CcsQuantity quantity, const char *text, uint64_t *ret_value,
                        GError **error);

/* ccs_quantity_units:
 * The names of the units that ccs_quantity_parse() knows.
 *
 * Returns: (transfer full). */
char **ccs_quantity_units(CcsQuantity quantity);

/* ccs_size_parse_option:
 * A size as nccl-tests takes it on the command line: like CCS_QUANTITY_SIZE, but a
 * number alone is bytes. */
bool ccs_size_parse_option(const char *text, CcsBytes *ret_bytes, GError **error);

/* ccs_quantity_format:
 * The shortest text that ccs_quantity_parse() reads back as the same value: "2.5 us",
 * "450 GB/s", "4 MiB". A rate that would need over 12 decimals is rounded to 12 digits.
 *
 * Returns: (transfer full). */
char *ccs_quantity_format(CcsQuantity quantity, uint64_t value);

/* The ending of a noun behind the number @n: "s", or nothing for 1. */
const char *ccs_plural(uint64_t n);

double ccs_time_us(CcsTime time);   /* in microseconds, for printing */
double ccs_rate_GBps(CcsRate rate); /* in 1e9 bytes per second, for printing */

/* ccs_bandwidth_GBps:
 * @bytes moved in @time, in 1e9 bytes per second, for printing; 0 when @time is 0. */
double ccs_bandwidth_GBps(double bytes, CcsTime time);
