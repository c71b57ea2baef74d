// Labels of classes: whether those of a data set are classes of the model, known before the first step where
// the loss says that its targets are labels.
#pragma once

#include "ir/operators/evaluator.h"
#include "train/batches.h"
#include "train/program.h"

namespace relish {

// DataError for a label of the data that is no class, of a program whose loss takes labels. Labels that stay
// in files, or that a function between the data and the model makes, are not looked at.
void check_labels(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                  const DataSet& data);
// A place at which the loss's own operator failed, in a call for `batch`, as the model gets it: when a label
// of it is no class, that is thrown as a DataError where the data were given.
void refuse_wrong_label(Evaluator& evaluator, const TrainingProgram& program, const TensorsByName& parameters,
                        std::span<const Tensor> batch, const DataSet& data, const Failure& failure);

}  // namespace relish
