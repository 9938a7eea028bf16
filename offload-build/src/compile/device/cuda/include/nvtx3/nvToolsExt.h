// Marks for profilers, which leave none: https://nvidia.github.io/NVTX/
#pragma once
#include <offload_names_begin.h>
typedef unsigned long long nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((unsigned short)sizeof(nvtxEventAttributes_t))
enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum nvtxMessageType_t { NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2 };
enum nvtxPayloadType_t {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3
};
union nvtxMessageValue_t {
  const char *ascii;
  const wchar_t *unicode;
};
struct nvtxEventAttributes_t {
  unsigned short version, size;
  unsigned int category;
  int colorType;
  unsigned int color;
  int payloadType, reserved0;
  union {
    unsigned long long ullValue;
    long long llValue;
    double dValue;
  } payload;
  int messageType;
  nvtxMessageValue_t message;
};
#define __OFFLOAD_NVTX static inline __attribute__((host))
__OFFLOAD_NVTX void nvtxMarkA(const char *) {}
__OFFLOAD_NVTX void nvtxMarkEx(const nvtxEventAttributes_t *) {}
__OFFLOAD_NVTX int nvtxRangePushA(const char *) { return 0; }
__OFFLOAD_NVTX int nvtxRangePushEx(const nvtxEventAttributes_t *) { return 0; }
__OFFLOAD_NVTX int nvtxRangePop() { return 0; }
__OFFLOAD_NVTX nvtxRangeId_t nvtxRangeStartA(const char *) { return 0; }
__OFFLOAD_NVTX nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *) { return 0; }
__OFFLOAD_NVTX void nvtxRangeEnd(nvtxRangeId_t) {}
__OFFLOAD_NVTX nvtxDomainHandle_t nvtxDomainCreateA(const char *) { return nullptr; }
__OFFLOAD_NVTX void nvtxDomainDestroy(nvtxDomainHandle_t) {}
__OFFLOAD_NVTX int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *) { return 0; }
__OFFLOAD_NVTX int nvtxDomainRangePop(nvtxDomainHandle_t) { return 0; }
__OFFLOAD_NVTX void nvtxNameOsThreadA(unsigned int, const char *) {}
#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#undef __OFFLOAD_NVTX
#include <offload_names_end.h>
