/* check_main.h - the main() of every test program made with Check
 *
 * A test program defines ccs_test_suite(); meson reads the results as TAP. */
#pragma once

#include <check.h>

Suite *ccs_test_suite(void);
