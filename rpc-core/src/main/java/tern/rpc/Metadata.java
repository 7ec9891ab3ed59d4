package tern.rpc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a request or a response. Dubbo calls them attachments. Values are text or binary. Names keep their
 * spelling, but comparisons ignore the case of ASCII letters. A name can occur several times. Not thread-safe.
 *
 * <p>On HTTP protocols (gRPC, Triple, Connect, JSON), the name of a binary value ends in {@code -bin}; Tern appends the
 * suffix if it is missing. The dubbo protocol needs no suffix. Therefore, a binary value can be found by its name with
 * or without {@code -bin} on every protocol. If a text value and a binary value have the same name, {@link #get} finds
 * the text and {@link #getBytes} finds the bytes.
 */
public final class Metadata {

    private static final Object[] NOTHING = {};
    private static final String BINARY = "-bin";

    /** The array alternates between names and values. A value is a String or a byte[]. */
    private Object[] pairs = NOTHING;

    private int used;

    public Metadata() {}

    /** @param values the initial capacity; more values can be added */
    public Metadata(int values) {
        pairs = new Object[values * 2];
    }

    /** Replaces all values under the given name with one value. */
    public Metadata put(String name, String value) {
        return replace(name, value);
    }

    /** Replaces all values under the given name with one value. The array is not copied. */
    public Metadata put(String name, byte[] value) {
        return replace(name, value);
    }

    /** Adds another value with the given name. */
    public Metadata add(String name, String value) {
        append(name, value);
        return this;
    }

    /** Adds another value with the given name. The array is not copied. */
    public Metadata add(String name, byte[] value) {
        append(name, value);
        return this;
    }

    /** Returns the last text value with the given name; null if there is none. */
    public @Nullable String get(String name) {
        for (int i = used - 2; i >= 0; i -= 2) {
            if (pairs[i + 1] instanceof String text && isNamed(i, name)) {
                return text;
            }
        }
        return null;
    }

    /** Returns the last binary value with the given name; null if there is none. The array is not copied. */
    public byte @Nullable [] getBytes(String name) {
        for (int i = used - 2; i >= 0; i -= 2) {
            if (pairs[i + 1] instanceof byte[] bytes && isNamed(i, name)) {
                return bytes;
            }
        }
        return null;
    }

    /** Returns all text values with the given name, in the order in which they were added. */
    public List<String> getAll(String name) {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < used; i += 2) {
            if (isNamed(i, name) && pairs[i + 1] instanceof String text) {
                all.add(text);
            }
        }
        return all;
    }

    /** Returns the number of text and binary values with the given name. */
    public int count(String name) {
        int count = 0;
        for (int i = 0; i < used; i += 2) {
            count += isNamed(i, name) ? 1 : 0;
        }
        return count;
    }

    /** Returns whether there is a text or binary value with the given name. */
    public boolean contains(String name) {
        for (int i = 0; i < used; i += 2) {
            if (isNamed(i, name)) {
                return true;
            }
        }
        return false;
    }

    /** Removes all values with the given name. */
    public void remove(String name) {
        int kept = 0;
        for (int i = 0; i < used; i += 2) {
            if (!isNamed(i, name)) {
                keep(i, kept);
                kept += 2;
            }
        }
        cut(kept);
    }

    /** Removes all values whose name satisfies the condition. */
    public void removeIf(Predicate<String> condition) {
        int kept = 0;
        for (int i = 0; i < used; i += 2) {
            if (!condition.test((String) pairs[i])) {
                keep(i, kept);
                kept += 2;
            }
        }
        cut(kept);
    }

    private void keep(int index, int place) {
        pairs[place] = pairs[index];
        pairs[place + 1] = pairs[index + 1];
    }

    private void cut(int kept) {
        Arrays.fill(pairs, kept, used, null);
        used = kept;
    }

    public boolean isEmpty() {
        return used == 0;
    }

    /** Returns the total number of values under all names. */
    public int size() {
        return used / 2;
    }

    /** Returns one name for each value, in the order of the values. A name with several values is repeated. */
    public List<String> names() {
        List<String> names = new ArrayList<>(size());
        forEach((name, value) -> names.add(name));
        return names;
    }

    /** Passes each name with its value to the visitor, in order. A value is a String or a byte[]. */
    public void forEach(Visitor visitor) {
        for (int i = 0; i < used; i += 2) {
            visitor.visit((String) pairs[i], pairs[i + 1]);
        }
    }

    /** Adds all values of the other metadata, and keeps existing values with the same names. Arrays are not copied. */
    public Metadata addAll(Metadata other) {
        other.forEach(this::append);
        return this;
    }

    /** Returns a copy that can be changed independently. The arrays of binary values are not copied. */
    public Metadata copy() {
        Metadata copy = new Metadata();
        copy.pairs = used == 0 ? NOTHING : Arrays.copyOf(pairs, used);
        copy.used = used;
        return copy;
    }

    /** Receives one name with one of its values. */
    @FunctionalInterface
    public interface Visitor {
        /** @param value a String or a byte[] */
        void visit(String name, Object value);
    }

    private Metadata replace(String name, Object value) {
        remove(name);
        append(name, value);
        return this;
    }

    private void append(String name, Object value) {
        if (used == pairs.length) {
            pairs = Arrays.copyOf(pairs, Math.max(used == 0 ? 4 : 12, used * 2));
        }
        pairs[used] = name;
        pairs[used + 1] = value;
        used += 2;
    }

    private boolean isNamed(int index, String name) {
        String known = (String) pairs[index];
        return (name.length() == known.length() && isAlike(name, 0, known))
                || (pairs[index + 1] instanceof byte[] && (isWithSuffix(name, known) || isWithSuffix(known, name)));
    }

    /** Returns whether the longer name is the shorter name with {@code -bin} appended. */
    private static boolean isWithSuffix(String longer, String shorter) {
        int length = shorter.length();
        return longer.length() == length + BINARY.length()
                && isAlike(longer, 0, shorter)
                && isAlike(longer, length, BINARY);
    }

    /**
     * Compares ASCII letters case-insensitively, and all other characters exactly. The Kelvin sign (U+212A), for
     * example, must not equal the letter K, because proxies that filter headers by name distinguish these characters.
     */
    private static boolean isAlike(String name, int from, String part) {
        for (int i = 0; i < part.length(); i++) {
            char one = name.charAt(from + i);
            char other = part.charAt(i);
            if (one != other && lower(one) != lower(other)) {
                return false;
            }
        }
        return true;
    }

    private static int lower(char letter) {
        return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
    }

    /** Returns only the names, because values may be secrets. */
    @Override
    public String toString() {
        return names().toString();
    }
}
