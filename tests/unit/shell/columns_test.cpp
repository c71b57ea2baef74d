// Columns of files that somebody else wrote: missing cells, and tables as numbers.
#include <algorithm>

#include <catch2/catch.hpp>

#include "runtime/files.h"
#include "tests/golden/process.h"
#include "tests/unit/shell/script_harness.h"
#include "tests/unit/temporary_folder.h"

using relish::ScriptOptions;
using relish::testing::Harness;
using relish::testing::TemporaryFolder;

TEST_CASE("missing cells take what fill= says, and matrix=True is the table as numbers") {
  TemporaryFolder folder;
  folder.put("d.csv", "size,price\n2,\n3,4.5\n");
  folder.put("whole.csv", "size,price\n2,1\n3,4.5\n");
  ScriptOptions options;
  options.folder = folder.path();
  options.confined = true;
  Harness harness(Harness::interpreter(), options);
  CHECK(harness.run("print(load(\"d.csv\", fill=0)[\"price\"])").output == "float32 (2,)\n[  0, 4.5]\n");
  CHECK(harness.run("print(load(\"whole.csv\", matrix=True))").output ==
        "float32 (2, 2)\n[[  2,   1],\n [  3, 4.5]]\n");
  const auto missing = harness.run("load(\"d.csv\")");
  CHECK(missing.error_class == "DataError");
  CHECK(missing.error.find("missing value of 'price'") != std::string::npos);
  CHECK(harness.run("print(load(\"d.csv\", fill=0, matrix=True))").output ==
        "float32 (2, 2)\n[[  2,   0],\n [  3, 4.5]]\n");
  CHECK(harness.run("load(\"d.csv\", target=\"price\", matrix=True)").error_class == "UsageError");
  CHECK(harness.run("print(load(\"whole.csv:size\"))").output == "int64 (2,)\n[2, 3]\n");
  CHECK(harness.run("load(\"whole.csv:size\", target=\"price\")").error.find("target is of CSV files") !=
        std::string::npos);
  folder.put("w.csv", "a,a.words\nx,2\n");
  CHECK(harness.run("load(\"w.csv\")").error.find("'a.words', which is a column too") != std::string::npos);
  CHECK(harness.run("load(\"w.csv\", columns=[\"a\"])[\"a.words\"]").output == "['x']\n");
  folder.put("m.relish", "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n    return x\n");
  CHECK(harness.run("load(\"m.relish\", sep=\";\")").error.find("is a module") != std::string::npos);
}

TEST_CASE("a CSV that the shell converts keeps its names and its integers") {
  TemporaryFolder folder;
  folder.put("h.csv", "a,town\n1,Ulm\n3,Bonn\n");
  folder.put("n.csv", "a,b\n1,2.5\n3,4\n");
  const auto save = [&](const std::string& from, const std::string& to) {
    relish::testing::ProcessRequest request;
    request.arguments = {"save", from, "-o", to};
    request.folder = folder.path();
    return relish::testing::run_program(request);
  };
  CHECK(save("h.csv", "h.csv").exit_code == 0);
  CHECK(relish::testing::bytes_of(folder.file("h.csv")) == "a,town\n1,Ulm\n3,Bonn\n");
  CHECK(save("n.csv", "n.tsv").exit_code == 0);
  CHECK(relish::testing::bytes_of(folder.file("n.tsv")) == "a\tb\n1\t2.5\n3\t4.0\n");
  CHECK(save("n.csv", "n.npz").exit_code == 0);
  const auto words = save("h.csv", "h.npz");
  CHECK(words.exit_code == 5);
  CHECK(words.error_output.find("'town' is a column of words") != std::string::npos);
}

