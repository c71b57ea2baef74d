// Notebooks of Python (.ipynb): what stands in their code cells, as one text. They are read as a Python file
// and never written.
#pragma once

#include <string>
#include <string_view>

namespace relish {

bool is_notebook(std::string_view path);
// The code cells one behind the other, each below a line `# In[3]:` with its number among them, as the
// programs of notebooks export them; what is a command of these programs (%matplotlib, !ls) is a comment.
// DataError for a file that is no notebook.
std::string code_of_notebook(const std::string& path, std::string_view json);
// UsageError when the path is that of a notebook: a text in its place would lose its other cells.
void refuse_to_write_notebook(const std::string& path);

}  // namespace relish
