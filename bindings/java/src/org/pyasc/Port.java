package org.pyasc;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.pyasc.raw.Asc;
import org.pyasc.raw.AscConstants;

/**
 * An input or output of a model.
 *
 * @param name its name in the model
 * @param type all of its type as text: "float32[N, 3]", "sequence(float32[*])"
 * @param dataType of the elements; empty for what is no tensor
 * @param dimensions the extents of a tensor as text: "3", or a name for what each run decides; empty
 *     where not even their number is known
 */
public record Port(
    String name, String type, Optional<DataType> dataType, Optional<List<String>> dimensions) {

  /** The extents of a tensor of known rank, -1 for what each run decides. */
  public long[] shape() {
    return dimensions.orElseThrow().stream()
        .mapToLong(extent -> extent.matches("\\d+") ? Long.parseLong(extent) : -1)
        .toArray();
  }

  /** Reads a type that is lent. */
  static Port of(String name, long type) {
    String[] text = new String[1];
    int[] number = new int[1];
    long[] rank = new long[1];
    Asc.asc_type_get_text(type, text);
    String whole = text[0];
    Asc.asc_type_get_kind(type, number);
    if (number[0] != AscConstants.ASC_TENSOR) {
      return new Port(name, whole, Optional.empty(), Optional.empty());
    }
    Asc.asc_type_get_dtype(type, number);
    Optional<DataType> dataType = Optional.of(DataType.of(number[0]));
    Asc.asc_type_get_rank(type, rank);
    if (rank[0] < 0) {
      return new Port(name, whole, dataType, Optional.empty());
    }
    List<String> extents = new ArrayList<>();
    for (long axis = 0; axis < rank[0]; ++axis) {
      Asc.asc_type_get_extent_text(type, axis, text);
      extents.add(text[0]);
    }
    return new Port(name, whole, dataType, Optional.of(List.copyOf(extents)));
  }
}
