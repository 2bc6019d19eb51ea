// Orders eight files of an LTO-8 cartridge, then orders the rest anew when the first three were read:
// c++ -std=c++20 order.cpp $(pkg-config --cflags --libs tapewise)
#include <iostream>
#include <span>
#include <tapewise.hpp>
#include <vector>

namespace {

double seconds(std::uint64_t micros) { return static_cast<double>(micros) / 1e6; }

void show(const tapewise::ordered& found) {
  for (const std::uint64_t request : found.requests) std::cout << request << ' ';
  std::cout << "in " << seconds(found.estimate.total_us) << " s, at worst "
            << seconds(found.estimate.worst_us) << " s\n";
}

}  // namespace

int main() try {
  const std::uint64_t first_blocks[] = {9000000, 40000, 9100000, 2000000, 700000, 15000000, 3000, 12000000};
  std::vector<tapewise_extent> files;
  for (const std::uint64_t first_block : first_blocks) {
    files.push_back(tapewise::blocks(first_block, 2000));
  }
  const tapewise::cartridge cartridge("lto8");
  tapewise::batch batch(cartridge, 524288);
  batch.add(files);
  const tapewise::ordered all = batch.order();
  show(all);

  const auto read = std::span(all.requests).first(3);
  batch.set_read(read);
  batch.set_head(tapewise::at_block(first_blocks[read.back()] + 2000));
  show(batch.order());
  return 0;
} catch (const tapewise::error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
