package org.pyasc;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;
import org.pyasc.raw.Asc;

/**
 * The engine's memory under the buffers of results. It is given back when the last buffer that looks
 * at it is unreachable, so that no buffer can outlive it. The garbage collector does not see how
 * much hangs on a small buffer: like the JDK for its own direct buffers, this asks it to run when
 * more than the largest size of the heap is held.
 */
final class Memory {
  static final Cleaner CLEANER = Cleaner.create();

  private static final AtomicLong held = new AtomicLong();
  private static final AtomicLong results = new AtomicLong();
  private static final long LIMIT = Runtime.getRuntime().maxMemory();
  private static volatile long threshold = LIMIT;

  private Memory() {}

  /** Takes over a value, whose elements the buffer is. */
  static ByteBuffer adopt(long value) {
    ByteBuffer[] data = new ByteBuffer[1];
    Asc.asc_value_get_mutable_data(value, data);
    // Views of the buffer, and views of those, refer to this very object.
    ByteBuffer root = data[0].order(ByteOrder.nativeOrder());
    int bytes = root.capacity();
    results.incrementAndGet();
    CLEANER.register(
        root,
        () -> {
          Asc.asc_value_release(value);
          held.addAndGet(-bytes);
          results.decrementAndGet();
        });
    if (held.addAndGet(bytes) > threshold) {
      collect();
    }
    return root;
  }

  /** Bytes that buffers hold now. */
  static long held() {
    return held.get();
  }

  /** Values that buffers hold now. */
  static long results() {
    return results.get();
  }

  private static synchronized void collect() {
    if (held.get() <= threshold) {
      return; // another thread was here meanwhile
    }
    System.gc();
    for (int wait = 1; wait < 256 && held.get() > LIMIT / 2; wait *= 2) {
      try {
        Thread.sleep(wait); // the cleaner's thread is at it
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    // What is still held is in use: collecting again before much more is would be in vain.
    threshold = Math.max(LIMIT, held.get() * 2);
  }
}
