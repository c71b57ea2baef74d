// Calls as other libraries have them, and the same call as it is written here, with the arguments in it:
// torch.topk(x, 2) and R.topk(x, 2), x.clamp(min=0) and R.maximum(x, 0).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relish {

// Whose names a call may have. A method's library is not known: Any.
// NumPyAlone: NumPy's, but no method of its arrays, so that a method of that name is another library's.
enum class ForeignLibrary : std::uint8_t { Any, Torch, NumPy, NumPyAlone, Math };
// The library that a text calls by this first name, as np or F; nothing for other names.
std::optional<ForeignLibrary> library_called(std::string_view root);

// Where what is written stands: some of it is for statements alone.
enum class ProposalPlace : std::uint8_t { Both, Statement, Function };

// An argument as its text; one by position has no name. That of a method is the tensor, first.
struct ForeignArgument {
  std::string name;
  std::string text;
  std::optional<int> rank = {};  // of the tensor, or of the first of a list of them, where it is known
};

// A row of the table. `parameters` are those of the library, in its order, with one name for those that have
// several (axis for dim, x for input):
//   axis      must be given           axis?     may be given
//   p=2       must be given as 2      p?=2      may be given, as 2
//   n#        given, a whole number or a list of such
//   *shape    numbers one by one, or one list: written as a tuple; **shape: at least two of them; *shape!:
//   none of
//             them negative
//   axis@     a number, or a list of one, of which the number is written
//   axis^     no text in quotation marks
//   sizes&    a list that is written out
//   v/1       a tensor, or tensors, that are known to be vectors; other digits likewise
// A row without parameters and text: the library's word has no counterpart, whatever else is called so here.
// `write` holds {axis}, which is the argument, or {, axis=axis}, which is left out with it.
struct ForeignCallRow {
  std::string_view word;
  ForeignLibrary library;
  std::string_view parameters;
  std::string_view write;
  std::string_view note = "";  // behind the proposal: ", which divides by n"
  ProposalPlace place = ProposalPlace::Both;
};
std::span<const ForeignCallRow> foreign_call_rows();  // those of tensors and of networks
std::vector<const ForeignCallRow*> foreign_rows_of(std::string_view word);
bool has_no_counterpart(std::string_view word, ForeignLibrary library);
// "x.clamp(x, min)" and "R.maximum(x, min)" of a row, for a page.
std::string call_text_of(const ForeignCallRow& row);  // without marks of what a text must be
std::string written_text_of(const ForeignCallRow& row);

struct ForeignProposal {
  std::string text;  // the whole call
  std::string_view note;
  // The operator with "R." where the arguments stay as they are: only the name changes.
  std::string renamed;
};
// By the table, else the operator of that name, where its arguments have the same places. Nothing where the
// arguments are none that are known.
std::optional<ForeignProposal> written_call(std::string_view word, ForeignLibrary library,
                                            std::span<const ForeignArgument> arguments, ProposalPlace place);
// The value of np.pi, torch.float32 and the like; nothing for other names.
std::optional<std::string> written_constant(std::string_view word);

}  // namespace relish
