// The losses and optimizers of the standard library: names, texts and options. How options choose functions
// stands in catalog_choice.cpp.
#include "stdlib/catalog.h"

#include <algorithm>

namespace relish {
namespace {

constexpr NamedNumber numbers[] = {
    {"zero", 0},        {"one", 1}, {"half", 0.5},       {"two", 2},
    {"three", 3},       {"six", 6}, {"least_log", -100},  // the least logarithm that a cross-entropy counts
    {"norm_eps", 1e-6},  // keeps the quotient by the norm of the gradients finite
};

constexpr CatalogOption reduction_option = {"reduction", OptionUse::Reduction, "mean|sum|none", "mean",
                                            "how the losses of the elements are joined"};
constexpr CatalogOption ignore_index_option = {"ignore_index", OptionUse::Attribute, "int", "-100",
                                               "a target that does not count"};
constexpr CatalogOption weights_option = {
    "weights", OptionUse::Variant, "bool", "False", "whether the loss takes a weight per class", "_weighted"};
constexpr CatalogOption label_smoothing_option = {"label_smoothing",
                                                  OptionUse::Constant,
                                                  "float",
                                                  "0",
                                                  "share of a target that all classes get evenly",
                                                  "_smoothed",
                                                  "",
                                                  false,
                                                  1};
constexpr CatalogOption compat_option = {"compat", OptionUse::Compat, "torch|tvm", "torch",
                                         "whose meaning holds where the two differ"};

constexpr CatalogOption plain_options[] = {reduction_option};
constexpr CatalogOption plain_options_of_tvm[] = {reduction_option, compat_option};
constexpr CatalogOption cross_entropy_options[] = {reduction_option, ignore_index_option,
                                                   label_smoothing_option, weights_option, compat_option};
constexpr CatalogOption nll_options[] = {reduction_option, ignore_index_option, weights_option};
constexpr CatalogOption categorical_options[] = {reduction_option, label_smoothing_option, weights_option,
                                                 compat_option};
constexpr CatalogOption huber_options[] = {
    reduction_option,
    {"delta", OptionUse::Constant, "float", "1", "error from which on the loss is a line", "", "", false,
     std::numeric_limits<double>::infinity(), false, true}};
constexpr CatalogOption kl_div_options[] = {
    reduction_option,
    {"log_target", OptionUse::Variant, "bool", "False", "whether the targets are logarithms", "_log_target"}};

constexpr LossEntry losses[] = {
    {"binary_cross_entropy", "Cross-entropy of probabilities and targets in [0, 1].",
     "losses/binary_cross_entropy.relish", plain_options, LossParts::Elements, false, false, 0.5},
    {"binary_cross_entropy_with_logits", "Cross-entropy of the sigmoids of logits and targets in [0, 1].",
     "losses/binary_cross_entropy_with_logits.relish", plain_options, LossParts::Elements, false, false, 0},
    {"categorical_cross_entropy", "Cross-entropy of logits and probabilities of classes.",
     "losses/categorical_cross_entropy.relish", categorical_options, LossParts::Elements, false, true, 0},
    {"cross_entropy", "Cross-entropy of logits and class indices.", "losses/cross_entropy.relish",
     cross_entropy_options, LossParts::Operator, true, true, 0},
    {"hinge", "max(0, 1 - t * p) of scores and targets 1 or -1.", "losses/hinge.relish", plain_options,
     LossParts::Elements, false, false, 0},
    {"huber", "Squared error, continued by a line from delta on.", "losses/huber.relish", huber_options},
    {"kl_div", "Kullback-Leibler divergence of log-probabilities from probabilities; the mean is over rows.",
     "losses/kl_div.relish", kl_div_options, LossParts::Rows},
    {"l1", "Absolute error.", "losses/l1.relish", plain_options_of_tvm},
    {"mse", "Squared error.", "losses/mse.relish", plain_options_of_tvm},
    {"nll", "Negative log-likelihood of class indices under log-probabilities.", "losses/nll.relish",
     nll_options, LossParts::Operator, true, true},
};

constexpr CatalogOption lr_option = {"lr", OptionUse::Rate, "float", "", "learning rate"};
constexpr CatalogOption clip_value_option = {"clip_value",
                                             OptionUse::Gradient,
                                             "float",
                                             "",
                                             "greatest absolute value of a gradient's element",
                                             "",
                                             "",
                                             false,
                                             std::numeric_limits<double>::infinity(),
                                             false,
                                             true};
constexpr CatalogOption clip_norm_option = {"clip_norm",
                                            OptionUse::Gradient,
                                            "float",
                                            "",
                                            "greatest norm of all gradients together",
                                            "",
                                            "",
                                            false,
                                            std::numeric_limits<double>::infinity(),
                                            false,
                                            true};
constexpr CatalogOption weight_decay_option = {"weight_decay", OptionUse::Gradient, "float", "0",
                                               "multiple of the parameter added to its gradient"};
constexpr CatalogOption eps_option = {"eps", OptionUse::Constant, "float", "1e-8", "added to the divisor"};
constexpr CatalogOption betas_option = {"betas",
                                        OptionUse::Pair,
                                        "(float, float)",
                                        "(0.9, 0.999)",
                                        "shares of the old means of gradient and square",
                                        "beta1 beta2",
                                        "",
                                        false,
                                        1,
                                        true};

constexpr CatalogOption sgd_options[] = {lr_option, clip_value_option, clip_norm_option, weight_decay_option,
                                         compat_option};
constexpr CatalogOption momentum_options[] = {
    lr_option,
    clip_value_option,
    clip_norm_option,
    weight_decay_option,
    {"momentum", OptionUse::Constant, "float", "", "share of the old velocity", "", "", true},
    {"dampening", OptionUse::Constant, "float", "0", "what the gradient's share in the velocity lacks to 1",
     "_dampened"},
    {"nesterov", OptionUse::Variant, "bool", "False", "whether the step looks ahead", "_nesterov"},
    compat_option};
constexpr CatalogOption adam_options[] = {lr_option,           clip_value_option, clip_norm_option,
                                          weight_decay_option, betas_option,      eps_option,
                                          compat_option};
constexpr CatalogOption adamw_options[] = {
    lr_option,
    clip_value_option,
    clip_norm_option,
    betas_option,
    eps_option,
    {"weight_decay", OptionUse::Constant, "float", "0.01", "share of lr by which the parameter shrinks"}};
constexpr CatalogOption rmsprop_options[] = {
    lr_option,
    clip_value_option,
    clip_norm_option,
    weight_decay_option,
    {"alpha", OptionUse::Constant, "float", "0.99", "share of the old mean of the square", "", "", false, 1},
    eps_option,
    {"momentum", OptionUse::Constant, "float", "0", "share of the old velocity", "_momentum", "velocity"},
    {"centered", OptionUse::Variant, "bool", "False", "whether the variance is taken in place of the square",
     "_centered", "mean"}};
constexpr CatalogOption adagrad_options[] = {
    lr_option,
    clip_value_option,
    clip_norm_option,
    weight_decay_option,
    {"lr_decay", OptionUse::Constant, "float", "0", "growth of the rate's divisor in a step", "_decaying"},
    {"initial_accumulator_value", OptionUse::Constant, "float", "0", "sum of squares before the first step"},
    {"eps", OptionUse::Constant, "float", "1e-10", "added to the divisor"}};
constexpr CatalogOption lion_options[] = {
    lr_option,
    clip_value_option,
    clip_norm_option,
    {"betas", OptionUse::Pair, "(float, float)", "(0.9, 0.99)", "shares of the old mean in step and mean",
     "beta1 beta2", "", false, 1, true},
    {"weight_decay", OptionUse::Constant, "float", "0", "share of lr by which the parameter shrinks",
     "_decayed"}};

constexpr std::string_view counter[] = {"num_steps"};
constexpr std::string_view adam_shared[] = {"num_steps", "beta1_product", "beta2_product"};
constexpr std::string_view velocity[] = {"v"};
constexpr std::string_view moments[] = {"m", "v"};
constexpr std::string_view squares[] = {"sum"};
constexpr std::string_view moving_mean[] = {"m"};

constexpr OptimizerEntry optimizers[] = {
    {"adagrad", "The gradient over the root of the sum of its squares.", "optimizers/adagrad.relish",
     adagrad_options, counter, squares},
    {"adam",
     "Moving mean of the gradient over the root of that of its square, both corrected for their start.",
     "optimizers/adam.relish", adam_options, adam_shared, moments},
    {"adamw", "adam with the decay beside the gradient.", "optimizers/adamw.relish", adamw_options,
     adam_shared, moments},
    {"lion", "Steps of one size along the sign of a moving mean of the gradient.", "optimizers/lion.relish",
     lion_options, counter, moving_mean},
    {"momentum", "Gradient descent along a velocity.", "optimizers/momentum.relish", momentum_options,
     counter, velocity},
    {"rmsprop", "The gradient over the root of a moving mean of its square.", "optimizers/rmsprop.relish",
     rmsprop_options, counter, velocity},
    {"sgd",
     "Stochastic gradient descent: p - lr * (g + weight_decay * p).",
     "optimizers/sgd.relish",
     sgd_options,
     counter,
     {}},
};

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr CatalogOption warmup_option = {"warmup", OptionUse::Constant, "int", "0",
                                         "steps in which the rate grows, before the schedule begins"};
constexpr CatalogOption total_option = {
    "total_iters", OptionUse::Length, "int", "",  "steps after which the rate stays", "", "",
    false,         no_limit,          false, true};
constexpr CatalogOption gamma_option = {"gamma", OptionUse::Constant, "float", "", "factor", "", "", true};

constexpr CatalogOption constant_options[] = {warmup_option};
constexpr CatalogOption cosine_options[] = {
    {"T_max", OptionUse::Length, "int", "", "steps of half a wave", "", "", false, no_limit, false, true},
    {"eta_min", OptionUse::Constant, "float", "0", "least rate"},
    warmup_option};
constexpr CatalogOption exponential_options[] = {gamma_option, warmup_option};
constexpr CatalogOption linear_options[] = {
    {"start_factor", OptionUse::Constant, "float", "1", "factor of the first step"},
    {"end_factor", OptionUse::Constant, "float", "0", "factor of the last step"},
    total_option,
    warmup_option};
constexpr CatalogOption polynomial_options[] = {
    {"power", OptionUse::Constant, "float", "1", "exponent of the share of steps that are left"},
    total_option,
    warmup_option};
constexpr CatalogOption step_options[] = {
    {"step_size", OptionUse::Constant, "int", "", "steps between two falls", "", "", true, no_limit, false,
     true},
    {"gamma", OptionUse::Constant, "float", "0.1", "factor of each fall"},
    warmup_option};

constexpr RuleEntry schedules[] = {
    {"constant", "The same rate in all steps.", "constant", constant_options},
    {"cosine", "Half a cosine wave from the rate down to eta_min.", "cosine", cosine_options},
    {"exponential", "lr * gamma^step.", "exponential", exponential_options},
    {"linear", "A line between two factors of the rate.", "linear", linear_options},
    {"polynomial", "lr * (share of steps that are left)^power.", "polynomial", polynomial_options},
    {"step", "The rate falls by gamma after every step_size steps.", "staircase", step_options},
};

constexpr CatalogOption uniform_options[] = {
    {"a", OptionUse::Constant, "float", "0", "lower end", "", "", false, no_limit, false, false, true},
    {"b", OptionUse::Constant, "float", "1", "upper end", "", "", false, no_limit, false, false, true}};
constexpr CatalogOption normal_options[] = {
    {"mean", OptionUse::Constant, "float", "0", "mean", "", "", false, no_limit, false, false, true},
    {"std", OptionUse::Constant, "float", "1", "standard deviation"}};
constexpr CatalogOption constant_value_options[] = {{"value", OptionUse::Constant, "float", "",
                                                     "what every element is", "", "", true, no_limit, false,
                                                     false, true}};
constexpr CatalogOption xavier_options[] = {{"gain", OptionUse::Constant, "float", "1", "factor"}};
constexpr CatalogOption kaiming_options[] = {
    {"a", OptionUse::Constant, "float", "0", "slope of a leaky relu below 0"},
    {"mode", OptionUse::Word, "fan_in|fan_out", "fan_in", "which number of connections counts"}};

constexpr RuleEntry initialisers[] = {
    {"constant", "The same value everywhere.", "constant", constant_value_options},
    {"glorot_normal", "As xavier_normal.", "xavier_normal", xavier_options},
    {"glorot_uniform", "As xavier_uniform.", "xavier_uniform", xavier_options},
    {"he_normal", "As kaiming_normal.", "kaiming_normal", kaiming_options},
    {"he_uniform", "As kaiming_uniform.", "kaiming_uniform", kaiming_options},
    {"kaiming_normal", "Normal, with the deviation sqrt(2 / ((1 + a^2) * fan)).", "kaiming_normal",
     kaiming_options},
    {"kaiming_uniform", "Uniform, with the deviation of kaiming_normal.", "kaiming_uniform", kaiming_options},
    {"normal", "Normal.", "normal", normal_options},
    {"ones", "1.", "ones", {}},
    {"uniform", "Uniform in [a, b).", "uniform", uniform_options, true},
    {"xavier_normal", "Normal, with the deviation gain * sqrt(2 / (fan_in + fan_out)).", "xavier_normal",
     xavier_options},
    {"xavier_uniform", "Uniform, with the deviation of xavier_normal.", "xavier_uniform", xavier_options},
    {"zeros", "0.", "zeros", {}},
};

template <class Entry>
const Entry* find_entry(std::span<const Entry> entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::span<const NamedNumber> common_numbers() { return numbers; }
std::span<const RuleEntry> schedule_entries() { return schedules; }
std::span<const RuleEntry> initialiser_entries() { return initialisers; }
std::span<const LossEntry> loss_entries() { return losses; }
const LossEntry* find_loss(std::string_view name) { return find_entry(loss_entries(), name); }
std::span<const OptimizerEntry> optimizer_entries() { return optimizers; }
const OptimizerEntry* find_optimizer(std::string_view name) { return find_entry(optimizer_entries(), name); }

}  // namespace relish
