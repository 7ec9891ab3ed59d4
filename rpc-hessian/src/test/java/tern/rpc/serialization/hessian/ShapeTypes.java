package tern.rpc.serialization.hessian;

import java.io.Serializable;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The types that {@link TypeShapesTest} sends and reads. */
final class ShapeTypes {

    private ShapeTypes() {}

    enum Mode {
        ON,
        OFF {
            @Override
            boolean isQuiet() {
                return true;
            }
        };

        boolean isQuiet() {
            return false;
        }
    }

    sealed interface Vehicle extends Serializable permits Car, Bike {}

    record Car(int doors) implements Vehicle {}

    static final class Bike implements Vehicle {
        final String bell;

        Bike(String bell) {
            this.bell = bell;
        }
    }

    interface Animal extends Serializable {}

    /** A record that no method declares. The reader finds it through its package and its supertype. */
    record Cat(String name) implements Animal {}

    abstract static class Base implements Serializable {
        int same;

        @Nullable
        String kept;
    }

    /** A class with a field that hides a field of its superclass. */
    static class Derived extends Base {
        @SuppressWarnings("HidingField") // The test needs a field that hides another field.
        long same;

        @Nullable
        Object more;
    }

    static class Page<T> implements Serializable {
        @Nullable
        List<T> items;

        @Nullable
        T first;

        Map<String, T> @Nullable [] byName;

        @Nullable
        Page<T> next;
    }

    static class LongPage extends Page<Long> {}

    record Box<A, B>(A left, List<B> right) implements Serializable {}

    static class Finals implements Serializable {
        final int number;
        final String text;
        final List<Integer> list = new ArrayList<>();

        Finals(int number, String text) {
            this.number = number;
            this.text = Objects.requireNonNull(text);
            list.add(number);
        }
    }

    /** A record that rejects invalid values. */
    record Percent(int value) implements Serializable {
        Percent {
            if (value < 0 || value > 100) {
                throw new IllegalArgumentException("percent " + value);
            }
        }
    }

    static class Single implements Serializable {
        static final Single INSTANCE = new Single();
        int ignored = 1;

        private Object readResolve() {
            return INSTANCE;
        }

        int ignored() {
            return ignored;
        }
    }

    static class Tags extends ArrayList<String> {}

    static class Index extends TreeMap<String, Long> {}

    static class NotSerializable {
        int inherited;

        NotSerializable(int ignored) {
            throw new IllegalStateException("constructors do not run " + ignored);
        }
    }

    static class Heir extends NotSerializable implements Serializable {
        Heir() {
            super(1);
        }
    }

    static class Bean implements Serializable {
        byte b;
        short s;
        int i;
        long l;
        float f;
        double d;
        boolean z;
        char c;

        @Nullable
        Integer boxed;

        @Nullable
        List<Long> longs;

        @Nullable
        Set<Integer> set;

        @Nullable
        Timestamp stamp;

        java.sql.@Nullable Date day;

        @Nullable
        Time time;

        @Nullable
        EnumMap<Mode, Long> modes;

        @Nullable
        Bean self;
    }

    interface Shapes {
        Vehicle drive(
                Vehicle vehicle,
                Animal animal,
                Derived derived,
                Page<Long> page,
                Box<Integer, Long> box,
                Finals finals,
                Percent percent,
                Single single,
                Tags tags,
                Index index,
                Bean bean,
                Mode mode,
                LongPage longPage,
                Heir heir,
                DayOfWeek day);
    }

    /** A service whose method parameters have parameterized types. */
    interface Generic {
        void longs(List<Long> value);

        void floats(Map<Short, Float> value);

        void nested(Map<String, List<Set<Byte>>> value);

        void page(Page<Long> value);

        void box(Box<Short, Float> value);

        void arrays(List<Long>[] value);

        void wildcards(List<? extends Number> value, List<?> any);

        void deque(Deque<Character> value);

        void enumMap(EnumMap<Mode, Long> value);

        void queue(Queue<Long> value);

        void reference(AtomicReference<String> value);
    }
}
