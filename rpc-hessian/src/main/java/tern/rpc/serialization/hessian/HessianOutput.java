package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.AbstractHessianOutput;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.OutputBuffer;

/**
 * Writes one Hessian 2 message and maintains its tables: the values written so far (by identity), the class definitions
 * and the type names. Tern's own encoders ({@link WireForm}) use the same tables as the serializers of hessian-lite,
 * which write rare types. Not thread-safe.
 */
final class HessianOutput extends AbstractHessianOutput {

    private static final int MAX_SHORT_LENGTH = 7;
    private static final int MAX_SHORT_DEFINITION = 15;

    /** The maximum number of stack frames to write per exception. */
    int frames;

    /** The nesting depth of causes and suppressed exceptions that are currently being written. */
    int links;

    /**
     * Returns whether an exception class is unknown to callers. This field is null while arguments or results are being
     * written, because exceptions in them are data.
     */
    @Nullable
    Predicate<Class<?>> foreign;

    private final WireForm.Lookup forms;
    private final ScalarOutput scalars;
    private IdentityNumbers references = new IdentityNumbers();

    /**
     * The class definitions written in this message, each with its number. Tern's own encoders look up a number by the
     * definition object, and hessian-lite's serializers look it up by the class name.
     */
    private IdentityNumbers definitions = new IdentityNumbers();

    private Map<String, Integer> types = new HashMap<>();
    private boolean unshared;

    HessianOutput(WireForm.Lookup forms, OutputBuffer out) {
        this.forms = forms;
        this.scalars = new ScalarOutput(out);
    }

    void start(OutputBuffer out) {
        scalars.start(out);
        references.clear();
        definitions.clear();
        types.clear();
        unshared = false;
        links = 0;
        frames = 0;
        foreign = null;
    }

    /** Returns whether an exception of the given class must be written without its message. */
    boolean isForeign(Class<?> type) {
        return foreign != null && foreign.test(type);
    }

    /**
     * Replaces the tables and releases the array. Called after a failure, because the tables may be inconsistent, and
     * after a large message, to free memory.
     */
    void forget() {
        scalars.forget();
        references = new IdentityNumbers();
        definitions = new IdentityNumbers();
        types = new HashMap<>();
    }

    @Override
    public void flush() {
        scalars.flush();
    }

    @Override
    public void writeObject(@Nullable Object value) throws IOException {
        if (value == null) {
            scalars.writeNull();
        } else if (value instanceof String text) {
            scalars.writeString(text);
        } else if (value instanceof Integer number) {
            scalars.writeInt(number);
        } else {
            forms.of(value.getClass()).write(value, this);
        }
    }

    /**
     * Writes a value. Caches the {@link WireForm} of the value's class in {@code place}, for the next value at the same
     * place.
     */
    void writeObject(@Nullable Object value, LastForm place) throws IOException {
        if (value == null || value instanceof String || value instanceof Integer) {
            writeObject(value);
        } else {
            place.of(value.getClass(), forms).write(value, this);
        }
    }

    @Override
    public void writeNull() {
        scalars.writeNull();
    }

    @Override
    public void writeBoolean(boolean value) {
        scalars.writeBoolean(value);
    }

    @Override
    public void writeInt(int value) {
        scalars.writeInt(value);
    }

    /**
     * Writes list elements until an element is not a one-byte int.
     *
     * @return the number of elements written, which may be 0
     */
    int writeShortestInts(List<?> elements, int from, int to) {
        return scalars.writeShortestInts(elements, from, to);
    }

    @Override
    public void writeLong(long value) {
        scalars.writeLong(value);
    }

    @Override
    public void writeDouble(double value) {
        scalars.writeDouble(value);
    }

    /**
     * Writes a float as the double with the same decimal digits. Other methods write fields and elements that are
     * declared as float.
     */
    void writeFloat(float value) {
        scalars.writeDouble(Double.parseDouble(String.valueOf(value)));
    }

    @Override
    public void writeUTCDate(long millis) {
        scalars.writeDate(millis);
    }

    @Override
    public void writeString(@Nullable String value) {
        scalars.writeString(value);
    }

    @Override
    public void writeString(char @Nullable [] units, int offset, int length) {
        scalars.writeString(units == null ? null : new String(units, offset, length));
    }

    @Override
    public void writeBytes(byte @Nullable [] bytes) {
        writeBytes(bytes, 0, bytes == null ? 0 : bytes.length);
    }

    @Override
    public void writeBytes(byte @Nullable [] bytes, int offset, int length) {
        if (bytes == null) {
            scalars.writeNull();
        } else {
            scalars.writeBytes(bytes, offset, length);
        }
    }

