/* A stand-in for libcuda.so.1 that runs the kernels of kernels.ptx on the CPU, and is strict where the driver is lenient:
 * it refuses calls without a context, PTX without its end, and shared memory that was not asked for, and it says at its
 * end what was not given back. Calls that order work are recorded in the file that CUDA_STAND_IN_CALLS names, each with
 * the device that was current. With OLD defined it is the driver of CUDA 11.4; with INCOMPLETE it lacks a function. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../textures.h"

typedef int R;
enum { OK, INVALID_VALUE, OUT_OF_MEMORY, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, INVALID_PTX = 218,
       UNSUPPORTED_PTX = 222, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, COOPERATIVE_TOO_LARGE = 720, NOT_PERMITTED = 800,
       CAPTURE_UNSUPPORTED = 900, CAPTURE_UNJOINED = 904, GRAPH_UPDATE_FAILURE = 910, INVALID_CLUSTER_SIZE = 912 };
enum { DEVICES = 2, MULTIPROCESSORS = 132, STATIC_LIMIT = 48 << 10, OPT_IN_LIMIT = 227 << 10 };

static atomic_int buffers, pinned, modules, links, streams, streams_made, events, contexts, graphs, pools;
static atomic_int lost; /* what every call returns after a crash */
static char primary[DEVICES]; /* their addresses are the contexts' handles */
static _Thread_local char *current[16];
static _Thread_local int depth, is_callback;
static char *top(void) { return depth ? current[depth - 1] : NULL; }
static int is_context(const void *context) { return (char *)context >= primary && (char *)context < primary + DEVICES; }

static FILE *calls;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static void record(const char *name)
{
    if (!calls) return;
    pthread_mutex_lock(&writing);
    fprintf(calls, "%s %d\n", name, (int)(top() - primary));
    pthread_mutex_unlock(&writing);
}
__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CUDA_STAND_IN_CALLS");
    if (path) calls = fopen(path, "a");
}

static int imported_left(void);
#define NEEDS_CONTEXT                    \
    if (depth == 0) return INVALID_CONTEXT; \
    if (lost) return lost

__attribute__((destructor)) static void report(void)
{
    if (calls) fclose(calls);
    if (!lost && (imported_left() || buffers || pinned || modules || links || streams || events || contexts || graphs || pools || arrays || objects))
        printf("left behind: %d imported, %d buffers, %d pinned, %d modules, %d links, %d streams, %d events, %d contexts, %d graphs, %d pools, %d arrays, %d textures and surfaces\n",
               imported_left(), buffers, pinned, modules, links, streams, events, contexts, graphs, pools, arrays, objects);
}

/* Errors and devices */
R cuGetErrorName(R code, const char **name)
{
    static const struct { R code; const char *name; } names[] = {
        { INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" }, { OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
        { INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE" }, { INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT" },
        { INVALID_PTX, "CUDA_ERROR_INVALID_PTX" }, { UNSUPPORTED_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" },
        { NOT_FOUND, "CUDA_ERROR_NOT_FOUND" }, { ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) return *name = names[i].name, OK;
    return INVALID_VALUE;
}
R cuGetErrorString(R code, const char **text) { (void)code; return *text = "as the stand-in says", OK; }
R cuInit(unsigned flags) { return flags; }
#ifdef OLD
R cuDriverGetVersion(int *version) { return *version = 11040, OK; }
#else
R cuDriverGetVersion(int *version) { return *version = 12080, OK; }
#endif
/* CUDA_VISIBLE_DEVICES: the devices that there are, as numbers, up to the first that is none. */
static int visible[DEVICES], visible_count;
__attribute__((constructor)) static void see(void)
{
    const char *at = getenv("CUDA_VISIBLE_DEVICES");
    for (int i = 0; !at && i < DEVICES; i++) visible[visible_count++] = i;
    for (; at && *at >= '0' && *at < '0' + DEVICES && visible_count < DEVICES; at += at[1] == ',' ? 2 : 1)
        visible[visible_count++] = *at - '0';
}
R cuDeviceGetCount(int *count) { return *count = visible_count, OK; }
R cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal < visible_count ? OK : INVALID_VALUE; }
R cuDeviceGetPCIBusId(char *text, int size, int device)
{
    return snprintf(text, size, "0001:%02x:00.0", 0x3b + visible[device]) < size ? OK : INVALID_VALUE;
}
R cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    for (int i = 0; i < 16; i++) uuid[i] = 16 * (visible[device] + 1) + i;
    return OK;
}
R cuDeviceGetName(char *name, int size, int device) { (void)device; snprintf(name, size, "stand-in"); return OK; }
R cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    switch (attribute) {
    case 1: case 2: case 3: *value = 1024; break; /* threads of a block, in x, in y */
    case 4: *value = 64; break;
    case 5: *value = 0x7fffffff; break;
    case 6: case 7: *value = 65535; break;
    case 8: *value = STATIC_LIMIT; break;
    case 10: *value = 32; break;
    case 13: *value = 1980000; break; /* kHz */
    case 16: *value = MULTIPROCESSORS; break;
    case 18: *value = 0; break;       /* memory of its own */
    case 38: *value = 60 << 20; break; /* L2 */
    case 75: *value = 9; break;
    case 76: *value = 0; break;
    case 88: *value = 0; break; /* ordinary memory is staged */
#ifndef OLD
    case 89: *value = device == 0 || !getenv("CUDA_STAND_IN_EXCLUSIVE"); break; /* managed memory while kernels run */
#endif
    case 97: *value = OPT_IN_LIMIT; break;
    case 115: *value = 0; break; /* no pools of memory */
    default: return INVALID_VALUE;
    }
    return OK;
}

/* Contexts */
R cuDevicePrimaryCtxRetain(void **context, int device) { contexts++; return *context = primary + device, OK; }
R cuDevicePrimaryCtxRelease_v2(int device) { (void)device; contexts--; return OK; }
R cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    (void)device;
    return *flags = 0, *active = contexts > 0, OK;
}
R cuCtxPushCurrent_v2(void *context) { return is_callback ? NOT_PERMITTED : is_context(context) ? (current[depth++] = context, OK) : INVALID_CONTEXT; }
R cuCtxPopCurrent_v2(void **context) { return depth ? (*context = current[--depth], OK) : INVALID_CONTEXT; }
static size_t limits[7];
R cuCtxSetLimit(unsigned limit, size_t value) { return limit < 7 ? limits[limit] = value, OK : INVALID_VALUE; }
R cuCtxGetLimit(size_t *value, unsigned limit) { return limit < 7 ? *value = limits[limit], OK : INVALID_VALUE; }
R cuCtxSetCurrent(void *context)
{
    if (!is_context(context)) return INVALID_CONTEXT;
    depth += depth == 0;
    return current[depth - 1] = context, OK;
}
R cuCtxGetDevice(int *device) { NEEDS_CONTEXT; return *device = (int)(top() - primary), OK; }
R cuCtxGetCurrent(void **context) { return *context = top(), OK; }

