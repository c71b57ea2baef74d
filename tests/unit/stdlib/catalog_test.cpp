// What the texts of the standard library declare of losses, optimizers, schedules and initialisers.
#include "stdlib/catalog.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "stdlib/catalog_doc.h"
#include "stdlib/embedded.h"

using namespace relish;

namespace {

template <class Entries>
void check_entries(const Entries& entries) {
  std::set<std::string_view> names;
  std::string_view last;
  for (const auto& entry : entries) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK(last < entry.name);
    last = entry.name;
    CHECK(entry.summary.ends_with('.'));
    std::set<std::string_view> options;
    for (const CatalogOption& option : entry.options) {
      INFO(option.name);
      CHECK(options.insert(option.name).second);
      CHECK_FALSE(option.type.empty());
      CHECK_FALSE(option.doc.empty());
      CHECK_FALSE(option.doc.ends_with('.'));
    }
  }
}

}  // namespace

TEST_CASE("every entry of the catalog is declared with name, type and a line for each option") {
  check_entries(loss_entries());
  check_entries(optimizer_entries());
  check_entries(schedule_entries());
  check_entries(initialiser_entries());
  // No text without a declaration.
  for (const EmbeddedText& text : embedded_texts()) {
    INFO(text.path);
    CHECK(text.contents.find("\n#: ") != std::string_view::npos);
  }
}

TEST_CASE("options as they are declared") {
  const LossEntry& loss = *find_loss("cross_entropy");
  CHECK(loss.text == "losses/cross_entropy.relish");
  CHECK(loss.parts == LossParts::Operator);
  CHECK(loss.class_targets);
  CHECK(loss.threshold == 0);
  CHECK(std::isnan(find_loss("mse")->threshold));
  const OptimizerEntry& adam = *find_optimizer("adam");
  CHECK(adam.shared_states.size() == 3);
  CHECK(adam.parameter_states[1] == "v");
  CHECK(adam.summary ==
        "Moving mean of the gradient over the root of that of its square, both corrected for their start.");
  const auto& betas = *std::find_if(adam.options.begin(), adam.options.end(),
                                    [](const auto& o) { return o.name == "betas"; });
  CHECK(betas.use == OptionUse::Pair);
  CHECK(betas.type == "(float, float)");
  CHECK(betas.fallback == "(0.9, 0.999)");
  CHECK(betas.suffix == "beta1 beta2");
  CHECK(betas.most == 1);
  CHECK(betas.below);
  CHECK(catalog_option_names("sgd") ==
        std::vector<std::string>{"lr", "clip_value", "clip_norm", "weight_decay", "compat"});
  CHECK(catalog_names("schedule").size() == 6);
  CHECK(
      catalog_page("adam")->find("betas ((float, float)): shares of the old means of gradient and square; at "
                                 "least 0, less than 1; default (0.9, 0.999)") != std::string::npos);
  CHECK(catalog_page("normal")->find("mean (float): mean; default 0") != std::string::npos);
}
