// Backwards over the buffers of a prim_func: the cotangent of a buffer is complete when all that reads the
// buffer has given its part. Each read gives one part. Where the iterations that read an element are known
// from the element, the part is gathered: loops over the elements, sums over the remaining axes, with no two
// iterations on one element. Otherwise it is scattered, in the order of the text. What is needed of values
// between is computed again.
#include "transform/gradient/prim_adjoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "loops/accesses.h"
#include "loops/primitives.h"
#include "transform/gradient/final_values.h"
#include "transform/gradient/made_prim_func.h"
#include "transform/gradient/nests.h"
#include "transform/gradient/parts.h"
#include "transform/gradient/recompute.h"
#include "transform/gradient/scalar_partials.h"

namespace relish {
namespace {

class PrimAdjointMaker {
 public:
  PrimAdjointMaker(const PrimFunc& function, std::size_t results, const std::vector<std::size_t>& wrt,
                   const std::vector<std::size_t>& outputs)
      : function_(function), results_(results), wrt_(wrt), outputs_(outputs), made_of_(function) {}

  std::optional<PrimAdjoint> run(const std::string& name, std::vector<Obstacle>& obstacles) {
    forward_ = assignments_of(function_);
    refuse_stores_to_inputs();
    refuse_overwritten_arguments();
    order_ = order_of_final_values(forward_);
    if (forward_.obstacles.empty()) {
      for (const Assignment& each : forward_.list) writers_[each.buffer.id()].push_back(&each);
      find_active();
      differentiate();
    }
    if (!forward_.obstacles.empty()) {
      // One word for each place; what is found first is the cause of the rest.
      std::set<std::pair<std::uint32_t, std::uint32_t>> told;
      for (Obstacle& each : forward_.obstacles)
        if (told.emplace(each.span.begin, each.span.end).second) obstacles.push_back(std::move(each));
      return std::nullopt;
    }
    return finish(name);
  }

 private:
  const Buffer& param(std::size_t position) const { return made_of_.param(position); }
  Buffer like(const Buffer& buffer, const std::string& name) { return made_of_.like(buffer, name); }

  void refuse_stores_to_inputs() {
    std::size_t buffers = 0, seen = 0;
    for (const PrimParam& each : function_.params) buffers += each.buffer() ? 1 : 0;
    std::unordered_set<std::uint64_t> results;
    for (std::size_t i = 0; i < function_.params.size(); ++i) {
      const Buffer* buffer = function_.params[i].buffer();
      if (!buffer) continue;
      if (seen++ >= buffers - results_) results.insert(buffer->id());
      position_.emplace(buffer->id(), i);
    }
    StoresToInputs stores(function_, results);
    for (const Assignment& each : forward_.list) stores.look_at(each.buffer, each.span, forward_.obstacles);
  }

  // An argument in whose place a result is computed has two values, and one buffer stands for both. Where it
  // is only added to, the cotangent of the second is that of the first.
  void refuse_overwritten_arguments() {
    for (const std::size_t position : wrt_) {
      if (std::find(outputs_.begin(), outputs_.end(), position) == outputs_.end()) continue;
      const Buffer& buffer = param(position);
      for (const Assignment& each : forward_.list)
        if (each.buffer.id() == buffer.id() && (each.init || each.update != Update::Sum))
          forward_.obstacles.push_back(
              {each.span, fmt::format("'{}' is an argument and is overwritten here", buffer.name())});
    }
  }

  // Buffers that hang on the wanted ones, and of those the ones that the outputs hang on.
  void find_active() {
    for (const std::size_t position : wrt_) active_.insert(param(position).id());
    for (const Buffer& buffer : order_)
      for (const Assignment* each : writers_.at(buffer.id()))
        if (is_float(buffer.dtype()) && depends_on_active(each->value, active_)) active_.insert(buffer.id());
    for (const std::size_t position : outputs_) useful_.insert(param(position).id());
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      if (!useful_.contains(it->id()) || !active_.contains(it->id())) continue;
      for (const Assignment* each : writers_.at(it->id())) {
        std::vector<Access> loads;
        collect_loads(each->value, loads);
        for (const Access& load : loads)
          if (active_.contains(load.buffer->id())) useful_.insert(load.buffer->id());
      }
    }
  }

