/* env.linear(x, w, b) -> y: y = x @ w + b, for float32 matrices. Build: cc -shared -fPIC -o liblinear.so linear.c */
#include <relish/native.h>

static int is_float32(const RelishAny* value, int rank) {
  if (value->kind != RELISH_TENSOR) return 0;
  const RelishTensor* t = value->as.tensor;
  return t->rank == rank && t->element.code == RELISH_CODE_FLOAT && t->element.bits == 32;
}

int __tvm_ffi_env_linear(void* self, const RelishAny* args, int32_t count, RelishAny* result) {
  (void)self, (void)result;
  if (count != 4 || !is_float32(&args[0], 2) || !is_float32(&args[1], 2) || !is_float32(&args[2], 1) ||
      !is_float32(&args[3], 2)) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "expected x (n, k), w (k, m), b (m) and y (n, m), all float32");
    return -1;
  }
  const RelishTensor *x = args[0].as.tensor, *w = args[1].as.tensor, *b = args[2].as.tensor;
  const RelishTensor* y = args[3].as.tensor;
  const int64_t n = x->shape[0], k = x->shape[1], m = w->shape[1];
  if (w->shape[0] != k || b->shape[0] != m || y->shape[0] != n || y->shape[1] != m) {
    TVMFFIErrorSetRaisedFromCStr("ValueError", "the shapes of x, w, b and y do not fit");
    return -1;
  }
  const float *xs = x->data, *ws = w->data, *bs = b->data;
  float* ys = y->data;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      float sum = bs[j];
      for (int64_t l = 0; l < k; ++l) sum += xs[i * k + l] * ws[l * m + j];
      ys[i * m + j] = sum;
    }
  }
  return 0;
}
