// What the texts of the standard library declare of losses, optimizers, schedules and initialisers, and which
// functions options choose.
#include "stdlib/catalog.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "stdlib/catalog_doc.h"
#include "stdlib/embedded.h"
#include "support/failure.h"

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

TEST_CASE("the catalog chooses functions by options", "[fast]") {
  const LossEntry& loss = *find_loss("cross_entropy");
  CHECK(choose_loss(loss, {}, 2).function == "cross_entropy");
  CHECK(choose_loss(loss, {{"reduction", "sum"}, {"weights", true}}, 4).function == "cross_entropy_weighted");
  const LossChoice smoothed = choose_loss(loss, {{"label_smoothing", 0.5}, {"weights", true}}, 4);
  CHECK(smoothed.function == "cross_entropy_smoothed_weighted_positions_mean");
  CHECK(smoothed.flatten);
  CHECK(smoothed.extra == std::vector<std::string>{"targets", "weights"});
  CHECK(choose_loss(loss, {{"ignore_index", 3}}, 2).call_attributes ==
        Attributes{{"ignore_index", 3}, {"axis", -1}, {"reduction", "mean"}});
  CHECK(choose_loss(loss, {}, 3).call_attributes ==
        Attributes{{"ignore_index", -100}, {"axis", 1}, {"reduction", "mean"}});
  CHECK_THROWS_AS(choose_loss(loss, {{"label_smoothing", 1.5}}, 2), Failure);
  CHECK_THROWS_AS(choose_loss(*find_loss("huber"), {{"delta", 0}}, 2), Failure);
  CHECK_THROWS_AS(choose_loss(*find_loss("kl_div"), {}, -1), Failure);
  CHECK(choose_loss(*find_loss("kl_div"), {}, 2).rows == "rows");
  CHECK(choose_loss(*find_loss("mse"), {}, 2).join == "mean");
  CHECK_THROWS_AS(choose_loss(loss, {{"reductoin", "sum"}}, 2), Failure);
  CHECK_THROWS_AS(choose_loss(loss, {{"reduction", "max"}}, 2), Failure);
  CHECK_FALSE(choose_loss(*find_loss("mse"), {{"reduction", "none"}}, 1).scalar);
  const OptimizerEntry& sgd = *find_optimizer("sgd");
  CHECK(choose_optimizer(sgd, {{"lr", 0.5}}).update == "sgd_update");
  CHECK(choose_optimizer(sgd, {{"lr", 0.5}}).lr == 0.5);
  CHECK_FALSE(choose_optimizer(sgd, {}).lr.has_value());
  const OptimizerChoice decayed = choose_optimizer(sgd, {{"lr", 1}, {"weight_decay", 0.25}});
  CHECK(decayed.update == "sgd_update");
  CHECK(decayed.gradient_steps == std::vector<std::string>{"weight_decay"});
  CHECK(decayed.constants == std::vector<std::pair<std::string, double>>{{"weight_decay", 0.25}});
  CHECK(choose_optimizer(sgd, {{"lr", 1}, {"weight_decay", 0}}).gradient_steps.empty());
  const OptimizerEntry& momentum = *find_optimizer("momentum");
  CHECK_THROWS_AS(choose_optimizer(momentum, {{"lr", 1}}), Failure);
  const Attributes both = {{"momentum", 0.9}, {"dampening", 0.5}, {"nesterov", true}};
  CHECK_THROWS_AS(choose_optimizer(momentum, both), Failure);
  CHECK(choose_optimizer(momentum, {{"momentum", 0.9}, {"dampening", 0.5}, {"compat", "tvm"}}).update ==
        "momentum_update_dampened_tvm");
  const OptimizerEntry& adam = *find_optimizer("adam");
  const AttributeList betas = {0.5, 0.75};
  CHECK(choose_optimizer(adam, {{"betas", betas}}).constants ==
        std::vector<std::pair<std::string, double>>{{"beta1", 0.5}, {"beta2", 0.75}, {"eps", 1e-8}});
  CHECK(choose_optimizer(adam, {}).constants ==
        std::vector<std::pair<std::string, double>>{{"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-8}});
  CHECK_THROWS_AS(choose_optimizer(adam, {{"betas", 0.9}}), Failure);
  CHECK_THROWS_AS(choose_optimizer(adam, {{"betas", AttributeList{0.9, 1}}}), Failure);
  CHECK_THROWS_AS(choose_optimizer(sgd, {{"lr", -1}}), Failure);
  // Every function that a choice may name stands in its text.
  for (const LossEntry& entry : loss_entries()) {
    const std::string_view contents = embedded_text(entry.text).value();
    for (const char* reduction : {"mean", "sum", "none"}) {
      for (int rank : {2, 3}) {
        const LossChoice choice = choose_loss(entry, {{"reduction", reduction}}, rank);
        CHECK(contents.find("def " + choice.function + "(") != std::string_view::npos);
      }
    }
  }
}
