package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Queue;
import java.util.RandomAccess;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Writes a collection's length, then its elements. Thread-safe. */
final class CollectionForm implements WireForm {

    private final @Nullable String type;
    private final boolean copied;
    private final boolean sorted;

    CollectionForm(Class<?> type) {
        this(nameOf(type), false, LostState.mayBeSorted(type));
    }

    private CollectionForm(@Nullable String type, boolean copied, boolean sorted) {
        this.type = type;
        this.copied = copied;
        this.sorted = sorted;
    }

    private static @Nullable String nameOf(Class<?> type) {
        boolean named = type != ArrayList.class && Serializable.class.isAssignableFrom(type);
        return named ? type.getName() : null;
    }

    /**
     * Returns the {@link WireForm} that writes a collection as a JDK collection of the same kind: a sorted set, a set,
     * a queue or a list. Readers get the JDK collection, which has the same order of elements.
     */
    static CollectionForm ofJdk(Class<?> type) {
        Class<?> written = SortedSet.class.isAssignableFrom(type)
                ? TreeSet.class
                : Set.class.isAssignableFrom(type)
                        ? LinkedHashSet.class
                        : Queue.class.isAssignableFrom(type) ? LinkedList.class : ArrayList.class;
        return new CollectionForm(nameOf(written), false, LostState.mayBeSorted(type));
    }

    /**
     * Returns a {@link WireForm} for collections that hessian-lite copies into a new list whenever it writes them.
     * Later references in the message cannot refer to the copy.
     */
    static CollectionForm copied(Class<?> ignored) {
        return new CollectionForm(null, true, false);
    }

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        if (copied) {
            out.skipRef();
        } else if (out.addRef(value)) {
            return;
        }
        Collection<?> elements = (Collection<?>) value;
        int length = elements.size();
        if (sorted) {
            LostState.checkOrder(value);
        }
        out.writeListBegin(length, type);
        int written = value instanceof RandomAccess && value instanceof List<?> list
                ? writeByIndex(list, length, out)
                : writeInTurn(elements, out);
        if (written != length) {
            throw new ConcurrentModificationException(
                    value.getClass().getName() + " had " + length + " elements and then " + written);
        }
    }

    private static int writeByIndex(List<?> elements, int length, HessianOutput out) throws IOException {
        for (int i = 0; i < length; ) {
            Object element = elements.get(i);
            int run = element instanceof Integer ? out.writeShortestInts(elements, i, length) : 0;
            if (run == 0) {
                out.writeObject(element);
            }
            i += Math.max(run, 1);
        }
        return elements.size();
    }

    private static int writeInTurn(Collection<?> elements, HessianOutput out) throws IOException {
        int written = 0;
        for (Object element : elements) {
            out.writeObject(element);
            written++;
        }
        return written;
    }
}