/* Streams and events: work is done when it is asked for */
static char stream_handles[1 << 20], *stream_contexts[1 << 20];
static int is_stream(const void *stream) { return (char *)stream > stream_handles && (char *)stream <= stream_handles + streams_made; }
R cuStreamCreate(void **stream, unsigned flags)
{
    NEEDS_CONTEXT;
    (void)flags;
    streams++;
    int number = ++streams_made;
    stream_contexts[number] = top();
    return *stream = stream_handles + number, OK;
}
/* As data-centre GPUs have them: lower numbers are higher priorities. */
R cuCtxGetStreamPriorityRange(int *lowest, int *highest) { NEEDS_CONTEXT; return *lowest = 0, *highest = -5, OK; }
R cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    NEEDS_CONTEXT;
    char call[64];
    snprintf(call, sizeof call, "%s(%d)", __func__, priority);
    record(call);
    return flags == 1 ? cuStreamCreate(stream, flags) : INVALID_VALUE;
}
/* The context that a stream is of, which has to be current: another stream has another. */
static int is_here(const void *stream) { return is_stream(stream) && stream_contexts[(char *)stream - stream_handles] == top(); }

/* Graphs: the work of a stream that captures is kept, and done at each launch */
enum what { WRITE_NODE, COPY_NODE, FILL_NODE, LAUNCH_NODE, HOST_NODE };
struct node {
    enum what what;
    char *to;
    const char *from;
    size_t size, step;
    unsigned value, shape[7];
    struct kernel *kernel;
    void (*function)(void *);
    void *data;
    unsigned char values[4][4096];
};
struct graph { void *context, *first; int count; struct node nodes[64]; };
static struct graph *capture_of[1 << 20];
/* What another stream than the first was given, and what of it the first waits for. */
static int given[1 << 20], joined[1 << 20];
static int number_of(const void *stream) { return (int)((char *)stream - stream_handles); }
static struct graph *capturing(const void *stream) { return is_stream(stream) ? capture_of[number_of(stream)] : NULL; }
static R keep(void *stream, struct node node)
{
    struct graph *graph = capturing(stream);
    if (graph->count == 64) return OUT_OF_MEMORY;
    graph->nodes[graph->count++] = node;
    given[number_of(stream)]++;
    return OK;
}
R cuStreamBeginCapture_v2(void *stream, unsigned mode)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (!is_here(stream) || capturing(stream) || mode != 2) return INVALID_VALUE;
    struct graph *graph = calloc(1, sizeof *graph);
    *graph = (struct graph){ .context = top(), .first = stream };
    graphs++;
    return capture_of[number_of(stream)] = graph, OK;
}
R cuStreamEndCapture(void *stream, struct graph **ended)
{
    NEEDS_CONTEXT;
    struct graph *graph = capturing(stream);
    if (!graph || graph->first != stream) return INVALID_VALUE;
    R result = OK;
    for (int other = 1; other <= streams_made; other++) {
        if (capture_of[other] != graph) continue;
        if (stream_handles + other != (char *)stream && joined[other] != given[other]) result = CAPTURE_UNJOINED;
        capture_of[other] = NULL;
    }
    if (result == OK) return *ended = graph, OK;
    graphs--;
    return free(graph), *ended = NULL, result;
}
R cuStreamGetCaptureInfo_v2(void *stream, unsigned *status, uint64_t *id, struct graph **of, struct node ***nodes, size_t *count)
{
    NEEDS_CONTEXT;
    static _Thread_local struct node *last;
    struct graph *graph = capturing(stream);
    if (!graph || graph->count == 0) return INVALID_VALUE;
    last = &graph->nodes[graph->count - 1];
    return *status = 1, *id = 1, *of = graph, *nodes = &last, *count = 1, OK;
}
R cuGraphInstantiateWithFlags(struct graph **executable, struct graph *graph, unsigned long long flags)
{
    NEEDS_CONTEXT;
    if (flags || graph->context != top()) return INVALID_VALUE;
    graphs++;
    return *executable = memcpy(malloc(sizeof *graph), graph, sizeof *graph), (*executable)->first = graph, OK;
}
struct update { unsigned result; struct node *node, *from; };
/* The topology of a graph with as many nodes is the same. */
R cuGraphExecUpdate_v2(struct graph *executable, struct graph *graph, struct update *update)
{
    NEEDS_CONTEXT;
    if (executable->count != graph->count) return *update = (struct update){ .result = 2 }, GRAPH_UPDATE_FAILURE;
    memcpy(executable->nodes, graph->nodes, sizeof graph->nodes);
    return executable->first = graph, *update = (struct update){ 0 }, OK;
}
R cuThreadExchangeStreamCaptureMode(unsigned *mode)
{
    static _Thread_local unsigned own;
    unsigned before = own;
    if (*mode > 2) return INVALID_VALUE;
    return own = *mode, *mode = before, OK;
}
R cuGraphDestroy(struct graph *graph) { graphs--; return free(graph), OK; }
R cuGraphExecDestroy(struct graph *executable) { return cuGraphDestroy(executable); }

