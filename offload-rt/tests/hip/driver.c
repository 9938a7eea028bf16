/* A stand-in for libamdhip64 that runs six kernels on the CPU, and is strict where the runtime is lenient: work waits in
 * its stream until somebody waits for it, so that an order nobody asked for is seen; what belongs to another device than
 * the thread's is refused; a stream that is destroyed loses its work; and it says at its end what was not given back and
 * what was used too late. Every call is recorded in the file that HIP_STAND_IN_CALLS names.
 * With OLD defined it lacks what no launch needs; with INCOMPLETE it lacks a function; with ROCM5 it lacks the structures
 * of ROCm 6; with NONE it has no device. Another file has the kernels. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../textures.h"
#include "driver.h"

enum { DEVICES = 2, SHARED_LIMIT = 64 << 10 };
static const char *const TARGETS[DEVICES] = { "gfx1100", "gfx90a:sramecc+:xnack-" };

static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static int buffers, modules, streams, events, graphs, pools;
static R lost[DEVICES]; /* what every wait on a device returns after a crash */
static _Thread_local int current;

/* Records */
static FILE *calls;
static void record(const char *name)
{
    if (calls) fprintf(calls, "%s %d\n", name, current);
}
static int imported_left(void);
static void complain(const char *what) { printf("stand-in: %s\n", what); fflush(stdout); }
__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("HIP_STAND_IN_CALLS");
    if (path) calls = fopen(path, "a");
}
__attribute__((destructor)) static void report(void)
{
    if (calls) fclose(calls);
    if (!lost[0] && (imported_left() || buffers || modules || streams || events || graphs || pools || arrays || objects))
        printf("left behind: %d imported, %d buffers, %d modules, %d streams, %d events, %d graphs, %d pools, %d arrays, %d textures and surfaces\n", imported_left(), buffers, modules, streams, events, graphs, pools, arrays, objects);
}
struct held { pthread_mutex_t *mutex; };
static void unlock(struct held *held) { pthread_mutex_unlock(held->mutex); }
/* Every function that changes something holds the lock to its end. */
#define CALL                                                             \
    __attribute__((cleanup(unlock))) struct held held = { &all };        \
    pthread_mutex_lock(&all);                                            \
    record(__func__)
#define BELONGS(device) \
    if ((device) != current) return complain(__func__), INVALID_CONTEXT

