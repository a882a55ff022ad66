#include "shared_memory.hpp"

#include <algorithm>
#include <cstring>

#include "worker.hpp"

namespace gputm::host {

namespace {
constexpr int poison = 0xCD;
}

shared_memory::buffer shared_memory::make(std::size_t bytes) {
  return buffer(static_cast<std::byte*>(::operator new(bytes, base_alignment)));
}

void shared_memory::reset(std::size_t dynamic_bytes) {
  entries_.clear();
  used_ = 0;
  dynamic_bytes_ = dynamic_bytes;
  dynamic_poisoned_ = false;
  if (sanitizer::sees_reuse) {
    named_.reset();
    dynamic_.reset();
  }
}

void* shared_memory::named(std::size_t bytes, std::size_t alignment, const void* key) {
  for (const entry& e : entries_)
    if (e.key == key) return named_.get() + e.offset;
  const std::size_t offset = (used_ + alignment - 1) / alignment * alignment;
  if (offset + bytes > named_limit || offset + bytes + dynamic_bytes_ > total_limit) return nullptr;
  if (!named_) named_ = make(named_limit);
  entries_.push_back({key, offset});
  used_ = offset + bytes;
  std::memset(named_.get() + offset, poison, bytes);
  return named_.get() + offset;
}

void* shared_memory::dynamic() {
  // Exactly as many bytes as asked for, so that ASan sees an access beyond them.
  if (!dynamic_ || dynamic_capacity_ != dynamic_bytes_) {
    dynamic_ = make(dynamic_bytes_);
    dynamic_capacity_ = dynamic_bytes_;
  }
  if (!dynamic_poisoned_) std::memset(dynamic_.get(), poison, dynamic_bytes_);
  dynamic_poisoned_ = true;
  return dynamic_.get();
}

void* worker::shared(std::size_t bytes, std::size_t alignment, const void* key, const site& at) {
  shared_memory& memory = current_->home->memory;
  if (void* object = memory.named(bytes, alignment, key)) return object;
  note(op::user, at);
  blame(verdict::check_failed, "shared memory is full: an object of " + std::to_string(bytes) +
                                   " bytes was asked for, " + std::to_string(memory.named_bytes()) + " of " +
                                   std::to_string(shared_memory::named_limit) + " bytes are taken by named objects, " +
                                   std::to_string(memory.dynamic_bytes()) +
                                   " bytes are dynamic, and a block can have " +
                                   std::to_string(shared_memory::total_limit) + " in all; " + describe(*current_));
  abandon();
}

void* worker::dynamic_shared() { return current_->home->memory.dynamic(); }

// A GPU starts the blocks of a cluster together; here one that another worker runs may be late.
void* worker::dynamic_shared_of(std::uint32_t rank, const site& at) {
  const std::uint32_t cluster = settings().cluster_blocks, own = current_->home->rank % cluster;
  if (rank == own) return dynamic_shared();
  const std::uint32_t block = current_->home->rank - own + rank;
  if (rank >= cluster) {
    note(op::user, at);
    blame(verdict::check_failed, "shared memory of block " + std::to_string(rank) + " of a cluster of " +
                                     std::to_string(cluster) + "; " + describe(*current_));
    abandon();
  }
  void* found;
  while (!(found = job_->dynamic[block].find())) backoff(at);
  if (!job_->dynamic[block].ended(found)) return found;
  note(op::user, at);
  blame(verdict::check_failed,
        "shared memory of block " + std::to_string(block) + ", which has ended; " + describe(*current_));
  abandon();
}

}  // namespace gputm::host