R cuStreamSynchronize(void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (capturing(stream)) return CAPTURE_UNSUPPORTED;
    return is_stream(stream) ? OK : INVALID_VALUE;
}
R cuStreamGetFlags(void *stream, unsigned *flags) { return is_stream(stream) ? *flags = 1, OK : INVALID_VALUE; }
R cuStreamQuery(void *stream) { return cuStreamSynchronize(stream); }
R cuStreamGetCtx(void *stream, void **context)
{
    NEEDS_CONTEXT;
    return is_stream(stream) ? *context = stream_contexts[(char *)stream - stream_handles], OK : INVALID_VALUE;
}
struct event { struct timespec time; struct graph *graph; int stream, given; };
R cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (!is_here(stream) || !event || flags) return INVALID_VALUE;
    struct event *waited = event;
    if (!waited->graph) return capturing(stream) ? CAPTURE_UNSUPPORTED : OK;
    if (capturing(stream) && capturing(stream) != waited->graph) return CAPTURE_UNSUPPORTED;
    if (!capturing(stream)) given[number_of(stream)] = joined[number_of(stream)] = 0;
    capture_of[number_of(stream)] = waited->graph;
    if (waited->graph->first == stream) joined[waited->stream] = waited->given;
    return OK;
}
/* A thread of the driver calls, which may not call the driver. */
struct call { void (*function)(void *, R, void *); void *stream, *data; };
static void *make_call(void *given)
{
    struct call *call = given;
    is_callback = 1;
    call->function(call->stream, lost, call->data);
    return NULL;
}
R cuStreamAddCallback(void *stream, void (*function)(void *, R, void *), void *data, unsigned flags)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (capturing(stream)) return CAPTURE_UNSUPPORTED;
    if (!is_here(stream) || flags) return INVALID_VALUE;
    struct call call = { function, stream, data };
    pthread_t thread;
    pthread_create(&thread, NULL, make_call, &call);
    return pthread_join(thread, NULL), OK;
}
R cuLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (!is_here(stream) || !function) return INVALID_VALUE;
    if (capturing(stream)) return keep(stream, (struct node){ HOST_NODE, .function = function, .data = data });
    return function(data), OK;
}
R cuStreamDestroy_v2(void *stream) { (void)stream; streams--; return OK; }
R cuEventCreate(void **event, unsigned flags)
{
    NEEDS_CONTEXT;
    (void)flags;
    events++;
    return *event = calloc(1, sizeof(struct event)), OK;
}
R cuEventRecord(void *event, void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (!is_here(stream)) return INVALID_VALUE;
    struct event *recorded = event;
    *recorded = (struct event){ .graph = capturing(stream), .stream = number_of(stream), .given = given[number_of(stream)] };
    return clock_gettime(CLOCK_MONOTONIC, &recorded->time), OK;
}
R cuEventElapsedTime(float *ms, struct timespec *a, struct timespec *b)
{
    *ms = (b->tv_sec - a->tv_sec) * 1e3f + (b->tv_nsec - a->tv_nsec) / 1e6f;
    return OK;
}
R cuEventSynchronize(struct event *event)
{
    NEEDS_CONTEXT;
    record(__func__);
    return event && event->graph ? CAPTURE_UNSUPPORTED : event ? OK : INVALID_VALUE;
}
R cuEventQuery(void *event) { NEEDS_CONTEXT; return event ? OK : INVALID_VALUE; }
R cuEventDestroy_v2(void *event) { free(event); events--; return OK; }

