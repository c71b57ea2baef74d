// Stages in whose place an argument is read.
#include "schedule/fusion/given_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/nodes/builder.h"
#include "schedule/stages/rows.h"

namespace relish {
namespace {

class GivenSumMaker {
 public:
  GivenSumMaker(const PrimFunc& callee, const std::vector<Stage>& stages,
                const std::vector<ParamSource>& layout)
      : callee_(callee), stages_(stages), layout_(layout) {
    for (const PrimParam& param : callee.params) names_.reserve_name(param.name());
    for (const Buffer& own : callee.allocations) names_.reserve_name(own.name());
  }

  std::optional<CalledFunction> make(const std::vector<GivenSum>& given, std::optional<std::size_t> sum) {
    const std::size_t count = sum ? *sum + 1 : stages_.size();
    std::vector<Buffer> arguments(given.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto found =
          std::find_if(given.begin(), given.end(), [&](const GivenSum& each) { return each.stage == i; });
      if (found == given.end()) {
        body_.push_back(fresh_stage(stages_[i], {}, {}));
        continue;
      }
      Buffer& argument = arguments[static_cast<std::size_t>(found - given.begin())];
      body_.push_back(reading(stages_[i], *found, argument));
    }
    const Buffer result = sum ? stages_[*sum].values.front().target : Buffer();
    if (sum) keep_what_gives(result);
    note_accesses();

    std::optional<CalledFunction> made = with_parameters(arguments, result, false);
    if (!made && !sum) made = with_parameters(arguments, result, true);
    if (!made) return std::nullopt;
    auto function = std::make_shared<PrimFunc>(*made->function);
    std::vector<Stmt> statements;
    for (const Stage& stage : body_) statements.push_back(nest_of(stage, 0));
    function->body = seq(std::move(statements), callee_.body->span);
    function->is_private = true;
    if (sum) function->name += "_" + result.name();
    made->function = std::move(function);
    return made;
  }

 private:
  // Parameters and allocations for what the stages access, or for `all` that the callee has. `result`: of a
  // sum alone. None when they do not tell every size.
  std::optional<CalledFunction> with_parameters(const std::vector<Buffer>& given, const Buffer& result,
                                                bool all) const {
    CalledFunction made;
    auto function = std::make_shared<PrimFunc>(callee_);
    function->params.clear();
    const auto used = [&](const Buffer& buffer) { return all || accessed_.contains(buffer.id()); };
    for (std::size_t i = 0; i < layout_.size(); ++i) {
      const PrimParam& param = callee_.params[i];
      if (layout_[i].kind != ParamSource::Argument || !used(*param.buffer())) continue;
      made.arguments.push_back(layout_[i].index);
      function->params.push_back(param);
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!given[i].defined() || !used(given[i])) continue;
      made.sums.push_back(i);
      function->params.push_back({given[i]});
    }
    std::erase_if(function->allocations, [&](const Buffer& buffer) {
      return !accessed_.contains(buffer.id()) || (result.defined() && buffer == result);
    });
    for (std::size_t i = 0; i < layout_.size(); ++i) {
      if (layout_[i].kind != ParamSource::Result) continue;
      const Buffer& buffer = *callee_.params[i].buffer();
      if (!result.defined())
        function->params.push_back(callee_.params[i]);
      else if (accessed_.contains(buffer.id()) && !(buffer == result))
        function->allocations.push_back(buffer);  // another result, which the sum is made of
    }
    if (result.defined()) function->params.push_back({result});
    if (!all && !knows_sizes(*function)) return std::nullopt;
    made.function = std::move(function);
    return made;
  }

  // A stage that stores the argument's elements where the sum stored its own. `argument` is made for it, with
  // a name of its own: the sum may be a result.
  Stage reading(const Stage& sum, const GivenSum& given, Buffer& argument) {
    Stage stage = fresh_stage(sum, {}, {});
    std::erase_if(stage.axes, [](const StageAxis& axis) { return axis.reduces; });
    stage.init = Scalar();
    StageValue& value = stage.values.front();
    std::vector<Scalar> shape, at;
    std::size_t next = 0;
    for (const bool moving : given.moves) {
      while (moving && !given.own_moves[next]) ++next;
      shape.push_back(moving ? value.target.shape()[next] : Scalar(1));
      at.push_back(moving ? value.indices[next++] : Scalar(0));
    }
    argument = Buffer(names_.fresh_name(value.target.name()), value.target.dtype(), std::move(shape),
                      "global", value.target.span());
    value.value = load(argument, std::move(at), value.span);
    return stage;
  }

  // Of the stages those that the buffer's elements come from.
  void keep_what_gives(const Buffer& result) {
    BufferIds needed{result.id()};
    std::vector<Stage> kept;
    for (std::size_t i = body_.size(); i-- > 0;) {
      const bool gives =
          std::any_of(body_[i].values.begin(), body_[i].values.end(), [&](const StageValue& value) {
            return value.target.defined() && needed.contains(value.target.id());
          });
      if (!gives) continue;
      for_each_access(body_[i], [&](const Buffer& buffer, const std::vector<Scalar>&, bool) {
        needed.insert(buffer.id());
      });
      kept.insert(kept.begin(), std::move(body_[i]));
    }
    body_ = std::move(kept);
  }

  void note_accesses() {
    for (const Stage& stage : body_)
      for_each_access(stage, [&](const Buffer& buffer, const std::vector<Scalar>&, bool) {
        accessed_.insert(buffer.id());
      });
  }

  // Whether the shapes of its parameters tell every size that it mentions.
  bool knows_sizes(const PrimFunc& function) const {
    std::vector<ScalarVar> told, asked;
    for (const PrimParam& param : function.params)
      for (const Scalar& dim : param.buffer()->shape()) {
        collect_vars(dim, asked);
        if (const auto var = dim.as_var()) told.push_back(*var);
      }
    for (const Buffer& buffer : function.allocations)
      for (const Scalar& dim : buffer.shape()) collect_vars(dim, asked);
    for (const Stage& stage : body_)
      for (const StageAxis& axis : stage.axes) collect_vars(axis.extent, asked);
    return std::all_of(asked.begin(), asked.end(), [&](const ScalarVar& var) {
      return std::find(told.begin(), told.end(), var) != told.end();
    });
  }

  const PrimFunc& callee_;
  const std::vector<Stage>& stages_;
  const std::vector<ParamSource>& layout_;
  std::vector<Stage> body_;
  BufferIds accessed_;
  FunctionBuilder names_;
};

}  // namespace

std::vector<bool> places_of(const Buffer& buffer) {
  std::vector<bool> moves;
  for (const Scalar& dim : buffer.shape()) moves.push_back(dim.as_int() != 1);
  return moves;
}

std::string key_of(const std::vector<GivenSum>& given, std::optional<std::size_t> sum) {
  std::string key = sum ? fmt::format("/{}", *sum) : "";
  for (const GivenSum& each : given) {
    key += fmt::format(";{}:", each.stage);
    for (const bool moves : each.own_moves) key += moves ? 'm' : '1';
    key += ',';
    for (const bool moves : each.moves) key += moves ? 'm' : '1';
  }
  return key;
}

std::optional<CalledFunction> with_given_sums(const PrimFunc& callee, const std::vector<Stage>& stages,
                                              const std::vector<ParamSource>& layout,
                                              const std::vector<GivenSum>& given,
                                              std::optional<std::size_t> sum) {
  return GivenSumMaker(callee, stages, layout).make(given, sum);
}

}  // namespace relish