/* Errors and devices */
const char *hipGetErrorName(R code)
{
    static const struct { R code; const char *name; } names[] = {
        { INVALID_VALUE, "hipErrorInvalidValue" }, { OUT_OF_MEMORY, "hipErrorOutOfMemory" },
        { NO_DEVICE, "hipErrorNoDevice" }, { INVALID_DEVICE, "hipErrorInvalidDevice" },
        { INVALID_IMAGE, "hipErrorInvalidImage" }, { INVALID_CONTEXT, "hipErrorInvalidContext" },
        { NO_BINARY, "hipErrorNoBinaryForGpu" }, { INVALID_HANDLE, "hipErrorInvalidHandle" },
        { NOT_FOUND, "hipErrorNotFound" }, { NOT_READY, "hipErrorNotReady" },
        { LAUNCH_FAILURE, "hipErrorLaunchFailure" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) return names[i].name;
    return "hipErrorUnknown";
}
const char *hipGetErrorString(R code) { (void)code; return "as the stand-in says"; }
#ifdef NONE
R hipInit(unsigned flags) { (void)flags; return NO_DEVICE; }
#else
R hipInit(unsigned flags) { return flags ? INVALID_VALUE : OK; }
#endif
#ifndef OLD
R hipRuntimeGetVersion(int *version) { return *version = 60342134, OK; }
#endif
R hipGetDeviceCount(int *count) { return *count = DEVICES, OK; }
R hipGetDevice(int *device) { return *device = current, OK; }
R hipSetDevice(int device)
{
    CALL;
    return device >= 0 && device < DEVICES ? (current = device, OK) : INVALID_DEVICE;
}
#ifndef ROCM5
R hipGetDevicePropertiesR0600(struct properties *p, int device)
{
    if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
    memset(p, 0, sizeof *p);
    strcpy(p->name, "stand-in");
    strcpy(p->gcnArchName, TARGETS[device]);
    p->totalGlobalMem = (size_t)1 << 34;
    p->sharedMemPerBlock = SHARED_LIMIT;
    p->warpSize = device ? 64 : 32;
    p->maxThreadsPerBlock = 1024;
    for (int i = 0; i < 3; i++) p->maxThreadsDim[i] = 1024;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    memcpy(p->uuid, device ? "18bd6f1a2c3d4e5f" : "XX\0garbage of it", 16);
    p->clockRate = 2500000;
    p->multiProcessorCount = device ? 104 : 48;
    p->integrated = !device;
    p->l2CacheSize = 6 << 20;
    p->pciDomainID = 2, p->pciBusID = 0xc1 + device, p->pciDeviceID = 0;
    return OK;
}
#endif
#ifndef OLD
R hipDeviceGetPCIBusId(char *text, int size, int device)
{
    if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
    return snprintf(text, size, "0002:%02x:00.%d", 0xc1 + device, device) < size ? OK : INVALID_VALUE;
}
#endif
R hipMemGetInfo(size_t *left, size_t *total)
{
    CALL;
    return *left = (size_t)(12 + current) << 30, *total = (size_t)1 << 34, OK;
}

/* Streams and events: work is done when somebody waits for it */
enum kind { COPY, FILL, LAUNCH, WAIT, RELEASE, FUNCTION, HOST, WAIT_VALUE, SIGNAL_VALUE };
struct stream;
struct semaphore;
static int use_value(struct semaphore *semaphore, int is_wait, uint64_t value);
struct op {
    enum kind kind;
    struct op *next;
    char *to;
    const char *from;
    void *staged; /* copied at the call, as memory that is not pinned is */
    size_t size, step;
    uint32_t value;
    struct event *event;
    struct launch *launch;
    void (*function)(struct stream *, R, void *);
    void (*host)(void *);
    void *data;
    struct semaphore *semaphore;
    uint64_t semaphore_value;
};
struct stream {
    int device;
    R error;
    uint64_t queued, done;
    struct op *first, **last;
    struct graph *graph;  /* it captures */
    uint64_t given, joined; /* what it was given in the capture, and what of it the first stream waits for */
};
struct event { int device, used, times; struct stream *stream; uint64_t at, given; struct graph *graph; struct timespec time; };
/* Operations that are done at each launch. */
struct graph { int device, count; struct stream *first; struct graph *of; struct op ops[64]; struct launch launches[64]; };

static struct stream *known[65536];
static int known_count;
static void settle(struct stream *stream, uint64_t upto);

static void run(struct stream *stream, struct op *op)
{
    if (op->kind == COPY) {
        memmove(op->to, op->staged ? op->staged : op->from, op->size);
    } else if (op->kind == FILL) {
        for (size_t i = 0; i < op->size; i++) memcpy(op->to + i * op->step, &op->value, op->step);
    } else if (op->kind == RELEASE) {
        memset(op->to, 0xdd, op->size);
        free(op->to - 64);
        buffers--;
    } else if (op->kind == FUNCTION) {
        op->function(stream, lost[stream->device], op->data);
    } else if (op->kind == HOST) {
        op->host(op->data);
    } else if (op->kind == WAIT_VALUE || op->kind == SIGNAL_VALUE) {
        if (!use_value(op->semaphore, op->kind == WAIT_VALUE, op->semaphore_value)) complain("a semaphore has another value");
    } else if (op->kind == WAIT) {
        if (op->event->stream) settle(op->event->stream, op->event->at);
    } else {
        R failed = execute(op->launch);
        if (failed) stream->error = lost[stream->device] = failed;
        op->launch->module->pending--;
        free(op->launch);
    }
    free(op->staged);
    free(op);
}
/* Runs what was queued before `upto`. */
static void settle(struct stream *stream, uint64_t upto)
{
    while (stream->done < upto && stream->first) {
        struct op *op = stream->first;
        stream->first = op->next;
        if (!stream->first) stream->last = &stream->first;
        stream->done++;
        run(stream, op);
    }
}
static void settle_device(int device)
{
    for (int i = 0; i < known_count; i++)
        if (known[i] && known[i]->device == device) settle(known[i], known[i]->queued);
}
static struct op *queue(struct stream *stream, enum kind kind)
{
    if (stream->graph) {
        struct graph *graph = stream->graph;
        stream->given++;
        if (graph->count == 64) abort();
        struct op *kept = &graph->ops[graph->count++];
        return *kept = (struct op){ .kind = kind }, kept;
    }
    struct op *op = calloc(1, sizeof *op);
    op->kind = kind;
    *stream->last = op;
    stream->last = &op->next;
    stream->queued++;
    return op;
}
R hipStreamCreateWithFlags(struct stream **stream, unsigned flags)
{
    CALL;
    if (flags != 1) return INVALID_VALUE;
    streams++;
    *stream = calloc(1, sizeof **stream);
    (*stream)->device = current;
    (*stream)->last = &(*stream)->first;
    known[known_count++] = *stream;
    return OK;
}
#ifndef OLD
/* Lower numbers are higher priorities. */
R hipDeviceGetStreamPriorityRange(int *lowest, int *highest) { CALL; return *lowest = 1, *highest = -1, OK; }
R hipStreamCreateWithPriority(struct stream **stream, unsigned flags, int priority)
{
    char call[64];
    snprintf(call, sizeof call, "%s(%d)", __func__, priority);
    record(call);
    return hipStreamCreateWithFlags(stream, flags);
}
#endif
R hipStreamSynchronize(struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    if (stream->graph) return CAPTURE_UNSUPPORTED;
    settle(stream, stream->queued);
    return lost[stream->device];
}
R hipLaunchHostFunc(struct stream *stream, void (*function)(void *), void *data)
{
    CALL;
    BELONGS(stream->device);
    if (!function) return INVALID_VALUE;
    struct op *op = queue(stream, HOST);
    return op->host = function, op->data = data, OK;
}
#ifndef OLD
/* A thread of the runtime does the work soon, also without a wait. */
static void *soon(void *stream)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    pthread_mutex_lock(&all);
    settle(stream, ((struct stream *)stream)->queued);
    return pthread_mutex_unlock(&all), NULL;
}
R hipStreamAddCallback(struct stream *stream, void (*function)(struct stream *, R, void *), void *data, unsigned flags)
{
    CALL;
    BELONGS(stream->device);
    if (stream->graph) return CAPTURE_UNSUPPORTED;
    if (flags || !function) return INVALID_VALUE;
    struct op *op = queue(stream, FUNCTION);
    op->function = function, op->data = data;
    pthread_t thread;
    pthread_create(&thread, NULL, soon, stream);
    return pthread_detach(thread), OK;
}
R hipStreamGetDevice(struct stream *stream, int *device)
{
    CALL;
    return *device = stream ? stream->device : current, OK;
}
#endif
R hipStreamWaitEvent(struct stream *stream, struct event *event, unsigned flags)
{
    CALL;
    BELONGS(stream->device);
    if (flags || !event) return INVALID_VALUE;
    if (event->graph) {
        if (stream->graph && stream->graph != event->graph) return CAPTURE_UNSUPPORTED;
        if (!stream->graph) stream->given = stream->joined = 0;
        stream->graph = event->graph;
        if (event->graph->first == stream) event->stream->joined = event->given;
        return OK;
    }
    if (stream->graph) return CAPTURE_UNSUPPORTED;
    queue(stream, WAIT)->event = event;
    event->used++;
    return OK;
}
R hipStreamDestroy(struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    if (stream->first) complain("a stream was destroyed with its work");
    for (int i = 0; i < known_count; i++)
        if (known[i] == stream) known[i] = NULL;
    streams--;
    return OK; /* events may still refer to it */
}
R hipDeviceSynchronize(void)
{
    CALL;
    settle_device(current);
    return lost[current];
}
R hipEventCreateWithFlags(struct event **event, unsigned flags)
{
    CALL;
    if (flags && flags != 2) return INVALID_VALUE;
    events++;
    *event = calloc(1, sizeof **event);
    (*event)->device = current;
    (*event)->times = flags == 0;
    return OK;
}
R hipEventRecord(struct event *event, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    if (event->device != stream->device) return INVALID_HANDLE;
    event->stream = stream;
    event->at = stream->queued;
    event->graph = stream->graph;
    event->given = stream->given;
    return clock_gettime(CLOCK_MONOTONIC, &event->time), OK;
}
R hipEventSynchronize(struct event *event)
{
    CALL;
    BELONGS(event->device);
    if (event->graph) return CAPTURE_UNSUPPORTED;
    if (event->stream) settle(event->stream, event->at);
    return lost[event->device];
}
R hipEventQuery(struct event *event)
{
    CALL;
    BELONGS(event->device);
    if (!event->stream || event->stream->done >= event->at) return lost[event->device];
    settle(event->stream, event->stream->done + 1); /* some time has passed */
    return NOT_READY;
}
R hipEventElapsedTime(float *ms, struct event *a, struct event *b)
{
    CALL;
    BELONGS(b->device);
    if (a->device != b->device || !a->stream || !b->stream || !a->times || !b->times) return INVALID_HANDLE;
    if (a->stream->done < a->at || b->stream->done < b->at) return NOT_READY;
    *ms = (b->time.tv_sec - a->time.tv_sec) * 1e3f + (b->time.tv_nsec - a->time.tv_nsec) / 1e6f;
    return OK;
}
R hipEventDestroy(struct event *event)
{
    CALL;
    BELONGS(event->device);
    events--;
    if (!event->used) free(event); /* what waits for it needs it still */
    return OK;
}

