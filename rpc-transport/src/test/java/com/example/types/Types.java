package com.example.types;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Classes that an application could use as arguments and results. */
public final class Types {

    private Types() {}

    public enum Level {
        LOW,
        HIGH
    }

    public enum Operation {
        ADD {
            @Override
            public int apply(int one, int other) {
                return one + other;
            }
        },
        MULTIPLY {
            @Override
            public int apply(int one, int other) {
                return one * other;
            }
        };

        public abstract int apply(int one, int other);
    }

    /** A subclass of a JDK list, as some libraries define. No service method declares this class. */
    public static class Rows extends ArrayList<Item> {
        private static final long serialVersionUID = 1L;
    }

    /** A subclass of a JDK map, as some libraries define. No service method declares this class. */
    public static class Columns extends LinkedHashMap<String, Integer> {
        private static final long serialVersionUID = 1L;
    }

    public static class Item implements Serializable {
        private static final long serialVersionUID = 1L;
        public String name;
        public int count;
        public Long stock;

        public static Item of(String name, int count) {
            Item item = new Item();
            item.name = name;
            item.count = count;
            item.stock = 1L << 40;
            return item;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Item item
                    && getClass() == item.getClass()
                    && Objects.equals(name, item.name)
                    && count == item.count
                    && Objects.equals(stock, item.stock);
        }

        @Override
        public int hashCode() {
            return Objects.hash(name, count);
        }
    }

    public static class SpecialItem extends Item {
        private static final long serialVersionUID = 1L;
        public Level level = Level.HIGH;

        @Override
        public boolean equals(Object other) {
            return super.equals(other) && other instanceof SpecialItem item && level == item.level;
        }

        @Override
        public int hashCode() {
            return super.hashCode();
        }
    }

    public static class Hidden extends Item {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("HidingField") // This subclass intentionally hides a field.
        public String name;

        @Override
        public boolean equals(Object other) {
            return super.equals(other) && other instanceof Hidden item && Objects.equals(name, item.name);
        }

        @Override
        public int hashCode() {
            return super.hashCode();
        }
    }

    public static class Floating implements Serializable {
        private static final long serialVersionUID = 1L;
        public float ratio = 2.5f;
        public int after = 7;

        @Override
        public boolean equals(Object other) {
            return other instanceof Floating floating && ratio == floating.ratio && after == floating.after;
        }

        @Override
        public int hashCode() {
            return after;
        }
    }

    /** A class without a no-argument constructor. */
    public static final class Fixed implements Serializable {
        private static final long serialVersionUID = 1L;
        private final String text;
        private final int number;

        public Fixed(String text, int number) {
            this.text = Objects.requireNonNull(text);
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Fixed fixed && text.equals(fixed.text) && number == fixed.number;
        }

        @Override
        public int hashCode() {
            return number;
        }
    }

    public static class Page<T> implements Serializable {
        private static final long serialVersionUID = 1L;
        public List<T> items = new ArrayList<>();
        public T first;

        @Override
        public boolean equals(Object other) {
            return other instanceof Page<?> page && items.equals(page.items) && Objects.equals(first, page.first);
        }

        @Override
        public int hashCode() {
            return items.hashCode();
        }
    }

    /** A class whose instances refer to themselves. */
    public static class Ring implements Serializable {
        private static final long serialVersionUID = 1L;
        public String name = "ring";
        public Ring next;
    }

    public record Point(int x, int y) implements Serializable {}

    public record Pair<A, B>(A left, List<B> right) implements Serializable {}

    public record Nested(Point point, Map<String, Item> items, Level level) implements Serializable {}

    public sealed interface Vehicle extends Serializable permits Car, Bike {}

    public record Car(int doors) implements Vehicle {}

    public static final class Bike implements Vehicle {
        private static final long serialVersionUID = 1L;
        public String bell;

        @Override
        public boolean equals(Object other) {
            return other instanceof Bike bike && Objects.equals(bell, bike.bell);
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(bell);
        }
    }

    public interface Animal extends Serializable {}

    /** A record that no service method declares. The methods declare only its supertype. */
    public record Cat(String name) implements Animal {}

    public static class Failure extends Exception {
        private static final long serialVersionUID = 1L;
        public final int code;

        public Failure(String message, int code, Throwable cause) {
            super(message, cause);
            this.code = code;
        }
    }
}
