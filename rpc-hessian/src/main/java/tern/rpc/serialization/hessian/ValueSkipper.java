package tern.rpc.serialization.hessian;

import java.util.Arrays;
import tern.rpc.serialization.SerializationException;

/**
 * Skips values without creating them. Definitions and reference numbers in skipped values are recorded, because later
 * values may use them. If a later reference refers to a skipped value, the reader creates this value then. Not
 * thread-safe.
 */
final class ValueSkipper {

    static final int DEEPEST = 512;

    private static final int UNTIL_END = -1;

    private final HessianInput in;
    private final ValueReader values;

    /** The number of values still to be skipped in each open container, or {@link #UNTIL_END}. */
    private int[] open = new int[16];

    private int depth;

    ValueSkipper(HessianInput in, ValueReader values) {
        this.in = in;
        this.values = values;
    }

    /**
     * Skips one value.
     *
     * @param deepest the maximum nesting depth of containers
     */
    void skip(int deepest) {
        depth = 0;
        open[0] = 1;
        while (depth >= 0) {
            if (isComplete()) {
                depth--;
            } else {
                skipOne(values.nextTag(), deepest);
            }
        }
    }

    private boolean isComplete() {
        if (open[depth] == UNTIL_END) {
            return in.isEnd();
        }
        if (open[depth] == 0) {
            return true;
        }
        open[depth]--;
        if (depth > 0) {
            in.fulfil();
        }
        return false;
    }

    private void skipOne(int tag, int deepest) {
        int start = in.position() - 1;
        switch (Tags.kind(tag)) {
            case Tags.NULL, Tags.BOOLEAN -> {}
            case Tags.INT -> in.intOf(tag);
            case Tags.LONG -> in.longOf(tag);
            case Tags.DOUBLE -> in.doubleOf(tag);
            case Tags.DATE -> in.skip(tag == 'J' ? 8 : 4);
            case Tags.TEXT -> in.skipText(tag);
            case Tags.BINARY -> in.skipBinary(tag);
            case Tags.LIST -> skipList(tag, start, deepest);
            case Tags.MAP -> skipMap(tag, start, deepest);
            case Tags.OBJECT -> enter(values.classOf(tag).fields.length, start, deepest);
            case Tags.REFERENCE -> values.readReference();
            default -> throw in.unexpected(tag, "a value");
        }
    }

    private void skipList(int tag, int start, int deepest) {
        values.listType(tag);
        enter(values.listLength(tag), start, deepest);
    }

    private void skipMap(int tag, int start, int deepest) {
        if (tag == 'M') {
            values.readTypeName();
        }
        enter(UNTIL_END, start, deepest);
    }

    private void enter(int length, int start, int deepest) {
        if (length != UNTIL_END) {
            in.promise(length);
        }
        values.references().addSkipped(start);
        depth++;
        if (depth > deepest) {
            throw new SerializationException(
                    "values nested deeper than " + deepest + " below what is read" + in.here());
        }
        if (depth == open.length) {
            open = Arrays.copyOf(open, depth * 2);
        }
        open[depth] = length;
    }
}
