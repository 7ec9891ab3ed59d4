package tern.rpc.serialization.hessian;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/** Reads a list into the collection type or array type declared for its position. Not thread-safe. */
final class ListReader {

    private static final int MAX_DIMENSIONS = 16;
    private static final int MAX_CAPACITY = 1 << 16;

    /** Hashing this number of elements of a primitive array costs as much as hashing one value of any other type. */
    private static final int PRIMITIVES_PER_VISIT = 8;

    private final HessianInput in;
    private final ValueReader values;
    private final HashBudget hashes;
    private @Nullable Class<?> lastArray;
    private @Nullable Slot lastArraySlot;
    private String lastArrayName = "";
    private @Nullable Slot lastElement;
    private @Nullable Slot lastElementSlot;
    private @Nullable Class<?> lastElementArray;

    ListReader(HessianInput in, ValueReader values, HashBudget hashes) {
        this.in = in;
        this.values = values;
        this.hashes = hashes;
    }

    /** Prepares for a new message, which may belong to a different service with other allowed classes. */
    void start() {
        lastArray = null;
        lastElement = null;
    }

    /**
     * Reads a list.
     *
     * @param type the type name in the message; empty if there is none
     * @param length the length in the message; -1 if the message contains no length
     */
    Object read(String type, int length, Slot slot) {
        if (type.startsWith("[")) {
            Class<?> wire = wireArray(type, slot);
            return slot.raw.isAssignableFrom(wire) ? array(wire, length, slot) : declared(length, slot);
        }
        if (!type.isEmpty()) {
            CollectionType wire = values.types().collection(type, slot);
            return slot.raw.isAssignableFrom(wire.type()) ? collection(wire, length, slot) : declared(length, slot);
        }
        return declared(length, slot);
    }

    /**
     * Reads a list as the declared type. Called when the message names no list type that is assignable to the declared
     * type.
     */
    private Object declared(int length, Slot slot) {
        if (slot.raw.isArray()) {
            return array(slot.raw, length, slot);
        }
        CollectionType fitting = slot.collection();
        if (fitting == null && Collection.class.isAssignableFrom(slot.raw)) {
            fitting = values.types().collection(slot);
        }
        if (fitting == null) {
            throw slot.mismatch("a list");
        }
        return collection(fitting, length, slot);
    }

    /**
     * Returns the array class for a type name. The last result is cached, because consecutive arrays often have the
     * same type.
     */
    private Class<?> wireArray(String type, Slot slot) {
        Class<?> last = lastArray;
        if (last != null && slot == lastArraySlot && type.equals(lastArrayName)) {
            return last;
        }
        Class<?> found = findArray(type, slot);
        lastArray = found;
        lastArraySlot = slot;
        lastArrayName = type;
        return found;
    }

    private Slot elementOf(Class<?> array, Slot slot) {
        Slot last = lastElement;
        if (last != null && slot == lastElementSlot && array == lastElementArray) {
            return last;
        }
        Slot found = slot.elementOf(array);
        lastElement = found;
        lastElementSlot = slot;
        lastElementArray = array;
        return found;
    }

    private Class<?> findArray(String type, Slot slot) {
        int dimensions = 1;
        while (type.startsWith("[", dimensions)) {
            dimensions++;
        }
        if (dimensions > MAX_DIMENSIONS) {
            throw new SerializationException("an array of " + dimensions + " dimensions" + in.here());
        }
        Slot innermost = slot;
        for (int i = 0; i < dimensions && innermost.raw.isArray(); i++) {
            innermost = innermost.element();
        }
        Class<?> component = values.types().component(type.substring(dimensions), innermost);
        return Array.newInstance(component, new int[dimensions]).getClass();
    }

    private Object collection(CollectionType type, int length, Slot slot) {
        promise(length);
        values.makeRoom(type.shellBytes());
        Collection<Object> filled = type.empty(Math.min(Math.max(length, 0), MAX_CAPACITY));
        Function<Collection<Object>, Collection<Object>> finished = type.finished();
        References references = values.references();
        int number = finished == null ? references.add(filled) : references.addUnfinished();
        if (type.isSet()) {
            fillSet(filled, length, slot.element(), type.isHashed());
        } else if (type.isHeap()) {
            fillHeap(filled, length, slot.element());
        } else {
            fill(filled, length, slot.element());
        }
        if (finished == null) {
            return filled;
        }
        Collection<Object> made = finished.apply(filled);
        references.finish(number, made);
        return made;
    }

