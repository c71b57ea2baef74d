// generated: makes programs from seeds and holds them to one of the laws of checks.h.
//
//   generated --mode roundtrip|run|tiers|passes|gradient|forward|open|texts [--seed N] [--count N] [--jobs N]
//   generated --mode MODE --seed N --print      the program of one seed
//   generated --mode statements [--seed N] [--count N]      statements of scripts (statements.h)
//   generated --mode mutate [--seed N] [--count N] [--print]      wrong programs (mutation.h)
//
// Programs are judged in child processes, some hundred to each, so that a crash costs one program and is told
// with its seed. The report has the shares that the laws ask for and what of the language was covered.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ir/operators/op.h"
#include "ir/printer/printer.h"
#include "shell/session.h"
#include "support/big_stack.h"
#include "tests/generate/checks.h"
#include "tests/generate/mutation.h"
#include "tests/generate/reach.h"
#include "tests/generate/statements.h"
#include "tests/generate/surface.h"

namespace relish::generate {
namespace {

using Json = nlohmann::json;

struct Mode {
  const char* name;
  std::vector<std::string> (*findings)(const Program&, Tally&);
  bool evaluated;
  bool loose;  // every other program
  bool differentiable;
  bool surface;  // half of the programs are generated as text
  bool special;  // some have special values
  bool covers;   // each operator in its turn is the target of a program
  // Of texts that are no modules: judges the seed itself.
  std::vector<std::string> (*of_seed)(std::uint64_t seed, Tally&) = nullptr;
  Program (*text)(std::uint64_t seed) = nullptr;  // programs of another kind
};
constexpr Mode modes[] = {
    {"roundtrip", round_trip_findings, false, true, false, true, false, false},
    {"run", run_findings, true, true, false, true, true, false},
    {"tiers", tier_findings, true, false, false, true, true, true},
    {"passes", pass_findings, true, false, false, false, false, true},
    {"gradient", gradient_findings, true, false, true, false, false, true},
    {"forward", forward_findings, true, false, true, false, false, false},
    {"statements", nullptr, false, false, false, false, false, false, statement_findings},
    {"open", open_findings, false, false, false, false, false, false, nullptr, open_program},
    {"texts", text_findings, false, false, false, false, false, false, nullptr, mutated_program},
};

const Eligible& eligible(const Mode& mode) {
  static std::map<const Mode*, Eligible> known;
  const auto found = known.find(&mode);
  return found != known.end() ? found->second
                              : known.emplace(&mode, eligible_operators(mode.differentiable)).first->second;
}

// How many programs before that of the seed have a target.
std::uint64_t turns_before(const Mode& mode, std::uint64_t seed) {
  return mode.surface ? seed / 4 * 2 + std::min<std::uint64_t>(seed % 4, 2) : seed;
}

Options options_of(const Mode& mode, std::uint64_t seed) {
  Options options;
  options.seed = seed;
  options.evaluated = mode.evaluated;
  options.loose = mode.loose && seed % 2 == 1;
  options.differentiable = mode.differentiable;
  options.special_values = mode.special && seed % 19 == 7;  // one in twenty, of each kind
  options.surface = mode.surface && seed % 4 >= 2;
  if (mode.covers && !options.surface) {
    const std::vector<const Op*>& operators = eligible(mode).operators;
    options.target = std::string(operators[turns_before(mode, seed) % operators.size()]->name);
  }
  return options;
}

Json judge(const Mode& mode, std::uint64_t seed) {
  Json report;
  report["seed"] = seed;
  Tally tally;
  std::vector<std::string> findings;
  try {
    if (mode.of_seed) {
      report["findings"] = mode.of_seed(seed, tally);
      report["tally"] = tally;
      return report;
    }
    const Program program = mode.text ? mode.text(seed) : generate_program(options_of(mode, seed));
    findings = mode.findings(program, tally);
    report["operators"] = program.operators;
    report["constructs"] = program.constructs;
    report["pairs"] = program.pairs;
    if (mode.covers && !program.options.surface && tally.contains("compared"))
      report["met"] = operators_in_result(*program.module, mode.differentiable);
    ++tally[program.options.special_values ? "special values" : "ordinary values"];
    ++tally["judged"];
  } catch (const Failure& failure) {
    findings.push_back("fails: " + text_of(failure));
  } catch (const std::exception& error) {
    findings.push_back(std::string("throws: ") + error.what());
  }
  report["tally"] = tally;
  report["findings"] = findings;
  return report;
}

// A child that judges the seeds [first, last) and writes a line before and after each.
struct Child {
  pid_t pid;
  std::FILE* output;
  std::uint64_t running = 0;  // the seed begun last
  bool between = true;
};

// Ends the process behind so many seconds of its own work, or of waiting; 0 for never.
void limit_time(int of_work, int of_waiting) {
  itimerval timer = {};
  timer.it_value.tv_sec = of_work;
  RELISH_CHECK(::setitimer(ITIMER_PROF, &timer, nullptr) == 0);
  ::alarm(static_cast<unsigned>(of_waiting));
}

Child start_child(const Mode& mode, std::uint64_t first, std::uint64_t last) {
  int ends[2];
  RELISH_CHECK(::pipe(ends) == 0);
  const pid_t pid = ::fork();
  RELISH_CHECK(pid >= 0);
  if (pid != 0) {
    ::close(ends[1]);
    return {pid, ::fdopen(ends[0], "r")};
  }
  ::close(ends[0]);
  std::FILE* output = ::fdopen(ends[1], "w");
  with_big_stack([&] {
    for (std::uint64_t seed = first; seed < last; ++seed) {
      std::fprintf(output, "%llu\n", static_cast<unsigned long long>(seed));
      std::fflush(output);
      limit_time(60, 600);  // a program that hangs is a finding
      const std::string report = judge(mode, seed).dump(-1, ' ', false, Json::error_handler_t::replace);
      limit_time(0, 0);  // who reads may be busy with another child
      std::fprintf(output, "%s\n", report.c_str());
      std::fflush(output);
    }
  });
  std::_Exit(0);
}

struct Totals {
  Tally tally;
  std::map<std::string, std::int64_t> operators, met, constructs;
  std::set<std::string> pairs;
  std::int64_t programs = 0, findings = 0;

