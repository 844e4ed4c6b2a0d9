package org.pyasc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PyascTest {
  @Test
  void versionHasThreeNumbers() {
    assertTrue(Pyasc.version().matches("\\d+\\.\\d+\\.\\d+"), Pyasc.version());
  }
}
