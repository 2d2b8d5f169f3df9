#include "base/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

GByteArray *ccs_read_all(int fd, size_t most)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    uint8_t buffer[65536];

    while (bytes->len <= most) {
        ssize_t n_read = read(fd, buffer, sizeof buffer);
        if (n_read < 0 && errno == EINTR)
            continue;
        if (n_read < 0)
            return NULL;
        if (n_read == 0)
            break;
        g_byte_array_append(bytes, buffer, (guint)n_read);
    }
    g_byte_array_append(bytes, (const uint8_t *)"", 1); /* an empty array has no data at all */
    g_byte_array_set_size(bytes, bytes->len - 1);
    return g_steal_pointer(&bytes);
}

static GByteArray *read_from(const char *label, int fd, size_t most, GError **error)
{
    struct stat status;
    bool is_folder = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    g_autoptr(GByteArray) bytes = is_folder ? NULL : ccs_read_all(fd, most);

    if (bytes == NULL) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s: error: %s", label,
                    is_folder ? "is a directory, not a file" : g_strerror(errno));
        return NULL;
    }
    if (bytes->len > most) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_INPUT, "%s: error: is larger than %zu MiB", label,
                    most / 1024 / 1024);
        return NULL;
    }
    return g_steal_pointer(&bytes);
}

size_t ccs_byte_order_mark(const char *text, size_t n_bytes)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};

    return n_bytes >= sizeof mark && memcmp(text, mark, sizeof mark) == 0 ? sizeof mark : 0;
}

static bool is_stdin(const char *file)
{
    return strcmp(file, "-") == 0;
}

const char *ccs_file_label(const char *file)
{
    return is_stdin(file) ? "(standard input)" : file;
}

GByteArray *ccs_read_file(const char *file, size_t most, GError **error)
{
    if (is_stdin(file))
        return read_from(ccs_file_label(file), STDIN_FILENO, most, error);

    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        g_set_error(error, CCS_ERROR, CCS_ERROR_IO, "%s: error: %s", file, g_strerror(errno));
        return NULL;
    }
    GByteArray *bytes = read_from(file, fd, most, error);
    close(fd);
    return bytes;
}
