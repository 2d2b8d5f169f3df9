/* cli.h - what tests of the program say again and again */
#pragma once

#include <string.h>

#include <check.h>
#include <glib.h>

#include "tests/support/folder.h"
#include "tests/support/program.h"
#include "tests/support/query.h"

/* Writes @text to the file @name in @folder. */
static inline void write_file(const char *folder, const char *name, const char *text)
{
    g_free(ccs_folder_write(folder, name, text));
}

/* @text has @part in it. */
static inline void assert_says(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in: %.2000s", part, text);
}

static inline void assert_says_not(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "'%s' is in: %.2000s", part, text);
}

/* It ended with @status. */
static inline void assert_status(const CcsProgramRun *run, int status)
{
    ck_assert_msg(run->status == status, "exit status %d (signal %d), not %d: %.2000s", run->status,
                  run->signal, status, run->errors);
}

/* It did what it was asked to, and had nothing to say about it. */
static inline void assert_done(const CcsProgramRun *run)
{
    assert_status(run, 0);
    ck_assert_str_eq(run->errors, "");
}

/* It ended with @status, said @part on stderr, and printed nothing. */
static inline void assert_refused(const CcsProgramRun *run, int status, const char *part)
{
    assert_status(run, status);
    assert_says(run->errors, part);
    ck_assert_str_eq(run->output, "");
}

/* The folder holds nothing whose name begins with @prefix. */
static inline void assert_none(const char *folder, const char *prefix)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name(dir)) != NULL)
        ck_assert_msg(!g_str_has_prefix(name, prefix), "'%s' was left behind", name);
}