  void add(const Json& report) {
    ++programs;
    for (const auto& [name, count] : report["tally"].items()) tally[name] += count.get<std::int64_t>();
    for (const auto& name : report.value("operators", Json::array())) ++operators[name];
    for (const auto& name : report.value("met", Json::array())) ++met[name];
    for (const auto& name : report.value("constructs", Json::array())) ++constructs[name];
    for (const auto& pair : report.value("pairs", Json::array())) pairs.insert(pair.dump());
    for (const auto& finding : report["findings"]) tell(report["seed"], finding);
  }
  void tell(std::uint64_t seed, const std::string& finding) {
    ++findings;
    if (findings <= 40) fmt::print("finding: seed {}: {}\n", seed, finding);
    std::fflush(stdout);
  }
};

// One line from the child; false at its end.
bool read_line(std::FILE* file, std::string& line) {
  line.clear();
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
  }
  return !line.empty();
}

void run_all(const Mode& mode, std::uint64_t first, std::uint64_t count, int jobs, Totals& totals) {
  constexpr std::uint64_t chunk = 250;
  std::uint64_t next = first;
  const std::uint64_t end = first + count;
  // The children of one round run at the same time; their pipes are read in turn.
  while (next < end) {
    std::vector<std::pair<Child, std::uint64_t>> children;
    for (int job = 0; job < jobs && next < end; ++job) {
      const std::uint64_t share =
          std::max<std::uint64_t>(1, std::min(chunk, (end - next) / static_cast<std::uint64_t>(jobs - job)));
      children.emplace_back(start_child(mode, next, next + share), next + share);
      next += share;
    }
    for (auto& [child, last] : children) {
      for (;;) {
        std::string line;
        std::uint64_t running = 0;
        bool begun = false;
        while (read_line(child.output, line)) {
          if (line.front() == '{') {
            totals.add(Json::parse(line));
            begun = false;
          } else {
            running = std::stoull(line);
            begun = true;
          }
        }
        std::fclose(child.output);
        int status = 0;
        ::waitpid(child.pid, &status, 0);
        if (!begun && WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
        totals.tell(running,
                    WIFSIGNALED(status) ? fmt::format("dies of signal {}", WTERMSIG(status)) : "ends early");
        ++totals.programs;
        if (running + 1 >= last) break;
        child = start_child(mode, running + 1, last);
      }
    }
  }
}

// The operators whose results were compared. Where each had two turns, all must be among them.
bool report_met(const Mode& mode, const Totals& totals, std::uint64_t turns) {
  const Eligible& wanted = eligible(mode);
  std::vector<std::string> missed;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Op* op : wanted.operators) {
    const auto found = totals.met.find(std::string(op->name));
    if (found == totals.met.end())
      missed.emplace_back(op->name);
    else
      least = std::min(least, found->second);
  }
  fmt::print("  operators met: {} of {} eligible{}\n", wanted.operators.size() - missed.size(),
             wanted.operators.size(),
             missed.empty() ? fmt::format(", each in {} programs at least", least) : "");
  if (!wanted.left_out.empty()) fmt::print("  left out: {}\n", fmt::join(wanted.left_out, ", "));
  if (!missed.empty()) fmt::print("  missed: {}\n", fmt::join(missed, ", "));
  return missed.empty() || turns < 2 * wanted.operators.size();
}

int report(const Mode& mode, const Totals& totals, std::uint64_t turns) {
  fmt::print("{}: {} programs, {} findings\n", mode.name, totals.programs, totals.findings);
  for (const auto& [name, count] : totals.tally) fmt::print("  {}: {}\n", name, count);
  fmt::print("  operators: {} of {}; pairs: {}\n", totals.operators.size(), all_ops().size(),
             totals.pairs.size());
  int status = totals.findings == 0 ? 0 : 1;
  if (mode.covers && !report_met(mode, totals, turns)) status = 1;
  std::vector<std::string> constructs;
  for (const auto& [name, count] : totals.constructs) constructs.push_back(fmt::format("{} {}", name, count));
  fmt::print("  constructs: {}\n", fmt::join(constructs, "; "));

  const auto share = [&](const char* part, const char* whole, double least) {
    const auto count = [&](const char* name) {
      const auto found = totals.tally.find(name);
      return found == totals.tally.end() ? 0.0 : static_cast<double>(found->second);
    };
    if (count(part) == 0 || count(whole) == 0) return;
    const double found = count(part) / count(whole);
    fmt::print("  {} of {}: {:.1f} % (at least {:.0f} %)\n", part, whole, 100 * found, 100 * least);
    if (found < least) status = 1;
  };
  if (mode.evaluated && !mode.differentiable) share("finite", "ran on ordinary values", 0.95);
  if (mode.covers) share("compared", "judged", 0.9);
  share("compiled", "judged", 0.95);
  share("adjoint compiled", "judged", 0.95);
  share("directions kept", "directions drawn", 0.9);
  return status;
}

// --- Wrong programs: `count` distinct mutants, the rules in turn.

struct RuleTotals {
  std::int64_t mutants = 0, refused = 0, class_right = 0, line_right = 0, mended = 0;

