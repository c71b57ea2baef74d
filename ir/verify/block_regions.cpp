// Inference of block regions.
#include "ir/verify/block_regions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/rewriting/rewrite.h"

namespace relish {
namespace {

class RegionFinder {
 public:
  explicit RegionFinder(const BlockStmt& block) : block_(block) {
    for (const Buffer& buffer : block.allocations) hidden_.insert(buffer.id());
    for (const BufferView& view : block.views) hide(view);
    if (block.init.defined()) collect_bound(block.init);
    if (block.body.defined()) collect_bound(block.body);
  }

  BlockRegions find() {
    if (block_.predicate.defined()) add_loads(block_.predicate);
    if (block_.init.defined()) visit(block_.init, /*updates=*/false);
    if (block_.body.defined()) visit(block_.body, block_.init.defined());
    return std::move(regions_);
  }

 private:
  // Variables and buffers that exist only inside the block.
  void collect_bound(const Stmt& stmt) {
    for_each_stmt(stmt, [&](const Stmt& inner) {
      if (const For* loop = inner.as<For>()) bound_.insert(loop->var.id());
      if (const DefineScalar* scalar = inner.as<DefineScalar>()) bound_.insert(scalar->var.id());
      if (const AllocateStmt* allocate = inner.as<AllocateStmt>()) hidden_.insert(allocate->buffer.id());
      if (const ViewStmt* declared = inner.as<ViewStmt>()) hide(declared->view);
      if (const BlockStmt* nested = inner.as<BlockStmt>()) {
        for (const IterVar& iter : nested->iters) bound_.insert(iter.var.id());
        for (const Buffer& buffer : nested->allocations) hidden_.insert(buffer.id());
        for (const BufferView& view : nested->views) hide(view);
      }
    });
  }

  // A view stands for its source: where the block does not declare its regions, the whole of it is meant.
  void hide(const BufferView& view) {
    hidden_.insert(view.buffer.id());
    views_.insert_or_assign(view.buffer.id(), view.source);
  }

  void visit(const Stmt& stmt, bool updates) {
    for_each_stmt(stmt, [&](const Stmt& inner) {
      if (const Store* store = inner.as<Store>()) {
        add(regions_.writes, store->buffer, store->indices);
        for (const Scalar& index : store->indices) add_loads(index);
        add_loads(store->value, updates ? store : nullptr);
      } else if (const For* loop = inner.as<For>()) {
        add_loads(loop->begin);
        add_loads(loop->extent);
        if (loop->step.defined()) add_loads(loop->step);
      } else if (const Return* returned = inner.as<Return>()) {
        add_loads(returned->value);
      } else if (const While* loop = inner.as<While>()) {
        add_loads(loop->condition);
      } else if (const IfStmt* branch = inner.as<IfStmt>()) {
        add_loads(branch->condition);
      } else if (const AssertStmt* check = inner.as<AssertStmt>()) {
        add_loads(check->condition);
      } else if (const DefineScalar* scalar = inner.as<DefineScalar>()) {
        if (scalar->value.defined()) add_loads(scalar->value);
      } else if (const AssignScalar* assign = inner.as<AssignScalar>()) {
        add_loads(assign->value);
      } else if (const Evaluate* evaluate = inner.as<Evaluate>()) {
        add_loads(evaluate->value);
      } else if (const AllocateStmt* pointer = inner.as<AllocateStmt>()) {
        if (pointer->value.defined()) add_loads(pointer->value);
      } else if (const BlockStmt* nested = inner.as<BlockStmt>()) {
        for (const IterVar& iter : nested->iters) add_loads(iter.binding);
        if (nested->predicate.defined()) add_loads(nested->predicate);
      }
    });
  }

  void add_loads(const Scalar& scalar, const Store* update = nullptr) {
    for_each_scalar(scalar, [&](const Scalar& inner) {
      if (const Let* let = inner.as<Let>()) bound_.insert(let->var.id());
    });
    for_each_scalar(scalar, [&](const Scalar& inner) {
      if (const DataOf* data = inner.as<DataOf>()) {
        add_whole(regions_.reads, *data->buffer);
        add_whole(regions_.writes, *data->buffer);
        return;
      }
      const Load* load = inner.as<Load>();
      if (!load) return;
      if (update && *load->buffer == update->buffer && same_indices(load->indices, update->indices)) return;
      add(regions_.reads, *load->buffer, load->indices);
    });
  }

  static bool same_indices(const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), structurally_equal);
  }

  bool is_fixed(const Scalar& index) const {
    bool fixed = true;
    for_each_scalar(index, [&](const Scalar& inner) {
      if (inner.as<Load>()) fixed = false;
      auto var = inner.as_var();
      if (var && bound_.contains(var->id())) fixed = false;
    });
    return fixed;
  }

  void add(std::vector<BufferRegion>& regions, const Buffer& buffer, const std::vector<Scalar>& indices) {
    if (auto view = views_.find(buffer.id()); view != views_.end()) return add_whole(regions, view->second);
    if (hidden_.contains(buffer.id()) || indices.size() != buffer.shape().size()) return;
    auto found = std::find_if(regions.begin(), regions.end(),
                              [&](const BufferRegion& region) { return region.buffer == buffer; });
    bool fresh = found == regions.end();
    if (fresh) {
      regions.push_back({buffer, std::vector<RegionDim>(indices.size())});
      found = regions.end() - 1;
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
      RegionDim& dim = found->dims[i];
      bool single = is_fixed(indices[i]) &&
                    (fresh || (dim.extent.as_int() == 1 && structurally_equal(dim.begin, indices[i])));
      if (single) {
        dim = {indices[i], int_literal(indices[i].dtype(), 1)};
      } else {
        dim = {int_literal(buffer.shape()[i].dtype(), 0), buffer.shape()[i]};
      }
    }
  }

  void add_whole(std::vector<BufferRegion>& regions, const Buffer& buffer) {
    if (auto view = views_.find(buffer.id()); view != views_.end()) return add_whole(regions, view->second);
    // Of what a pointer points to nobody knows the size.
    if (hidden_.contains(buffer.id()) || buffer.is_pointer()) return;
    auto found = std::find_if(regions.begin(), regions.end(),
                              [&](const BufferRegion& region) { return region.buffer == buffer; });
    if (found == regions.end()) {
      regions.push_back({buffer, std::vector<RegionDim>(buffer.shape().size())});
      found = regions.end() - 1;
    }
    for (std::size_t i = 0; i < found->dims.size(); ++i)
      found->dims[i] = {int_literal(buffer.shape()[i].dtype(), 0), buffer.shape()[i]};
  }

  const BlockStmt& block_;
  std::unordered_set<std::uint64_t> bound_, hidden_;
  std::unordered_map<std::uint64_t, Buffer> views_;  // their sources
  BlockRegions regions_;
};

}  // namespace

BlockRegions regions_of(const BlockStmt& block) {
  BlockRegions regions;
  if (!block.reads || !block.writes) regions = RegionFinder(block).find();
  if (block.reads) regions.reads = *block.reads;
  if (block.writes) regions.writes = *block.writes;
  return regions;
}

}  // namespace relish
