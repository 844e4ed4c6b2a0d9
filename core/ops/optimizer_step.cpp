// One step of an optimiser over any number of tensors: Adagrad, Adam, Momentum of the domain
// ai.onnx.preview.training. Formulae: the ONNX definitions of version 1.
#include <array>
#include <cmath>

#include "core/base/parallel.h"
#include "core/graph/infer.h"
#include "core/ops/broadcast_iterator.h"
#include "core/ops/families_extra.h"
#include "core/tensor/element.h"

namespace asc {
namespace {
constexpr std::string_view kTraining = "ai.onnx.preview.training";
constexpr size_t kRate = 0, kStep = 1, kFirstTensor = 2;

// After rate and step come all X, all gradients, then for each state of the optimiser that of all
// X; results are all new X, then each state. `kStates`: of a tensor.
template <size_t kStates>
Result<size_t> TensorCount(size_t inputs, std::string_view op) {
  constexpr size_t kEach = 2 + kStates;
  const size_t given = inputs - std::min(inputs, kFirstTensor);
  if (given == 0 || given % kEach != 0) {
    return InvalidArgument(op, " needs ", kEach, " inputs for each optimised tensor, given ", given,
                           " after 'R' and 'T'");
  }
  return given / kEach;
}

template <size_t kStates>
Status InferStep(InferContext& context) {
  const std::string op = context.schema().FullName();
  for (const size_t i : {kRate, kStep}) {
    const Dim count = context.shape(i).has_rank() ? context.shape(i).ElementCount() : Dim(1);
    if (count.is_constant() && count.value() != 1) {
      return ShapeError(op, " needs a scalar '", context.schema().inputs[i].name, "', given shape ",
                        context.shape(i));
    }
  }
  ASC_ASSIGN_OR_RETURN(const size_t tensors, TensorCount<kStates>(context.input_count(), op));
  if (context.output_count() > tensors * (1 + kStates)) {
    return InvalidArgument(op, " gives ", tensors * (1 + kStates), " outputs for ", tensors,
                           " tensors, asked for ", context.output_count());
  }
  for (size_t k = 0; k < tensors; ++k) {
    ValueType merged = context.type(kFirstTensor + k);
    for (size_t part = 1; part < 2 + kStates; ++part) {
      const ValueType& other = context.type(kFirstTensor + part * tensors + k);
      if (other.dtype != merged.dtype) {
        return TypeError(op, " needs one type for tensor ", k, ", its gradient and its state: got ",
                         DataTypeName(merged.dtype), " and ", DataTypeName(other.dtype));
      }
      auto both = MergeTypes(merged, other);
      if (!both.ok()) {
        return ShapeError(op, " needs one shape for tensor ", k,
                          ", its gradient and its state: got ", merged.shape, " and ", other.shape);
      }
      merged = *std::move(both);
    }
    for (size_t part = 0; part < 1 + kStates; ++part) {
      const size_t i = part * tensors + k;
      if (i < context.output_count()) context.SetOutput(i, merged);
    }
  }
  return Ok();
}

// What step a rule makes: `rule(x, g, states...)` gives the new x and changes the states.
template <size_t kStates, typename MakeRule>
Status RunStep(KernelContext& context, MakeRule make_rule) {
  ASC_ASSIGN_OR_RETURN(const size_t tensors,
                       TensorCount<kStates>(context.input_count(), context.schema().FullName()));
  const Tensor& rate = context.input(kRate);
  const double r = ReadAsDouble(rate.dtype(), rate.raw(), 0);
  const int64_t t = context.input(kStep).data<int64_t>()[0];
  const auto rule = make_rule(context.attributes(), r, static_cast<double>(t));
  for (size_t k = 0; k < tensors; ++k) {
    std::array<const Tensor*, 2 + kStates> in;
    std::array<Tensor*, 1 + kStates> out;
    for (size_t part = 0; part < in.size(); ++part)
      in[part] = &context.input(kFirstTensor + part * tensors + k);
    for (size_t part = 0; part < out.size(); ++part) {
      const size_t i = part * tensors + k;
      out[part] = context.HasOutput(i) ? &context.output(i) : nullptr;
    }
    const auto as = [&]<typename T>(T) {
      ParallelFor(in[0]->size(), kElementGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          std::array<T, kStates> states;
          for (size_t s = 0; s < kStates; ++s) states[s] = in[2 + s]->template data<T>()[i];
          const T x = rule(in[0]->template data<T>()[i], in[1]->template data<T>()[i], states);
          if (out[0] != nullptr) out[0]->template data<T>()[i] = x;
          for (size_t s = 0; s < kStates; ++s)
            if (out[1 + s] != nullptr) out[1 + s]->template data<T>()[i] = states[s];
        }
      });
    };
    if (in[0]->dtype() == DataType::kFloat64) {
      as(double{});
    } else {
      as(float{});
    }
  }
  return Ok();
}

