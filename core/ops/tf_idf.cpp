// TfIdfVectorizer: counts n-grams of a pool in rows of numbers or strings, skips allowed.
#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/ops/families_extra.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {
enum class Weighting : uint8_t { kTf, kIdf, kTfIdf };

struct Attributes {
  Weighting weighting;
  int64_t shortest, longest, most_skipped;
  std::vector<int64_t> starts;   // where the 1-grams, 2-grams, ... begin in the pool
  std::vector<int64_t> columns;  // of the output, by n-gram
  std::vector<float> weights;    // by n-gram; none: all one
  const std::vector<int64_t>* numbers;
  const std::vector<std::string>* strings;
  int64_t width;

  size_t pool_size() const { return numbers != nullptr ? numbers->size() : strings->size(); }
};

Result<Attributes> ReadAttributes(const AttributeMap& attributes) {
  const auto refuse = [](const auto&... args) {
    return InvalidArgument("TfIdfVectorizer ", args...);
  };
  Attributes out{};
  const std::string mode = attributes.String("mode", "");
  if (mode == "TF") {
    out.weighting = Weighting::kTf;
  } else if (mode == "IDF") {
    out.weighting = Weighting::kIdf;
  } else if (mode == "TFIDF") {
    out.weighting = Weighting::kTfIdf;
  } else {
    return refuse("attribute 'mode' must be 'TF', 'IDF' or 'TFIDF', given '", mode, "'");
  }
  out.shortest = attributes.Int("min_gram_length", 0);
  out.longest = attributes.Int("max_gram_length", 0);
  out.most_skipped = attributes.Int("max_skip_count", 0);
  if (out.shortest < 1 || out.longest < out.shortest || out.most_skipped < 0) {
    return refuse("needs 1 <= min_gram_length <= max_gram_length and max_skip_count >= 0, given ",
                  out.shortest, ", ", out.longest, " and ", out.most_skipped);
  }
  out.numbers = attributes.Get<std::vector<int64_t>>("pool_int64s");
  out.strings = attributes.Get<std::vector<std::string>>("pool_strings");
  if ((out.numbers == nullptr) == (out.strings == nullptr))
    return refuse("needs either 'pool_int64s' or 'pool_strings'");
  out.starts = attributes.Ints("ngram_counts");
  const auto pool = static_cast<int64_t>(out.pool_size());
  int64_t grams = 0;
  for (size_t i = 0; i < out.starts.size(); ++i) {
    const int64_t begin = out.starts[i], end = i + 1 < out.starts.size() ? out.starts[i + 1] : pool;
    const auto n = static_cast<int64_t>(i) + 1;
    if (begin < 0 || begin > end || end > pool || (end - begin) % n != 0 ||
        (i == 0 && begin != 0)) {
      return refuse("attribute 'ngram_counts' ", out.starts, " does not cut a pool of ", pool,
                    " into n-grams: ", n, "-grams from ", begin, " to ", end);
    }
    grams += (end - begin) / n;
  }
  out.columns = attributes.Ints("ngram_indexes");
  out.weights = attributes.Floats("weights");
  if (static_cast<int64_t>(out.columns.size()) != grams ||
      (!out.weights.empty() && out.weights.size() != out.columns.size())) {
    return refuse("needs an index, and a weight if there are any, for each of ", grams,
                  " n-grams, given ", out.columns.size(), " and ", out.weights.size());
  }
  for (const int64_t column : out.columns) {
    if (column < 0 || column >= INT32_MAX)
      return refuse("attribute 'ngram_indexes' must hold 0 or more, given ", column);
    out.width = std::max(out.width, column + 1);
  }
  return out;
}

Status InferTfIdf(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const Attributes attributes, ReadAttributes(context.attributes()));
  if ((context.dtype(0) == DataType::kString) != (attributes.strings != nullptr)) {
    return TypeError("TfIdfVectorizer has a pool of ", attributes.strings ? "strings" : "integers",
                     ", given ", DataTypeName(context.dtype(0)));
  }
  const Shape& x = context.shape(0);
  if (x.has_rank() && (x.rank() < 1 || x.rank() > 2))
    return ShapeError("TfIdfVectorizer takes [C] or [N, C], given ", x);
  Shape out;
  if (x.has_rank() && x.rank() == 1) out = Shape({Dim(attributes.width)});
  if (x.has_rank() && x.rank() == 2) out = Shape({x[0], Dim(attributes.width)});
  context.SetOutput(0, DataType::kFloat32, std::move(out));
  return CheckSize(context, 0);
}

// The pool as a tree: each step takes one item further. Items are numbers; strings get some.
class GramTree {
 public:
  static constexpr int32_t kNone = -1;
  struct Node {
    std::unordered_map<int64_t, size_t> next;
    int32_t gram = kNone;  // that ends here
  };

