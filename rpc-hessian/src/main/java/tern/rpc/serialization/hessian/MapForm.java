package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.io.Serializable;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Writes the entries of a map, then an end tag. Thread-safe. */
final class MapForm implements WireForm {

    private final @Nullable String type;
    private final boolean sorted;

    MapForm(Class<?> type) {
        boolean named = type != HashMap.class && Serializable.class.isAssignableFrom(type);
        this.type = named ? type.getName() : null;
        this.sorted = LostState.mayBeSorted(type);
    }

    private MapForm(String type, boolean sorted) {
        this.type = type;
        this.sorted = sorted;
    }

    /**
     * Returns the {@link WireForm} that writes a sorted map as a {@code TreeMap}, and any other map as a {@code
     * LinkedHashMap}. Both map classes keep the order of the entries.
     */
    static MapForm ofJdk(Class<?> type) {
        Class<?> written = SortedMap.class.isAssignableFrom(type) ? TreeMap.class : LinkedHashMap.class;
        return new MapForm(written.getName(), LostState.mayBeSorted(type));
    }

    @Override
    public void write(Object value, HessianOutput out) throws IOException {
        if (out.addRef(value)) {
            return;
        }
        if (sorted) {
            LostState.checkOrder(value);
        }
        out.writeMapBegin(type);
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
            out.writeObject(entry.getKey());
            out.writeObject(entry.getValue());
        }
        out.writeMapEnd();
    }
}