TEST_CASE("what is asked of columns is told once, and before it is read") {
  TemporaryFolder folder;
  folder.put("d.csv", "town,size,price\nUlm,1,2.5\nBonn,2,3\nUlm,3,4\n");
  folder.put("e.csv", "size,town,price\n1,Ulm,2.5\n");
  folder.put("a.csv", "x,y\n1,2\n");
  folder.put("b.csv", "y,x\n2,1\n");
  folder.put("c.csv", "3,4\n");
  ScriptOptions options;
  options.folder = folder.path();
  options.confined = true;
  Harness harness(Harness::interpreter(), options);
  const auto told = [&](const std::string& text) { return harness.run(text).error; };
  CHECK(told("load(\"d.csv\", columns=[])") ==
        "load: columns: found no name; expected those of columns, or leave it out for all");
  CHECK(told("load(\"d.csv\", columns=[\"size\"], words={\"town\": [\"Ulm\"]})") ==
        "words: the column 'town' is not among those that columns= chooses");
  CHECK(told("load(\"d.csv\", columns=[\"size\"], fill={\"price\": 0})")
            .ends_with("fill: the column 'price' is not among those that columns= chooses"));
  CHECK(told("load(\"d.csv\", words={\"twon\": [\"Ulm\"]})")
            .ends_with("words: no column 'twon'; did you mean 'town'?"));
  // One error for a column of words, not one for each of its rows; what it proposes works.
  const std::string words = told("load(\"d.csv\", target=\"price\")");
  CHECK(words.find("'Ulm' in 'town', which is a column of x and so of numbers; columns= leaves the column "
                   "out, words={\"town\": [\"Ulm\", …]} makes its words the numbers of their places") !=
        std::string::npos);
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  CHECK(lines(words) == 0);
  CHECK(
      harness.run("x, y = load(\"d.csv\", target=\"price\", words={\"town\": [\"Ulm\", \"Bonn\"]})\nprint(x)")
          .output == "float32 (3, 2)\n[[0, 1],\n [1, 2],\n [0, 3]]\n");
  CHECK(told("save(\"a,b\", \"t.csv\")").find("a str goes into a file of another ending") !=
        std::string::npos);
  const std::string model =
      "@R.function\ndef main(x: R.Tensor((\"n\", 2), \"float32\"), w: R.Tensor((2, 1), \"float32\")):\n"
      "    return R.matmul(x, w)\n";
  const auto trained = [&](const std::string& files) {
    return told(model + "train(main, data=([" + files +
                "], zeros((2, 1))), loss=\"mse\", optimizer=\"sgd(lr=0.1)\", params={\"w\": ones((2, 1))}, "
                "steps=1, run_dir=None)");
  };
  const std::string order = trained("\"a.csv\", \"b.csv\"");
  CHECK(order.starts_with("its columns are y, x, and those of "));
  CHECK(order.ends_with("a.csv in front of it are x, y; expected the same in one order"));
  CHECK(trained("\"a.csv\", \"c.csv\"").starts_with("its columns are no names, and those of "));
  CHECK(trained("\"a.csv\", \"a.csv\"") == "");
}

TEST_CASE("columns by place, decimal commas and means of a table") {
  TemporaryFolder folder;
  folder.put("g.csv", "a;b;c\n1,5;2;x\n;4;y\n");
  folder.put("p.csv", "1,2,3\n4,,6\n");
  ScriptOptions options;
  options.folder = folder.path();
  options.confined = true;
  Harness harness(Harness::interpreter(), options);
  const auto shown = [&](const std::string& call) { return harness.run("print(" + call + ")").output; };
  const auto told = [&](const std::string& call) { return harness.run(call).error; };
  CHECK(shown("load(\"g.csv\", fill={\"a\": \"mean\"}, target=1, columns=[0])") ==
        "(float32 (2, 1)\n[[1.5],\n [1.5]], int64 (2,)\n[2, 4])\n");
  CHECK(shown("load(\"g.csv\", columns=[\"b\", -1], decimal=\",\")[\"c.words\"]") == "['x', 'y']\n");
  CHECK(shown("load(\"p.csv\", target=-1, columns=(0, 2))[0]") == "float32 (2, 1)\n[[1],\n [4]]\n");
  CHECK(shown("load(\"p.csv\", fill={1: 5})") == "float32 (2, 3)\n[[1, 2, 3],\n [4, 5, 6]]\n");
  CHECK(shown("load(\"p.csv\", columns=0)") == "float32 (2, 1)\n[[1],\n [4]]\n");
  CHECK(told("load(\"g.csv\", target=3, fill=0)")
            .ends_with("target: no column 3; the file has 3 columns, 0 to 2, from the last one -1 to -3"));
  CHECK(told("load(\"g.csv\", target=0.5)") ==
        "load: target: found a float; expected the name of a column, an int "
        "as its place, or a list of these");
  CHECK(told("load(\"g.csv\", columns=[\"a\", None])") ==
        "load: columns: found None among the columns; expected names, or ints as places");
  CHECK(told("load(\"g.csv\", decimal=\"x\")") == "load: decimal: found 'x'; expected \".\" or \",\"");
  CHECK(told("load(\"g.csv\", decimal=\",\", sep=\",\")") ==
        "load: decimal: ',' stands between the cells; expected another");
  CHECK(told("load(\"g.csv\", dtype=int)") ==
        "found the built-in 'int'; expected a dtype such as \"float32\"");
  CHECK(told("load(\"g.csv\", delimiter=\";\")").ends_with("; write sep=';'"));
  CHECK(told("load(\"g.csv\", thousands=\",\")")
            .ends_with("; write 1234 in the file: separators of thousands are not read"));
  CHECK(told("load(\"g.csv\", fill=0)[0]") == "the dict has no key 0; there are a, b, c, c.words");
  CHECK(told("max(ones(2), axis=0)") ==
        "max: the built-in takes all elements, without 'axis'; write R.max(…, axis=…)");
  CHECK(told("R.random.normal(7, (2,))") ==
        "random.normal: found an int, expected a key of random numbers; write key(7)");
  CHECK(told("load(\"g.csv\", sep=\"ab\")").find("or \" \" for any number of blanks") != std::string::npos);
  CHECK(told("load(\"g.csv\", header=\"maybe\")") == "load: header: found 'maybe'; expected True or False");
  CHECK(told("load(\"g.csv\", fill=[1, 2])").find("fill: found an int among the names") != std::string::npos);
}

