package com.example.wire;

import java.io.Serializable;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Transmits objects with adjacent small fields. A decoder that writes too many bytes into one field corrupts the next
 * field.
 */
public interface MixedService {

    /** A class without float fields. Dubbo's decoder corrupts memory when it sets a float field. */
    class Small implements Serializable {
        private static final long serialVersionUID = 1L;
        public byte flags;
        public short size;
        public char letter;
        public boolean active;
        public int count;
        public double weight;
        public long id;
        public @Nullable Short boxed;

        public static Small some() {
            Small small = new Small();
            small.flags = (byte) 0x81;
            small.size = -300;
            small.letter = 'é';
            small.active = true;
            small.count = 1 << 30;
            small.weight = 2.5;
            small.id = 1L << 40;
            small.boxed = 7;
            return small;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Small that
                    && flags == that.flags
                    && size == that.size
                    && letter == that.letter
                    && active == that.active
                    && count == that.count
                    && weight == that.weight
                    && id == that.id
                    && Objects.equals(boxed, that.boxed);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(id);
        }
    }

    /** A class with a float field in addition to the fields of {@link Small}. */
    class Mixed extends Small {
        private static final long serialVersionUID = 1L;
        public float ratio;
        public char after;
        public short last;

        public static Mixed some() {
            Mixed mixed = new Mixed();
            mixed.flags = 5;
            mixed.letter = 'x';
            mixed.ratio = 2.5f;
            mixed.after = 'y';
            mixed.last = 9;
            return mixed;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Mixed that
                    && super.equals(that)
                    && ratio == that.ratio
                    && after == that.after
                    && last == that.last;
        }

        @Override
        public int hashCode() {
            return Float.hashCode(ratio);
        }
    }

    Small small(Small small);

    /** Returns an object that the server has created. */
    Mixed make();

    void take(Mixed mixed);

    short shorts(byte one, short other);

    float floats(float one, char letter);
}