  void differentiate() {
    for (const Buffer& local : forward_.locals) made_of_.take_name(local.name());
    for (const std::size_t position : outputs_) {
      const Buffer given = like(param(position), param(position).name() + "_adjoint");
      cotangents_.push_back(given);
      parts_[param(position).id()];
      given_.emplace(param(position).id(), given);
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it)
      if (active_.contains(it->id()) && useful_.contains(it->id())) through(*it);
    for (const std::size_t position : wrt_) {
      const Buffer made = like(param(position), param(position).name() + "_adjoint");
      gradients_.push_back(made);
      write_sum(param(position), made);
    }
  }

  // The cotangent of the buffer, now complete, goes to what its assignments read.
  void through(const Buffer& buffer) {
    const auto given = given_.find(buffer.id());
    Buffer cotangent;
    if (given != given_.end() && parts_[buffer.id()].empty()) {
      cotangent = given->second;
    } else if (const Buffer* same = passed_on(buffer); same && given == given_.end()) {
      cotangent = *same;
    } else {
      cotangent = like(buffer, buffer.name() + "_adjoint");
      made_.push_back(cotangent);
      write_sum(buffer, cotangent);
    }
    const std::vector<const Assignment*>& writers = writers_.at(buffer.id());
    const bool extreme = std::any_of(writers.begin(), writers.end(), [](const Assignment* each) {
      return each->update == Update::Max || each->update == Update::Min;
    });
    const Buffer count = extreme ? count_winners(buffer) : Buffer();
    for (const Assignment* each : writers) {
      if (!depends_on_active(each->value, active_)) continue;
      Scalar arrives = load(cotangent, each->indices, each->span);
      if (extreme) {
        const Scalar won = compare(CompareOp::Eq, each->value, load(buffer, each->indices));
        arrives = select(won, arrives / load(count, each->indices), zero(buffer.dtype()));
      }
      ScalarPartials partials = scalar_partials(each->value, arrives, active_);
      for (const Scalar& refused : partials.refused)
        forward_.obstacles.push_back({refused.span().known() ? refused.span() : each->span,
                                      "this operation of a prim_func has no derivative"});
      for (LoadPartial& partial : joined(std::move(partials.loads))) add_part(*each, partial);
    }
  }

  // The buffer whose elements are all that arrives for those of `buffer`, one for one.
  const Buffer* passed_on(const Buffer& buffer) {
    const std::vector<Part>& parts = parts_[buffer.id()];
    if (parts.size() != 1 || parts[0].scattered || !parts[0].reduce.empty()) return nullptr;
    const auto* from = parts[0].value.as<Load>();
    const Targets& targets = targets_of(buffer);
    if (!from || from->buffer->rank() != buffer.rank()) return nullptr;
    for (std::size_t i = 0; i < targets.vars.size(); ++i) {
      const auto index = from->indices[i].as_var();
      if (!index || !(*index == targets.vars[i])) return nullptr;
      if (!prove_equal(from->buffer->shape()[i], buffer.shape()[i])) return nullptr;
    }
    return from->buffer.get();
  }