/* Memory; that of whole blocks of 2 MiB is a file, which other processes can map */
#include "../shared.h"
#include "../external.h"
static int imported_left(void) { return imported; }
R cuMemAlloc_v2(uint64_t *address, size_t size)
{
    NEEDS_CONTEXT;
    if (size == 0) return INVALID_VALUE;
    void *memory = size % BLOCK ? malloc(size) : share(size);
    if (memory == NULL) return OUT_OF_MEMORY;
    buffers++;
    return *address = (uintptr_t)memory, OK;
}
R cuMemFree_v2(uint64_t address)
{
    if (depth == 0) return INVALID_CONTEXT;
    buffers--;
    if (!unmap((void *)address)) free((void *)address);
    return OK;
}
R cuIpcGetMemHandle(struct handle *handle, uint64_t address)
{
    NEEDS_CONTEXT;
    record(__func__);
    return handle_of((void *)address, handle) ? OK : INVALID_VALUE;
}
R cuIpcOpenMemHandle_v2(uint64_t *address, struct handle handle, unsigned flags)
{
    NEEDS_CONTEXT;
    void *memory = flags == 1 ? map(&handle) : NULL;
    if (!memory) return INVALID_VALUE;
    buffers++;
    return *address = (uintptr_t)memory, OK;
}
R cuIpcCloseMemHandle(uint64_t address)
{
    if (depth == 0) return INVALID_CONTEXT;
    buffers--;
    return unmap((void *)address) ? OK : INVALID_VALUE;
}
#ifndef OLD
R cuMemGetHandleForAddressRange(int *file, uint64_t address, size_t size, unsigned kind, unsigned long long flags)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (kind != 1 || flags) return INVALID_VALUE;
    return (*file = file_of((void *)address, size)) >= 0 ? OK : INVALID_VALUE;
}
#endif
/* The file is the driver's if it takes it. */
R cuImportExternalMemory(struct external **external, const struct external_handle *handle)
{
    NEEDS_CONTEXT;
    char call[64];
    snprintf(call, sizeof call, "%s(%u,%u)", __func__, handle->kind, handle->flags);
    record(call);
    if (handle->kind != OPAQUE_FD && (handle->kind != DMA_BUF_FD || handle->flags)) return INVALID_VALUE;
    return (*external = import_file(handle, handle->handle.file)) ? OK : INVALID_VALUE;
}
R cuExternalMemoryGetMappedBuffer(uint64_t *address, struct external *external, const struct external_part *part)
{
    NEEDS_CONTEXT;
    void *memory = map_external(external, part);
    if (!memory) return INVALID_VALUE;
    buffers++;
    return *address = (uintptr_t)memory, OK;
}
R cuDestroyExternalMemory(struct external *external) { record(__func__); return drop_external(external) ? OK : INVALID_VALUE; }
R cuImportExternalSemaphore(struct semaphore **semaphore, const struct semaphore_handle *handle)
{
    NEEDS_CONTEXT;
    if (handle->kind != OPAQUE_FD && handle->kind != TIMELINE_FD) return INVALID_VALUE;
    return (*semaphore = import_semaphore(handle, handle->handle.file)) ? OK : INVALID_VALUE;
}
/* Work is done at once: a value that is not there never comes. */
static R on_semaphores(const char *name, int (*change)(struct semaphore *, uint64_t), struct semaphore *const *semaphores,
                       const struct semaphore_parameters *parameters, unsigned count, void *stream)
{
    char call[64];
    snprintf(call, sizeof call, "%s(%d)", name, (int)parameters->value);
    record(call);
    if (capturing(stream)) return CAPTURE_UNSUPPORTED;
    if (!is_here(stream) || count != 1 || !are_parameters(parameters)) return INVALID_VALUE;
    return change(*semaphores, parameters->value) ? OK : INVALID_VALUE;
}
R cuWaitExternalSemaphoresAsync(struct semaphore *const *semaphores, const struct semaphore_parameters *parameters, unsigned count, void *stream)
{
    NEEDS_CONTEXT;
    return on_semaphores(__func__, wait_value, semaphores, parameters, count, stream);
}
R cuSignalExternalSemaphoresAsync(struct semaphore *const *semaphores, const struct semaphore_parameters *parameters, unsigned count, void *stream)
{
    NEEDS_CONTEXT;
    return on_semaphores(__func__, signal_value, semaphores, parameters, count, stream);
}
R cuDestroyExternalSemaphore(struct semaphore *semaphore) { record(__func__); return drop_semaphore(semaphore) ? OK : INVALID_VALUE; }
/* Memory that is made, mapped and handed out step by step */
struct made { int file; size_t size; };
struct made_as { unsigned kind, handles, location; int device; void *security; unsigned char flags[8]; };
R cuMemGetAllocationGranularity(size_t *granularity, const struct made_as *as, unsigned option) { (void)as, (void)option; return *granularity = BLOCK, OK; }
R cuMemCreate(struct made **made, size_t size, const struct made_as *as, unsigned long long flags)
{
    NEEDS_CONTEXT;
    if (as->kind != 1 || as->handles != 1 || as->location != 1 || as->device >= DEVICES || size % BLOCK || flags) return INVALID_VALUE;
    *made = malloc(sizeof **made);
    **made = (struct made){ .file = memfd_create("made", MFD_CLOEXEC), .size = size };
    buffers++;
    return ftruncate((*made)->file, size) ? OUT_OF_MEMORY : OK;
}
R cuMemExportToShareableHandle(int *file, struct made *made, unsigned kind, unsigned long long flags)
{
    return kind == 1 && !flags ? *file = dup(made->file), OK : INVALID_VALUE;
}
R cuMemRelease(struct made *made) { buffers--; close(made->file); return free(made), OK; }
R cuMemAddressReserve(uint64_t *address, size_t size, size_t alignment, uint64_t at, unsigned long long flags)
{
    if (size % BLOCK || alignment || at || flags) return INVALID_VALUE;
    return *address = (uintptr_t)mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), OK;
}
R cuMemAddressFree(uint64_t address, size_t size) { return munmap((void *)address, size) ? INVALID_VALUE : OK; }
R cuMemMap(uint64_t address, size_t size, size_t offset, struct made *made, unsigned long long flags)
{
    if (flags || offset || size != made->size) return INVALID_VALUE;
    return mmap((void *)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, made->file, 0) == MAP_FAILED ? INVALID_VALUE : OK;
}
R cuMemUnmap(uint64_t address, size_t size)
{
    return mmap((void *)address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? INVALID_VALUE : OK;
}
struct made_access { unsigned location; int device; unsigned flags; };
R cuMemSetAccess(uint64_t address, size_t size, const struct made_access *access, size_t count)
{
    if (count != 1 || access->location != 1 || access->device >= DEVICES || access->flags != 3) return INVALID_VALUE;
    return mprotect((void *)address, size, PROT_READ | PROT_WRITE) ? INVALID_VALUE : OK;
}
R cuMemAllocAsync(uint64_t *address, size_t size, void *stream)
{
    return is_here(stream) ? cuMemAlloc_v2(address, size) : INVALID_VALUE;
}
/* Pools: memory is released when its stream is waited for, and may be used in another stream when that is ordered */
struct pool { int device; uint64_t kept, used, most; };
struct properties { unsigned allocation, handles, location; int device; void *security; size_t most; char reserved[56]; };
static struct { char *start; size_t size; void *stream; struct pool *pool; } pooled[4096];
static int pooled_at(uint64_t address)
{
    for (int i = 0; i < 4096; i++)
        if (pooled[i].start && address >= (uintptr_t)pooled[i].start && address < (uintptr_t)pooled[i].start + pooled[i].size) return i;
    return -1;
}
R cuMemPoolCreate(struct pool **pool, const struct properties *properties)
{
    if (properties->allocation != 1 || properties->handles || properties->location != 1 || properties->device >= DEVICES)
        return INVALID_VALUE;
    pools++;
    *pool = calloc(1, sizeof **pool);
    return (*pool)->device = properties->device, OK;
}
static struct pool own_pools[DEVICES];
R cuDeviceGetDefaultMemPool(struct pool **pool, int device) { return *pool = &own_pools[device], OK; }
R cuDeviceGetMemPool(struct pool **pool, int device) { return cuDeviceGetDefaultMemPool(pool, device); }
R cuMemPoolDestroy(struct pool *pool)
{
    if (pool->used) return INVALID_VALUE;
    pools--;
    return free(pool), OK;
}
R cuMemPoolSetAttribute(struct pool *pool, int attribute, uint64_t *value)
{
    return attribute == 4 ? pool->kept = *value, OK : INVALID_VALUE;
}
R cuMemPoolGetAttribute(struct pool *pool, int attribute, uint64_t *value)
{
    switch (attribute) {
    case 4: *value = pool->kept; break;
    case 5: case 6: *value = pool->most; break;
    case 7: *value = pool->used; break;
    case 8: *value = pool->most; break;
    default: return INVALID_VALUE;
    }
    return OK;
}
R cuMemPoolTrimTo(struct pool *pool, size_t kept) { record(__func__); (void)kept; return pool->most = pool->used, OK; }
static pthread_mutex_t pooling = PTHREAD_MUTEX_INITIALIZER;
R cuMemAllocFromPoolAsync(uint64_t *address, size_t size, struct pool *pool, void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (!is_here(stream) || size == 0 || primary + pool->device != top()) return INVALID_VALUE;
    char *memory = size < (size_t)1 << 40 ? malloc(size) : NULL;
    if (!memory) return OUT_OF_MEMORY;
    pthread_mutex_lock(&pooling);
    for (int i = 0; i < 4096; i++) {
        if (pooled[i].start) continue;
        pooled[i].start = memory, pooled[i].size = size, pooled[i].stream = stream, pooled[i].pool = pool;
        break;
    }
    pool->used += size;
    if (pool->used > pool->most) pool->most = pool->used;
    pthread_mutex_unlock(&pooling);
    buffers++;
    return *address = (uintptr_t)memory, OK;
}
R cuMemFreeAsync(uint64_t address, void *stream)
{
    record(__func__);
    if (!is_here(stream)) return INVALID_VALUE;
    pthread_mutex_lock(&pooling);
    int at = pooled_at(address);
    if (at >= 0) pooled[at].pool->used -= pooled[at].size, pooled[at].start = NULL;
    pthread_mutex_unlock(&pooling);
    return cuMemFree_v2(address);
}
R cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (capturing(stream)) return keep(stream, (struct node){ WRITE_NODE, .to = (char *)to, .from = from, .size = size });
    return is_here(stream) ? memcpy((void *)to, from, size), OK : INVALID_VALUE;
}
R cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    return is_here(stream) ? memcpy(to, (void *)from, size), OK : INVALID_VALUE;
}
R cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream)
{
    NEEDS_CONTEXT;
    if (capturing(stream)) return keep(stream, (struct node){ COPY_NODE, .to = (char *)to, .from = (char *)from, .size = size });
    return is_here(stream) ? memcpy((void *)to, (void *)from, size), OK : INVALID_VALUE;
}
R cuMemcpyAsync(uint64_t to, uint64_t from, size_t size, void *stream) { return cuMemcpyDtoDAsync_v2(to, from, size, stream); }
R cuMemcpy(uint64_t to, uint64_t from, size_t size) { NEEDS_CONTEXT; return memcpy((void *)to, (void *)from, size), OK; }
R cuMemAllocManaged(uint64_t *address, size_t size, unsigned flags)
{
    record(__func__);
    return flags == 1 || flags == 2 || flags == 4 ? cuMemAlloc_v2(address, size) : INVALID_VALUE;
}
R cuMemPrefetchAsync(uint64_t address, size_t size, int device, void *stream)
{
    NEEDS_CONTEXT;
    char call[64];
    snprintf(call, sizeof call, "%s(%d)", __func__, device);
    record(call);
    return address && size && device >= -1 && device < DEVICES && is_here(stream) && !capturing(stream) ? OK : INVALID_VALUE;
}
R cuMemAdvise(uint64_t address, size_t size, unsigned advice, int device)
{
    char call[64];
    snprintf(call, sizeof call, "%s(%u,%d)", __func__, advice, device);
    record(call);
    return address && size && advice >= 1 && advice <= 6 && device >= -1 && device < DEVICES ? OK : INVALID_VALUE;
}
struct rows { size_t from_x, from_y; unsigned from_kind; const void *from_host; uint64_t from; void *from_array; size_t from_pitch;
              size_t to_x, to_y; unsigned to_kind; void *to_host; uint64_t to; void *to_array; size_t to_pitch, width, height; };
