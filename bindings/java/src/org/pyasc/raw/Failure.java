package org.pyasc.raw;

import org.pyasc.PyascException;

/** What SWIG's classes make of a status. */
final class Failure {
  private Failure() {}

  /** Takes over a status and throws what it says; 0 is success. */
  static void check(long status) {
    if (status == 0) {
      return;
    }
    try {
      throw PyascException.of(
          Asc.asc_status_code(status),
          Asc.asc_status_get_message(status),
          Asc.asc_status_get_node(status),
          Asc.asc_status_get_hint(status));
    } finally {
      Asc.asc_status_release(status);
    }
  }
}
