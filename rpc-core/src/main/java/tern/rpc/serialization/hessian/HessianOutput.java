package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.AbstractHessianOutput;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.OutputBuffer;

/**
 * One message of Hessian 2 with its tables: values by identity, class definitions, names of types. Our own forms and the
 * serializers of hessian-lite, for types that are rare, write into the same one. Not thread-safe.
 */
final class HessianOutput extends AbstractHessianOutput {

    private static final int MAX_SHORT_LENGTH = 7;
    private static final int MAX_SHORT_DEFINITION = 15;

    /** How many stack frames are written of each exception. */
    int frames;

    /** How many exceptions the present one hangs on. */
    int links;

    private final WireForms forms;
    private final ScalarOutput scalars;
    private IdentityNumbers references = new IdentityNumbers();

    /** Our own by themselves, those of hessian-lite's serializers by their names. */
    private IdentityNumbers definitions = new IdentityNumbers();

    private Map<String, Integer> types = new HashMap<>();
    private boolean unshared;

    HessianOutput(WireForms forms, OutputBuffer out) {
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
    }

    /** After a failure, which may have left the tables half changed. */
    void forget() {
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

    /** The same at a place that remembers the form of what it met last. */
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

    /** Writes the elements from an index on as long as they are ints of one byte; tells how many, none for any reason. */
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

    /** A float that is no field or element of its own type has the digits that it shows. */
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

    /** Whether the message has this value already, of which a reference was written then. Else it counts from now on. */
    @Override
    public boolean addRef(Object value) {
        int known = unshared ? -1 : references.put(value);
        if (known >= 0) {
            writeRef(known);
        }
        return known >= 0;
    }

    /** Readers count a value here to which nothing will refer. */
    void skipRef() {
        if (!unshared) {
            references.skip();
        }
    }

    @Override
    public int getRef(Object value) {
        return unshared ? -1 : references.find(value);
    }

    /** The new one is known by the number of the old one, which keeps it, too: readers have made one value of both. */
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

    /** @return whether {@link #writeListEnd} must follow */
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

    /** The class of the object whose fields follow, defined before if the message has not met it. */
    void begin(ClassDefinition definition) {
        int known = definitions.put(definition);
        if (known < 0) {
            definition.writeTo(scalars);
            known = definitions.count() - 1;
        }
        writeInstanceOf(known);
    }

    /** @return -1 when a definition was begun, which the caller goes on with before it calls again */
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
