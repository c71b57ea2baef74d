// Nearest names.
#include "support/suggest.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "support/nearest_file.h"
#include "tests/unit/temporary_folder.h"

namespace relish {
namespace {

TEST_CASE("likely misspellings find their name") {
  std::vector<std::string> names = {"relu", "matmul", "log_softmax", "w0", "Add", "add"};
  CHECK(nearest_name("rleu", names) == "relu");
  CHECK(nearest_name("matmull", names) == "matmul");
  CHECK(nearest_name("logsoftmax", names) == "log_softmax");
  CHECK(nearest_name("w1", names) == "w0");
  CHECK(nearest_name("ADD", names) == "Add");
  CHECK(nearest_name("add", names) == "add");
  CHECK(did_you_mean("rleu", names) == "; did you mean 'relu'?");
}

TEST_CASE("unlike names do not") {
  std::vector<std::string> names = {"relu", "x"};
  CHECK_FALSE(nearest_name("convolution", names));
  CHECK_FALSE(nearest_name("y", names));
  CHECK_FALSE(nearest_name("", names));
  CHECK_FALSE(nearest_name(std::string(10000, 'r'), names));
  CHECK(did_you_mean("y", names).empty());
}

TEST_CASE("a path that is not there has a near one beside it") {
  const testing::TemporaryFolder folder;
  folder.put("plain.csv", "1\n");
  std::filesystem::create_directory(folder.file("plane"));
  const std::string root = folder.path();
  CHECK(nearest_entry(root + "/plain.cvs") == "; did you mean 'plain.csv'?");
  CHECK(nearest_entry(root + "/plane.csv") == "; did you mean 'plain.csv'?");
  CHECK(nearest_entry(root + "/other.txt").empty());
  // A file is no folder, and the folder that is missing is told of.
  CHECK(nearest_entry(root + "/plain", NamedEntry::Folder) == "; did you mean 'plane'?");
  CHECK(nearest_entry(root + "/plain/", NamedEntry::Folder) == "; did you mean 'plane'?");
  CHECK(nearest_entry(root + "/plame/x.npy") == "; there is no folder 'plame'; did you mean 'plane'?");
  CHECK(nearest_entry(root + "/elsewhere/x.npy").empty());
}

}  // namespace
}  // namespace relish

TEST_CASE("choices: initials and beginnings stand for names of a closed list, behind what is near") {
  const std::vector<std::string> names = {"binary_cross_entropy",
                                          "binary_cross_entropy_with_logits",
                                          "mse",
                                          "xavier_uniform",
                                          "xavier_normal",
                                          "accuracy"};
  CHECK(relish::nearest_choice("bce", names) == "binary_cross_entropy");
  CHECK(relish::nearest_choice("BCE", names) == "binary_cross_entropy");
  CHECK(relish::nearest_choice("xavier", names) == "xavier_normal");
  CHECK(relish::nearest_choice("acc", names) == "accuracy");
  CHECK(relish::nearest_choice("mce", names) == "mse");
  CHECK_FALSE(relish::nearest_choice("ac", names));
  CHECK_FALSE(relish::nearest_choice("m", names));
  CHECK_FALSE(relish::nearest_choice("bc", names));
  CHECK_FALSE(relish::nearest_choice("", names));
  CHECK_FALSE(relish::nearest_name("bce", names));
  CHECK(relish::did_you_mean_choice("acc", names) == "; did you mean 'accuracy'?");
}