R cuMemcpy2DAsync_v2(const struct rows *copy, void *stream)
{
    enum { UNIFIED = 4 };
    if (copy->from_kind != UNIFIED || copy->to_kind != UNIFIED || copy->width > copy->from_pitch || copy->width > copy->to_pitch)
        return INVALID_VALUE;
    for (size_t row = 0; row < copy->height; row++) {
        R copied = cuMemcpyDtoDAsync_v2(copy->to + row * copy->to_pitch, copy->from + row * copy->from_pitch, copy->width, stream);
        if (copied) return copied;
    }
    return OK;
}
/* Arrays, textures and surfaces */
R cuArray3DCreate_v2(struct array **array, const struct array_form *form)
{
    NEEDS_CONTEXT;
    record(__func__);
    return (*array = new_array(form)) ? OK : INVALID_VALUE;
}
R cuArrayDestroy(struct array *array) { record(__func__); return free_array(array), OK; }
struct copy_side { size_t x, y, z, level; unsigned kind; void *host; char *device; struct array *array; void *reserved; size_t pitch, rows; };
struct box { struct copy_side from, to; size_t width, height, depth; };
static struct side side_of(const struct copy_side *side)
{
    enum { HOST = 1, ARRAY = 3, UNIFIED = 4 };
    struct side of = { .pitch = side->pitch, .rows = side->rows, .x = side->x, .y = side->y, .z = side->z };
    if (side->kind == ARRAY) of.array = side->array;
    if (side->kind == HOST) of.memory = side->host;
    if (side->kind == UNIFIED) of.memory = side->device;
    return of;
}
static void copy_row(char *to, const char *from, size_t size, void *stream)
{
    if (!capturing(stream)) memcpy(to, from, size);
    else keep(stream, (struct node){ COPY_NODE, .to = to, .from = from, .size = size });
}
R cuMemcpy3DAsync_v2(const struct box *box, void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    struct side from = side_of(&box->from), to = side_of(&box->to);
    if (!is_here(stream) || box->from.level || box->to.level || box->from.reserved || box->to.reserved) return INVALID_VALUE;
    return copy_rows(&from, &to, box->width, box->height, box->depth, copy_row, stream) ? INVALID_VALUE : OK;
}
R cuTexObjectCreate(struct object **object, const struct resource *resource, const struct reading *reading, const void *view)
{
    NEEDS_CONTEXT;
    record(__func__);
    return !view && reading && (*object = new_object(resource, reading)) ? OK : INVALID_VALUE;
}
R cuTexObjectDestroy(struct object *object) { record(__func__); return object->is_surface ? INVALID_VALUE : (free_object(object), OK); }
R cuSurfObjectCreate(struct object **object, const struct resource *resource)
{
    NEEDS_CONTEXT;
    record(__func__);
    return (*object = new_object(resource, NULL)) ? OK : INVALID_VALUE;
}
R cuSurfObjectDestroy(struct object *object) { record(__func__); return object->is_surface ? (free_object(object), OK) : INVALID_VALUE; }
/* Each device may use the other's memory, once that was said. */
struct access { unsigned location; int device; unsigned flags; };
static char enabled[DEVICES];
R cuDeviceCanAccessPeer(int *can, int device, int peer) { return *can = device != peer, peer < DEVICES ? OK : INVALID_VALUE; }
R cuCtxEnablePeerAccess(char *peer, unsigned flags)
{
    NEEDS_CONTEXT;
    record(__func__);
    enum { ALREADY_ENABLED = 704 };
    if (!is_context(peer) || peer == top() || flags) return INVALID_VALUE;
    return enabled[top() - primary] ? ALREADY_ENABLED : (enabled[top() - primary] = 1, OK);
}
R cuCtxDisablePeerAccess(char *peer)
{
    NEEDS_CONTEXT;
    enum { NOT_ENABLED = 705 };
    if (!is_context(peer) || peer == top()) return INVALID_VALUE;
    return enabled[top() - primary] ? enabled[top() - primary] = 0, OK : NOT_ENABLED;
}
R cuMemPoolSetAccess(struct pool *pool, const struct access *access, size_t count)
{
    return count == 1 && access->location == 1 && access->flags == 3 && access->device != pool->device ? OK : INVALID_VALUE;
}
R cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; return *bytes = 1 << 30, OK; }
R cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size, void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (!is_context(to_context) || !is_context(from_context) || to_context == from_context) return INVALID_CONTEXT;
    return is_here(stream) ? memcpy((void *)to, (void *)from, size), OK : INVALID_VALUE;
}
#define MEMSET(name, type)                                              \
    R name(uint64_t to, type value, size_t count, void *stream)         \
    {                                                                   \
        NEEDS_CONTEXT;                                                  \
        if (!is_stream(stream) || to % sizeof value) return INVALID_VALUE; \
        if (capturing(stream))                                          \
            return keep(stream, (struct node){ FILL_NODE, .to = (char *)to, .size = count, .step = sizeof value, .value = value }); \
        for (size_t i = 0; i < count; i++) ((type *)to)[i] = value;     \
        return OK;                                                      \
    }