TEST_CASE("tables of --data are read as the options of the call say") {
  TemporaryFolder folder;
  folder.put(
      "m.relish",
      "@R.function\ndef main(x: R.Tensor((\"n\", 2), \"float32\"), w: R.Tensor((2, 1), \"float32\")):\n"
      "    return R.matmul(x, w)\n");
  folder.put("g.csv", "a;b;t;y\n1,5;2;Ulm;3\n;4;Bonn;5\n");
  folder.put("w.relish", "save({\"w\": ones((2, 1))}, \"w.npz\")\nsave(zeros((2, 2)), \"x.npy\")\n");
  const auto run = [&](std::vector<std::string> arguments) {
    relish::testing::ProcessRequest request;
    request.arguments = std::move(arguments);
    request.folder = folder.path();
    return relish::testing::run_program(request);
  };
  REQUIRE(run({"run", "w.relish", "--tier", "interp"}).exit_code == 0);
  const auto predicted = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"predict", "m.relish", "--tier", "interp", "--params", "w.npz", "--data"});
    return run(more);
  };
  const auto both = predicted({"g.csv:-1", "--columns", "a,b", "--fill", "mean"});
  CHECK(both.output == "out: float32 (2, 1)\n[[3.5],\n [5.5]]\n");
  CHECK(both.error_output.find("1 missing cell of 'a' is the mean of the others, 1.5") != std::string::npos);
  CHECK(predicted({"g.csv", "--columns", "1,0", "--fill", "a=0.5", "--sep", ";", "--decimal", ","}).output ==
        "out: float32 (2, 1)\n[[3.5],\n [4.5]]\n");
  CHECK(predicted({"g.csv", "--columns", "a,b", "--fill", "0", "--header", "False"}).exit_code == 5);
  const auto told = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "m.relish", "--loss", "mse", "--optimizer", "sgd(lr=0.1)", "--data"});
    return run(more).error_output;
  };
  CHECK(told({"g.csv", "--columns", "b,y"}).find("found 1 tensor; expected inputs and targets, as g.csv:y") !=
        std::string::npos);
  CHECK(told({"g.csv:y", "--delimiter", ";"}).find("'--delimiter'; here it is --sep") != std::string::npos);
  CHECK(told({"g.csv:y", "--device", "cpu"}).find("write nothing: there is one device") != std::string::npos);
  CHECK(told({"g.csv:y", "--fil", "0"}).find("did you mean '--fill'?") != std::string::npos);
  const auto none = predicted({"x.npy", "--sep", ";"});
  CHECK(none.exit_code == 2);
  CHECK(none.error_output.find("--sep: it is of tables (CSV), and --data names none") != std::string::npos);
  CHECK(run({"load", "g.csv", "--fill", "a=0,t=none"}).output ==
        "a: R.Tensor((2,), dtype=\"float32\")\nb: R.Tensor((2,), dtype=\"int64\")\n"
        "t: R.Tensor((2,), dtype=\"int64\")  (2 words)\ny: R.Tensor((2,), dtype=\"int64\")\n");
  const auto trained =
      run({"train", "m.relish", "--tier", "interp", "--data", "g.csv:y,b", "--columns", "a,y", "--fill",
           "a=mean", "--loss", "mse", "--optimizer", "sgd(lr=0.01)", "--run-dir", "job"});
  CHECK(trained.error_output.find("1 missing cell of 'a'") != std::string::npos);
}

