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
static struct mapping { char *start; size_t size; int is_own; char name[64]; } mappings[64];
static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER;

static void *remember(int file, const char *name, size_t size, int is_own)
{
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (start == MAP_FAILED) return NULL;
    pthread_mutex_lock(&mapping);
    int at = 0;
    while (mappings[at].start) at++;
    mappings[at] = (struct mapping){ .start = start, .size = size, .is_own = is_own };
    strcpy(mappings[at].name, name);
    pthread_mutex_unlock(&mapping);
    return start;
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
        munmap(memory, mappings[at].size);
        if (mappings[at].is_own) unlink(mappings[at].name);
        mappings[at].start = NULL;
    }
    pthread_mutex_unlock(&mapping);
    return at < 64;
}