Status Adagrad(KernelContext& context) {
  return RunStep<1>(context, [](const AttributeMap& attributes, double rate, double step) {
    const double norm = attributes.Float("norm_coefficient", 0),
                 epsilon = attributes.Float("epsilon", 1e-6f);
    const double r = rate / (1 + step * static_cast<double>(attributes.Float("decay_factor", 0)));
    return [=]<typename T>(T x, T gradient, std::array<T, 1>& states) {
      const T g = static_cast<T>(norm) * x + gradient;
      states[0] += g * g;
      return x - static_cast<T>(r) * g / (std::sqrt(states[0]) + static_cast<T>(epsilon));
    };
  });
}

Status Adam(KernelContext& context) {
  return RunStep<2>(context, [](const AttributeMap& attributes, double rate, double step) {
    const double norm = attributes.Float("norm_coefficient", 0),
                 epsilon = attributes.Float("epsilon", 1e-6f);
    const double alpha = attributes.Float("alpha", 0.9f), beta = attributes.Float("beta", 0.999f);
    const double kept = 1 - static_cast<double>(attributes.Float("norm_coefficient_post", 0));
    const double r =
        step > 0 ? rate * std::sqrt(1 - std::pow(beta, step)) / (1 - std::pow(alpha, step)) : rate;
    return [=]<typename T>(T x, T gradient, std::array<T, 2>& states) {
      const T g = static_cast<T>(norm) * x + gradient;
      states[0] = static_cast<T>(alpha) * states[0] + static_cast<T>(1 - alpha) * g;
      states[1] = static_cast<T>(beta) * states[1] + static_cast<T>(1 - beta) * g * g;
      const T root = std::sqrt(states[1]) + static_cast<T>(epsilon);
      return static_cast<T>(kept) * (x - static_cast<T>(r) * states[0] / root);
    };
  });
}

bool IsNesterov(const AttributeMap& attributes) {
  return attributes.String("mode", "") == "nesterov";
}

Status InferMomentum(InferContext& context) {
  const std::string mode = context.attributes().String("mode", "");
  if (mode != "nesterov" && mode != "standard") {
    return InvalidArgument(context.schema().FullName(),
                           " attribute 'mode' must be 'standard' or 'nesterov', given '", mode,
                           "'");
  }
  return InferStep<1>(context);
}

Status Momentum(KernelContext& context) {
  return RunStep<1>(context, [](const AttributeMap& attributes, double rate, double step) {
    const double norm = attributes.Float("norm_coefficient", 0),
                 alpha = attributes.Float("alpha", 0);
    const double beta = step > 0 ? attributes.Float("beta", 0) : 1;
    const bool nesterov = IsNesterov(attributes);
    return [=]<typename T>(T x, T gradient, std::array<T, 1>& states) {
      const T g = static_cast<T>(norm) * x + gradient;
      states[0] = static_cast<T>(alpha) * states[0] + static_cast<T>(beta) * g;
      return x -
             static_cast<T>(rate) * (nesterov ? g + static_cast<T>(alpha) * states[0] : states[0]);
    };
  });
}
}  // namespace

void AddOptimizerStepOps(OpTable& table) {
  const auto add = [&](std::string_view name, std::string_view doc) {
    return table.Add(name, 1, kTraining)
        .Doc(doc)
        .Input("R", "T1")
        .Input("T", "T2")
        .Input("inputs", "T3", ParameterKind::kVariadic, false)
        .Output("outputs", "T3", ParameterKind::kVariadic, false)
        .Types("T1", TypeSet{DataType::kFloat32, DataType::kFloat64})
        .Types("T2", TypeSet{DataType::kInt64})
        .Types("T3", TypeSet{DataType::kFloat32, DataType::kFloat64});
  };
  add("Adagrad",
      "a step of Adagrad with rate R, the T-th: inputs are tensors, gradients, sums of squares")
      .Attr("decay_factor", 0.0f)
      .Attr("epsilon", 1e-6f)
      .Attr("norm_coefficient", 0.0f, "", "weight of the squared norm")
      .Infer(InferStep<1>)
      .Kernel(Adagrad);
  add("Adam",
      "a step of Adam with rate R, the T-th: inputs are tensors, gradients, means, means of "
      "squares")
      .Attr("alpha", 0.9f, "", "share of the old mean that is kept")
      .Attr("beta", 0.999f, "", "share of the old mean of squares that is kept")
      .Attr("epsilon", 1e-6f)
      .Attr("norm_coefficient", 0.0f, "", "weight of the squared norm")
      .Attr("norm_coefficient_post", 0.0f, "", "share by which the result shrinks")
      .Infer(InferStep<2>)
      .Kernel(Adam);
  add("Momentum",
      "a step of gradient descent with momentum and rate R, the T-th: inputs are tensors, "
      "gradients, momenta")
      .RequiredAttr("alpha", AttributeType::kFloat, "", "share of the old momentum that is kept")
      .RequiredAttr("beta", AttributeType::kFloat, "", "weight of the gradient, but in step 0")
      .RequiredAttr("mode", AttributeType::kString, "", "standard or nesterov")
      .RequiredAttr("norm_coefficient", AttributeType::kFloat, "", "weight of the squared norm")
      .Infer(InferMomentum)
      .Kernel(Momentum);
}

}  // namespace asc