MEMSET(cuMemsetD8Async, unsigned char)
MEMSET(cuMemsetD16Async, unsigned short)
MEMSET(cuMemsetD32Async, unsigned)
R cuCtxSynchronize(void) { NEEDS_CONTEXT; record(__func__); return OK; }
R cuMemGetInfo_v2(size_t *left, size_t *total) { NEEDS_CONTEXT; return *left = 1 << 29, *total = 1 << 30, OK; }
static void *locked; /* the last */
R cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    NEEDS_CONTEXT;
    if (size == 0 || flags > 7) return INVALID_VALUE;
    pinned++;
    return locked = *memory = memset(malloc(size), 0xa5, size), OK;
}
R cuMemHostRegister_v2(void *memory, size_t size, unsigned flags)
{
    NEEDS_CONTEXT;
    if (!memory || size == 0 || flags > 15) return INVALID_VALUE;
    pinned++;
    return locked = memory, OK;
}
R cuMemHostUnregister(void *memory) { return pinned--, memory == locked ? OK : INVALID_VALUE; }
R cuMemFreeHost(void *memory)
{
    if (depth == 0) return INVALID_CONTEXT;
    pinned--;
    return free(memory), OK;
}
R cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    NEEDS_CONTEXT;
    if (address == 0) return INVALID_VALUE;
    if (attribute == 2 && address == (uintptr_t)locked) return *(unsigned *)value = 1, OK;
    if (attribute == 2) return INVALID_VALUE; /* ordinary memory, of which the driver does not know */
    switch (attribute) {
    case 1: *(void **)value = top(); break;
    case 9: *(int *)value = 0; break;      /* which one */
    default: return INVALID_VALUE;
    }
    return OK;
}

#include "../output.h"

/* Modules */
struct kernel {
    const char *name;
    int parameters, sizes[4], block, shared, opt_in, large_clusters;
};
enum { KERNELS = 12 };
struct module {
    float coefficients[4];
    uint32_t launches;
    struct kernel kernels[KERNELS], printing[3];
    int count, prints; /* its text has the variable */
    struct ring *ring;
};
static const struct module fresh = {
    { 1, 2, 3, 4 }, 0,
    { { "weigh", 1, { 8 }, 1024, 0, 0 }, { "saxpy", 4, { 4, 8, 8, 4 }, 1024, 0, 0 },
      { "crash", 0, { 0 }, 1024, 0, 0 }, { "count", 1, { 8 }, 8, 64, 0 },
      { "mirror", 3, { 8, 8, 8 }, 1024, 0, 0 }, { "last_word", 1, { 8 }, 1024, 0, 0 }, { "meet", 3, { 8, 8, 8 }, 1024, 0, 0 },
      { "large", 2, { 4080, 8 }, 1024, 0, 0 }, { "tensor_map", 3, { 4, 128, 8 }, 1024, 0, 0 }, { "ranks", 1, { 8 }, 1024, 0, 0 },
      { "follow", 1, { 8 }, 1024, 0, 0 }, { "texels", 3, { 8, 8, 8 }, 1024, 0, 0 } },
    { { "say", 1, { 4 }, 1024, 0, 0 }, { "shout", 0, { 0 }, 1024, 0, 0 }, { "doubt", 1, { 4 }, 1024, 0, 0 } }, 0, 0, 0 };
static struct module *loaded[4096]; /* so that a kernel finds its module's variables */