/* Memory: its device stands before it. That of whole blocks of 2 MiB is a file, which other processes can map */
#include "../shared.h"
#include "../external.h"
static int imported_left(void) { return imported; }
static int use_value(struct semaphore *semaphore, int is_wait, uint64_t value)
{
    semaphore->pending--;
    return is_wait ? wait_value(semaphore, value) : signal_value(semaphore, value);
}
static int is_external(const void *memory)
{
    for (int i = 0; i < 64; i++)
        if (mappings[i].start == memory && !mappings[i].name[0]) return 1;
    return 0;
}
enum { HEAD = 64 };
R hipMalloc(void **memory, size_t size)
{
    CALL;
    char *shared = size % BLOCK == 0 && size < (size_t)1 << 40 ? share(size) : NULL;
    char *head = size >= (size_t)1 << 40 ? NULL : shared ? shared - HEAD : malloc(size + HEAD);
    if (head == NULL) return OUT_OF_MEMORY;
    memset(head + HEAD, 0xa5, size);
    *(int *)head = current;
    buffers++;
    return *memory = head + HEAD, OK;
}
#ifndef OLD
R hipDeviceGetAttribute(int *value, unsigned attribute, int device)
{
    enum { CONCURRENT_MANAGED_ACCESS = 9 };
    if (attribute != CONCURRENT_MANAGED_ACCESS || device < 0 || device >= DEVICES) return INVALID_VALUE;
    return *value = 1, OK;
}
R hipMallocManaged(void **memory, size_t size, unsigned flags) { return flags == 1 ? hipMalloc(memory, size) : INVALID_VALUE; }
R hipMemPrefetchAsync(const void *memory, size_t size, int device, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    return memory && size && device >= -1 && device < DEVICES && !stream->graph ? OK : INVALID_VALUE;
}
R hipMemAdvise(const void *memory, size_t size, unsigned advice, int device)
{
    char call[64];
    snprintf(call, sizeof call, "%s(%u,%d)", __func__, advice, device);
    record(call);
    return memory && size && advice >= 1 && advice <= 6 && device >= -1 && device < DEVICES ? OK : INVALID_VALUE;
}
#endif
R hipFree(void *memory)
{
    CALL;
    char *head = (char *)memory - HEAD;
    if (is_external(memory)) return settle_device(current), buffers--, unmap(memory) ? OK : INVALID_VALUE;
    BELONGS(*(int *)head);
    settle_device(current);
    buffers--;
    if (!unmap(memory)) free(head);
    return OK;
}
#ifndef OLD
R hipIpcGetMemHandle(struct handle *handle, char *memory)
{
    CALL;
    return handle_of(memory, handle) ? OK : INVALID_VALUE;
}
R hipIpcOpenMemHandle(void **memory, struct handle handle, unsigned flags)
{
    CALL;
    *memory = flags == 1 ? map(&handle) : NULL;
    buffers += *memory != NULL;
    return *memory ? OK : INVALID_VALUE;
}
R hipIpcCloseMemHandle(char *memory)
{
    CALL;
    buffers--;
    return unmap(memory) ? OK : INVALID_VALUE;
}
R hipMemGetHandleForAddressRange(int *file, void *memory, size_t size, unsigned kind, unsigned long long flags)
{
    CALL;
    if (kind != 1 || flags) return INVALID_VALUE;
    return (*file = file_of(memory, size)) >= 0 ? OK : INVALID_VALUE;
}
/* The file stays the caller's. */
R hipImportExternalMemory(struct external **external, const struct external_handle *handle)
{
    CALL;
    if (handle->kind != OPAQUE_FD) return INVALID_VALUE;
    int file = dup(handle->handle.file);
    if ((*external = import_file(handle, file))) return OK;
    return close(file), INVALID_VALUE;
}
R hipExternalMemoryGetMappedBuffer(void **memory, struct external *external, const struct external_part *part)
{
    CALL;
    *memory = map_external(external, part);
    buffers += *memory != NULL;
    return *memory ? OK : INVALID_VALUE;
}
R hipDestroyExternalMemory(struct external *external) { CALL; return drop_external(external) ? OK : INVALID_VALUE; }
R hipImportExternalSemaphore(struct semaphore **semaphore, const struct semaphore_handle *handle)
{
    CALL;
    if (handle->kind != OPAQUE_FD && handle->kind != TIMELINE_FD) return INVALID_VALUE;
    int file = dup(handle->handle.file);
    if ((*semaphore = import_semaphore(handle, file))) return OK;
    return close(file), INVALID_VALUE;
}
static R on_semaphores(enum kind kind, struct semaphore *const *semaphores, const struct semaphore_parameters *parameters,
                       unsigned count, struct stream *stream)
{
    BELONGS(stream->device);
    if (stream->graph) return CAPTURE_UNSUPPORTED;
    if (count != 1 || !are_parameters(parameters)) return INVALID_VALUE;
    struct op *op = queue(stream, kind);
    semaphores[0]->pending++;
    return op->semaphore = semaphores[0], op->semaphore_value = parameters->value, OK;
}
R hipWaitExternalSemaphoresAsync(struct semaphore *const *semaphores, const struct semaphore_parameters *parameters, unsigned count, struct stream *stream)
{
    CALL;
    return on_semaphores(WAIT_VALUE, semaphores, parameters, count, stream);
}
R hipSignalExternalSemaphoresAsync(struct semaphore *const *semaphores, const struct semaphore_parameters *parameters, unsigned count, struct stream *stream)
{
    CALL;
    return on_semaphores(SIGNAL_VALUE, semaphores, parameters, count, stream);
}
R hipDestroyExternalSemaphore(struct semaphore *semaphore)
{
    CALL;
    return drop_semaphore(semaphore) ? OK : (complain("a semaphore was released before its work"), INVALID_VALUE);
}
#endif
/* Pools: memory is released in the order of a stream; who uses it afterwards finds something else there */
struct pool { int device; uint64_t kept, used, most; };
struct pool_properties { unsigned allocation, handles, location; int device; void *security; size_t most; char reserved[56]; };
R hipMemPoolCreate(struct pool **pool, const struct pool_properties *properties)
{
    CALL;
    if (properties->allocation != 1 || properties->handles || properties->location != 1 || properties->device >= DEVICES)
        return INVALID_VALUE;
    pools++;
    *pool = calloc(1, sizeof **pool);
    return (*pool)->device = properties->device, OK;
}
static struct pool own_pools[DEVICES];
R hipDeviceGetDefaultMemPool(struct pool **pool, int device) { return *pool = &own_pools[device], OK; }
R hipDeviceGetMemPool(struct pool **pool, int device) { return hipDeviceGetDefaultMemPool(pool, device); }
R hipMemPoolDestroy(struct pool *pool)
{
    CALL;
    pools--;
    return free(pool), OK;
}
R hipMemPoolSetAttribute(struct pool *pool, int attribute, uint64_t *value)
{
    CALL;
    return attribute == 4 ? pool->kept = *value, OK : INVALID_VALUE;
}
R hipMemPoolGetAttribute(struct pool *pool, int attribute, uint64_t *value)
{
    CALL;
    if (attribute < 5 || attribute > 8) return INVALID_VALUE;
    return *value = attribute == 7 ? pool->used : pool->most, OK;
}
R hipMemPoolTrimTo(struct pool *pool, size_t kept)
{
    CALL;
    (void)kept;
    return pool->most = pool->used, OK;
}
R hipMallocFromPoolAsync(void **memory, size_t size, struct pool *pool, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    if (pool->device != stream->device || stream->graph) return INVALID_VALUE;
    char *head = size < (size_t)1 << 40 ? malloc(size + HEAD) : NULL;
    if (head == NULL) return OUT_OF_MEMORY;
    memset(head + HEAD, 0xa5, size);
    *(int *)head = current;
    *(size_t *)(head + 8) = size;
    *(struct pool **)(head + 16) = pool;
    buffers++;
    pool->used += size;
    if (pool->used > pool->most) pool->most = pool->used;
    return *memory = head + HEAD, OK;
}
R hipFreeAsync(void *memory, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    char *head = (char *)memory - HEAD;
    BELONGS(*(int *)head);
    struct op *op = queue(stream, RELEASE);
    op->to = memory, op->size = *(size_t *)(head + 8);
    (*(struct pool **)(head + 16))->used -= op->size;
    return OK;
}
/* Each device may use the other's memory, once that was said */
struct access { unsigned location; int device; unsigned flags; };
static char enabled[DEVICES];
R hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    CALL;
    return *can = device != peer, peer < DEVICES ? OK : INVALID_DEVICE;
}
R hipStreamGetFlags(struct stream *stream, unsigned *flags) { return *flags = 1, stream ? OK : INVALID_VALUE; }
R hipDeviceDisablePeerAccess(int peer) { return peer == current ? INVALID_VALUE : OK; }
static size_t limits[3];
R hipDeviceSetLimit(unsigned limit, size_t value) { return limit < 3 ? limits[limit] = value, OK : INVALID_VALUE; }
R hipDeviceGetLimit(size_t *value, unsigned limit) { return limit < 3 ? *value = limits[limit], OK : INVALID_VALUE; }
R hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    CALL;
    enum { ALREADY_ENABLED = 704 };
    if (peer == current || flags) return INVALID_VALUE;
    return enabled[current] ? ALREADY_ENABLED : (enabled[current] = 1, OK);
}
R hipMemPoolSetAccess(struct pool *pool, const struct access *access, size_t count)
{
    CALL;
    return count == 1 && access->location == 1 && access->flags == 3 && access->device != pool->device ? OK : INVALID_VALUE;
}
static struct { char *start; size_t size; } locked[256];
static int is_locked(const void *address)
{
    for (int i = 0; i < 256; i++)
        if (locked[i].start && (char *)address >= locked[i].start && (char *)address < locked[i].start + locked[i].size)
            return i + 1;
    return 0;
}
R hipHostMalloc(void **memory, size_t size, unsigned flags)
{
    CALL;
    if (size == 0 || flags > 7) return INVALID_VALUE;
    int at = 0;
    while (locked[at].start) at++;
    buffers++;
    locked[at].size = size;
    return *memory = locked[at].start = memset(malloc(size), 0xa5, size), OK;
}
R hipHostRegister(void *memory, size_t size, unsigned flags)
{
    CALL;
    if (!memory || size == 0 || flags > 15) return INVALID_VALUE;
    int at = 0;
    while (locked[at].start) at++;
    locked[at].size = size;
    return locked[at].start = memory, OK;
}
R hipHostUnregister(void *memory)
{
    CALL;
    int at = is_locked(memory) - 1;
    if (at < 0) return INVALID_VALUE;
    return locked[at].start = NULL, OK;
}
R hipHostFree(void *memory)
{
    CALL;
    int at = is_locked(memory) - 1;
    if (at < 0) return INVALID_VALUE;
    for (int i = 0; i < known_count; i++)
        for (struct op *op = known[i] ? known[i]->first : NULL; op; op = op->next)
            if (is_locked(op->from) == at + 1 || is_locked(op->to) == at + 1)
                complain("memory was released while it is to be copied");
    locked[at].start = NULL;
    buffers--;
    return free(memory), OK;
}
R hipMemcpyHtoDAsync(char *to, const void *from, size_t size, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    struct op *op = queue(stream, COPY);
    op->to = to, op->size = size;
    if (is_locked(from) || stream->graph) op->from = from;
    else op->staged = memcpy(malloc(size), from, size);
    return lost[current];
}
R hipMemcpyDtoHAsync(void *to, const char *from, size_t size, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    struct op *op = queue(stream, COPY);
    op->to = to, op->from = from, op->size = size;
    return lost[current];
}
R hipMemcpyDtoDAsync(char *to, const char *from, size_t size, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    struct op *op = queue(stream, COPY);
    op->to = to, op->from = from, op->size = size;
    return lost[current];
}
/* Arrays, textures and surfaces */
R hipArray3DCreate(struct array **array, const struct array_form *form)
{
    CALL;
    return (*array = new_array(form)) ? OK : INVALID_VALUE;
}
R hipArrayDestroy(struct array *array) { CALL; return free_array(array), OK; }
struct copy_side { size_t x, y, z, level; unsigned kind; void *host; char *device; struct array *array; size_t pitch, rows; };
struct box { struct copy_side from, to; size_t width, height, depth; };
static struct side side_of(const struct copy_side *side)
{
    enum { HOST = 1, ARRAY = 10, UNIFIED = 11 };
    struct side of = { .pitch = side->pitch, .rows = side->rows, .x = side->x, .y = side->y, .z = side->z };
    if (side->kind == ARRAY) of.array = side->array;
    if (side->kind == HOST) of.memory = side->host;
    if (side->kind == UNIFIED) of.memory = side->device;
    return of;
}
static void copy_row(char *to, const char *from, size_t size, void *stream)
{
    struct op *op = queue(stream, COPY);
    op->to = to, op->from = from, op->size = size;
}
static void stage_row(char *to, const char *from, size_t size, void *stream)
{
    struct op *op = queue(stream, COPY);
    op->to = to, op->size = size, op->staged = memcpy(malloc(size), from, size);
}
R hipDrvMemcpy3DAsync(const struct box *box, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    struct side from = side_of(&box->from), to = side_of(&box->to);
    int is_staged = box->from.host && !is_locked(box->from.host) && !stream->graph;
    int is_wrong = copy_rows(&from, &to, box->width, box->height, box->depth, is_staged ? stage_row : copy_row, stream);
    return is_wrong ? INVALID_VALUE : lost[current];
}
R hipTexObjectCreate(struct object **object, const struct resource *resource, const struct reading *reading, const void *view)
{
    CALL;
    return !view && reading && (*object = new_object(resource, reading)) ? OK : INVALID_VALUE;
}
R hipTexObjectDestroy(struct object *object) { CALL; return object->is_surface ? INVALID_VALUE : (free_object(object), OK); }
R hipCreateSurfaceObject(struct object **object, const struct resource *resource)
{
    CALL;
    return (*object = new_object(resource, NULL)) ? OK : INVALID_VALUE;
}
R hipDestroySurfaceObject(struct object *object) { CALL; return object->is_surface ? (free_object(object), OK) : INVALID_VALUE; }
#ifndef OLD
/* The stream may be of either device. */
R hipMemcpyPeerAsync(char *to, int to_device, const char *from, int from_device, size_t size, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    if (to_device == from_device || (to_device != current && from_device != current)) return INVALID_DEVICE;
    struct op *op = queue(stream, COPY);
    op->to = to, op->from = from, op->size = size;
    return lost[current];
}
#endif
static R fill(struct stream *stream, char *to, uint32_t value, size_t step, size_t count)
{
    BELONGS(stream->device);
    if ((uintptr_t)to % step) return INVALID_VALUE;
    struct op *op = queue(stream, FILL);
    op->to = to, op->value = value, op->step = step, op->size = count;
    return lost[current];
}
R hipMemsetD8Async(char *to, unsigned char value, size_t count, struct stream *stream)
{
    CALL;
    return fill(stream, to, value, 1, count);
}
R hipMemsetD16Async(char *to, unsigned short value, size_t count, struct stream *stream)
{
    CALL;
    return fill(stream, to, value, 2, count);
}
R hipMemsetD32Async(char *to, int value, size_t count, struct stream *stream)
{
    CALL;
    return fill(stream, to, (uint32_t)value, 4, count);
}
#ifndef OLD
struct attributes { int type, device; void *device_pointer, *host_pointer; int managed; unsigned flags; };
R hipPointerGetAttributes(struct attributes *told, const void *address)
{
    CALL;
    if (is_locked(address)) return told->type = 1, OK;
    return told->type = 0, INVALID_VALUE; /* ordinary memory, of which the runtime does not know */
}
#endif

