package org.pyasc;

/**
 * Why a call failed: a code, what was given and expected, the node of the user's graph, and a hint.
 * Each code of docs/errors.md has a class of its own.
 */
public abstract class PyascException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int code;
  private final String detail;
  private final String node;
  private final String hint;

  PyascException(int code, String detail, String node, String hint) {
    super(
        "E%d%s: %s%s"
            .formatted(
                code,
                node.isEmpty() ? "" : " at node '" + node + "'",
                detail,
                hint.isEmpty() ? "" : " (hint: " + hint + ")"));
    this.code = code;
    this.detail = detail;
    this.node = node;
    this.hint = hint;
  }

  /** The exception of a code's class; node and hint may be empty. */
  public static PyascException of(int code, String detail, String node, String hint) {
    return switch (code) {
      case 5001 -> new ShapeMismatchException(detail, node, hint);
      case 5002 -> new TypeMismatchException(detail, node, hint);
      case 5003 -> new InvalidArgumentException(detail, node, hint);
      case 5004 -> new NotFoundException(detail, node, hint);
      case 5005 -> new InvalidGraphException(detail, node, hint);
      case 5006 -> new InvalidModelException(detail, node, hint);
      case 5007 -> new OutOfRangeException(detail, node, hint);
      case 5008 -> new LayoutException(detail, node, hint);
      case 5009 -> new UnavailableException(detail, node, hint);
      case 5010 -> new FileException(detail, node, hint);
      case 5011 -> new DestroyedException(detail, node, hint);
      case 5012 -> new OutOfMemoryException(detail, node, hint);
      case 5013 -> new CancelledException(detail, node, hint);
      case 5014 -> new IntegerArithmeticException(detail, node, hint);
      case 5020 -> new DeviceException(detail, node, hint);
      case 5033 -> new UnsupportedOperatorException(detail, node, hint);
      default -> new InternalException(detail, node, hint);
    };
  }

  /** The number of the error: 5001 for E5001. */
  public int code() {
    return code;
  }

  /** What was given and what was expected, without code, node and hint. */
  public String detail() {
    return detail;
  }

  /** The node of the user's graph; empty where there is none. */
  public String node() {
    return node;
  }

  /** What would help; empty where nothing is known. */
  public String hint() {
    return hint;
  }
}
