"""Numbers for float16 and bfloat16: the inputs are values that the dtype holds, the reference runs in float64 on them
and is rounded once. So no library's own arithmetic in half precision takes part, and one oracle serves every dtype."""
import numpy as np

DTYPES = ("float16", "bfloat16")
CASES = 4  # of an operator in each of the dtypes
MOST_ELEMENTS = 256  # of an argument

# Operators that are asked in both: those that round, in every class of agreement.
OPERATORS = frozenset("""
abs acos acosh add asin asinh atan atan2 atanh ceil clip collapse_sum_to cos cosh cumprod cumsum divide einsum erf
ewise_fma exp floor floor_divide floor_mod linear log log_add_exp matmul max maximum mean median min minimum mod multiply
negative outer power prod round rsqrt sign sin sinh sqrt square std subtract sum tan tanh trunc variance where
nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.attention nn.attention_bias nn.avg_pool1d
nn.avg_pool2d nn.avg_pool3d nn.batch_norm nn.bias_add nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose
nn.conv3d nn.conv3d_transpose nn.cross_entropy_with_logits nn.dense nn.gelu nn.gelu_tanh nn.global_avg_pool1d
nn.global_avg_pool2d nn.global_avg_pool3d nn.global_max_pool2d nn.group_norm nn.instance_norm nn.l2_normalize
nn.layer_norm nn.leakyrelu nn.log_softmax nn.lrn nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.nll_loss nn.pad nn.prelu
nn.relu nn.relu6 nn.rms_norm nn.selu nn.silu nn.softmax nn.softplus
grad.avg_pool2d_backward grad.conv_data grad.conv_weight grad.max_pool2d_backward
""".split())


def rounded(values, dtype):
    """Float64 values rounded once, to nearest and even, to what `dtype` holds; as float64."""
    values = np.asarray(values, np.float64)
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float64)
    finite = np.isfinite(values)
    _, exponents = np.frexp(np.where(finite, values, 0))
    quantum = np.maximum(exponents, -125) - 8  # 8 bits of precision, subnormal below 2^-126
    result = np.ldexp(np.rint(np.ldexp(np.where(finite, values, 0), -quantum)), quantum)
    result = np.where(np.abs(result) >= 2.0**128, np.copysign(np.inf, values), result)
    return np.where(finite, np.copysign(result, values), values)


class Half:
    """An array of float16 or bfloat16, as float64 values."""

    def __init__(self, values, dtype):
        self.dtype, self.values = dtype, rounded(values, dtype)


def halved(argument, dtype):
    """`argument` of a call with its float32 arrays as arrays of `dtype`."""
    if isinstance(argument, list):
        return [halved(field, dtype) for field in argument]
    if isinstance(argument, (np.ndarray, np.generic)) and argument.dtype == np.float32:
        return Half(argument, dtype)
    return argument


def arrays_of(arguments):
    for argument in arguments:
        if isinstance(argument, list):
            yield from arrays_of(argument)
        elif isinstance(argument, (np.ndarray, np.generic)):
            yield argument


def suits(arguments, attributes):
    """Whether a call is asked in half precision: small, and all its floats are float32."""
    arrays = list(arrays_of(arguments))
    floats = [a for a in arrays if a.dtype.kind == "f"]
    return (
        bool(floats)
        and all(a.dtype == np.float32 for a in floats)
        and all(a.size <= MOST_ELEMENTS for a in arrays)
        and any(a.size > 0 for a in floats)
        and all(np.isfinite(a).all() for a in floats)
        and attributes.get("dtype") is None
        and attributes.get("out_dtype") is None
    )