R cuModuleLoadDataEx(struct module **module, const char *image, unsigned count, const int *options, void **values)
{
    NEEDS_CONTEXT;
    if (count != 2 || options[0] != 5 || options[1] != 6) return INVALID_VALUE;
    if (memcmp(image, "\177ELF", 4) == 0) return INVALID_IMAGE;
    if (strstr(image, ".version 99")) return UNSUPPORTED_PTX;
    if (image[strlen(image) - 1] != '\n') return INVALID_PTX;
    const char *bad = strstr(image, "frobnicate");
    if (bad) {
        int line = 1;
        for (const char *at = image; at < bad; at++) line += *at == '\n';
        snprintf(values[0], (size_t)values[1], "ptxas application ptx input, line %d; error : unknown 'frobnicate'", line);
        return INVALID_PTX;
    }
    modules++;
    *module = malloc(sizeof fresh);
    memcpy(*module, &fresh, sizeof fresh);
    for (int i = 0; i < KERNELS; i++) {
        char entry[64];
        snprintf(entry, sizeof entry, ".entry %s(", fresh.kernels[i].name);
        if (strstr(image, entry)) (*module)->kernels[(*module)->count++] = fresh.kernels[i];
    }
    (*module)->prints = strstr(image, "__offload_output") != NULL;
    for (int i = 0;; i++) {
        struct module *none = NULL;
        if (__atomic_compare_exchange_n(&loaded[i], &none, *module, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return OK;
    }
}
/* Links: texts one after another, of which a function that is declared has to be defined in one */
struct link { char *text; void **values; };
R cuLinkCreate_v2(unsigned count, const int *options, void **values, struct link **link)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (count != 2 || options[0] != 5 || options[1] != 6) return INVALID_VALUE;
    links++;
    *link = malloc(sizeof **link);
    **link = (struct link){ strdup(""), values };
    return OK;
}
R cuLinkAddData_v2(struct link *link, int type, const char *data, size_t size, const char *name, unsigned count,
                   const int *options, void **values)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (type != 1 || size == 0 || data[size - 1] || !name || count || options || values) return INVALID_VALUE;
    size_t before = strlen(link->text);
    link->text = realloc(link->text, before + size);
    memcpy(link->text + before, data, size);
    return OK;
}
R cuLinkComplete(struct link *link, void **code, size_t *size)
{
    NEEDS_CONTEXT;
    record(__func__);
    const char *declared = strstr(link->text, ".extern .func"), *name = declared ? strchr(declared, ')') + 2 : NULL;
    if (name) {
        char defined[64];
        snprintf(defined, sizeof defined, ".visible .func (.param .b32 result) %.*s(", (int)strcspn(name, "("), name);
        if (!strstr(link->text, defined)) {
            snprintf(link->values[0], (size_t)link->values[1], "error : Undefined reference to '%.*s'",
                     (int)strcspn(name, "("), name);
            return INVALID_PTX;
        }
    }
    return *code = link->text, *size = strlen(link->text), OK;
}
R cuLinkDestroy(struct link *link)
{
    if (depth == 0) return INVALID_CONTEXT;
    record(__func__);
    links--;
    return free(link->text), free(link), OK;
}
/* As `cudarc` loads modules. */
R cuModuleLoadData(struct module **module, const char *image)
{
    char log[256];
    void *values[] = { log, (void *)sizeof log };
    return cuModuleLoadDataEx(module, image, 2, (const int[]){ 5, 6 }, values);
}
R cuModuleUnload(struct module *module)
{
    if (depth == 0) return INVALID_CONTEXT;
    for (int i = 0; i < 4096; i++)
        if (loaded[i] == module) loaded[i] = NULL;
    modules--;
    return free(module), OK;
}
R cuModuleGetFunction(struct kernel **kernel, struct module *module, const char *name)
{
    NEEDS_CONTEXT;
    for (int i = 0; i < module->count; i++)
        if (strcmp(module->kernels[i].name, name) == 0) return *kernel = &module->kernels[i], OK;
    for (int i = 0; i < 3 && module->prints; i++)
        if (strcmp(module->printing[i].name, name) == 0) return *kernel = &module->printing[i], OK;
    return NOT_FOUND;
}
R cuModuleGetGlobal_v2(uint64_t *address, size_t *size, struct module *module, const char *name)
{
    NEEDS_CONTEXT;
    if (strcmp(name, "coefficients") == 0) return *address = (uintptr_t)module->coefficients, *size = 16, OK;
    if (strcmp(name, "__offload_output") == 0 && module->prints) return *address = (uintptr_t)&module->ring, *size = 8, OK;
    if (strcmp(name, "launches") == 0) return *address = (uintptr_t)&module->launches, *size = 4, OK;
    return NOT_FOUND;
}
#ifndef OLD
R cuModuleGetFunctionCount(unsigned *count, struct module *module) { return *count = module->count, OK; }
R cuModuleEnumerateFunctions(struct kernel **kernels, unsigned count, struct module *module)
{
    for (unsigned i = 0; i < count; i++) kernels[i] = &module->kernels[i];
    return OK;
}
R cuFuncGetName(const char **name, struct kernel *kernel) { return *name = kernel->name, OK; }
R cuFuncGetParamInfo(struct kernel *kernel, size_t index, size_t *offset, size_t *size)
{
    if (index >= (size_t)kernel->parameters) return INVALID_VALUE;
    return *offset = 8 * index, *size = kernel->sizes[index], OK;
}
#endif
R cuFuncGetAttribute(int *value, int attribute, struct kernel *kernel)
{
    NEEDS_CONTEXT;
    switch (attribute) {
    case 0: *value = kernel->block; break;
    case 1: *value = kernel->shared; break;
    case 3: *value = 0; break;
    case 4: *value = 10; break;
    default: return INVALID_VALUE;
    }
    return OK;
}
R cuFuncSetAttribute(struct kernel *kernel, int attribute, int value)
{
    NEEDS_CONTEXT;
    if (attribute == 14) return kernel->large_clusters = value, OK;
    if (attribute != 8 || value + kernel->shared > OPT_IN_LIMIT) return INVALID_VALUE;
    return kernel->opt_in = value, OK;
}
R cuFuncSetCacheConfig(struct kernel *kernel, unsigned preference)
{
    NEEDS_CONTEXT;
    return kernel && preference <= 3 ? OK : INVALID_VALUE;
}
R cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, struct kernel *kernel, int block, size_t shared,
                                                       unsigned flags)
{
    NEEDS_CONTEXT;
    (void)shared;
    if (block <= 0 || flags > 1) return INVALID_VALUE;
    return *blocks = block > kernel->block ? 0 : 2048 / block, OK;
}
/* 768 threads are best where a kernel allows them; with more shared memory than a block has, none are. */
R cuOccupancyMaxPotentialBlockSize(int *grid, int *block, struct kernel *kernel, size_t (*shared_of)(int), size_t shared,
                                   int limit)
{
    NEEDS_CONTEXT;
    if (shared_of || limit < 0) return INVALID_VALUE;
    size_t most = kernel->opt_in > STATIC_LIMIT ? kernel->opt_in : STATIC_LIMIT;
    *block = shared + kernel->shared > most ? 0 : kernel->block < 768 ? kernel->block : 768;
    return *grid = 264, OK;
}