  void add(const Verdict& verdict) {
    ++mutants;
    refused += verdict.refused;
    class_right += verdict.class_right;
    line_right += verdict.line_right;
    mended += verdict.mended;
  }
};

int run_mutants(std::uint64_t seed, std::uint64_t count, bool show) {
  const std::vector<MutationRule> rules = mutation_rules();
  std::map<std::string, RuleTotals> by_rule;
  RuleTotals all, slips, misplaced;
  std::set<std::string> texts;
  std::int64_t started = 0, different = 0;
  for (std::uint64_t turn = 0; texts.size() < count && turn < 2 * count; ++turn) {
    const std::size_t which = turn % rules.size();
    // Programs until one has a place for the rule.
    std::optional<Mutant> mutant;
    std::uint64_t at = (seed + turn) * 1000;
    for (int attempt = 0; !mutant && attempt < 200; ++attempt) mutant = mutant_of(rules[which], at++);
    if (!mutant || !texts.insert(mutant->text).second) continue;
    const Verdict verdict = verdict_on(*mutant);
    by_rule[mutant->rule].add(verdict);
    all.add(verdict);
    (rules[which].surface ? misplaced : slips).add(verdict);
    // Starting the program is slow: a part of them.
    if (turn % 16 == 0) {
      ++started;
      const std::string difference = refusal_of_program(*mutant);
      if (!difference.empty()) {
        ++different;
        fmt::print("finding: seed {}, rule '{}': {}\n", at - 1, mutant->rule, difference);
      }
    }
    const bool right = verdict.refused && verdict.class_right && verdict.line_right;
    if (!right || (show && !verdict.mended)) {
      std::istringstream lines(mutant->text);
      std::string line;
      for (std::uint32_t i = 0; i < mutant->line; ++i) std::getline(lines, line);
      fmt::print("{}: seed {}, rule '{}', line {}: {}\n    told {}\n", right ? "not mended" : "finding",
                 at - 1, mutant->rule, mutant->line, line.substr(0, 200),
                 verdict.refused ? verdict.told : "nothing");
    }
  }
  fmt::print("{:44} {:>7} {:>7} {:>7} {:>7} {:>7}\n", "rule", "mutants", "refused", "class", "line",
             "mended");
  const auto row = [](const std::string& name, const RuleTotals& totals) {
    fmt::print("{:44} {:7} {:7} {:7} {:7} {:7}\n", name, totals.mutants, totals.refused, totals.class_right,
               totals.line_right, totals.mended);
  };
  for (const auto& [name, totals] : by_rule) row(name, totals);
  row("all", all);
  const auto share = [&](const char* what, std::int64_t part, double least) {
    const double found =
        static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(all.mutants, 1));
    fmt::print("  {}: {:.1f} % (at least {:.0f} %)\n", what, 100 * found, 100 * least);
    return found >= least;
  };
  bool good = by_rule.size() == rules.size() && static_cast<std::uint64_t>(all.mutants) == count;
  if (!good)
    fmt::print("  {} of {} rules, {} of {} mutants\n", by_rule.size(), rules.size(), all.mutants, count);
  for (const MutationRule& rule : rules) {
    if (!by_rule.contains(rule.name)) fmt::print("  no place found for the rule '{}'\n", rule.name);
  }
  fmt::print("  both tiers refuse alike: {} of {}\n", started - different, started);
  good &= different == 0;
  good &= share("refused", all.refused, 1);
  good &= share("of the right class", all.class_right, 1);
  good &= share("at the right line", all.line_right, 0.99);
  good &= share("mended by the suggestion", all.mended, 0.6);
  const auto share_of = [](const RuleTotals& totals) {
    return 100 * static_cast<double>(totals.mended) /
           static_cast<double>(std::max<std::int64_t>(totals.mutants, 1));
  };
  fmt::print("    {:.1f} % of slips in a line, {:.1f} % of constructs at a wrong place\n", share_of(slips),
             share_of(misplaced));
  return good ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("programs from seeds, held to the laws of the language");
  std::string mode_name = "roundtrip";
  std::uint64_t seed = 1, count = 100;
  int jobs = 2;
  bool print_only = false;
  app.add_option("--mode", mode_name,
                 "roundtrip, run, tiers, passes, gradient, open, texts, statements, mutate");
  app.add_option("--seed", seed, "the first seed");
  app.add_option("--count", count, "how many programs");
  app.add_option("--jobs", jobs, "processes at a time");
  app.add_flag("--print", print_only, "print the program of the seed and what is found in it");
  CLI11_PARSE(app, argc, argv);
  if (mode_name == "mutate") {
    start_language();
    int status = 0;
    with_big_stack([&] { status = run_mutants(seed, count, print_only); });
    return status;
  }
  const Mode* mode = nullptr;
  for (const Mode& each : modes) {
    if (mode_name == each.name) mode = &each;
  }
  if (!mode) {
    std::cerr << "no mode " << mode_name << "\n";
    return 2;
  }
  start_language();
  if (print_only) {
    with_big_stack([&] {
      if (mode->of_seed) {
        for (const std::string& input : statement_inputs(seed)) std::cout << input << std::flush;
        Tally tally;
        for (const std::string& finding : mode->of_seed(seed, tally))
          std::cout << "# finding: " << finding << "\n";
        return;
      }
      if (mode->text) {
        const Program program = mode->text(seed);
        std::cout << program.text << std::flush;
        Tally tally;
        for (const std::string& finding : mode->findings(program, tally))
          std::cout << "# finding: " << finding << "\n";
        return;
      }
      const Options options = options_of(*mode, seed);
      if (options.surface) std::cout << surface_text(options, 0).text << std::flush;
      const Program program = generate_program(options);
      if (!options.surface) std::cout << print(*program.module) << std::flush;
      Tally tally;
      for (const std::string& finding : mode->findings(program, tally))
        std::cout << "# finding: " << finding << "\n";
    });
    return 0;
  }
  Totals totals;
  run_all(*mode, seed, count, jobs, totals);
  return report(*mode, totals, turns_before(*mode, seed + count) - turns_before(*mode, seed));
}

}  // namespace
}  // namespace relish::generate

int main(int argc, char** argv) {
  try {
    return relish::generate::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "generated: " << error.what() << "\n";
    return 70;
  }
}
