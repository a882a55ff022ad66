// A device that does what another one does, for tests that change a part of it.
#pragma once

#include "gputm/device.hpp"

namespace gputm {

class forwarding_device : public backend {
 protected:
  device it_ = host_device();

 public:
  device_kind kind() const override { return it_->kind(); }
  std::string name() const override { return it_->name(); }
  std::uint32_t multiprocessors() const override { return it_->multiprocessors(); }
  std::uint32_t warp_width() const override { return it_->warp_width(); }
  std::uint32_t max_resident_blocks(std::uint32_t threads) const override { return it_->max_resident_blocks(threads); }
  void* allocate(std::size_t n) override { return it_->allocate(n); }
  void free(void* p) noexcept override { it_->free(p); }
  void* create_stream() override { return it_->create_stream(); }
  void destroy_stream(void* s) noexcept override { it_->destroy_stream(s); }
  void synchronize(void* s) override { it_->synchronize(s); }
  void copy_to_device(void* s, void* to, const void* from, std::size_t n) override {
    it_->copy_to_device(s, to, from, n);
  }
  void copy_from_device(void* s, void* to, const void* from, std::size_t n) override {
    it_->copy_from_device(s, to, from, n);
  }
  void fill_zero(void* s, void* p, std::size_t n) override { it_->fill_zero(s, p, n); }
  void run_host(std::uint32_t blocks, std::uint32_t cluster, std::uint32_t threads, std::size_t shared_bytes,
                const std::function<void()>& thread_main) override {
    it_->run_host(blocks, cluster, threads, shared_bytes, thread_main);
  }
};

}  // namespace gputm
