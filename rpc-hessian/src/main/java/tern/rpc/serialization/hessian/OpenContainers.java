package tern.rpc.serialization.hessian;

import java.util.Arrays;
import java.util.Hashtable;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * Computes the cost of hashing references to incomplete containers (lists, maps or objects). A container can still grow
 * after a reference to it has been read. Hashing each value with such a reference then becomes more expensive. For each
 * open container, this class stores the weight of the contents read so far. For each complete container, the class
 * stores the open containers that it refers to, and the number of these references. Not thread-safe.
 */
final class OpenContainers {

    /**
     * The maximum weight (hashing cost) of a container. Because of this limit, sums and products of a few weights
     * cannot overflow.
     */
    static final long HEAVIEST = 1L << 40;

    /**
     * The deepest nesting level with its own bit in the masks. All deeper containers share the last bit, which is never
     * cleared.
     */
    private static final int DEEPEST = 62;

    /**
     * The bit for a reference to a container nested more deeply than {@link #DEEPEST}, or to a {@code Hashtable} that
     * contains itself. Hashing such a table ends, but can visit every path through the table.
     */
    private static final long ENDLESS = 1L << 63;

    private static final int[] NONE = {};

    private final HashBudget hashes;

    // The following arrays are indexed by the nesting depth of a container.
    private final int[] numbers;
    private final long[] weights;
    private final long[] masks;
    private final long[] times;
    private final long[] parts;
    private final int[] starts;
    private final boolean[] hashed;

    /**
     * The open containers that the current container refers to, as a bit mask of their depths. {@link #often} is the
     * total number of these references.
     */
    private long mask;

    private long often;

    /**
     * The part of the current container's weight (its hashing cost) that comes from references to containers whose
     * contents are still being read.
     */
    private long part;

    /** The open containers that at least one reference refers to, as a bit mask of their depths. */
    private long referred;

    // The following arrays are indexed by the reference numbers of complete containers. The arrays are null until a
    // complete container refers to an open container.
    private long @Nullable [] completeMasks;
    private long @Nullable [] completeTimes;

    /** The reference numbers of the complete containers that refer to open containers. */
    private int[] referring = NONE;

    private int size;

    OpenContainers(HashBudget hashes, int deepest) {
        this.hashes = hashes;
        this.numbers = new int[deepest + 2];
        this.weights = new long[deepest + 2];
        this.masks = new long[deepest + 2];
        this.times = new long[deepest + 2];
        this.parts = new long[deepest + 2];
        this.starts = new int[deepest + 2];
        this.hashed = new boolean[deepest + 2];
    }

    void start() {
        mask = 0;
        often = 0;
        part = 0;
        referred = 0;
        if (completeMasks != null) {
            size = 0;
            completeMasks = null;
            completeTimes = null;
            referring = NONE;
        }
    }

    /**
     * Begins a container.
     *
     * @param depth the nesting depth of the container, starting at 1
     * @param outer the enclosing container's weight so far
     * @param hashesParts whether hashing the container may also hash its parts
     */
    void enter(int depth, int number, long outer, boolean hashesParts) {
        weights[depth - 1] = outer;
        masks[depth - 1] = mask;
        times[depth - 1] = often;
        parts[depth - 1] = part;
        mask = 0;
        often = 0;
        part = 0;
        numbers[depth] = number;
        starts[depth] = size;
        hashed[depth] = hashesParts;
    }

    /**
     * Ends the current container.
     *
     * @return the part of the current container's weight that comes from references to the enclosing container itself,
     *     or 0
     */
    long leave(int depth, int number, long weight, References references) {
        long own = 0;
        long ownTimes = 0;
        long bit = bit(depth);
        if ((mask | (referred & bit)) != 0) {
            own = hashed[depth] ? mask & ~(bit & ~ENDLESS) : 0;
            ownTimes = own == 0 ? 0 : often;
            if ((referred & bit) != 0) {
                resolve(depth, weight, own, ownTimes, references);
            }
            if (own != 0) {
                remember(number, own, ownTimes);
            }
        }
        long around = depth == 1 ? 0 : bit(depth - 1) & ~ENDLESS;
        long further = own & ~around;
        boolean circular = own != further && (further & ~ENDLESS) == 0;
        long self = circular ? part : 0;
        mask = masks[depth - 1] | further;
        often = capped(times[depth - 1] + (circular ? 0 : ownTimes));
        part = capped(parts[depth - 1] + (own == 0 || circular ? 0 : part));
        return Math.min(self, weight);
    }

