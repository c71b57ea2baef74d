// The table of options.
#include "shell/foreign_options.h"

#include <algorithm>

namespace relish {
namespace {

constexpr ForeignOption option_rows[] = {
    {"batch", "batch_size", "batch_size=32"},
    {"beta1", "optimizer", "optimizer=\"adam(betas=(0.9, 0.999))\""},
    {"betas", "optimizer", "optimizer=\"adam(betas=(0.9, 0.999))\""},
    {"callbacks", "early_stopping", "early_stopping=\"loss(patience=5)\""},
    {"criterion", "loss", "loss=\"mse\""},
    {"gradient_clip_val", "clip_norm", "clip_norm=1.0"},
    {"grad_clip", "clip_norm", "clip_norm=1.0"},
    {"iterations", "steps", "steps=1000"},
    {"learning_rate", "lr", "lr=0.01"},
    {"loss_fn", "loss", "loss=\"mse\""},
    {"loss_function", "loss", "loss=\"mse\""},
    {"lr_scheduler", "schedule", "schedule=\"cosine\""},
    {"max_epochs", "epochs", "epochs=10"},
    {"max_grad_norm", "clip_norm", "clip_norm=1.0"},
    {"max_iter", "steps", "steps=1000"},
    {"max_steps", "steps", "steps=1000"},
    {"metric", "metrics", "metrics=[\"accuracy\"]"},
    {"momentum", "optimizer", "optimizer=\"momentum(momentum=0.9)\""},
    {"n_epochs", "epochs", "epochs=10"},
    {"nesterov", "optimizer", "optimizer=\"momentum(momentum=0.9, nesterov=True)\""},
    {"num_epochs", "epochs", "epochs=10"},
    {"num_steps", "steps", "steps=1000"},
    {"opt", "optimizer", "optimizer=\"adam\""},
    {"optim", "optimizer", "optimizer=\"adam\""},
    {"output_dir", "run_dir", "run_dir=\"first\""},
    {"patience", "early_stopping", "early_stopping=\"loss(patience=5)\""},
    {"random_state", "seed", "seed=0"},
    {"scheduler", "schedule", "schedule=\"cosine\""},
    {"shuffle", "seed", "seed=0: each epoch takes the rows in an order that follows from the seed"},
    {"targets", "data", "data=(x, y)"},
    {"validation_data", "validation", "validation=(x, y)"},
    {"validation_split", "validation", "data=(x[:900], y[:900]), validation=(x[900:], y[900:])"},
    {"verbose", "log_every", "log_every=1000: the steps from one line to the next"},
    {"weight_decay", "optimizer", "optimizer=\"adamw(weight_decay=0.01)\""},
};

}  // namespace

std::span<const ForeignOption> foreign_options() { return option_rows; }

std::string foreign_option_hint(std::string_view word, const std::vector<std::string>& options) {
  const auto found = std::find_if(std::begin(option_rows), std::end(option_rows),
                                  [&](const ForeignOption& each) { return each.word == word; });
  const bool known = found != std::end(option_rows) &&
                     std::find(options.begin(), options.end(), found->option) != options.end();
  return known ? "; write " + std::string(found->write) : "";
}

}  // namespace relish
