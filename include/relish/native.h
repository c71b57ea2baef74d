/* The binary interface of native functions: what a shared library named by `relish --native` offers, and what
 * it is given. It is the stable C interface of TVM-FFI, restated here so that a library needs no other header
 * and links against nothing. docs/native.md shows a whole library.
 *
 * A function `env.linear` of a script is the symbol `__tvm_ffi_env_linear`, of type RelishNativeFunction. It
 * receives the arguments in the order of the call; for R.call_dps_packed the destinations follow the inputs,
 * zeroed and as large as the call's out types say. It returns 0, or something else after it has called
 * TVMFFIErrorSetRaisedFromCStr, which the program exports.
 *
 * Inputs must not be written, destinations must not be read after the return, and no pointer among the
 * arguments lives longer than the call. */
#ifndef RELISH_NATIVE_H
#define RELISH_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of a value (RelishAny.kind). Those from RELISH_OBJECT on are counted objects. */
enum {
  RELISH_NONE = 0,
  RELISH_INT = 1,           /* as.integer */
  RELISH_BOOL = 2,          /* as.integer, 0 or 1 */
  RELISH_FLOAT = 3,         /* as.real */
  RELISH_TENSOR = 7,        /* as.tensor, borrowed */
  RELISH_STRING = 8,        /* as.text, ends with a zero byte, borrowed */
  RELISH_SMALL_STRING = 11, /* as.bytes, `length` of them */
  RELISH_OBJECT = 64,
  RELISH_STRING_OBJECT = 65, /* RelishObject, then RelishBytes */
  RELISH_SHAPE_OBJECT = 69,  /* RelishObject, then RelishDims */
  RELISH_TENSOR_OBJECT = 70  /* RelishObject, then RelishTensor */
};

/* Type codes of elements (RelishElement.code); `bits` and `lanes` complete them: float32 is {2, 32, 1}. */
enum {
  RELISH_CODE_INT = 0,
  RELISH_CODE_UINT = 1,
  RELISH_CODE_FLOAT = 2,
  RELISH_CODE_BFLOAT = 4,
  RELISH_CODE_BOOL = 6
};

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} RelishElement;

typedef struct {
  int32_t type; /* 1: memory of the host */
  int32_t index;
} RelishDevice;

/* A tensor as DLPack lays it out. Those given to a function are dense in row order, aligned to 64 bytes, with
 * byte_offset 0. Strides count elements. */
typedef struct {
  void* data;
  RelishDevice device;
  int32_t rank;
  RelishElement element;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} RelishTensor;

/* Head of a counted object: the low 32 bits of `counts` are the strong references, the high ones the weak
 * ones. `release` gets 1 when the last strong reference goes, 2 when the last weak one goes, 3 for both. */
typedef struct {
  uint64_t counts;
  int32_t kind;
  uint32_t padding;
  void (*release)(void* self, int which);
} RelishObject;

typedef struct {
  const char* data;
  size_t size;
} RelishBytes;

typedef struct {
  const int64_t* data;
  size_t size;
} RelishDims;

/* A tagged value of 16 bytes. */
typedef struct {
  int32_t kind;
  uint32_t length; /* of a small string, else 0 */
  union {
    int64_t integer;
    double real;
    RelishTensor* tensor;
    const char* text;
    RelishObject* object;
    char bytes[8];
  } as;
} RelishAny;

/* `self` is NULL. `result` is RELISH_NONE before the call; what a function leaves there is the result of
 * R.call_packed and R.call_pure_packed, and is not looked at for R.call_dps_packed. */
typedef int (*RelishNativeFunction)(void* self, const RelishAny* arguments, int32_t count, RelishAny* result);

/* Says why the function is about to return something else than 0. Both texts are copied. */
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
/* The same with a message in parts, of which NULL ones are passed over. */
void TVMFFIErrorSetRaisedFromCStrParts(const char* kind, const char** parts, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* RELISH_NATIVE_H */