    @Override
    public void writeByteBufferStart() {}

    @Override
    public void writeByteBufferPart(byte[] bytes, int offset, int length) {
        scalars.writeChunk(bytes, offset, length);
    }

    @Override
    public void writeByteBufferEnd(byte[] bytes, int offset, int length) {
        scalars.writeBytes(bytes, offset, length);
    }

    @Override
    public boolean setUnshared(boolean value) {
        boolean before = unshared;
        unshared = value;
        return before;
    }

    /**
     * Writes a reference and returns true if the message already contains this value. Otherwise assigns the next
     * reference number to the value and returns false.
     */
    @Override
    public boolean addRef(Object value) {
        int known = unshared ? -1 : references.put(value);
        if (known >= 0) {
            writeRef(known);
        }
        return known >= 0;
    }

    /** Skips one reference number. Readers assign this number to a value that the message does not refer to again. */
    void skipRef() {
        if (!unshared) {
            references.skip();
        }
    }

    @Override
    public int getRef(Object value) {
        return unshared ? -1 : references.find(value);
    }

    /**
     * Assigns the reference number of the old value to the new value as well, because readers create only one object
     * for the two values.
     */
    @Override
    public boolean replaceRef(@Nullable Object old, Object value) {
        int number = old == null ? -1 : getRef(old);
        if (number >= 0) {
            references.alias(value, number);
        }
        return number >= 0;
    }

    @Override
    protected void writeRef(int number) {
        scalars.room(ScalarOutput.ROOM);
        scalars.tag('Q');
        scalars.writeInt(number);
    }

    /** @return true if the caller must call {@link #writeListEnd} after the elements */
    @Override
    public boolean writeListBegin(int length, @Nullable String type) {
        scalars.room(ScalarOutput.WIDE_ROOM);
        if (length < 0) {
            scalars.tag(type == null ? 'W' : 'U');
            writeType(type);
            return true;
        }
        if (length <= MAX_SHORT_LENGTH) {
            scalars.tag((type == null ? 0x78 : 0x70) + length);
            writeType(type);
        } else {
            scalars.tag(type == null ? 'X' : 'V');
            writeType(type);
            scalars.writeInt(length);
        }
        return false;
    }

    @Override
    public void writeListEnd() {
        writeEnd();
    }

    @Override
    public void writeMapBegin(@Nullable String type) {
        scalars.room(ScalarOutput.WIDE_ROOM);
        scalars.tag(type == null ? 'H' : 'M');
        writeType(type);
    }

    @Override
    public void writeMapEnd() {
        writeEnd();
    }

    private void writeEnd() {
        scalars.room(ScalarOutput.WIDE_ROOM);
        scalars.tag('Z');
    }

    private void writeType(@Nullable String type) {
        if (type == null) {
            return;
        }
        scalars.room(ScalarOutput.WIDE_ROOM);
        Integer known = types.putIfAbsent(type, types.size());
        if (known == null) {
            scalars.writeString(type);
        } else {
            scalars.writeInt(known);
        }
    }

    /**
     * Begins an object. If the message does not contain the class definition yet, writes the definition first. The
     * caller then writes the object's fields.
     */
    void begin(ClassDefinition definition) {
        int known = definitions.put(definition);
        if (known < 0) {
            definition.writeTo(scalars);
            known = definitions.count() - 1;
        }
        writeInstanceOf(known);
    }

    /**
     * Begins an object of the class with the given name.
     *
     * @return the definition's number, or -1 if the method has begun a new definition. The caller must then complete
     *     the definition and call the method again
     */
    @Override
    public int writeObjectBegin(String type) {
        int known = definitions.put(type);
        if (known >= 0) {
            writeInstanceOf(known);
        } else {
            scalars.room(ScalarOutput.WIDE_ROOM);
            scalars.tag('C');
            scalars.writeString(type);
        }
        return known;
    }

    private void writeInstanceOf(int definition) {
        scalars.room(ScalarOutput.WIDE_ROOM);
        if (definition <= MAX_SHORT_DEFINITION) {
            scalars.tag(0x60 + definition);
        } else {
            scalars.tag('O');
            scalars.writeInt(definition);
        }
    }

    @Override
    public void writeClassFieldLength(int length) {
        scalars.writeInt(length);
    }

    @Override
    public void startCall() {
        throw new UnsupportedOperationException("calls of Hessian's own protocol");
    }

    @Override
    public void startCall(String method, int length) {
        startCall();
    }

    @Override
    public void writeMethod(String method) {
        startCall();
    }

    @Override
    public void completeCall() {
        startCall();
    }
}
