// Joining contractions with the one or two nests behind them.
#include "schedule/followers/followers.h"

#include <algorithm>
#include <unordered_map>

#include "loops/accesses.h"
#include "loops/nest.h"
#include "loops/work.h"
#include "schedule/contraction/contraction.h"
#include "schedule/followers/block_readers.h"
#include "schedule/followers/sum_layout.h"
#include "schedule/remainders/remainders.h"

namespace relish {
namespace {

// A contraction, what follows it element by element (or nothing), and what reads windows of that.
struct Chain {
  Stmt nest, next, reader;
  Buffer handed;
};

// The blocks of the contraction, with what follows it.
std::optional<Stmt> blocks_of(const Chain& chain, RangeProver& prover, const Target& target,
                              Accumulators& accumulators) {
  if (chain.next.defined())
    return contract_with_epilogue(chain.nest, chain.next, false, prover, target, accumulators);
  if (split_by_remainders(chain.nest, prover)) return std::nullopt;
  const auto contracted = contract(chain.nest, prover, target);
  if (!contracted || contracted->few.defined() || loads_from(contracted->blocks, chain.handed))
    return std::nullopt;
  return contracted->blocks;
}

// The chain as blocks that hand on what they make. Where they would turn their sums, all is done as the sums
// lie, and what the reader gives is turned, which is less. A reader that is a contraction has blocks and
// tiles of its own, which are worth more than what one block hands to it.
std::optional<Stmt> contract_with_reader(const Chain& chain, RangeProver& prover, const Target& target,
                                         Accumulators& accumulators) {
  if (contract(chain.reader, prover, target)) return std::nullopt;
  const auto contracted = contract(chain.nest, prover, target);
  if (!contracted) return std::nullopt;
  if (contracted->along_sums) {
    const auto laid =
        as_sums_lie({chain.nest, chain.next, chain.reader, chain.handed}, *contracted->along_sums);
    const auto blocks =
        laid ? blocks_of({laid->nest, laid->next, laid->reader, laid->handed}, prover, target, accumulators)
             : std::nullopt;
    auto made =
        blocks ? with_reader_in_blocks(*blocks, laid->reader, laid->handed, prover, target) : std::nullopt;
    if (made && laid->copy.defined())
      made = with_reader_in_blocks(*made, laid->copy, laid->taken, prover, target);
    if (made) return made;
  }
  const auto blocks = blocks_of(chain, prover, target, accumulators);
  return blocks ? with_reader_in_blocks(*blocks, chain.reader, chain.handed, prover, target) : std::nullopt;
}

const Store* store_inside(const Stmt& nest) {
  const auto found = nest.as<For>() ? perfect_nest(nest) : std::nullopt;
  return found ? found->store : nullptr;
}

class Joiner {
 public:
  Joiner(const PrimFunc& function, const Target& target, Accumulators& accumulators)
      : function_(function),
        nests_(function.body.as<SeqStmt>()->body),
        target_(target),
        accumulators_(accumulators) {
    assume_sizes(function, prover_);
    for (const Stmt& child : nests_) {
      std::unordered_map<std::uint64_t, bool> here;
      for (const Access& access : accesses_in(child)) here.emplace(access.buffer->id(), true);
      for (const auto& each : here) ++users_[each.first];
    }
  }

  std::vector<Stmt> joined() {
    std::vector<Stmt> body;
    for (std::size_t i = 0; i < nests_.size();) {
      const Store* made = i + 1 < nests_.size() ? store_inside(nests_[i]) : nullptr;
      i += made ? join(i, *made, body) : 0;
      if (!made) body.push_back(nests_[i++]);
    }
    return body;
  }
  const std::vector<Buffer>& gone() const { return gone_; }

 private:
  bool temporary(const Buffer& buffer) const {
    return std::find(function_.allocations.begin(), function_.allocations.end(), buffer) !=
           function_.allocations.end();
  }

  // What that nest stores to and only the next one reads; undefined for nothing.
  Buffer handed_on(std::size_t position) const {
    if (position + 1 >= nests_.size()) return {};
    for (const Access& access : accesses_in(nests_[position]))
      if (access.store && temporary(*access.buffer) && users_.at(access.buffer->id()) == 2 &&
          loads_from(nests_[position + 1], *access.buffer))
        return *access.buffer;
    return {};
  }

  // How many nests, from that one on, became the statement that is appended.
  std::size_t join(std::size_t position, const Store& made, std::vector<Stmt>& body) {
    const Stmt& nest = nests_[position];
    const Buffer result = made.buffer;
    const bool kept = !temporary(result) || users_.at(result.id()) > 2;
    const Buffer of_next = kept ? Buffer() : handed_on(position + 1);
    if (of_next.defined())
      if (const auto all = contract_with_reader({nest, nests_[position + 1], nests_[position + 2], of_next},
                                                prover_, target_, accumulators_)) {
        gone_.insert(gone_.end(), {result, of_next});
        body.push_back(*all);
        return 3;
      }
    if (const auto both =
            contract_with_epilogue(nest, nests_[position + 1], kept, prover_, target_, accumulators_)) {
      if (!kept) gone_.push_back(result);
      body.push_back(*both);
      return 2;
    }
    if (!kept && handed_on(position).defined())
      if (const auto both = contract_with_reader({nest, {}, nests_[position + 1], result}, prover_, target_,
                                                 accumulators_)) {
        gone_.push_back(result);
        body.push_back(*both);
        return 2;
      }
    body.push_back(nest);
    return 1;
  }

  const PrimFunc& function_;
  const std::vector<Stmt>& nests_;
  const Target& target_;
  Accumulators& accumulators_;
  RangeProver prover_;
  std::unordered_map<std::uint64_t, int> users_;  // how many of the nests access each buffer
  std::vector<Buffer> gone_;
};

}  // namespace

bool takes_reader(const Stmt& nest, const Stmt& next, const Stmt& reader, const Buffer& buffer,
                  RangeProver& prover, ReadyContractions& known) {
  const Stmt all = next.defined() ? seq({nest, next, reader}) : seq({nest, reader});
  const auto [answer, fresh] = known.try_emplace("windows\n" + text_by_places(all));
  if (!fresh) return answer->second;
  Accumulators accumulators;
  const Target target;
  answer->second =
      contract_with_reader({nest, next, reader, buffer}, prover, target, accumulators).has_value();
  return answer->second;
}

PrimFuncPtr with_followers(const PrimFuncPtr& function, const Target& target, Accumulators& accumulators) {
  if (!function->body.as<SeqStmt>() || declares_views(*function)) return function;
  Joiner joiner(*function, target, accumulators);
  std::vector<Stmt> body = joiner.joined();
  if (body.size() == function->body.as<SeqStmt>()->body.size()) return function;
  auto result = std::make_shared<PrimFunc>(*function);
  result->body = seq(std::move(body), function->body->span);
  std::erase_if(result->allocations, [&](const Buffer& buffer) {
    return std::find(joiner.gone().begin(), joiner.gone().end(), buffer) != joiner.gone().end();
  });
  return result;
}

}  // namespace relish
