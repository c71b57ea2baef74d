// Exchange between workers. There is one, so each gives back its tensor, and several are refused.
#include "stdlib/families/elementwise/identity.h"

namespace relish::ops_ccl_collectives {
namespace {

constexpr Param x{"x", ParamKind::Tensor, "tensor", "", "input"};
constexpr Param in_group{"in_group", ParamKind::Attribute, "bool", "True",
                         "within the worker's group; there is one"};
constexpr Param num_workers{"num_workers", ParamKind::Attribute, "int", "", "how many workers: 1"};

constexpr Param allreduce_params[] = {
    x, {"op_type", ParamKind::Attribute, "str", "\"sum\"", "sum, prod, min, max or avg"}, in_group};
constexpr Param allgather_params[] = {x, num_workers, in_group};
constexpr Param broadcast_params[] = {x};
constexpr Param scatter_params[] = {
    x, num_workers, {"axis", ParamKind::Attribute, "int", "0", "dimension that is split"}};

void require_one_worker(const CallView& call) {
  const std::int64_t workers = call.int_attribute("num_workers");
  if (workers == 1) return;
  call.reject("num_workers", call.span,
              fmt::format("num_workers is {}, expected 1: everything runs in one process", workers));
}

Type infer_allreduce(const CallView& call) {
  const std::string type = call.string_attribute("op_type");
  if (type != "sum" && type != "prod" && type != "min" && type != "max" && type != "avg") {
    call.reject("op_type", call.span,
                fmt::format("op_type is \"{}\", expected sum, prod, min, max or avg", type));
  }
  return call.tensor(0);
}
Type infer_allgather(const CallView& call) {
  require_one_worker(call);
  return call.tensor(0);
}
Type infer_scatter(const CallView& call) {
  require_one_worker(call);
  const int rank = shape_of(call.tensor(0)).rank;
  if (rank >= 0) normal_axis(call, call.int_attribute("axis"), rank);
  return call.tensor(0);
}

constexpr Sample allreduce_samples[] = {
    {"[1.0, 2.0]", "[1.0, 2.0]"},
    {"[[1.0], [2.0]], \"avg\"", "[[1.0], [2.0]]"},
    {"[1.0, 2.0], op_type=\"prod\", in_group=False", "[1.0, 2.0]"},
    {"R.const([3, 4], \"int32\"), \"max\"", "[3, 4]"},
    {"rand((0, 2), \"float64\"), \"min\"", "rand((0, 2), \"float64\")"},
};
constexpr Reject allreduce_rejects[] = {
    {"allreduce.op_type", "[1.0], op_type=\"median\"", "expected sum, prod, min, max or avg"}};
constexpr Sample allgather_samples[] = {
    {"[1.0, 2.0], 1", "[1.0, 2.0]"},
    {"[[1.0], [2.0]], num_workers=1, in_group=False", "[[1.0], [2.0]]"},
    {"R.const([3, 4], \"int32\"), 1", "[3, 4]"},
    {"R.const(2.0, \"float64\"), 1", "2.0"},
    {"rand((0, 2), \"float64\"), 1", "rand((0, 2), \"float64\")"},
};
constexpr Reject allgather_rejects[] = {
    {"allgather.num_workers", "[1.0], 2", "num_workers is 2, expected 1"}};
constexpr Sample broadcast_samples[] = {
    {"[1.0, 2.0]", "[1.0, 2.0]"},
    {"[[1.0], [2.0]]", "[[1.0], [2.0]]"},
    {"R.const([3, 4], \"int32\")", "[3, 4]"},
    {"R.const(2.0, \"float64\")", "2.0"},
    {"rand((0, 2), \"float64\")", "rand((0, 2), \"float64\")"},
};
constexpr Reject broadcast_rejects[] = {
    {"broadcast_from_worker0.tensor", "R.shape([1, 2])", "expected a tensor"}};
constexpr Sample scatter_samples[] = {
    {"[1.0, 2.0], 1", "[1.0, 2.0]"},
    {"[[1.0], [2.0]], num_workers=1, axis=1", "[[1.0], [2.0]]"},
    {"R.const([3, 4], \"int32\"), 1, -1", "[3, 4]"},
    {"[[1.0, 5.0]], 1", "[[1.0, 5.0]]"},
    {"rand((0, 2), \"float64\"), 1", "rand((0, 2), \"float64\")"},
};
constexpr Reject scatter_rejects[] = {
    {"scatter_from_worker0.num_workers", "[1.0], 2", "num_workers is 2, expected 1"},
    {"scatter_from_worker0.axis", "[1.0], 1, axis=1", "out of range"}};

constexpr std::string_view doc =
    "Everything runs in one process, so there is one worker and the tensor is the result. More workers are "
    "refused.";

}  // namespace

extern const Op op_ccl_allreduce = identity_of_tensor({.name = "ccl.allreduce",
                                                       .summary = "Reduction over all workers.",
                                                       .params = allreduce_params,
                                                       .infer = infer_allreduce,
                                                       .samples = allreduce_samples,
                                                       .rejects = allreduce_rejects,
                                                       .doc = doc});

extern const Op op_ccl_allgather = identity_of_tensor({.name = "ccl.allgather",
                                                       .summary = "The tensors of all workers.",
                                                       .params = allgather_params,
                                                       .infer = infer_allgather,
                                                       .samples = allgather_samples,
                                                       .rejects = allgather_rejects,
                                                       .doc = doc});

extern const Op op_ccl_broadcast_from_worker0 =
    identity_of_tensor({.name = "ccl.broadcast_from_worker0",
                        .summary = "The tensor of the first worker.",
                        .params = broadcast_params,
                        .samples = broadcast_samples,
                        .rejects = broadcast_rejects,
                        .doc = doc});

extern const Op op_ccl_scatter_from_worker0 =
    identity_of_tensor({.name = "ccl.scatter_from_worker0",
                        .summary = "The first worker's tensor, split over all workers.",
                        .params = scatter_params,
                        .infer = infer_scatter,
                        .samples = scatter_samples,
                        .rejects = scatter_rejects,
                        .doc = doc});

}  // namespace relish::ops_ccl_collectives