    /**
     * Fills a list with its elements. Numbers and strings are read in separate loops, because most lists contain only
     * one of these types.
     */
    private void fill(Collection<Object> list, int length, Slot element) {
        if (element.raw == Integer.class) {
            fillNumbers(list, length, element);
        } else if (element.raw == String.class) {
            for (int i = 0; isMore(i, length); i++) {
                list.add(values.readText(element));
            }
        } else {
            for (int i = 0; isMore(i, length); i++) {
                list.add(values.read(element));
            }
        }
    }

    /** Fills a list with numbers. Consecutive one-byte ints are read together. */
    private void fillNumbers(Collection<Object> list, int length, Slot element) {
        for (int i = 0; isMore(i, length); i++) {
            list.add(values.readInteger(element));
            // If the list's length is unknown, the argument of shortestInts() is negative, and shortestInts() returns
            // 0.
            int run = in.shortestInts(length - i - 1);
            values.count(run);
            for (int end = i + run; i < end; i++) {
                in.fulfil();
                list.add(in.shortestInt());
            }
        }
    }

    private void fillSet(Collection<Object> set, int length, Slot element, boolean hashed) {
        int nonScalars = 0;
        Object classes = null;
        long referred = 0;
        OpenContainers open = values.open();
        for (int i = 0; isMore(i, length); i++) {
            hashes.enterKey();
            long before = values.weight();
            long part = open.part();
            long outer = open.beginKey();
            Object key = values.read(element);
            long own = open.endKey(outer);
            part = open.part() - part;
            if (part > 0) {
                referred = hashes.chargeOpen(part, own, referred, nonScalars);
            }
            nonScalars = hashes.charge(key, values.weight() - before - part, nonScalars, set, false);
            hashes.leaveKey();
            if (hashed && key != null && key.getClass() != classes) {
                classes = hashes.chargeEqual(classes, key, set);
            }
            set.add(key);
        }
    }

    private void fillHeap(Collection<Object> heap, int length, Slot element) {
        for (int i = 0; isMore(i, length); i++) {
            long before = values.weight();
            Object value = values.read(element);
            hashes.chargeCompared(values.weight() - before);
            heap.add(value);
        }
    }

    private Object array(Class<?> type, int length, Slot slot) {
        Slot element = elementOf(type, slot);
        promise(length);
        if (length < 0) {
            return arrayUntilEnd(type, element);
        }
        Object array = Array.newInstance(type.getComponentType(), length);
        values.references().add(array);
        if (type.getComponentType().isPrimitive()) {
            values.weigh(length / PRIMITIVES_PER_VISIT);
        }
        if (array instanceof int[] ints) {
            for (int i = 0; i < length; i++) {
                in.fulfil();
                ints[i] = PrimitiveElements.intAt(in, element);
            }
        } else if (array instanceof long[] longs) {
            for (int i = 0; i < length; i++) {
                in.fulfil();
                longs[i] = PrimitiveElements.longAt(in, element);
            }
        } else if (array instanceof double[] doubles) {
            for (int i = 0; i < length; i++) {
                in.fulfil();
                doubles[i] = PrimitiveElements.doubleAt(in, element);
            }
        } else if (array instanceof Object[] objects) {
            for (int i = 0; i < length; i++) {
                in.fulfil();
                objects[i] = values.read(element);
            }
        } else {
            for (int i = 0; i < length; i++) {
                in.fulfil();
                Array.set(array, i, PrimitiveElements.at(in, element));
            }
        }
        return array;
    }

    private Object arrayUntilEnd(Class<?> type, Slot element) {
        int number = values.references().addUnfinished();
        List<Object> elements = new ArrayList<>();
        while (!in.isEnd()) {
            elements.add(values.read(element));
        }
        Object array = Array.newInstance(type.getComponentType(), elements.size());
        for (int i = 0; i < elements.size(); i++) {
            Array.set(array, i, elements.get(i));
        }
        values.references().finish(number, array);
        return array;
    }

    private void promise(int length) {
        if (length != -1) {
            in.promise(length);
        }
    }

    private boolean isMore(int index, int length) {
        if (length < 0) {
            return !in.isEnd();
        }
        if (index == length) {
            return false;
        }
        in.fulfil();
        return true;
    }
}