/* Modules */
/* Of the processor, or of its family: of version 1 at least, which is in the topmost byte. */
static int runs_here(uint32_t flags)
{
    static const uint32_t PROCESSORS[DEVICES] = { 0x41, 0x3f };
    return (flags & 0xff) == PROCESSORS[current] || (current == 0 && (flags & 0xff) == 0x54 && flags >> 24 >= 1);
}
R hipModuleLoadData(struct module **module, const unsigned char *image)
{
    CALL;
    uint32_t flags;
    memcpy(&flags, image + 48, 4);
    if (memcmp(image, "\177ELF\2\1\1\100", 8) || image[18] != 224) return INVALID_IMAGE;
    if (image[8] < 2 || image[8] > 4) return INVALID_IMAGE; /* code objects of version 4 to 6 */
    if (!runs_here(flags)) return NO_BINARY;
    R loaded = load(module, image);
    if (loaded) return loaded;
    (*module)->device = current;
    modules++;
    return OK;
}
R hipModuleUnload(struct module *module)
{
    CALL;
    BELONGS(module->device);
    if (module->pending) complain("a module was unloaded while its kernels are to run");
    modules--;
    return unload(module), OK;
}
R hipModuleGetFunction(struct kernel **kernel, struct module *module, const char *name)
{
    CALL;
    BELONGS(module->device);
    for (int i = 0; i < module->count; i++)
        if (strcmp(module->kernels[i].name, name) == 0) return *kernel = &module->kernels[i], OK;
    return NOT_FOUND;
}
R hipModuleGetGlobal(void **address, size_t *size, struct module *module, const char *name)
{
    CALL;
    BELONGS(module->device);
    return variable(module, name, address, size);
}
R hipFuncGetAttribute(int *value, int attribute, struct kernel *kernel)
{
    CALL;
    BELONGS(kernel->module->device);
    switch (attribute) {
    case 0: *value = kernel->block; break;
    case 1: *value = kernel->shared; break;
    case 3: *value = 0; break;
    case 4: *value = 10; break;
    default: return INVALID_VALUE;
    }
    return OK;
}
#ifndef OLD
/* 768 threads are best where a kernel allows them. */
R hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, struct kernel *kernel, size_t shared, int limit)
{
    CALL;
    BELONGS(kernel->module->device);
    if (limit < 0) return INVALID_VALUE;
    *block = shared + kernel->shared > SHARED_LIMIT ? 0 : kernel->block < 768 ? kernel->block : 768;
    return *grid = 96, OK;
}
#endif
#ifndef INCOMPLETE
R hipModuleLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, struct stream *stream, void **parameters, void **extra)
{
    CALL;
    BELONGS(stream->device);
    BELONGS(kernel->module->device);
    if (extra || (kernel->parameters && !parameters) || gx == 0 || gy == 0 || gz == 0) return INVALID_VALUE;
    if (bx * by * bz > (unsigned)kernel->block) return LAUNCH_FAILURE;
    if (shared + kernel->shared > SHARED_LIMIT) return INVALID_VALUE;
    if (lost[current]) return lost[current];
    struct launch *launch = calloc(1, sizeof *launch);
    *launch = (struct launch){ .module = kernel->module, .kernel = kernel, .grid = { gx, gy, gz }, .block = { bx, by, bz },
                               .shared = shared };
    for (int i = 0; i < kernel->parameters; i++)
        memcpy(launch->arguments + kernel->offsets[i], parameters[i], kernel->sizes[i]);
    if (stream->graph) {
        struct launch *kept = &stream->graph->launches[stream->graph->count];
        *kept = *launch;
        free(launch);
        queue(stream, LAUNCH)->launch = kept;
        return OK;
    }
    kernel->module->pending++;
    queue(stream, LAUNCH)->launch = launch;
    return OK;
}
#ifndef OLD
/* As many blocks on each compute unit as have 2048 threads together. */
R hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, struct kernel *kernel, int block, size_t shared,
                                                              unsigned flags)
{
    CALL;
    BELONGS(kernel->module->device);
    if (block <= 0 || flags) return INVALID_VALUE;
    return *blocks = block > kernel->block || shared + kernel->shared > SHARED_LIMIT ? 0 : 2048 / block, OK;
}
R hipModuleLaunchCooperativeKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, struct stream *stream, void **parameters)
{
    record(__func__);
    if (stream->graph) return CAPTURE_UNSUPPORTED;
    if (gx * gy * gz > 2048 / (bx * by * bz) * (current ? 104u : 48u)) return COOPERATIVE_TOO_LARGE;
    return hipModuleLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters, NULL);
}
#endif

