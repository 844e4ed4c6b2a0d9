package org.pyasc;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.pyasc.raw.Asc;
import org.pyasc.raw.AscConstants;

/** A compiled model. Many threads may use one. */
public final class Model implements AutoCloseable {
  static {
    NativeLibrary.load();
  }

  private final Session session;
  private final Cleaner.Cleanable cleanable;
  private final List<Port> inputs;
  private final List<Port> outputs;
  private final List<Port> overridable;

  /** Takes over a session. */
  private Model(long handle) {
    session = new Session(handle);
    cleanable = Memory.CLEANER.register(this, session);
    try {
      inputs = ports(handle, Asc::asc_session_get_input_count, Asc::asc_session_get_input);
      outputs = ports(handle, Asc::asc_session_get_output_count, Asc::asc_session_get_output);
      overridable =
          ports(
              handle,
              Asc::asc_session_get_overridable_count,
              Asc::asc_session_get_overridable);
    } catch (RuntimeException failure) {
      cleanable.clean();
      throw failure;
    }
  }

  /** Reads and compiles a model file. */
  public static Model load(String path) {
    return load(path, new LoadOptions());
  }

  /** Reads and compiles a model file. */
  public static Model load(Path path) {
    return load(path.toString());
  }

  /** Reads and compiles a model file. */
  public static Model load(String path, LoadOptions options) {
    return load(
        options,
        (handle, out) -> Asc.asc_session_load_file(path, options.device(), handle, out));
  }

  /** Reads and compiles a model in memory, which is copied. */
  public static Model load(byte[] model) {
    return load(model, new LoadOptions());
  }

  /** Reads and compiles a model in memory, which is copied. */
  public static Model load(byte[] model, LoadOptions options) {
    long[] bytes = new long[1];
    ByteBuffer[] data = new ByteBuffer[1];
    Asc.asc_value_create_tensor(DataType.UINT8.number, new long[] {model.length}, bytes);
    try {
      Asc.asc_value_get_mutable_data(bytes[0], data);
      data[0].put(model);
      return load(
          options,
          (handle, out) -> Asc.asc_session_load_bytes(bytes[0], options.device(), handle, out));
    } finally {
      Asc.asc_value_release(bytes[0]);
    }
  }

  private interface Compile {
    void into(long options, long[] session);
  }

  private static Model load(LoadOptions options, Compile compile) {
    long handle = options.create();
    long[] session = new long[1];
    try {
      compile.into(handle, session);
    } finally {
      Asc.asc_compile_options_release(handle);
    }
    return new Model(session[0]);
  }

  private interface GetCount {
    void from(long session, long[] count);
  }

  private interface GetPort {
    void from(long session, long index, String[] name, long[] type);
  }

  private static List<Port> ports(long session, GetCount getCount, GetPort getPort) {
    long[] count = new long[1];
    String[] name = new String[1];
    long[] type = new long[1];
    getCount.from(session, count);
    List<Port> ports = new ArrayList<>();
    for (long i = 0; i < count[0]; ++i) {
      getPort.from(session, i, name, type);
      ports.add(Port.of(name[0], type[0]));
    }
    return List.copyOf(ports);
  }

  /** What {@link #run} takes. */
  public List<Port> inputs() {
    return inputs;
  }

  /** What {@link #run} gives. */
  public List<Port> outputs() {
    return outputs;
  }

  /**
   * Inputs with a default, which {@link #run} takes too: initializers that an ONNX model of IR version
   * 4 or later lists as inputs. The first run that is given any compiles the model for it.
   */
  public List<Port> overridable() {
    return overridable;
  }