  explicit GramTree(const Attributes& attributes) : nodes_(1) {
    int32_t gram = 0;
    for (size_t i = 0; i < attributes.starts.size(); ++i) {
      const auto end = i + 1 < attributes.starts.size()
                           ? static_cast<size_t>(attributes.starts[i + 1])
                           : attributes.pool_size();
      for (auto at = static_cast<size_t>(attributes.starts[i]); at < end; at += i + 1) {
        size_t node = 0;
        for (size_t k = 0; k <= i; ++k) node = Grow(node, Item(attributes, at + k));
        nodes_[node].gram = gram++;
      }
    }
  }

  const Node& root() const { return nodes_[0]; }
  // Null when no n-gram goes on like this.
  const Node* Next(const Node& node, int64_t item) const {
    const auto found = node.next.find(item);
    return found == node.next.end() ? nullptr : &nodes_[found->second];
  }
  // A number that no item of the pool has, for strings that the pool has not.
  int64_t NumberOf(std::string_view text) const {
    const auto found = numbers_.find(text);
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  int64_t Item(const Attributes& attributes, size_t i) {
    if (attributes.numbers != nullptr) return (*attributes.numbers)[i];
    return numbers_.emplace((*attributes.strings)[i], static_cast<int64_t>(numbers_.size()))
        .first->second;
  }
  size_t Grow(size_t node, int64_t item) {
    const auto [found, fresh] = nodes_[node].next.emplace(item, nodes_.size());
    const size_t next = found->second;
    if (fresh) nodes_.emplace_back();
    return next;
  }

  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, int64_t> numbers_;
};

// Counts of all n-grams in one row. Positions of a gram's items lie `distance` apart; single items
// are counted once, not once a distance.
void CountGrams(const Attributes& attributes, const GramTree& tree, std::span<const int64_t> row,
                std::vector<int64_t>& counts) {
  const auto size = static_cast<int64_t>(row.size());
  for (int64_t distance = 1; distance <= std::min(attributes.most_skipped, size) + 1; ++distance) {
    const int64_t shortest =
        distance == 1 ? attributes.shortest : std::max<int64_t>(2, attributes.shortest);
    for (int64_t start = 0; start < size; ++start) {
      const GramTree::Node* node = &tree.root();
      int64_t at = start;
      for (int64_t n = 1; n <= attributes.longest && at < size; ++n, at += distance) {
        node = tree.Next(*node, row[static_cast<size_t>(at)]);
        if (node == nullptr) break;
        if (n >= shortest && node->gram != GramTree::kNone)
          ++counts[static_cast<size_t>(node->gram)];
      }
    }
  }
}

Status TfIdf(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const Attributes attributes, ReadAttributes(context.attributes()));
  const GramTree tree(attributes);
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const int64_t rows = x.rank() == 2 ? x.dim(0) : 1, length = x.dim(x.rank() - 1);
  std::vector<int64_t> row(static_cast<size_t>(length));
  std::vector<int64_t> counts(attributes.columns.size());
  std::fill_n(y.data<float>(), y.size(), 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = r * length + i;
      row[static_cast<size_t>(i)] = x.dtype() == DataType::kString
                                        ? tree.NumberOf(x.data<std::string>()[at])
                                    : x.dtype() == DataType::kInt32 ? x.data<int32_t>()[at]
                                                                    : x.data<int64_t>()[at];
    }
    std::fill(counts.begin(), counts.end(), 0);
    CountGrams(attributes, tree, row, counts);
    float* out = y.data<float>() + r * attributes.width;
    for (size_t gram = 0; gram < counts.size(); ++gram) {
      auto value = static_cast<float>(counts[gram]);
      if (attributes.weighting == Weighting::kIdf) value = std::min(value, 1.0f);
      if (attributes.weighting != Weighting::kTf && !attributes.weights.empty())
        value *= attributes.weights[gram];
      out[attributes.columns[gram]] += value;
    }
  }
  return Ok();
}
}  // namespace

void AddTfIdfOps(OpTable& table) {
  table.Add("TfIdfVectorizer", 9)
      .Doc("how often each n-gram of a pool occurs in a row of numbers or strings, weighted")
      .Input("X", "T")
      .Output("Y", "T1")
      .Types("T", types::kString | types::kIndex)
      .Types("T1", TypeSet{DataType::kFloat32})
      .RequiredAttr("max_gram_length", AttributeType::kInt)
      .RequiredAttr("max_skip_count", AttributeType::kInt, "",
                    "items left out between two of an n-gram, at most")
      .RequiredAttr("min_gram_length", AttributeType::kInt)
      .RequiredAttr("mode", AttributeType::kString, "", "TF, IDF or TFIDF")
      .RequiredAttr("ngram_counts", AttributeType::kInts, "",
                    "where the 1-grams, 2-grams, ... begin in the pool")
      .RequiredAttr("ngram_indexes", AttributeType::kInts, "", "the column of each n-gram")
      .OptionalAttr("pool_int64s", AttributeType::kInts, "",
                    "the n-grams one after the other, shorter ones first")
      .OptionalAttr("pool_strings", AttributeType::kStrings, "",
                    "the n-grams one after the other, shorter ones first")
      .OptionalAttr("weights", AttributeType::kFloats, "", "of each n-gram")
      .Infer(InferTfIdf)
      .Kernel(TfIdf);
}

}  // namespace asc
