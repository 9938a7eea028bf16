/* Memory that processes share, for the stand-ins of drivers: a file that is mapped, whose name is the handle. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 2 << 20 };
struct handle { char name[64]; };
static struct mapping { char *start, *base; size_t size; int is_own; char name[64]; } mappings[64];
static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER;

static void *keep_mapping(struct mapping kept)
{
    pthread_mutex_lock(&mapping);
    int at = 0;
    while (mappings[at].start) at++;
    mappings[at] = kept;
    pthread_mutex_unlock(&mapping);
    return kept.start;
}
/* With a page before it, for what a driver notes there. */
static void *remember(int file, const char *name, size_t size, int is_own)
{
    enum { PAGE = 4096 };
    char *base = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return NULL;
    char *start = mmap(base + PAGE, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
    if (start == MAP_FAILED) return NULL;
    struct mapping kept = { .start = start, .base = base, .size = size + PAGE, .is_own = is_own };
    strcpy(kept.name, name);
    return keep_mapping(kept);
}
/* A file descriptor of memory of a whole number of pages. */
static int file_of(const void *memory, size_t size)
{
    for (int i = 0; i < 64; i++)
        if (mappings[i].start == memory && mappings[i].is_own && size % 4096 == 0 && size <= mappings[i].size)
            return open(mappings[i].name, O_RDWR | O_CLOEXEC);
    return -1;
}
static void *share(size_t size)
{
    char name[64] = "/tmp/stand-in-XXXXXX";
    int file = mkstemp(name);
    return file >= 0 && ftruncate(file, size) == 0 ? remember(file, name, size, 1) : NULL;
}
static int handle_of(const void *memory, struct handle *handle)
{
    for (int i = 0; i < 64; i++)
        if (mappings[i].start == memory && mappings[i].is_own) return memcpy(handle->name, mappings[i].name, 64), 1;
    return 0;
}
/* The process that has made the memory cannot open it. */
static void *map(const struct handle *handle)
{
    struct stat status;
    for (int i = 0; i < 64; i++)
        if (mappings[i].start && mappings[i].is_own && strcmp(mappings[i].name, handle->name) == 0) return NULL;
    int file = memchr(handle->name, 0, 64) && strncmp(handle->name, "/tmp/stand-in-", 14) == 0 ? open(handle->name, O_RDWR) : -1;
    return file >= 0 && fstat(file, &status) == 0 ? remember(file, handle->name, status.st_size, 0) : NULL;
}
static int unmap(void *memory)
{
    pthread_mutex_lock(&mapping);
    int at = 0;
    while (at < 64 && mappings[at].start != memory) at++;
    if (at < 64) {
        munmap(mappings[at].base, mappings[at].size);
        if (mappings[at].is_own) unlink(mappings[at].name);
        mappings[at].start = NULL;
    }
    pthread_mutex_unlock(&mapping);
    return at < 64;
}
