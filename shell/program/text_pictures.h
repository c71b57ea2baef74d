// Pictures of tensors in characters: how often values are, and how large they are where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace relish {

// A line for each of `bins` ranges of equal width between the least and the largest finite value: where it
// begins, a bar, and how many values lie in it. What is not finite is counted apart.
std::string histogram_of(const Tensor& tensor, int bins);

// The elements of a matrix, or the means of its blocks; of a tensor of more dimensions the first matrix, of a
// vector one row.
struct HeatCells {
  int rows = 0, columns = 0;
  std::int64_t height = 0, width = 0;  // of the matrix
  std::vector<double> values;
  double least = 0, most = 0;  // of those that are finite

  double value(int row, int column) const { return values[static_cast<std::size_t>(row) * columns + column]; }
  // From 0 for the least to 1; not finite where the value is not.
  double place(int row, int column) const;
};
HeatCells heat_cells_of(const Tensor& tensor, int most_rows, int most_columns);

// A character for each element of a matrix, darker for larger ones. A larger one is shown by the means of its
// blocks, on at most `rows` times `columns` characters. Values that are not finite are shown as '!'.
std::string heat_map_of(const Tensor& tensor, int rows, int columns);

// "mean 0.5  std 0.1  min 0  max 1  3 of 9 not finite"; sums are those of doubles in the order of the
// elements. Empty of a tensor without elements.
std::string statistics_of(const Tensor& tensor);
// How often the finite values are, in one line of characters; empty where there are few of them.
std::string sparkline_of(const Tensor& tensor);
// Both in a line; empty for a tensor without elements.
std::string overview_line_of(const Tensor& tensor);

}  // namespace relish