TEST_CASE("tensors of rank 0 are ordered as numbers") {
  Harness harness;
  CHECK(harness.run("xs = [tensor(3.0), tensor(1.0), 2]\nprint(sorted(xs), min(xs), max(xs))").output ==
        "[float32 () 1, 2, float32 () 3] 1.0 3.0\n");
  CHECK(harness.run("print(min([(tensor(2), \"b\"), (tensor(2), \"a\")])[1])").output == "a\n");
  CHECK(harness.run("print(sorted([1, 2, 3], key=lambda k: tensor(-k)))").output == "[3, 2, 1]\n");
  CHECK(harness.run("print(tensor(-2), tensor(4.0), tensor(True), f\"{tensor(-0.1):>6}|\", [tensor(2)])")
            .output == "-2 4.0 True   -0.1| [int64 () 2]\n");
  CHECK(harness.run("sorted([1, 2], reverse=\"no\")").error ==
        "sorted: found a str for reverse; expected True or False");
  CHECK(harness.run("\"a\".splitlines(\"no\")").error == "splitlines: found a str; expected True or False");
  CHECK(harness.run("print(\"a\\nb\".splitlines(1), sorted([1, 2], reverse=1))").output ==
        "['a\\n', 'b'] [2, 1]\n");
  CHECK(!harness.run("sorted([ones(2), ones(2)])").error.empty());
}

TEST_CASE("a name that is an operator's or another library's says so before its neighbours") {
  Harness harness;
  CHECK(harness.run("randint(0, 10, (3,))").error ==
        "unknown name 'randint'; the operator is R.random.randint");
  CHECK(harness.run("linspace(0, 1, 5)").error ==
        "unknown name 'linspace'; relish doc linspace says what is written here");
}

TEST_CASE("a form of a tree that is not of the tensors beside it is told, and nothing is made of it") {
  TemporaryFolder folder;
  ScriptOptions options;
  options.folder = folder.path();
  options.confined = true;
  Harness harness(Harness::interpreter(), options);
  const relish::NamedTensors tensors = {{"w", relish::Tensor::scalar(relish::DType::Float32, 1)}};
  std::string deep = "\"w\"";
  for (int i = 0; i < 1200; ++i) deep = "{\"list\":[" + deep + "]}";
  for (const std::string& form :
       {std::string("{"), std::string("\"v\""), std::string("{\"list\":[]}"),
        std::string("{\"list\":[\"w\",\"w\"]}"), std::string("{\"set\":[\"w\"]}"),
        std::string("{\"dict\":[[1,\"w\"]]}"), std::string("{\"list\":2}"), std::string("{\"list\":-1}"),
        std::string("{\"dict\":[\"v\"]}"), std::string("{\"dict\":1}"), std::string("null"), deep}) {
    INFO(form.substr(0, 80));
    relish::write_safetensors(folder.file("t.safetensors"), tensors, {{"relish.tree", form}});
    const auto refused = harness.run("load(\"t.safetensors\", tree=True)");
    CHECK(refused.rule == "load.form");
    CHECK(refused.error.find("is not of its tensors") != std::string::npos);
    CHECK(harness.run("print(load(\"t.safetensors\")[\"w\"])").output == "1.0\n");
  }
  relish::write_safetensors(folder.file("t.safetensors"), tensors, {{"relish.tree", "{\"list\":[\"w\"]}"}});
  CHECK(harness.run("print(load(\"t.safetensors\", tree=True))").output == "[float32 () 1]\n");
  // The comment of an archive that others wrote is no form.
  relish::write_npz(folder.file("t.npz"), tensors, "made on Monday");
  CHECK(harness.run("print(load(\"t.npz\", tree=True))").output == "{'w': float32 () 1}\n");
  relish::write_npz(folder.file("t.npz"), tensors, "relish.tree {\"list\":[\"v\"]}");
  CHECK(harness.run("load(\"t.npz\", tree=True)").rule == "load.form");
}
