/* version.h - what this program is made of */
#pragma once

#include <stdio.h>

/* ccs_version_print: the version, those of the libraries in use, and what is built in. */
void ccs_version_print(FILE *out);