#ifndef INCOMPLETE
static struct module *module_of(struct kernel *kernel)
{
    for (int i = 0; i < 4096; i++)
        if (loaded[i] && (char *)kernel >= (char *)loaded[i] && (char *)kernel < (char *)(loaded[i] + 1)) return loaded[i];
    abort();
}
#define PARAMETER(type, index) (*(type *)parameters[index])
static void print_as(const char *name, unsigned items, int value)
{
    for (global_id = 0; global_id < items; global_id++) {
        struct { unsigned id; const char *text; double half; int value; } args = { global_id, name, global_id / 2.0, value };
        if (strcmp(name, "say") == 0) device_vprintf("%u %s %.1f %d\n", (void *)&args);
        if (strcmp(name, "shout") == 0) device_vprintf("%u louder and louder, until nobody hears it\n", (void *)&args);
        __offload_output_kernel = name;
        if (strcmp(name, "doubt") == 0 && (int)global_id >= value)
            device_assert_fail("id < value", "kernels/prints.cu", 7, "checked");
    }
}
static _Thread_local unsigned cluster = 1; /* of the launch */
R cuLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                 unsigned shared, void *stream, void **parameters, void **extra)
{
    NEEDS_CONTEXT;
    unsigned block = bx * by * bz, most = kernel->opt_in > STATIC_LIMIT ? kernel->opt_in : STATIC_LIMIT;
    if (gx == 0 || gy == 0 || gz == 0) return INVALID_VALUE;
    if (!is_stream(stream) || extra || block > (unsigned)kernel->block || shared > most) return INVALID_VALUE;
    if (capturing(stream)) {
        struct node node = { LAUNCH_NODE, .shape = { gx, gy, gz, bx, by, bz, shared }, .kernel = kernel };
        for (int i = 0; i < kernel->parameters; i++) memcpy(&node.values[i], parameters[i], kernel->sizes[i]);
        return keep(stream, node);
    }
    if (module_of(kernel)->prints && kernel >= module_of(kernel)->printing) {
        static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&printing);
        __offload_output = module_of(kernel)->ring;
        print_as(kernel->name, gx * bx, kernel->parameters ? PARAMETER(int, 0) : 0);
        return pthread_mutex_unlock(&printing), OK;
    }
    char *dynamic = malloc(shared + 1);
    if (strcmp(kernel->name, "crash") == 0) {
        lost = ILLEGAL_ADDRESS;
    } else if (strcmp(kernel->name, "saxpy") == 0) {
        float a = PARAMETER(float, 0), *x = PARAMETER(float *, 1), *y = PARAMETER(float *, 2);
        for (unsigned i = 0; i < gx * bx && i < PARAMETER(unsigned, 3); i++) y[i] += a * x[i];
    } else if (strcmp(kernel->name, "mirror") == 0) {
        uint32_t *out = PARAMETER(uint32_t *, 0);
        uint32_t *first = (uint32_t *)(dynamic + PARAMETER(uint64_t, 1));
        uint32_t *second = (uint32_t *)(dynamic + PARAMETER(uint64_t, 2));
        if (PARAMETER(uint64_t, 2) + 4 * bx > shared) abort();
        for (unsigned group = 0; group < gx; group++) {
            for (unsigned i = 0; i < bx; i++) first[i] = i;
            for (unsigned i = 0; i < bx; i++) second[i] = 1000 + i;
            for (unsigned i = 0; i < bx; i++) {
                out[2 * (group * bx + i)] = first[bx - 1 - i];
                out[2 * (group * bx + i) + 1] = second[bx - 1 - i];
            }
        }
    } else if (strcmp(kernel->name, "last_word") == 0) {
        PARAMETER(uint32_t *, 0)[0] = shared;
        PARAMETER(uint32_t *, 0)[1] = 42;
    } else if (strcmp(kernel->name, "meet") == 0) {
        for (unsigned i = 0; i < gx; i++) PARAMETER(uint32_t *, 0)[i] = i + 1;
        for (unsigned i = 0; i < gx; i++) PARAMETER(uint32_t *, 2)[i] = PARAMETER(uint32_t *, 0)[(i + 1) % gx];
    } else if (strcmp(kernel->name, "large") == 0) {
        memcpy(PARAMETER(uint32_t *, 1), parameters[0], 4080);
    } else if (strcmp(kernel->name, "tensor_map") == 0) {
        PARAMETER(uint32_t *, 2)[0] = 0;
        memcpy(PARAMETER(uint32_t *, 2) + 1, parameters[1], 128);
    } else if (strcmp(kernel->name, "ranks") == 0) {
        for (unsigned i = 0; i < gx; i++) PARAMETER(uint32_t *, 0)[2 * i] = i % cluster, PARAMETER(uint32_t *, 0)[2 * i + 1] = cluster;
    } else if (strcmp(kernel->name, "follow") == 0) {
        PARAMETER(uint32_t *, 0)[0]++;
    } else if (strcmp(kernel->name, "texels") == 0) {
        struct array *from = PARAMETER(struct object *, 0)->resource.array, *to = PARAMETER(struct object *, 1)->resource.array;
        for (unsigned i = 0; i < bx; i++) {
            float texel = ((float *)from->data)[i < from->form.width ? i : from->form.width - 1];
            PARAMETER(float *, 2)[i] = texel;
            if (i < to->form.width) ((float *)to->data)[i] = texel;
        }
    } else if (strcmp(kernel->name, "weigh") == 0) {
        for (unsigned i = 0; i < bx; i++) PARAMETER(float *, 0)[i] = module_of(kernel)->coefficients[i % 4];
    } else {
        PARAMETER(uint32_t *, 0)[0] += gx * gy * gz;
    }
    return free(dynamic), OK;
}
R cuGraphLaunch(struct graph *executable, void *stream)
{
    NEEDS_CONTEXT;
    record(__func__);
    if (!is_here(stream) || executable->context != top()) return INVALID_VALUE;
    for (struct node *node = executable->nodes; node < executable->nodes + executable->count; node++) {
        R done = OK;
        if (node->what == FILL_NODE) {
            for (size_t i = 0; i < node->size; i++) memcpy(node->to + i * node->step, &node->value, node->step);
        } else if (node->what == LAUNCH_NODE) {
            void *parameters[4];
            for (int i = 0; i < 4; i++) parameters[i] = &node->values[i];
            const unsigned *at = node->shape;
            done = cuLaunchKernel(node->kernel, at[0], at[1], at[2], at[3], at[4], at[5], at[6], stream, parameters, NULL);
        } else if (node->what == HOST_NODE) {
            node->function(node->data);
        } else {
            memcpy(node->to, node->from, node->size);
        }
        if (done) return done;
    }
    return OK;
}
struct launch { struct kernel *kernel; unsigned shape[7]; void **parameters, **extra; };
R cuGraphExecKernelNodeSetParams(struct graph *executable, struct node *node, const struct launch *launch)
{
    NEEDS_CONTEXT;
    struct graph *graph = executable->first;
    if (node < graph->nodes || node >= graph->nodes + graph->count || node->what != LAUNCH_NODE || launch->extra)
        return INVALID_VALUE;
    struct node *changed = &executable->nodes[node - graph->nodes];
    changed->kernel = launch->kernel;
    memcpy(changed->shape, launch->shape, sizeof changed->shape);
    for (int i = 0; i < launch->kernel->parameters; i++)
        memcpy(&changed->values[i], launch->parameters[i], launch->kernel->sizes[i]);
    return OK;
}
R cuLaunchCooperativeKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared, void *stream, void **parameters)
{
    NEEDS_CONTEXT;
    record(__func__);
    int most;
    R queried = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&most, kernel, bx * by * bz, shared, 0);
    if (queried) return queried;
    if (gx * gy * gz > (unsigned)most * MULTIPROCESSORS) return COOPERATIVE_TOO_LARGE;
    return cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters, NULL);
}
#ifndef OLD
struct attribute { unsigned id, padding, value[16]; };
struct config { unsigned grid[3], block[3], shared; void *stream; struct attribute *attributes; unsigned count; };
R cuLaunchKernelEx(const struct config *config, struct kernel *kernel, void **parameters, void **extra)
{
    NEEDS_CONTEXT;
    enum { COOPERATIVE = 2, CLUSTER = 4, PROGRAMMATIC = 6 };
    const unsigned *g = config->grid, *b = config->block;
    char call[128] = "cuLaunchKernelEx";
    unsigned groups = 1;
    for (const struct attribute *at = config->attributes; at < config->attributes + config->count; at++) {
        const unsigned *v = at->value;
        snprintf(call + strlen(call), sizeof call - strlen(call), ",%u=%u.%u.%u", at->id, v[0], v[1], v[2]);
        if (at->id == CLUSTER) {
            groups = v[0] * v[1] * v[2];
            if (!groups || g[0] % v[0] || g[1] % v[1] || g[2] % v[2] || groups > (kernel->large_clusters ? 16 : 8))
                return INVALID_CLUSTER_SIZE;
        } else if ((at->id != COOPERATIVE && at->id != PROGRAMMATIC) || v[0] != 1 || (at->id == PROGRAMMATIC && capturing(config->stream))) {
            return INVALID_VALUE;
        }
    }
    record(call);
    cluster = groups;
    R done = cuLaunchKernel(kernel, g[0], g[1], g[2], b[0], b[1], b[2], config->shared, config->stream, parameters, extra);
    return cluster = 1, done;
}
#endif
#endif
