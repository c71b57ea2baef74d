// Pictures of tensors in characters: how often values are, and how large they are where.
#pragma once

#include <string>

#include "runtime/tensor.h"

namespace relish {

// A line for each of `bins` ranges of equal width between the least and the largest finite value: where it
// begins, a bar, and how many values lie in it. What is not finite is counted apart.
std::string histogram_of(const Tensor& tensor, int bins);

// A character for each element of a matrix, darker for larger ones; of a tensor of more dimensions the first
// matrix, of a vector one row. A larger one is shown by the means of its blocks, on at most `rows` times
// `columns` characters. Values that are not finite are shown as '!'.
std::string heat_map_of(const Tensor& tensor, int rows, int columns);

// "mean 0.5  std 0.1  min 0  max 1  3 of 9 not finite"; sums are those of doubles in the order of the
// elements. Empty of a tensor without elements.
std::string statistics_of(const Tensor& tensor);
// How often the finite values are, in one line of characters; empty where there are few of them.
std::string sparkline_of(const Tensor& tensor);

}  // namespace relish