    /** Returns the known part of the cost of hashing a reference to an open container. */
    long open(int depth, int number, @Nullable Object value) {
        for (int d = depth; d > 0; d--) {
            if (numbers[d] == number) {
                if (!hashed[d]) {
                    return 1;
                }
                long bit = bit(d);
                if (value instanceof Hashtable && !(value instanceof Properties)) {
                    bit |= ENDLESS;
                }
                refer(bit, 1);
                referred |= bit;
                long whole = d == depth ? 1 : weigh(d);
                part = capped(part + whole);
                return whole;
            }
        }
        return 1;
    }

    /** Returns the known part of the cost of hashing a reference to a complete container. */
    long complete(int depth, int number, long weight) {
        long[] complete = completeMasks;
        long[] completeOften = completeTimes;
        if (complete == null || completeOften == null || number >= complete.length || complete[number] == 0) {
            return weight;
        }
        refer(complete[number], completeOften[number]);
        long more = product(completeOften[number], sum(complete[number], depth));
        part = capped(part + more);
        return capped(weight + more);
    }

    /** Begins a key or an element of the current container. Returns the value to pass to {@link #endKey}. */
    long beginKey() {
        long outer = mask;
        mask = 0;
        return outer;
    }

    /** Ends the key. Returns the open containers that the key refers to, as a bit mask of their depths. */
    long endKey(long outer) {
        long own = mask;
        mask |= outer;
        return own;
    }

    /**
     * Returns the part of the current container's weight (its hashing cost) that comes from references to containers
     * whose contents are still being read.
     */
    long part() {
        return part;
    }

    private void refer(long to, long more) {
        if ((to & ENDLESS) != 0 && hashes.isInKey()) {
            throw new SerializationException(
                    "a key or an element of a set refers to a Hashtable that holds itself, or is nested too deeply");
        }
        mask |= to;
        often = capped(often + more);
    }

    /**
     * Returns the cost of hashing a container that is still being read, including the costs of enclosing containers
     * that it refers to.
     */
    private long weigh(int depth) {
        if (masks[depth] == 0) {
            return weights[depth];
        }
        return sum(bit(depth), depth);
    }

    /**
     * Adds up the costs of open containers. Starts with the outermost container, because an open container can refer
     * only to open containers that enclose it. A container that refers to an enclosing container is assumed to refer to
     * all enclosing containers.
     */
    private long sum(long of, int deepest) {
        long sum = 0;
        long around = 0;
        for (int d = 1; d <= deepest; d++) {
            long whole = masks[d] == 0 ? weights[d] : capped(weights[d] + product(times[d], around));
            around = capped(around + whole);
            sum += (of & bit(d)) == 0 ? 0 : whole;
        }
        return capped(sum);
    }

    private void resolve(int depth, long weight, long own, long ownTimes, References references) {
        long[] complete = completeMasks;
        long[] completeOften = completeTimes;
        long bit = bit(depth);
        if ((bit & ENDLESS) != 0) {
            return;
        }
        referred &= ~bit;
        if (complete == null || completeOften == null) {
            return;
        }
        int kept = starts[depth];
        for (int i = kept; i < size; i++) {
            int number = referring[i];
            if ((complete[number] & bit) != 0) {
                references.weigh(number, references.weight(number) + product(completeOften[number], weight));
                complete[number] = (complete[number] & ~bit) | own;
                completeOften[number] = product(completeOften[number], Math.max(1, ownTimes));
            }
            if ((complete[number] & ~ENDLESS) != 0) {
                referring[kept++] = number;
            }
        }
        size = kept;
    }

    private void remember(int number, long own, long ownTimes) {
        long[] complete = completeMasks;
        long[] completeOften = completeTimes;
        if (complete == null || completeOften == null || number >= complete.length) {
            int length = Math.max(64, number * 2);
            complete = complete == null ? new long[length] : Arrays.copyOf(complete, length);
            completeOften = completeOften == null ? new long[length] : Arrays.copyOf(completeOften, length);
            completeMasks = complete;
            completeTimes = completeOften;
        }
        complete[number] = own;
        completeOften[number] = ownTimes;
        if ((own & ~ENDLESS) != 0) {
            if (size == referring.length) {
                referring = Arrays.copyOf(referring, Math.max(64, size * 2));
            }
            referring[size++] = number;
        }
    }

    private static long bit(int depth) {
        return depth >= DEEPEST ? ENDLESS : 1L << depth;
    }

    static long capped(long weight) {
        return weight < 0 ? HEAVIEST : Math.min(weight, HEAVIEST);
    }

    private static long product(long one, long other) {
        return Math.multiplyHigh(one, other) != 0 ? HEAVIEST : capped(one * other);
    }
}
