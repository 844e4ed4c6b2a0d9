// Deterministic damage to models.
#ifndef ASC_TESTS_FUZZ_MUTATOR_H_
#define ASC_TESTS_FUZZ_MUTATOR_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace fuzz {

// splitmix64: a few instructions, and the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  // Below `bound`, which is at least 1.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  uint64_t state_;
};

// Flips, cuts, inserts, repeats and overwrites bytes.
std::string MutateBytes(std::string bytes, Random& random);

// Damages the tree of protobuf messages instead: numbers become extreme ones, names are exchanged, fields are dropped, doubled,
// moved and taken from elsewhere in the model, so that most results are well-formed files with absurd contents.
std::string MutateMessage(std::string_view message, Random& random);

// Damages a text: numbers and words are replaced, exchanged, dropped and doubled.
std::string MutateText(std::string text, Random& random);

}  // namespace fuzz

#endif  // ASC_TESTS_FUZZ_MUTATOR_H_
