// Pieces of notebooks and scripts, put together at random.
#include "tests/safety/notebooks.h"

#include <algorithm>

namespace relish::testing {
namespace {

using generate::Random;

// Python around modules: much of it Relish could not even scan.
const std::vector<std::string> python_pieces = {
    "import os, sys\n",
    "x = {1: 'a',\n     2: \"b\"}  # kept \n",
    R"(def train(model, *, steps=10, **rest):
    """Docs with # no comment."""
    try:
        yield model
    except (ValueError, KeyError) as error:
        raise RuntimeError('no') from error
    finally:
        pass
)",
    "class Plain(dict):\n    y: int = 3\n    def main(self): return lambda a, b=2: a if b else None\n",
    "async def later():\n    async with open('f') as f:\n        await f.read()\n",
    "match sys.argv:\n    case [_, name]:\n        print(f'{name!r:>{10}}')\n    case _:\n        pass\n",
    "if __name__ == \"__main__\":\n    # inside\n    print(train(None))\n\n    # behind\n",
    "text = '''\n@I.ir_module\nclass InText:\n    pass\n'''\n",
    "%matplotlib inline\n!pip install numpy\n",
    "@functools.cache\ndef cached(n): return n\n",
    "values = [i * i for i in range(10) if i % 2]; total = sum(values)\n",
    "\n\n\n",
    "# a comment alone   \n",
    "with open('log') as log: log.read()\n",
    "s = \"caf\xc3\xa9 \xe2\x82\xac\" \\\n    'joined'\n",
};

const std::vector<std::string> script_pieces = {
    "steps = 10  # kept\n",
    "\"a text\"\n",
    "for i in range(3):\n    # inside\n    steps = steps + i\n",
    "if steps > 5:\n  print( steps )\nelse:\n  print(0)\n",
    "# a comment alone\n",
    "\n\n",
    "xs = [1,\n      2]\n",
};

// The lines of a module's function as somebody types them, at an indentation.
std::string function_lines(Random& random, const std::string& name, const std::string& indentation,
                           const std::string& more) {
  std::string text = indentation + "@R.function\n";
  if (random.chance(0.3)) text = indentation + "# above " + name + "\n" + text;
  text += indentation + "def " + name + "(x: R.Tensor((2,3),'float32'), w: R.Tensor((3,), 'float32')):\n";
  const std::string inner = indentation + more;
  if (random.chance(0.3)) text += inner + "'''What it does.'''\n";
  if (random.chance(0.4)) text += inner + "# in it\n";
  text += inner + "y = R.multiply( x,w )  # product\n";
  text += inner + "z = R.sum(R.exp(y))\n";
  text += inner + "return z" + (random.chance(0.3) ? "  # tail" : "") + "\n";
  return text;
}

struct Piece {
  std::string text;
  bool kept;
};

std::vector<Piece> class_pieces(Random& random, const std::string& name) {
  const std::vector<std::string> indentations = {"    ", "  ", "\t"};
  const std::string indentation = random.pick(indentations);
  std::string head = random.chance(0.5) ? "# over " + name + "\n" : "";
  head += std::string(random.chance(0.5) ? "@I.ir_module" : "@tvm.script.ir_module") + "\nclass " + name +
          (random.chance(0.5) ? ":  # head\n" : ":\n");
  if (random.chance(0.5)) head += indentation + "\"\"\"Docs of " + name + ".\"\"\"\n\n";
  std::vector<Piece> pieces = {{head, true}};
  const std::int64_t count = random.between(1, 2);
  for (std::int64_t i = 0; i < count; ++i) {
    pieces.push_back({function_lines(random, i == 0 ? "main" : "other", indentation, indentation), false});
    if (random.chance(0.3)) pieces.push_back({"\n" + indentation + "# between\n\n", true});
  }
  return pieces;
}

Notebook joined(Random& random, const std::vector<Piece>& pieces, const std::string& heading) {
  Notebook notebook;
  std::string text = heading;
  std::vector<std::string> kept = {heading};
  for (const Piece& piece : pieces) {
    text += piece.text;
    if (piece.kept) kept.push_back(piece.text);
  }
  const bool crlf = random.chance(0.3), mark = random.chance(0.2), cut = random.chance(0.3);
  const auto finished = [&](const std::string& piece) {
    std::string result;
    for (const char c : piece) {
      if (c == '\n' && crlf) result += '\r';
      result += c;
    }
    return result;
  };
  notebook.text = (mark ? "\xEF\xBB\xBF" : "") + finished(text);
  for (const std::string& piece : kept) notebook.kept.push_back(finished(piece));
  if (mark) notebook.kept.front() = "\xEF\xBB\xBF" + notebook.kept.front();
  if (cut && pieces.back().text.find_first_not_of('\n') != std::string::npos) {
    const auto shorten = [](std::string& last) {
      while (last.ends_with('\n') || last.ends_with('\r')) last.pop_back();
    };
    shorten(notebook.text);
    if (pieces.back().kept) shorten(notebook.kept.back());
  }
  return notebook;
}

}  // namespace

Notebook random_notebook(Random& random) {
  const std::vector<std::string> headings = {
      "import tvm\nfrom tvm.script import ir as I, relax as R\n",
      "\"\"\"A notebook.\"\"\"\nimport tvm.script\nfrom tvm.script import relax as R  # R\nfrom tvm.script "
      "import ir as I\n",
      "#!/usr/bin/env python\nfrom tvm.script import relax as R\nimport numpy as np\nfrom tvm.script import "
      "ir as I\n",
      "import torch\n",
  };
  std::vector<Piece> pieces;
  const std::int64_t classes = random.between(1, 2);
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t k = random.below(4); k > 0; --k) pieces.push_back({random.pick(python_pieces), true});
    for (Piece& piece : class_pieces(random, "M" + std::to_string(i))) pieces.push_back(std::move(piece));
    pieces.push_back({"\n", true});
  }
  if (random.chance(0.5)) pieces.push_back({function_lines(random, "free", "", "    "), false});
  for (std::int64_t k = random.below(3); k > 0; --k) pieces.push_back({random.pick(python_pieces), true});
  return joined(random, pieces, random.pick(headings));
}

Notebook random_script(Random& random) {
  std::vector<Piece> pieces;
  for (std::int64_t k = random.below(4); k > 0; --k) pieces.push_back({random.pick(script_pieces), true});
  if (random.chance(0.6)) {
    for (Piece& piece : class_pieces(random, "M0")) pieces.push_back(std::move(piece));
    pieces.push_back({"\nsteps = 7\n", true});
  }
  pieces.push_back({function_lines(random, "free", "", "    "), false});
  for (std::int64_t k = random.below(3); k > 0; --k) pieces.push_back({random.pick(script_pieces), true});
  return joined(random, pieces, "# relish: 1\n");
}

}  // namespace relish::testing