  // How many of the values that an element was compared with are the element.
  Buffer count_winners(const Buffer& buffer) {
    const Buffer count = like(buffer, buffer.name() + "_count");
    made_.push_back(count);
    need(buffer);
    bool started = false;
    for (const Assignment* each : writers_.at(buffer.id())) {
      if (each->value.as<FloatLiteral>()) continue;
      NestStore nest = nest_over(*each);
      nest.name = count.name();
      nest.buffer = count;
      const Scalar won = compare(CompareOp::Eq, each->value, load(buffer, each->indices));
      nest.value =
          load(count, each->indices) + select(won, literal(count.dtype(), 1), literal(count.dtype(), 0));
      if (!started && covers(nest))
        nest.start = zero(count.dtype());
      else if (!started)
        body_.push_back(nest_of(filled(count, zero(count.dtype()), function_.span)));
      started = true;
      write(std::move(nest));
    }
    return count;
  }

  void add_part(const Assignment& reader, const LoadPartial& partial) {
    const Buffer& buffer = *partial.load.as<Load>()->buffer;
    if (useful_.contains(buffer.id()))
      parts_[buffer.id()].push_back(part_of(reader, partial, targets_of(buffer)));
  }

  Targets& targets_of(const Buffer& buffer) {
    auto [place, fresh] = targets_.try_emplace(buffer.id());
    if (fresh) place->second = targets_over(buffer);
    return place->second;
  }

  // The sum of all parts that arrived for the buffer, in `into`.
  void write_sum(const Buffer& buffer, const Buffer& into) {
    const Targets& targets = targets_of(buffer);
    std::vector<Scalar> element;
    for (const ScalarVar& var : targets.vars) element.push_back(use(var));
    const std::vector<Part>& parts = parts_[buffer.id()];
    NestStore nest;
    nest.name = into.name();
    nest.buffer = into;
    nest.spatial = targets.axes;
    nest.indices = element;
    nest.span = function_.span;
    Scalar direct;  // what needs no sum
    if (const auto given = given_.find(buffer.id()); given != given_.end())
      direct = load(given->second, element);
    for (const Part& part : parts) {
      if (part.scattered || !part.reduce.empty()) continue;
      direct = direct.defined() ? direct + part.value : part.value;
    }
    bool started = direct.defined();
    if (started) {
      NestStore plain = nest;
      plain.value = direct;
      write(std::move(plain));
    }
    for (const Part& part : parts) {
      if (part.scattered || part.reduce.empty()) continue;
      NestStore sum = nest;
      sum.reduce = part.reduce;
      sum.value = load(into, element) + part.value;
      if (!started) sum.start = zero(into.dtype());
      started = true;
      write(std::move(sum));
    }
    if (!started) body_.push_back(nest_of(filled(into, zero(into.dtype()), function_.span)));
    for (const Part& part : parts)
      if (part.scattered) write(scattered(part, into));
  }

  void write(NestStore nest) {
    need_loads(nest.value);
    for (const Scalar& index : nest.indices) need_loads(index);
    for (const Scalar& condition : nest.conditions) need_loads(condition);
    for (const std::vector<DomainAxis>* axes : {&nest.spatial, &nest.reduce}) {
      for (const DomainAxis& axis : *axes) {
        need_loads(axis.begin);
        need_loads(axis.extent);
      }
    }
    body_.push_back(nest_of(nest));
  }

  void need_loads(const Scalar& value) {
    std::vector<Access> loads;
    collect_loads(value, loads);
    for (const Access& load : loads) need(*load.buffer);
  }

  // A value of the forward function: a parameter, or computed again.
  void need(const Buffer& buffer) {
    std::vector<Buffer> pending{buffer};
    while (!pending.empty()) {
      const Buffer next = pending.back();
      pending.pop_back();
      const bool is_param = position_.contains(next.id());
      const auto writers = writers_.find(next.id());
      if ((!is_param && writers == writers_.end()) || !needed_.insert(next.id()).second) continue;
      if (is_param) continue;
      for (const Assignment* each : writers->second)
        for (const Access& load : loads_of(*each)) pending.push_back(*load.buffer);
    }
  }

