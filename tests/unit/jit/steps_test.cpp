// The steps of graph functions, without code: laws that hold of every list, memory, and what is made once.
#include "jit/steps/steps.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "frontend/reader.h"
#include "jit/steps/lifetimes.h"
#include "jit/steps/print_steps.h"
#include "jit/steps/program_steps.h"
#include "stdlib/stdlib.h"
#include "support/big_stack.h"
#include "support/failure.h"
#include "tests/unit/jit/helpers.h"

using namespace relish;
using namespace relish::test;
using namespace relish::jit;

namespace {

struct Lowered {
  explicit Lowered(const Module& module)
      : program(lowered_program(module, UnknownShapes::Kept)), steps(program) {}
  explicit Lowered(const std::string& text) : Lowered(*read_module("test.relish", text)) {}

  const FunctionSteps& of(std::string_view name) { return steps.of(*program.lifted.module.function(name)); }

  LoweredProgram program;
  ProgramSteps steps;
};

template <class K>
std::vector<const K*> steps_of_kind(const StepList& steps) {
  std::vector<const K*> found;
  for (const Step& step : steps)
    visit_kind(
        [&](const auto& kind) {
          if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, K>) found.push_back(&kind);
        },
        step);
  return found;
}

// What must hold of the steps of every function.
class Laws {
 public:
  explicit Laws(const FunctionSteps& function) : function_(function) {
    for (const ValueTree& param : function.params)
      for_each_leaf(param, [&](const ValueTree& leaf) { made_.insert(leaf.place); });
    for (PlaceId id = 0; id < function.places.size(); ++id)
      if (function.places[id].origin == Place::Constant) made_.insert(id);
    list(function.steps);
    for (PlaceId id = 0; id < function.places.size(); ++id) released_where_owned(id);
    arena();
    if (function.owns_results) hands_out_once();
  }

  const std::string& problems() const { return problems_; }

 private:
  void say(const std::string& what, PlaceId place) {
    problems_ += fmt::format("{}: %{} {}\n", function_.name, place, what);
  }

  void list(const StepList& steps) {
    for (const Step& step : steps) {
      const auto* release = std::get_if<step::Release>(&step.kind);
      const bool hands_through = std::holds_alternative<Apart<step::CallFunction>>(step.kind);
      const auto visit = [&](PlaceId place, bool made) {
        if (released_.contains(place)) say("is used after its release", place);
        if (!made && !made_.contains(place)) say("is used before it is made", place);
        if (made && !made_.insert(place).second && !hands_through) say("is made twice", place);
      };
      const bool control = visit_kind([&](const auto& kind) { return inside(kind, visit); }, step);
      if (!control) for_each_place(step, visit);
      if (release && !released_.insert(release->place).second) say("is released twice", release->place);
    }
  }

  // Steps with lists: what the lists release is looked at in order.
  template <class K>
  bool inside(const K&, const auto&) {
    return false;
  }
  bool inside(const step::Branch& branch, const auto& visit) {
    visit(branch.condition, false);
    list(branch.then);
    for_each_leaf(branch.then_value, [&](const ValueTree& leaf) { visit(leaf.place, false); });
    list(branch.otherwise);
    for_each_leaf(branch.otherwise_value, [&](const ValueTree& leaf) { visit(leaf.place, false); });
    for_each_leaf(branch.result, [&](const ValueTree& leaf) { visit(leaf.place, true); });
    return true;
  }
  bool inside(const step::Loop& loop, const auto& visit) {
    for_each_leaf(loop.initial, [&](const ValueTree& leaf) { visit(leaf.place, false); });
    for_each_leaf(loop.carried, [&](const ValueTree& leaf) { visit(leaf.place, true); });
    list(loop.condition);
    if (loop.goes_on) visit(*loop.goes_on, false);
    list(loop.body);
    for_each_leaf(loop.next, [&](const ValueTree& leaf) { visit(leaf.place, false); });
    for_each_leaf(loop.result, [&](const ValueTree& leaf) { visit(leaf.place, true); });
    return true;
  }