/* Graphs */
R hipStreamBeginCapture(struct stream *stream, unsigned mode)
{
    CALL;
    BELONGS(stream->device);
    if (stream->graph || mode != 2) return INVALID_VALUE;
    struct graph *graph = calloc(1, sizeof *graph);
    graph->device = stream->device, graph->first = stream;
    graphs++;
    return stream->graph = graph, OK;
}
R hipStreamEndCapture(struct stream *stream, struct graph **ended)
{
    CALL;
    BELONGS(stream->device);
    struct graph *graph = stream->graph;
    if (!graph || graph->first != stream) return INVALID_VALUE;
    R result = OK;
    for (int i = 0; i < known_count; i++) {
        if (!known[i] || known[i]->graph != graph) continue;
        if (known[i] != stream && known[i]->joined != known[i]->given) result = CAPTURE_UNJOINED;
        known[i]->graph = NULL;
    }
    if (result == OK) return *ended = graph, OK;
    graphs--;
    return free(graph), *ended = NULL, result;
}
R hipStreamGetCaptureInfo_v2(struct stream *stream, unsigned *status, unsigned long long *id, struct graph **of,
                             struct op ***nodes, size_t *count)
{
    CALL;
    static _Thread_local struct op *last;
    struct graph *graph = stream->graph;
    if (!graph || graph->count == 0) return INVALID_VALUE;
    last = &graph->ops[graph->count - 1];
    return *status = 1, *id = 1, *of = graph, *nodes = &last, *count = 1, OK;
}
R hipGraphInstantiateWithFlags(struct graph **executable, struct graph *graph, unsigned long long flags)
{
    CALL;
    BELONGS(graph->device);
    if (flags) return INVALID_VALUE;
    struct graph *made = malloc(sizeof *made);
    *made = *graph;
    made->of = graph;
    for (int i = 0; i < made->count; i++)
        if (made->ops[i].kind == LAUNCH) made->ops[i].launch = &made->launches[i];
    graphs++;
    return *executable = made, OK;
}
R hipGraphLaunch(struct graph *executable, struct stream *stream)
{
    CALL;
    BELONGS(stream->device);
    BELONGS(executable->device);
    if (stream->graph) return CAPTURE_UNSUPPORTED;
    for (int i = 0; i < executable->count; i++) {
        struct op kept = executable->ops[i], *op = queue(stream, kept.kind), *next = op->next;
        *op = kept;
        op->next = next;
        if (kept.kind != LAUNCH) continue;
        op->launch = memcpy(malloc(sizeof *kept.launch), kept.launch, sizeof *kept.launch);
        kept.launch->module->pending++;
    }
    return lost[current];
}
struct node_launch { unsigned block[3]; void **extra; void *function; unsigned grid[3]; void **parameters; unsigned shared; };
R hipGraphExecKernelNodeSetParams(struct graph *executable, struct op *node, const struct node_launch *given)
{
    CALL;
    BELONGS(executable->device);
    struct graph *graph = executable->of;
    if (node < graph->ops || node >= graph->ops + graph->count || node->kind != LAUNCH || given->extra) return INVALID_VALUE;
    struct kernel *kernel = given->function;
    struct launch *launch = &executable->launches[node - graph->ops];
    launch->kernel = kernel, launch->module = kernel->module, launch->shared = given->shared;
    memcpy(launch->grid, given->grid, sizeof launch->grid);
    memcpy(launch->block, given->block, sizeof launch->block);
    for (int i = 0; i < kernel->parameters; i++)
        memcpy(launch->arguments + kernel->offsets[i], given->parameters[i], kernel->sizes[i]);
    return OK;
}
/* The topology of a graph with as many nodes is the same. */
R hipGraphExecUpdate(struct graph *executable, struct graph *graph, struct op **node, unsigned *result)
{
    CALL;
    BELONGS(executable->device);
    if (executable->count != graph->count) return *node = NULL, *result = 2, 910;
    *executable = *graph;
    executable->of = graph;
    for (int i = 0; i < executable->count; i++)
        if (executable->ops[i].kind == LAUNCH) executable->ops[i].launch = &executable->launches[i];
    return *node = NULL, *result = 0, OK;
}
R hipThreadExchangeStreamCaptureMode(unsigned *mode)
{
    CALL;
    static _Thread_local unsigned own;
    unsigned before = own;
    if (*mode > 2) return INVALID_VALUE;
    return own = *mode, *mode = before, OK;
}
R hipGraphDestroy(struct graph *graph)
{
    CALL;
    BELONGS(graph->device);
    graphs--;
    return free(graph), OK;
}
R hipGraphExecDestroy(struct graph *executable) { return hipGraphDestroy(executable); }
#endif
