/* Native functions in every form that the interface has, well and badly behaved. */
#include <relish/native.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE(name) int __tvm_ffi_##name(void* self, const RelishAny* args, int32_t count, RelishAny* result)
#define UNUSED (void)self, (void)args, (void)count, (void)result

static int64_t elements(const RelishTensor* t) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->rank; ++d) count *= t->shape[d];
  return count;
}

/* Two outputs: the least and the greatest element. */
NATIVE(env_extremes) {
  UNUSED;
  const RelishTensor* x = args[0].as.tensor;
  float* least = args[1].as.tensor->data;
  float* greatest = args[2].as.tensor->data;
  const float* values = x->data;
  *least = *greatest = values[0];
  for (int64_t i = 1; i < elements(x); ++i) {
    if (values[i] < *least) *least = values[i];
    if (values[i] > *greatest) *greatest = values[i];
  }
  return 0;
}

/* env.affine(x, factor: float, offset: int, negate: bool, how: "scale" or "shift") -> y. */
NATIVE(env_affine) {
  UNUSED;
  if (count != 6 || args[1].kind != RELISH_FLOAT || args[2].kind != RELISH_INT || args[3].kind != RELISH_BOOL ||
      args[4].kind != RELISH_STRING) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "expected a tensor, a float, an int, a bool, a string");
    return -1;
  }
  const int scale = strcmp(args[4].as.text, "scale") == 0;
  if (!scale && strcmp(args[4].as.text, "shift") != 0) {
    const char* parts[] = {"unknown mode '", args[4].as.text, NULL, "'"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 4);
    return -1;
  }
  const float* x = args[0].as.tensor->data;
  float* y = args[5].as.tensor->data;
  for (int64_t i = 0; i < elements(args[0].as.tensor); ++i) {
    const double value = scale ? x[i] * args[1].as.real : x[i] + (double)args[2].as.integer;
    y[i] = (float)(args[3].as.integer ? -value : value);
  }
  return 0;
}

NATIVE(env_fail) {
  UNUSED;
  TVMFFIErrorSetRaisedFromCStr("RuntimeError", "the device is on fire");
  return -1;
}

NATIVE(env_fail_silently) {
  UNUSED;
  return 7;
}

/* Results of their own: a float, a string, a tensor. */
NATIVE(env_total) {
  UNUSED;
  const float* x = args[0].as.tensor->data;
  result->kind = RELISH_FLOAT;
  result->as.real = 0;
  for (int64_t i = 0; i < elements(args[0].as.tensor); ++i) result->as.real += x[i];
  return 0;
}

NATIVE(env_count) {
  UNUSED;
  result->kind = RELISH_INT;
  result->as.integer = count;
  return 0;
}

NATIVE(env_greeting) {
  UNUSED;
  result->kind = RELISH_SMALL_STRING;
  result->length = 5;
  memcpy(result->as.bytes, "hello", 5);
  return 0;
}

typedef struct {
  RelishObject head;
  RelishTensor tensor;
  int64_t shape[1];
  float values[3];
} Row;

int released_rows = 0;

static void release_row(void* self, int which) {
  if (which & 1) ++released_rows;
  if (which & 2) free(self);
}

/* A counted tensor of its own with the values 1, 2, 3. */
NATIVE(env_row) {
  UNUSED;
  Row* row = calloc(1, sizeof *row);
  row->head.counts = ((uint64_t)1 << 32) + 1;
  row->head.kind = RELISH_TENSOR_OBJECT;
  row->head.release = release_row;
  row->shape[0] = 3;
  row->tensor.data = row->values;
  row->tensor.device.type = 1;
  row->tensor.rank = 1;
  row->tensor.element.code = RELISH_CODE_FLOAT;
  row->tensor.element.bits = 32;
  row->tensor.element.lanes = 1;
  row->tensor.shape = row->shape;
  for (int i = 0; i < 3; ++i) row->values[i] = (float)(i + 1);
  result->kind = RELISH_TENSOR_OBJECT;
  result->as.object = &row->head;
  return 0;
}

NATIVE(env_released_rows) {
  UNUSED;
  result->kind = RELISH_INT;
  result->as.integer = released_rows;
  return 0;
}

NATIVE(env_strange) {
  UNUSED;
  result->kind = 42;
  return 0;
}

/* The number of elements of a shape. */
NATIVE(env_volume) {
  UNUSED;
  if (count != 1 || args[0].kind != RELISH_SHAPE_OBJECT) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "expected a shape");
    return -1;
  }
  const RelishDims* dims = (const RelishDims*)(args[0].as.object + 1);
  result->kind = RELISH_INT;
  result->as.integer = 1;
  for (size_t i = 0; i < dims->size; ++i) result->as.integer *= dims->data[i];
  return 0;
}

/* Doubles its argument where it stands, and returns it. */
NATIVE(env_double_inplace) {
  UNUSED;
  float* x = args[0].as.tensor->data;
  for (int64_t i = 0; i < elements(args[0].as.tensor); ++i) x[i] *= 2;
  *result = args[0];
  return 0;
}

/* The bytes of an element, negative for floats, of what is given. */
NATIVE(env_element) {
  UNUSED;
  const RelishElement element = args[0].as.tensor->element;
  result->kind = RELISH_INT;
  result->as.integer = element.code * 1000 + element.bits;
  return 0;
}

/* Under a name of its own. */
int other_name(void* self, const RelishAny* args, int32_t count, RelishAny* result) {
  UNUSED;
  result->kind = RELISH_INT;
  result->as.integer = 11;
  return 0;
}