  void released_where_owned(PlaceId id) {
    const Place& place = function_.places[id];
    const bool own = place.origin == Place::Returned || place.origin == Place::Carried || place.donated ||
                     (place.origin == Place::Temporary && !place.slot);
    const bool must = place.has_storage() && own && !place.given;
    if (must && !released_.contains(id)) say("is never released", id);
    if (!must && released_.contains(id)) say("is released, but not owned", id);
    if (place.given && place.slot) say("is given away, but in the arena", id);
  }

  void hands_out_once() {
    std::set<PlaceId> handed;
    const auto& value = *std::get<Apart<step::Return>>(function_.steps.back().kind);
    for_each_leaf(value.value, [&](const ValueTree& leaf) {
      const Place& place = function_.places[leaf.place];
      const bool own = place.origin == Place::Temporary || place.origin == Place::Returned || place.donated;
      if (leaf.has_storage() && !own) say("is handed out, but not made here", leaf.place);
      if (leaf.has_storage() && !handed.insert(leaf.place).second) say("is handed out twice", leaf.place);
    });
  }

  void arena() {
    std::map<PlaceId, std::pair<std::size_t, std::size_t>> lives;
    for (std::size_t i = 0; i < function_.steps.size(); ++i)
      for_each_place(function_.steps[i],
                     [&](PlaceId place, bool) { lives.try_emplace(place, i, i).first->second.second = i; });
    for (const auto* arena : steps_of_kind<step::TakeArena>(function_.steps))
      for (const std::vector<PlaceId>& slot : arena->slots)
        for (std::size_t i = 1; i < slot.size(); ++i)
          if (lives.at(slot[i]).first <= lives.at(slot[i - 1]).second)
            say("shares a slot with what is alive", slot[i]);
  }

  const FunctionSteps& function_;
  std::set<PlaceId> made_, released_;
  std::string problems_;
};

const char* chain = R"(
@R.function
def main(x: R.Tensor(("n", 8), "float32"), y: R.Tensor((8, 8), "float32")) -> R.Tensor(("n", 8), "float32"):
    n = T.int64()
    a = R.matmul(x, y)
    b = R.matmul(a, y)
    c = R.matmul(b, y)
    d = R.matmul(c, y)
    return R.matmul(d, y)
)";

}  // namespace

TEST_CASE("the laws of steps hold for every program of the golden runs and the examples", "[jit][steps]") {
  install_stdlib();
  std::size_t functions = 0, donations = 0;
  for (const char* folder : {"tests/golden/run", "tests/golden/steps", "examples"}) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(RELISH_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".relish") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
      std::ifstream stream(path);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      Diagnostics diagnostics;
      const ReadResult read = read_source(Sources::instance().add(path.string(), text), {}, diagnostics);
      if (diagnostics.has_errors()) continue;
      for (const ModulePtr& module : read.all_modules()) {
        with_big_stack([&] {
          try {
            Lowered lowered(*module);
            for (const GlobalFunction& each : lowered.program.lifted.module.functions) {
              const auto* graph = std::get_if<FunctionPtr>(&each);
              if (!graph) continue;
              INFO(path.string());
              CHECK(Laws(lowered.steps.of(**graph)).problems() == "");
              lowered.steps.make_donated(**graph);
              ++functions;
            }
            for (const FunctionSteps* each : lowered.steps.with_donations()) {
              INFO(path.string());
              CHECK(Laws(*each).problems() == "");
              ++donations;
            }
          } catch (const Failure&) {
            // Not compiled, and refused with words that other tests hold.
          }
        });
      }
    }
  }
  CHECK(functions > 150);
  CHECK(donations > 5);
}

TEST_CASE("the same text gives the same steps", "[jit][steps]") {
  CHECK(print_steps(Lowered(chain).of("main")) == print_steps(Lowered(chain).of("main")));
}