  /**
   * Computes the outputs. The elements of the inputs are read where they are and must not be written
   * meanwhile; the outputs share no memory with them.
   *
   * @throws ShapeMismatchException and TypeMismatchException naming the input that does not fit
   * @throws DestroyedException when the model is closed
   */
  public Map<String, Tensor> run(Map<String, Tensor> given) {
    Tensor[] tensors = inOrder(given);
    long[] values = new long[tensors.length];
    long[] results = new long[outputs.size()];
    long handle = session.borrow();
    try {
      for (int i = 0; i < values.length; ++i) {
        values[i] = tensors[i] == null ? 0 : tensors[i].lend();
      }
      Asc.asc_session_run(handle, values, 0, results);
      return take(results);
    } finally {
      release(values);
      release(results);
      Asc.asc_session_release(handle);
      Reference.reachabilityFence(tensors);
    }
  }

  private Tensor[] inOrder(Map<String, Tensor> given) {
    Map<String, Tensor> left = new LinkedHashMap<>(given);
    List<Port> ports = new ArrayList<>(inputs);
    if (overridable.stream().anyMatch(port -> given.containsKey(port.name()))) {
      ports.addAll(overridable);
    }
    Tensor[] tensors = new Tensor[ports.size()];
    for (int i = 0; i < tensors.length; ++i) {
      tensors[i] = left.remove(ports.get(i).name());
    }
    for (String name : left.keySet()) {
      String names = ports.stream().map(Port::name).collect(Collectors.joining("', '", "'", "'"));
      throw PyascException.of(
          AscConstants.ASC_NOT_FOUND,
          "the model has no input '%s'; it has %s".formatted(name, names),
          "",
          "");
    }
    return tensors;
  }

  /** Takes over the results; those that are taken become 0. */
  private Map<String, Tensor> take(long[] results) {
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    for (int i = 0; i < results.length; ++i) {
      Port port = outputs.get(i);
      if (port.dataType().isEmpty()) {
        throw PyascException.of(
            AscConstants.ASC_UNAVAILABLE,
            "output '%s' is a %s: only tensors can be given to Java"
                .formatted(port.name(), port.type()),
            "",
            "");
      }
      tensors.put(port.name(), Tensor.take(results, i));
    }
    return tensors;
  }

  private static void release(long[] values) {
    for (long value : values) {
      Asc.asc_value_release(value);
    }
  }

  /**
   * Writes the graph that was loaded, before any optimisation, as an ONNX model.
   *
   * @throws FileException when the file cannot be written, which leaves what was there
   */
  public void exportOnnx(Path path) {
    export(path, Asc::asc_session_create_source_graph);
  }

  /**
   * Writes the graph that the compiler made, its own operators as ONNX's. Inputs with a default are
   * fixed in it.
   *
   * @throws FileException when the file cannot be written, which leaves what was there
   */
  public void exportOptimizedOnnx(Path path) {
    export(path, Asc::asc_session_create_graph);
  }

  private interface CreateGraph {
    void from(long session, long[] graph);
  }

  private void export(Path path, CreateGraph create) {
    long[] graph = new long[1];
    long handle = session.borrow();
    try {
      create.from(handle, graph);
      Asc.asc_graph_export_file(graph[0], path.toString(), 0);
    } finally {
      Asc.asc_graph_release(graph[0]);
      Asc.asc_session_release(handle);
    }
  }

  /**
   * Frees the model; runs that are going on end as if nothing had happened. It may be called again;
   * running then throws DestroyedException. A model that is not closed is freed some time after it
   * became unreachable.
   */
  @Override
  public void close() {
    cleanable.clean();
  }

  /** One reference to the engine's session, which close and the cleaner give back. */
  private static final class Session implements Runnable {
    private long handle;

    Session(long handle) {
      this.handle = handle;
    }

    /** A reference of its own, so that closing cannot take the session away from a run. */
    synchronized long borrow() {
      if (handle == 0) {
        throw PyascException.of(AscConstants.ASC_DESTROYED, "the model is closed", "", "");
      }
      Asc.asc_session_retain(handle);
      return handle;
    }

    @Override
    public synchronized void run() {
      Asc.asc_session_release(handle);
      handle = 0;
    }
  }
}
