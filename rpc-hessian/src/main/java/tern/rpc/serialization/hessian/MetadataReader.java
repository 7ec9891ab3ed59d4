package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.serialization.SerializationException;

/**
 * Reads a map of attachments. Creates only strings and byte arrays, so no classes have to be allowed. Not thread-safe.
 */
final class MetadataReader {

    private static final int MAX_ENTRIES = 128;
    private static final int MAX_BYTES = 64 << 10;
    private static final String CALLER = "remote.application";

    private final HessianInput in;
    private final ValueReader values;
    private final KnownTexts known;

    MetadataReader(HessianInput in, ValueReader values, KnownTexts known) {
        this.in = in;
        this.values = values;
        this.known = known;
    }

    void read(Metadata into) {
        int tag = values.nextTag();
        if (tag == 'N') {
            return;
        }
        if (Tags.kind(tag) != Tags.MAP) {
            throw in.unexpected(tag, "a map");
        }
        int start = in.position();
        if (tag == 'M') {
            values.readTypeName();
        }
        values.references().addSkipped(start - 1);
        for (int entries = 1; !in.isEnd(); entries++) {
            readEntry(into, start);
            if (entries > MAX_ENTRIES) {
                throw new SerializationException("more than " + MAX_ENTRIES + " attachments");
            }
            checkBytes(start);
        }
    }

    private void readEntry(Metadata into, int start) {
        String name = readText(start, true);
        int tag = values.peekTag();
        if (name != null && Tags.kind(tag) == Tags.BINARY) {
            values.nextTag();
            into.add(name, in.binaryOf(tag));
            return;
        }
        // Attachment values belong to one call and may be secret, so they are not cached. The only exception is the
        // caller's name, which is the same in all of its calls.
        String value = readText(start, CALLER.equals(name));
        if (name != null && value != null) {
            into.add(name, value);
        }
    }

    /** Reads a value as a string. If the value has no string form, skips it and returns null. */
    private @Nullable String readText(int start, boolean learn) {
        int tag = values.peekTag();
        switch (Tags.kind(tag)) {
            case Tags.TEXT -> {
                values.nextTag();
                return in.textOf(tag, MAX_BYTES, known, learn);
            }
            case Tags.BOOLEAN -> {
                values.nextTag();
                return String.valueOf(tag == 'T');
            }
            case Tags.INT -> {
                values.nextTag();
                return String.valueOf(in.intOf(tag));
            }
            case Tags.LONG -> {
                values.nextTag();
                return String.valueOf(in.longOf(tag));
            }
            case Tags.DOUBLE -> {
                values.nextTag();
                return String.valueOf(in.doubleOf(tag));
            }
            default -> {
                values.skip();
                checkBytes(start);
                return null;
            }
        }
    }

    private void checkBytes(int start) {
        if (in.position() - start > MAX_BYTES) {
            throw new SerializationException("attachments longer than " + MAX_BYTES + " bytes");
        }
    }
}
