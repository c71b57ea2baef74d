// Calls of prim_funcs whose results take the place of arguments, in programs for gradients: what was
// overwritten is needed on the way back, arguments may be one value, and who else holds one sees what it was.
#include <algorithm>

#include "tests/generate/graph_forms.h"

namespace relish::generate {
namespace {

// A nest over buffers of one shape, and which results stand in the place of which arguments.
class InPlaceNest {
 public:
  InPlaceNest(GraphGenerator& g, const std::vector<Scalar>& shape)
      : g_(g),
        x_("X", DType::Float64, shape),
        z_("Z", DType::Float64, shape),
        y_("Y", DType::Float64, shape) {
    for (const Scalar& extent : shape) {
      loops_.emplace_back("i" + std::to_string(loops_.size()), DType::Int64);
      extents_.push_back(extent);
      place_.push_back(use(loops_.back()));
    }
  }

  PrimFuncPtr function(const std::string& name) {
    PrimFunc made;
    made.name = name;
    made.body = body();
    made.params = {{x_}, {z_}};
    if (has_fresh_) made.params.push_back({y_});
    made.is_private = true;
    return std::make_shared<const PrimFunc>(std::move(made));
  }
  // By result. Known once the function is made.
  const std::vector<std::int64_t>& indices() const { return indices_; }

 private:
  Scalar at(const Buffer& buffer) const { return load(buffer, place_); }
  static Scalar sine(const Scalar& value) { return intrinsic(Intrinsic::Sin, {value}); }
  static Scalar number(double value) { return float_literal(DType::Float64, value); }
  Stmt put(const Buffer& buffer, const Scalar& value) const {
    return make_stmt(Store{buffer, place_, value}, {});
  }

  // Inside loops over all elements; `less`: of the last dimension the last one is left out.
  Stmt over_all(Stmt body, bool less = false) const {
    for (std::size_t d = loops_.size(); d-- > 0;) {
      const bool shorter = less && d + 1 == loops_.size();
      const Scalar extent = shorter ? canonical(extents_[d] - Scalar(1)) : extents_[d];
      body = make_stmt(For{loops_[d], Scalar(0), extent, LoopKind::Serial, std::move(body), {}}, {});
    }
    return body;
  }
  std::vector<Scalar> next_place() const {
    std::vector<Scalar> next = place_;
    next.back() = next.back() + Scalar(1);
    return next;
  }
  std::vector<Scalar> from_the_end() const {
    std::vector<Scalar> mirrored = place_;
    mirrored.back() = extents_.back() - Scalar(1) - mirrored.back();
    return mirrored;
  }

  Stmt body() {
    indices_ = {0};
    switch (g_.random().below(loops_.empty() ? 5 : 8)) {
      case 0:
        return over_all(put(x_, at(x_) * sine(at(z_))));
      case 1:
        return over_all(put(x_, at(z_) * at(z_)));
      case 2: {
        const ScalarVar k("k", DType::Int64);
        const Stmt again = over_all(put(x_, at(x_) * sine(at(x_) + at(z_))));
        return make_stmt(For{k, Scalar(0), Scalar(g_.random().between(1, 3)), LoopKind::Serial, again, {}},
                         {});
      }
      case 3:
        has_fresh_ = true;
        indices_ =
            g_.random().chance(0.5) ? std::vector<std::int64_t>{0, -1} : std::vector<std::int64_t>{-1, 1};
        return over_all(indices_[0] == 0 ? seq({put(y_, sine(at(x_))), put(x_, at(x_) * at(z_) + at(y_))})
                                         : seq({put(y_, at(x_) * at(z_)), put(z_, sine(at(z_)) - at(y_))}));
      case 4:
        indices_ =
            g_.random().chance(0.5) ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{1, 0};
        return over_all(seq({put(x_, at(x_) + sine(at(z_))), put(z_, at(x_) * at(z_))}));
      case 5:
        // Each element is made of the one before it, which is new already.
        return over_all(
            make_stmt(Store{x_, next_place(), load(x_, next_place()) * number(0.5) + sine(at(x_)) * at(z_)},
                      {}),
            true);
      case 6:
        // Each element is made of the one behind it, which is still old.
        return over_all(put(x_, load(x_, next_place()) * at(z_) + at(x_) * number(0.25)), true);
      default: {
        // Of the first half what stands in the second, from the end.
        const Scalar mirrored = load(x_, from_the_end());
        return over_all(put(x_, sine(mirrored) + at(x_) * at(z_)));
      }
    }
  }

  GraphGenerator& g_;
  Buffer x_, z_, y_;
  std::vector<ScalarVar> loops_;
  std::vector<Scalar> extents_, place_;
  std::vector<std::int64_t> indices_;
  bool has_fresh_ = false;
};

}  // namespace

bool make_call_tir_inplace(GraphGenerator& g) {
  const auto fitting = g.those([](const Type& type) {
    const TensorType* tensor = type.tensor();
    return tensor && tensor->dtype == DType::Float64 && tensor->shape && tensor->rank <= 3;
  });
  if (fitting.empty()) return false;
  const Var first = g.random().pick(fitting)->var;
  const auto alike = g.those([&](const Type& type) { return same_type(type, first.type()); });
  const Var second = g.random().pick(alike)->var;
  // The sizes of the nest are numbers, or what the call tells.
  std::vector<Scalar> shape;
  for (const Scalar& dim : *first.type().tensor()->shape) {
    const auto size = dim.as_int();
    shape.push_back(size && g.random().chance(0.6)
                        ? dim
                        : use(ScalarVar("n" + std::to_string(shape.size()), DType::Int64)));
  }
  ProgramState& state = g.state();
  const std::string name = state.module.fresh_name("in_place");
  InPlaceNest nest(g, shape);
  const PrimFuncPtr function = nest.function(name);
  state.module.set(function);
  const std::vector<std::int64_t>& indices = nest.indices();
  CallTir call{global_ref(GlobalFunction(function)),
               {first, second},
               std::vector<Type>(indices.size(), first.type()),
               indices.size() > 1,
               indices};
  const auto bound = g.bind(call_tir(std::move(call)));
  if (!bound) return false;
  g.cover("call_tir_inplace");
  if (bound->type().tensor()) g.keep(*bound);
  return true;
}

}  // namespace relish::generate
