// The table of options.
#include "shell/foreign_options.h"

#include <algorithm>

#include <fmt/format.h>

namespace relish {
namespace {

constexpr ForeignOption option_rows[] = {
    {"batch", "batch_size", "batch_size=32", true},
    {"beta1", "optimizer", "optimizer=\"adam(betas=(0.9, 0.999))\""},
    {"betas", "optimizer", "optimizer=\"adam(betas=(0.9, 0.999))\""},
    {"bs", "batch_size", "batch_size=32", true},
    {"callbacks", "early_stopping", "early_stopping=\"loss(patience=5)\""},
    {"comment", "sep", "nothing: lines that begin with # are comments"},
    {"comments", "sep", "nothing: lines that begin with # are comments"},
    {"criterion", "loss", "loss=\"mse\""},
    {"delimiter", "sep", "sep=\";\"", true},
    {"device", "batch_size", "nothing: there is one device"},
    {"encoding", "sep", "the file as UTF-8: no other encoding is read"},
    {"fill_value", "fill", "fill=0", true},
    {"filling_values", "fill", "fill=0", true},
    {"grad_clip", "clip_norm", "clip_norm=1.0", true},
    {"gradient_clip_val", "clip_norm", "clip_norm=1.0", true},
    {"index_col", "columns", "columns=[\"size\", \"price\"]: the ones that are wanted"},
    {"iterations", "steps", "steps=1000", true},
    {"learning_rate", "lr", "lr=0.01", true},
    {"loss_fn", "loss", "loss=\"mse\""},
    {"loss_function", "loss", "loss=\"mse\""},
    {"lr_scheduler", "schedule", "schedule=\"cosine\""},
    {"max_epochs", "epochs", "epochs=10", true},
    {"max_grad_norm", "clip_norm", "clip_norm=1.0", true},
    {"max_iter", "steps", "steps=1000", true},
    {"max_steps", "steps", "steps=1000", true},
    {"metric", "metrics", "metrics=[\"accuracy\"]"},
    {"momentum", "optimizer", "optimizer=\"momentum(momentum=0.9)\""},
    {"n_epochs", "epochs", "epochs=10", true},
    {"na_values", "fill", "fill=0: empty cells, NA, N/A, null and None are missing"},
    {"names", "columns", "columns=[\"size\", \"price\"]", true},
    {"nesterov", "optimizer", "optimizer=\"momentum(momentum=0.9, nesterov=True)\""},
    {"num_epochs", "epochs", "epochs=10", true},
    {"num_steps", "steps", "steps=1000", true},
    {"num_workers", "batch_size", "nothing: data are read beside the steps"},
    {"opt", "optimizer", "optimizer=\"adam\""},
    {"optim", "optimizer", "optimizer=\"adam\""},
    {"output_dir", "run_dir", "run_dir=\"first\"", true},
    {"patience", "early_stopping", "early_stopping=\"loss(patience=5)\""},
    {"random_state", "seed", "seed=0", true},
    {"scheduler", "schedule", "schedule=\"cosine\""},
    {"separator", "sep", "sep=\";\"", true},
    {"shuffle", "seed", "seed=0: each epoch takes the rows in an order that follows from the seed"},
    {"skip_header", "header", "# before the lines that are no rows"},
    {"skiprows", "header", "# before the lines that are no rows"},
    {"targets", "data", "data=(x, y)"},
    {"thousands", "decimal", "1234 in the file: separators of thousands are not read"},
    {"usecols", "columns", "columns=[0, 2]", true},
    {"validation_data", "validation", "validation=(x, y)"},
    {"validation_split", "validation", "validation=0.1", true},
    {"verbose", "log_every", "log_every=1000: the steps from one line to the next"},
    {"weight_decay", "optimizer", "optimizer=\"adamw(weight_decay=0.01)\""},
};

}  // namespace

std::span<const ForeignOption> foreign_options() { return option_rows; }

std::string foreign_option_hint(std::string_view word, const std::vector<std::string>& options,
                                const std::string& value) {
  const auto found = std::find_if(std::begin(option_rows), std::end(option_rows),
                                  [&](const ForeignOption& each) { return each.word == word; });
  const bool known = found != std::end(option_rows) &&
                     std::find(options.begin(), options.end(), found->option) != options.end();
  if (!known) return "";
  if (found->same && !value.empty()) return fmt::format("; write {}={}", found->option, value);
  return "; write " + std::string(found->write);
}

}  // namespace relish
