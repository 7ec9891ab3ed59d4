package tern.rpc.serialization.hessian;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A cache of class definitions, because senders repeat the same definitions in every message. Definitions are looked up
 * by their bytes. A definition is added only if it is short, and only after an object of the class has been allowed.
 * New definitions replace old definitions. Thread-safe.
 */
final class KnownDefinitions {

    /**
     * The number of sets of this set-associative cache. Together, {@code SETS} and {@link #MAX_BYTES} limit the cache
     * to a few megabytes, regardless of the received messages.
     */
    private static final int SETS = 64;

    private static final int WAYS = 4;
    private static final int MAX_BYTES = 1 << 10;

    private final AtomicReferenceArray<@Nullable Entry> entries = new AtomicReferenceArray<>(SETS * WAYS);

    /** Returns the cached definition that equals the next bytes of the input, or null if there is none. */
    @Nullable
    WireClass find(HessianInput in) {
        int first = set(in.hashOfText());
        for (int i = first; i < first + WAYS; i++) {
            Entry entry = entries.getAcquire(i);
            if (entry != null && in.passIf(entry.bytes)) {
                return entry.definition;
            }
        }
        return null;
    }

    /** Adds a definition from the current message. Called after an object of the class has been allowed. */
    void add(WireClass definition, HessianInput in) {
        int length = definition.end - definition.start;
        if (length > MAX_BYTES) {
            return;
        }
        int position = in.position();
        int promised = in.promised();
        in.moveTo(definition.start, promised);
        int first = set(in.hashOfText());
        if (find(in) == null) {
            Entry added = new Entry(in.copy(definition.start, length), definition);
            for (int i = first + WAYS - 1; i > first; i--) {
                entries.setRelease(i, entries.getAcquire(i - 1));
            }
            entries.setRelease(first, added);
        }
        in.moveTo(position, promised);
    }

    private static int set(int hash) {
        return (hash & (SETS - 1)) * WAYS;
    }

    // Instances of this record are never compared, so an array is allowed as a component.
    @SuppressWarnings("ArrayRecordComponent")
    private record Entry(byte[] bytes, WireClass definition) {}
}