TEST_CASE("temporaries of a chain share two slots, and the result has memory of its own", "[jit][steps]") {
  Lowered lowered(chain);
  const FunctionSteps& main = lowered.of("main");
  const auto arenas = steps_of_kind<step::TakeArena>(main.steps);
  REQUIRE(arenas.size() == 1);
  CHECK(arenas[0]->slots.size() == 2);
  CHECK(arenas[0]->slots[0].size() + arenas[0]->slots[1].size() == 4);
  CHECK(steps_of_kind<step::ReturnArena>(main.steps).size() == 1);
  const Place& result = main.places[main.result.place];
  CHECK(result.origin == Place::Temporary);
  CHECK(result.given);
  CHECK_FALSE(result.slot.has_value());
  CHECK(steps_of_kind<step::CallKernel>(main.steps).size() == 5);
  CHECK(steps_of_kind<step::Release>(main.steps).empty());
}

TEST_CASE("what has a size that only the run shows is memory of its own, released behind its last use",
          "[jit][steps]") {
  Lowered lowered(R"(
@R.function
def main(x: R.Tensor(dtype="float32", ndim=1)) -> R.Tensor((), "float32"):
    m = T.int64()
    a = R.match_cast(x, R.Tensor((m,), "float32"))
    b = R.cumsum(a, axis=0)
    c = R.sum(b)
    return R.exp(c)
)");
  const FunctionSteps& main = lowered.of("main");
  std::vector<std::string> order;
  for (const Step& step : main.steps) {
    if (const auto* n = std::get_if<step::CallKernel>(&step.kind)) order.push_back(n->callee->name);
    if (std::get_if<step::Release>(&step.kind)) order.push_back("release");
  }
  CHECK(order == std::vector<std::string>{"cumsum", "fused_sum_exp", "release"});
  const auto bound = steps_of_kind<step::BindSize>(main.steps);
  REQUIRE(bound.size() == 1);
  CHECK(bound[0]->symbol.name() == "m");
  CHECK(bound[0]->place == main.params[0].place);
  CHECK(steps_of_kind<step::CheckShape>(main.steps).size() == 2);
}

TEST_CASE("equal constants have one place", "[jit][steps]") {
  const Tensor numbers_of_both = numbers(DType::Int64, {3});
  const Var x("x", f32({Scalar(3)}));
  FunctionBuilder builder;
  install_stdlib();
  builder.reserve_name("x");
  builder.begin_block(false);
  const Expr first = builder.call("take", {Expr(x), constant(numbers_of_both)}, {});
  const Expr product = builder.call("take", {first, constant(numbers_of_both)}, {});
  builder.end_block();
  Function function;
  function.name = "main";
  function.params = {x};
  function.blocks = builder.take_blocks();
  function.result = product;
  function.result_type = product.type();
  Lowered lowered(*module_of({std::make_shared<const Function>(function)}));
  const FunctionSteps& main = lowered.of("main");
  const auto kernels = steps_of_kind<step::CallKernel>(main.steps);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0]->args[1] == kernels[1]->args[1]);
  CHECK(main.places[kernels[0]->args[1]].constant.same_storage(numbers_of_both));
}

TEST_CASE("a list releases what it owns once, and nothing of other lists", "[jit][steps]") {
  std::vector<Place> places(4);
  for (Place& place : places) place.origin = Place::Returned;
  places[1].given = true;
  places[2].list = 1;
  places[3].kind = ValueTree::ShapeLeaf;
  const StepList steps = {{{}, step::Copy{0, 1}}, {{}, step::Copy{2, 3}}, {{}, step::Copy{0, 2}}};
  const StepList whole = with_releases(steps, places, 0);
  REQUIRE(whole.size() == 4);
  CHECK(std::get<step::Release>(whole[3].kind).place == 0);
  const StepList inner = with_releases(steps, places, 1);
  REQUIRE(inner.size() == 4);
  CHECK(std::get<step::Release>(inner[3].kind).place == 2);
}