  // The needed locals, as the function computes them.
  std::vector<Stmt> computed_again() {
    std::vector<Stmt> stmts;
    for (const Buffer& buffer : order_) {
      if (!needed_.contains(buffer.id()) || position_.contains(buffer.id())) continue;
      made_.insert(made_.begin(), buffer);
      for (const Stmt& nest : nests_that_compute(writers_.at(buffer.id()))) stmts.push_back(nest);
    }
    return stmts;
  }

  PrimAdjoint finish(const std::string& name) {
    std::vector<Stmt> body = computed_again();
    PrimAdjoint result;
    result.keeps = body.empty() ? PrimAdjoint::Buffers : PrimAdjoint::Recompute;
    body.insert(body.end(), body_.begin(), body_.end());
    include_sizes();
    PrimFunc made = made_of_.empty(name);
    auto [scalars, buffers, scalar_params] = made_of_.own();
    const auto own = [&](const Buffer& buffer) { return remade(buffer, scalars, buffers); };
    const auto add = [&](const Buffer& buffer) { made.params.push_back({own(buffer)}); };
    for (std::size_t i = 0; i < function_.params.size(); ++i) {
      const Buffer* buffer = function_.params[i].buffer();
      if (!buffer || !needed_.contains(buffer->id())) continue;
      result.values.push_back(i);
      add(*buffer);
    }
    for (const Buffer& cotangent : cotangents_) add(cotangent);
    for (const Buffer& gradient : gradients_) add(gradient);
    made.params.insert(made.params.end(), scalar_params.begin(), scalar_params.end());
    for (const Buffer& buffer : made_) made.allocations.push_back(own(buffer));
    made.body = fresh_copy(seq(std::move(body), function_.span), scalars, buffers);
    result.function = std::move(made);
    return result;
  }

  // Every symbolic size must be told by a parameter: where the others do not, one more value is taken.
  void include_sizes() {
    std::unordered_set<std::uint64_t> told;
    const auto tell = [&](const Buffer& buffer) {
      for (const Scalar& dim : buffer.shape())
        if (const auto var = dim.as_var()) told.insert(var->id());
    };
    for (const PrimParam& each : function_.params) {
      if (each.scalar()) told.insert(each.scalar()->id());
      if (each.buffer() && needed_.contains(each.buffer()->id())) tell(*each.buffer());
    }
    for (const Buffer& buffer : cotangents_) tell(buffer);
    for (const PrimParam& each : function_.params) {
      if (!each.buffer()) continue;
      for (const Scalar& dim : each.buffer()->shape()) {
        const auto var = dim.as_var();
        if (!var || told.contains(var->id())) continue;
        needed_.insert(each.buffer()->id());
        tell(*each.buffer());
      }
    }
  }

  const PrimFunc& function_;
  const std::size_t results_;
  const std::vector<std::size_t>&wrt_, &outputs_;
  MadePrimFunc made_of_;
  Assignments forward_;
  std::vector<Buffer> order_;  // written buffers, each behind those that it is computed from
  std::unordered_map<std::uint64_t, std::vector<const Assignment*>> writers_;
  std::unordered_map<std::uint64_t, std::size_t> position_;  // of parameters
  std::unordered_set<std::uint64_t> needed_;
  ActiveBuffers active_;
  std::unordered_set<std::uint64_t> useful_;
  std::unordered_map<std::uint64_t, Buffer> given_;  // cotangents of outputs
  std::unordered_map<std::uint64_t, std::vector<Part>> parts_;
  std::unordered_map<std::uint64_t, Targets> targets_;
  std::vector<Buffer> cotangents_, gradients_, made_;
  std::vector<Stmt> body_;
};

}  // namespace

std::optional<PrimAdjoint> prim_adjoint(const PrimFunc& function, std::size_t results,
                                        const std::vector<std::size_t>& wrt,
                                        const std::vector<std::size_t>& outputs, const std::string& name,
                                        std::vector<Obstacle>& obstacles) {
  return PrimAdjointMaker(function, results, wrt, outputs).run(name, obstacles);
}

}  // namespace relish
