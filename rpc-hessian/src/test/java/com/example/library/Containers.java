package com.example.library;

import java.io.Serializable;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collections and maps that resemble the types of libraries. */
public final class Containers {

    private Containers() {}

    /** A list that readers can create, like Hibernate's lists. */
    public static class OpenList<E> extends ArrayList<E> {}

    public static class OpenSet<E> extends LinkedHashSet<E> {}

    public static class OpenMap<V> extends LinkedHashMap<String, V> {}

    /**
     * A list that Java serialization replaces with another object. Guava's immutable lists are also replaced in this
     * way.
     */
    public static final class FixedList<E> extends AbstractList<E> implements Serializable {
        private final List<E> elements;

        public FixedList(List<E> elements) {
            this.elements = elements;
        }

        @Override
        public E get(int index) {
            return elements.get(index);
        }

        @Override
        public int size() {
            return elements.size();
        }

        private Object writeReplace() {
            return new Replacement(elements);
        }
    }

    public static final class FixedSet<E> extends AbstractSet<E> implements Serializable {
        private final List<E> elements;

        public FixedSet(List<E> elements) {
            this.elements = elements;
        }

        @Override
        public Iterator<E> iterator() {
            return elements.iterator();
        }

        @Override
        public int size() {
            return elements.size();
        }

        private Object writeReplace() {
            return new Replacement(elements);
        }
    }

    public static final class FixedMap<V> extends AbstractMap<String, V> implements Serializable {
        private final LinkedHashMap<String, V> entries;

        public FixedMap(LinkedHashMap<String, V> entries) {
            this.entries = entries;
        }

        @Override
        public Set<Map.Entry<String, V>> entrySet() {
            return entries.entrySet();
        }

        private Object writeReplace() {
            return new Replacement(entries);
        }
    }

    private record Replacement(Object content) implements Serializable {}

    /** A list that readers cannot create, because its only constructor has a parameter. */
    public static final class ViewList<E> extends AbstractList<E> implements Serializable {
        private final List<E> elements;

        public ViewList(List<E> elements) {
            this.elements = elements;
        }

        @Override
        public E get(int index) {
            return elements.get(index);
        }

        @Override
        public int size() {
            return elements.size();
        }
    }
}
