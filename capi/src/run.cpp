#include "capi/src/run.h"

#include "capi/src/value.h"

using asc::Ok;
using asc::Status;
using asc::capi::Guard;

namespace asc::capi {

Result<std::vector<AnyValue>> InputsOf(const asc_value* const* inputs, size_t count) {
  ASC_NEED_ARRAY(inputs, count);
  std::vector<AnyValue> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (inputs[i] == nullptr) {
      values.push_back(AnyValue::None());
      continue;
    }
    ASC_RETURN_IF_ERROR(CheckHandle(inputs[i], "inputs"));
    values.push_back(**inputs[i]);
  }
  return values;
}

Status CheckOutputCount(size_t expected, size_t given) {
  if (expected == given) return Ok();
  return InvalidArgument("there are ", expected, " outputs, given room for ", given);
}

Status HandOut(std::vector<AnyValue> values, asc_value** outputs) {
  std::vector<std::unique_ptr<asc_value, decltype(&asc_value_release)>> handles;
  handles.reserve(values.size());
  for (AnyValue& value : values)
    handles.emplace_back(asc_value::New(std::move(value)), asc_value_release);
  for (auto& handle : handles) *outputs++ = handle.release();
  return Ok();
}

}  // namespace asc::capi

asc_status* asc_cancel_token_create(asc_cancel_token** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_cancel_token::New(std::make_shared<asc::CancelToken>());
    return Ok();
  });
}

asc_status* asc_cancel_token_cancel(asc_cancel_token* token) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(token);
    (**token)->Cancel();
    return Ok();
  });
}

void asc_cancel_token_retain(asc_cancel_token* token) { asc_cancel_token::Retain(token); }
void asc_cancel_token_release(asc_cancel_token* token) { asc_cancel_token::Release(token); }

asc_status* asc_run_options_create(asc_run_options** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_run_options::New();
    return Ok();
  });
}

asc_status* asc_run_options_set_cancel_token(asc_run_options* options, asc_cancel_token* token) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    if (token != nullptr) ASC_NEED_HANDLE(token);
    (*options)->cancel = token ? **token : nullptr;
    return Ok();
  });
}

asc_status* asc_run_options_set_seed(asc_run_options* options, uint64_t seed) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    (*options)->seed = seed;
    return Ok();
  });
}

asc_status* asc_run_options_set_output(asc_run_options* options, size_t index, asc_value* tensor) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    // No model has that many; a negative number of a binding would ask for all memory.
    if (index > 1 << 20) return asc::Error(asc::Code::kOutOfRange, "there is no output ", index);
    asc::Tensor given;
    if (tensor != nullptr) {
      ASC_ASSIGN_OR_RETURN(given, asc::capi::TensorOf(tensor, "tensor"));
    }
    std::vector<asc::Tensor>& outputs = (*options)->outputs;
    if (outputs.size() <= index) outputs.resize(index + 1);
    outputs[index] = std::move(given);
    return Ok();
  });
}

void asc_run_options_retain(asc_run_options* options) { asc_run_options::Retain(options); }
void asc_run_options_release(asc_run_options* options) { asc_run_options::Release(options); }

asc_status* asc_future_wait(const asc_future* future, asc_value** outputs, size_t output_count) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(future);
    ASC_NEED_ARRAY(outputs, output_count);
    // Of its own: another thread may release the handle meanwhile.
    const asc::Future waiting = **future;
    const asc::Result<std::vector<asc::AnyValue>>& result = waiting.Wait();
    if (!result.ok()) return result.status();
    ASC_RETURN_IF_ERROR(asc::capi::CheckOutputCount(result->size(), output_count));
    return asc::capi::HandOut(*result, outputs);
  });
}

asc_status* asc_future_wait_for(const asc_future* future, int64_t nanoseconds, int32_t* done) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(future);
    ASC_NEED(done);
    const asc::Future waiting = **future;
    *done =
        nanoseconds <= 0 ? waiting.done() : waiting.WaitFor(std::chrono::nanoseconds(nanoseconds));
    return Ok();
  });
}

void asc_future_retain(asc_future* future) { asc_future::Retain(future); }
void asc_future_release(asc_future* future) { asc_future::Release(future); }
