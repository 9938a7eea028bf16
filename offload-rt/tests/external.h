/* Memory and semaphores of other programming interfaces, for the stand-ins of drivers: files, of which a part is mapped,
 * or that begin with the value of a semaphore. */
struct external_handle { unsigned kind; union { int file; void *pair[2]; } handle; uint64_t size; unsigned flags, reserved[16]; };
struct external_part { uint64_t offset, size; unsigned flags, reserved[16]; };
struct semaphore_handle { unsigned kind; union { int file; void *pair[2]; } handle; unsigned flags, reserved[16]; };
struct semaphore_parameters { uint64_t value, others[8]; unsigned flags, reserved[16]; };
struct external { int file; uint64_t size; };
struct semaphore { int file; unsigned kind; int pending; };
enum { OPAQUE_FD = 1, DMA_BUF_FD = 9, TIMELINE_FD = 9 };
static int imported;

static int all_zero(const void *start, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((const char *)start)[i]) return 0;
    return 1;
}
/* `file` is the driver's from now on. */
static struct external *import_file(const struct external_handle *handle, int file)
{
    struct stat status;
    if (handle->flags > 1 || !all_zero(handle->reserved, sizeof handle->reserved)) return NULL;
    if (fstat(file, &status) || !handle->size || (uint64_t)status.st_size < handle->size) return NULL;
    struct external *external = malloc(sizeof *external);
    imported++;
    return *external = (struct external){ .file = file, .size = handle->size }, external;
}
static void *map_external(const struct external *external, const struct external_part *part)
{
    if (part->flags || !all_zero(part->reserved, sizeof part->reserved)) return NULL;
    if (!part->size || part->offset > external->size || part->size > external->size - part->offset) return NULL;
    size_t whole = part->offset + part->size;
    char *base = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, external->file, 0);
    if (base == MAP_FAILED) return NULL;
    return keep_mapping((struct mapping){ .start = base + part->offset, .base = base, .size = whole });
}
static int drop_external(struct external *external)
{
    imported--;
    int closed = close(external->file) == 0;
    return free(external), closed;
}
static struct semaphore *import_semaphore(const struct semaphore_handle *handle, int file)
{
    uint64_t value;
    if (handle->flags || !all_zero(handle->reserved, sizeof handle->reserved)) return NULL;
    if (pread(file, &value, sizeof value, 0) != sizeof value) return NULL;
    struct semaphore *semaphore = malloc(sizeof *semaphore);
    imported++;
    return *semaphore = (struct semaphore){ .file = file, .kind = handle->kind }, semaphore;
}
static int are_parameters(const struct semaphore_parameters *parameters)
{
    return !parameters->flags && all_zero(parameters->others, sizeof parameters->others)
        && all_zero(parameters->reserved, sizeof parameters->reserved);
}
/* Whether the value is there: nothing else runs meanwhile. */
static int wait_value(struct semaphore *semaphore, uint64_t value)
{
    uint64_t found = 0;
    pread(semaphore->file, &found, sizeof found, 0);
    if (semaphore->kind == TIMELINE_FD) return found >= value;
    uint64_t reset = 0;
    return found == 1 && pwrite(semaphore->file, &reset, sizeof reset, 0) == sizeof reset;
}
static int signal_value(struct semaphore *semaphore, uint64_t value)
{
    uint64_t found = 0;
    if (semaphore->kind == OPAQUE_FD) value = 1;
    pread(semaphore->file, &found, sizeof found, 0);
    return found < value && pwrite(semaphore->file, &value, sizeof value, 0) == sizeof value;
}
static int drop_semaphore(struct semaphore *semaphore)
{
    imported--;
    int closed = close(semaphore->file) == 0 && !semaphore->pending;
    return free(semaphore), closed;
}
