// Tuning: the fastest kernel is found, kept on disk and taken from there; estimates decide otherwise.
#include "core/compile/tuning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/compile/constants.h"
#include "core/compile/kernel_choice.h"
#include "core/ops/registry.h"

namespace asc {
namespace {
int slow_made, fast_made, fast_runs;

class Copy : public Kernel {
 public:
  explicit Copy(bool slow) : slow_(slow) {}
  Status Run(KernelContext& context) const override {
    if (slow_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!slow_) ++fast_runs;
    std::memcpy(context.output(0).raw(), context.input(0).raw(), context.input(0).bytes());
    return Ok();
  }
  std::string_view name() const override { return slow_ ? "slow" : "fast"; }

 private:
  bool slow_;
};

bool Yes(const KernelRequest&) { return true; }
double Cheap(const KernelRequest&) { return 1; }
double Dear(const KernelRequest&) { return 2; }
Result<std::unique_ptr<Kernel>> MakeSlow(const KernelRequest&) {
  ++slow_made;
  return std::unique_ptr<Kernel>(std::make_unique<Copy>(true));
}
Result<std::unique_ptr<Kernel>> MakeFast(const KernelRequest&) {
  ++fast_made;
  return std::unique_ptr<Kernel>(std::make_unique<Copy>(false));
}
Result<std::unique_ptr<Kernel>> MakeNone(const KernelRequest&) { return Error(Code::kUnavailable, "not today"); }

// The estimates are wrong about Relu's kernels.
class FakeDevice : public Device {
 public:
  FakeDevice() { properties_.name = "fake CPU"; }
  const DeviceProperties& properties() const override { return properties_; }
  const std::shared_ptr<Allocator>& allocator() const override { return HostAllocator(); }
  const std::vector<KernelEntry>& Kernels(const OpSchema&) const override { return kernels_; }
  bool Supports(const OpSchema&) const override { return true; }

 private:
  DeviceProperties properties_;
  std::vector<KernelEntry> kernels_ = {{"Relu", "", "fake.none", Yes, nullptr, MakeNone},
                                       {"Relu", "", "fake.fast", Yes, Dear, MakeFast},
                                       {"Relu", "", "fake.slow", Yes, Cheap, MakeSlow}};
};

class TuningTest : public ::testing::Test {
 protected:
  TuningTest() : folder_(std::filesystem::temp_directory_path() / Cat("asc_tuning_", static_cast<int64_t>(::getpid()), "_", ++count_)) {
    node_.schema = OpRegistry::Global().Find("", "Relu");
    node_.name = "relu";
    slow_made = fast_made = fast_runs = 0;
  }
  ~TuningTest() override { std::filesystem::remove_all(folder_); }

  KernelRequest Request(const Dims& dims) {
    OperandDesc desc;
    desc.dtype = DataType::kFloat32;
    desc.dims = dims;
    desc.present = true;
    return {node_, {desc}, {desc}, forms_, HostAllocator(), 1, false, false};
  }
  std::string Choose(const Dims& dims, TuningCache& cache) {
    const auto kernel = ChooseTunedKernel(device_, Request(dims), {{dims}, {dims}}, cache);
    EXPECT_TRUE(kernel.ok()) << kernel.status().ToString();
    return kernel.ok() ? std::string((*kernel)->name()) : "";
  }
  std::shared_ptr<TuningCache> Open(std::string_view below = "") { return TuningCache::Open(device_, (folder_ / below).string()); }

  static inline int count_ = 0;
  const std::filesystem::path folder_;
  FakeDevice device_;
  Node node_;
  ConstantStore forms_{HostAllocator()};
};

TEST_F(TuningTest, TheFastestIsTakenAndKept) {
  const auto cache = Open();
  EXPECT_EQ(Choose({4, 8}, *cache), "fast");
  EXPECT_EQ(slow_made, 1);
  EXPECT_EQ(fast_made, 2);  // measured, and made for the plan
  EXPECT_GE(fast_runs, 3);
  const int runs = fast_runs;
  EXPECT_EQ(Choose({4, 8}, *cache), "fast");
  EXPECT_EQ(slow_made, 1);
  EXPECT_EQ(fast_runs, runs) << "it was measured again";
  EXPECT_EQ(Choose({4, 9}, *cache), "fast");
  EXPECT_EQ(slow_made, 2) << "other extents are measured on their own";
  std::ifstream file(cache->path());
  std::string title, line;
  std::getline(file, title);
  std::getline(file, line);
  EXPECT_TRUE(title.starts_with("# fake CPU")) << title;
  EXPECT_TRUE(line.ends_with("\tfake.fast")) << line;
}

TEST_F(TuningTest, EstimatesDecideWithoutTuning) {
  const auto kernel = ChooseKernel(device_, Request({4, 8}));
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->name(), "slow");
  EXPECT_EQ(fast_made, 0);
}

TEST_F(TuningTest, FilesAreReadAndDamageIsPassedOver) {
  const std::string path = Open("a")->path(), name = std::filesystem::path(path).filename();
  std::filesystem::create_directories(folder_ / "b");
  std::ofstream(folder_ / "b" / name) << "# title\nno tab\n" << TuningKey(Request({2})) << "\tfake.slow\n"
                                      << TuningKey(Request({3})) << "\tfake.gone\n"
                                      << TuningKey(Request({5})) << "\t";
  const auto cache = Open("b");
  EXPECT_EQ(cache->Find(TuningKey(Request({2}))), "fake.slow");
  EXPECT_EQ(cache->Find(TuningKey(Request({5}))), std::nullopt);
  EXPECT_EQ(Choose({2}, *cache), "slow") << "what the file says is not measured again";
  EXPECT_EQ(Choose({3}, *cache), "fast") << "a kernel that is there no more is";
}

TEST_F(TuningTest, AFolderThatCannotBeWrittenDoesNotMatter) {
  const auto cache = TuningCache::Open(device_, "/proc/no/such/folder");
  EXPECT_EQ(Choose({7}, *cache), "fast");
  EXPECT_EQ(cache->Find(TuningKey(Request({7}))), "fake.fast");
}

TEST_F(TuningTest, KeysTellApartWhatMatters) {
  const KernelRequest plain = Request({4});
  std::vector<std::string> keys = {TuningKey(plain)};
  KernelRequest finite{node_, plain.inputs, plain.outputs, forms_, HostAllocator(), 1, true, false};
  keys.push_back(TuningKey(finite));
  KernelRequest threads{node_, plain.inputs, plain.outputs, forms_, HostAllocator(), 2, false, false};
  keys.push_back(TuningKey(threads));
  KernelRequest types = Request({4});
  types.inputs[0].dtype = DataType::kFloat16;
  keys.push_back(TuningKey(types));
  const Tensor value = Tensor::Scalar<float>(1);
  KernelRequest constant = Request({4});
  constant.inputs[0].constant = &value;
  keys.push_back(TuningKey(constant));
  node_.attributes.Set("note", std::string("a\tb\n"));
  keys.push_back(TuningKey(Request({4})));
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(keys[i].find_first_of("\t\n"), std::string::npos);
    for (size_t k = 0; k < i; ++k) EXPECT_NE(keys[i], keys[k]);
  }
}
}  // namespace
}  // namespace asc
