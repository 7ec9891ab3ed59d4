package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/** Writes a collection's length, then its elements. Thread-safe. */
final class CollectionForm implements WireForm {

    private final @Nullable String type;
    private final boolean copied;
    private final boolean sorted;

    CollectionForm(Class<?> type) {
        boolean named = type != ArrayList.class && Serializable.class.isAssignableFrom(type);
        this.type = named ? type.getName() : null;
        this.copied = false;
        this.sorted = LostState.mayBeSorted(type);
    }

    private CollectionForm() {
        this.type = null;
        this.copied = true;
        this.sorted = false;
    }

    /**
     * Returns a form for collections that hessian-lite copies into a new list each time it writes them. Later
     * references in the message cannot point to these copies.
     */
    static CollectionForm copied(Class<?> ignored) {
        return new CollectionForm();
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
