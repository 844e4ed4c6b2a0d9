package org.pyasc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the JSON of the shared cases: objects, arrays, strings and integers. */
final class Json {
  private final String text;
  private int at = 0;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    return new Json(text).value();
  }

  private char next() {
    while (Character.isWhitespace(text.charAt(at))) {
      ++at;
    }
    return text.charAt(at);
  }

  private boolean skip(char expected) {
    boolean found = next() == expected;
    at += found ? 1 : 0;
    return found;
  }

  private Object value() {
    switch (next()) {
      case '{':
        Map<String, Object> object = new LinkedHashMap<>();
        ++at;
        while (!skip('}')) {
          skip(',');
          String key = (String) value();
          skip(':');
          object.put(key, value());
        }
        return object;
      case '[':
        List<Object> array = new ArrayList<>();
        ++at;
        while (!skip(']')) {
          skip(',');
          array.add(value());
        }
        return array;
      case '"':
        return string();
      default:
        int start = at;
        while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
          ++at;
        }
        return Long.parseLong(text.substring(start, at));
    }
  }

  private String string() {
    StringBuilder out = new StringBuilder();
    for (++at; text.charAt(at) != '"'; ++at) {
      if (text.charAt(at) != '\\') {
        out.append(text.charAt(at));
      } else if (text.charAt(++at) == 'u') {
        out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
        at += 4;
      } else {
        out.append(text.charAt(at));
      }
    }
    ++at;
    return out.toString();
  }
}
