package tern.rpc.serialization.hessian;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * Reads the values of one message, and maintains the tables of references, definitions and type names that these values
 * share. Not thread-safe.
 */
final class ValueReader {

    private static final String NO_NAME = "";
    private static final int BYTES_PER_VISIT = 8;
    private static final int CHARACTERS_PER_VISIT = 64;
    private static final int SPARE_SHELL_BYTES = 1 << 20;

    private final HessianInput in;
    private final HessianLimits limits;
    private final References references = new References();
    private final List<WireClass> definitions = new ArrayList<>();
    private final List<String> typeNames = new ArrayList<>();
    private final KnownDefinitions known;
    private final HashBudget hashes;
    private final OpenContainers open;
    private final ListReader lists;
    private final MapReader maps;
    private final ValueSkipper skipper;
    private final LinkedThrowables throwables;
    private @Nullable ReadableTypes types;
    private int depth;
    private int values;

    /**
     * The hashing cost of the current container so far, which is the number of its values that have been read. A
     * reference adds the hashing cost of the value that it refers to.
     */
    private long weight;

    /** True if the value being read was skipped earlier. In this case, the tables already contain the value. */
    private boolean replaying;

    /** The remaining number of bytes of skipped values that may be read a second time. */
    private int replayable;

    /** The remaining memory budget for fields that the message omits, in bytes. */
    private long shellBytes;

    ValueReader(HessianInput in, HessianLimits limits, KnownDefinitions known, HashBudget hashes) {
        this.in = in;
        this.limits = limits;
        this.known = known;
        this.hashes = hashes;
        this.open = new OpenContainers(hashes, limits.depth());
        this.lists = new ListReader(in, this, hashes);
        this.maps = new MapReader(in, this, hashes);
        this.skipper = new ValueSkipper(in, this);
        this.throwables = new LinkedThrowables(in, this);
    }

    void start() {
        references.clear();
        definitions.clear();
        typeNames.clear();
        hashes.start(in.remaining());
        open.start();
        lists.start();
        throwables.start();
        types = null;
        depth = 0;
        values = 0;
        weight = 0;
        replaying = false;
        replayable = in.remaining();
        shellBytes = SPARE_SHELL_BYTES + 4L * in.remaining();
    }

    /** Starts reading the message again from its first value. The readable types of the service stay the same. */
    void startAgain() {
        ReadableTypes trusted = types;
        start();
        types = trusted;
    }

    void trust(ReadableTypes service) {
        this.types = service;
    }

    ReadableTypes types() {
        return Objects.requireNonNull(types);
    }

    boolean isTrusting() {
        return types != null;
    }

    OpenContainers open() {
        return open;
    }

    References references() {
        return references;
    }

    LinkedThrowables throwables() {
        return throwables;
    }

    @Nullable
    Object read(Slot slot) {
        int tag = nextTag();
        return switch (Tags.kind(tag)) {
            case Tags.NULL -> slot.absent;
            case Tags.BOOLEAN -> slot.accept(tag == 'T');
            case Tags.INT -> slot.accept(in.intOf(tag));
            case Tags.LONG -> slot.accept(in.longOf(tag));
            case Tags.DOUBLE -> slot.accept(in.doubleOf(tag));
            case Tags.DATE -> slot.accept(in.dateOf(tag));
            case Tags.TEXT -> slot.accept(weighed(in.textOf(tag, Integer.MAX_VALUE)));
            case Tags.BINARY -> {
                byte[] binary = in.binaryOf(tag);
                weight += binary.length / BYTES_PER_VISIT;
                yield slot.accept(binary);
            }
            case Tags.LIST -> slot.accept(list(tag, slot));
            case Tags.MAP -> slot.accept(map(tag, slot));
            case Tags.OBJECT -> slot.accept(object(tag, slot));
            case Tags.REFERENCE -> slot.accept(reference(slot));
            default -> throw in.unexpected(tag, "a value");
        };
    }

    /**
     * Reads a value whose declared type is {@code String}. The return type is Object, because this method is called
     * through method handles that return objects.
     */
    @Nullable
    Object readText(Slot slot) {
        int tag = in.peek();
        if (Tags.kind(tag) != Tags.TEXT) {
            return read(slot);
        }
        count();
        return weighed(in.textOf(in.next(), Integer.MAX_VALUE));
    }

    /**
     * Adds the cost of comparing a long string with an equal string to the current container's weight. Returns the
     * string.
     */
    private String weighed(String text) {
        weight += text.length() / CHARACTERS_PER_VISIT;
        return text;
    }

    /** Reads a value whose declared type is {@code Integer}. */
    @Nullable
    Object readInteger(Slot slot) {
        if (Tags.kind(in.peek()) != Tags.INT) {
            return read(slot);
        }
        count();
        return in.intOf(in.next());
    }

    int readInt(Slot slot) {
        if (Tags.kind(in.peek()) != Tags.INT) {
            return (int) Objects.requireNonNull(read(slot));
        }
        count();
        return in.intOf(in.next());
    }

    long readLong(Slot slot) {
        if (Tags.kind(in.peek()) != Tags.LONG) {
            return (long) Objects.requireNonNull(read(slot));
        }
        count();
        return in.longOf(in.next());
    }

    double readDouble(Slot slot) {
        if (Tags.kind(in.peek()) != Tags.DOUBLE) {
            return (double) Objects.requireNonNull(read(slot));
        }
        count();
        return in.doubleOf(in.next());
    }

    boolean readBoolean(Slot slot) {
        return (boolean) Objects.requireNonNull(read(slot));
    }

    void skip() {
        skipper.skip(limits.depth() - depth);
    }

    /**
     * Skips the next value, which may be nested more deeply than {@link HessianLimits#depth} allows for values that are
     * read.
     */
    void skipDeep() {
        skipper.skip(ValueSkipper.DEEPEST);
    }

    void fulfil() {
        in.fulfil();
    }

    /** Reads any class definitions that precede the next value, and returns the value's tag. */
    int nextTag() {
        count();
        int tag = in.next();
        while (tag == 'C') {
            define();
            tag = in.next();
        }
        return tag;
    }

    int peekTag() {
        while (in.peek() == 'C') {
            in.next();
            define();
        }
        return in.peek();
    }

    private void count() {
        count(1);
    }

    /** Adds the given number to the message's value count, which is limited. Called before the values are read. */
    void count(int more) {
        weight += more;
        values += more;
        if (values > limits.values()) {
            throw new SerializationException(
                    "more than " + limits.values() + " values, set by rpc.limits.max-values" + in.here());
        }
    }

    private void define() {
        if (definitions.size() >= limits.classDefinitions()) {
            throw new SerializationException(
                    "more than " + limits.classDefinitions() + " class definitions (fixed limit)");
        }
        WireClass found = known.find(in);
        WireClass definition = found != null ? found : parseDefinition();
        if (!replaying) {
            definitions.add(definition);
        }
    }

    private WireClass parseDefinition() {
        int start = in.position();
        String name = in.textOf(in.next(), limits.typeNameLength());
        int count = in.intOf(in.next());
        if (count > limits.fields()) {
            throw new SerializationException("class " + Texts.shortened(name) + " with " + count + " fields, limit "
                    + limits.fields() + in.here());
        }
        in.promise(count);
        String[] fields = new String[count];
        for (int i = 0; i < count; i++) {
            in.fulfil();
            fields[i] = in.textOf(in.next(), limits.typeNameLength());
        }
        return new WireClass(name, fields, start, in.position());
    }

    /**
     * Reads the class of an object.
     *
     * @param tag the object's first byte
     */
    WireClass classOf(int tag) {
        int index = tag == 'O' ? in.intOf(in.next()) : tag - 0x60;
        if (index < 0 || index >= definitions.size()) {
            throw new SerializationException(
                    "object of class definition " + index + ", but there are only " + definitions.size() + in.here());
        }
        return definitions.get(index);
    }

    /** Reads a list's or map's type, which is either a name or the number of a type name that was read earlier. */
    String readTypeName() {
        int tag = in.next();
        if (Tags.kind(tag) == Tags.TEXT) {
            String name = in.textOf(tag, limits.typeNameLength());
            if (!replaying) {
                typeNames.add(name);
            }
            return name;
        }
        int index = in.intOf(tag);
        if (index < 0 || index >= typeNames.size()) {
            throw new SerializationException(
                    "type name " + index + ", but there are only " + typeNames.size() + in.here());
        }
        return typeNames.get(index);
    }

    /**
     * Reads a list's type. Returns null if the tag announces no type.
     *
     * @param tag the list's first byte
     */
    @Nullable
    String listType(int tag) {
        return tag == 'U' || tag == 'V' || (tag >= 0x70 && tag <= 0x77) ? readTypeName() : null;
    }

    /**
     * Reads a list's length. Returns -1 if the tag announces no length. Call {@link #listType} first.
     *
     * @param tag the list's first byte
     */
    int listLength(int tag) {
        if (tag >= 0x70) {
            return tag & 7;
        }
        if (tag == 'U' || tag == 'W') {
            return -1;
        }
        int length = in.intOf(in.next());
        if (length < 0) {
            throw new SerializationException("a list of " + length + " values" + in.here());
        }
        return length;
    }

    /** Reads a reference, and returns the number of the value that it refers to. */
    int readReference() {
        int number = in.intOf(in.next());
        references.check(number, in);
        return number;
    }

    /**
     * Adds to the current container's weight, which is the number of values visited when the container is hashed.
     */
    void weigh(long visits) {
        weight += visits;
    }

    /**
     * Returns the hashing cost of the current container so far. A key's weight is the difference between the results
     * before and after the key is read.
     */
    long weight() {
        return weight;
    }

    private @Nullable Object reference(Slot slot) {
        int number = readReference();
        if (references.isSkipped(number)) {
            replay(number, slot);
        }
        Object value = references.get(number, in);
        long own = references.weight(number);
        weight = OpenContainers.capped(weight
                + (own == References.OPEN ? open.open(depth, number, value) : open.complete(depth, number, own)));
        return value;
    }

    /**
     * Reads a skipped value, because a later reference refers to it. For example, two fields may contain the same
     * object, and the first of these fields may not exist in this process. The tables of the message do not change
     * while the value is being read.
     */
    private void replay(int number, Slot slot) {
        if (replayable <= 0) {
            throw new SerializationException(
                    "too many references to objects in fields that do not exist in this process" + in.here());
        }
        int start = references.position(number);
        int position = in.position();
        int promised = in.promised();
        int next = references.next();
        long outerWeight = weight;
        boolean outer = replaying;
        in.moveTo(start, 0);
        references.continueAt(number);
        replaying = true;
        read(slot);
        replaying = outer;
        replayable -= in.position() - start;
        weight = outerWeight;
        references.continueAt(next);
        in.moveTo(position, promised);
    }

    private Object list(int tag, Slot slot) {
        String type = Objects.requireNonNullElse(listType(tag), NO_NAME);
        int length = listLength(tag);
        int number = references.next();
        long outer = enter(number, true);
        Object made = lists.read(type, length, slot);
        leave(outer, number, true);
        return made;
    }

    private Object map(int tag, Slot slot) {
        String type = tag == 'M' ? readTypeName() : NO_NAME;
        int number = references.next();
        long outer = enter(number, true);
        Object made = maps.read(type, slot);
        leave(outer, number, true);
        return made;
    }

    private @Nullable Object object(int tag, Slot slot) {
        WireClass wire = classOf(tag);
        ReadableTypes service = types();
        Shape shape = wire.known(service, slot);
        if (shape == null) {
            boolean isNew = wire.isNew();
            shape = wire.shape(service, slot);
            if (isNew) {
                known.add(wire, in);
            }
        }
        return object(wire, shape);
    }

    @Nullable
    Object object(WireClass wire, Shape shape) {
        in.promise(wire.fields.length);
        makeRoom(shape.shellBytes(wire.fields.length));
        int number = references.next();
        long outer = enter(number, shape.hashesParts);
        Object made = shape.read(this, wire);
        leave(outer, number, shape.hashesParts);
        return made;
    }

    /**
     * Charges the memory budget for fields that the message omits. An object needs memory for all its fields, even if
     * the message names no field. Some classes need more memory than their fields.
     */
    void makeRoom(long bytes) {
        shellBytes -= bytes;
        if (shellBytes < 0) {
            throw new SerializationException("too many fields are missing in the objects of this message" + in.here());
        }
    }

    private long enter(int number, boolean hashesParts) {
        depth++;
        if (depth > limits.depth()) {
            throw new SerializationException(
                    "values nested deeper than " + limits.depth() + ", set by rpc.limits.max-depth" + in.here());
        }
        long outer = weight;
        open.enter(depth, number, outer, hashesParts);
        weight = 1;
        return outer;
    }

    private void leave(long outer, int number, boolean hashesParts) {
        long own = hashesParts ? weight : 1;
        references.weigh(number, own);
        long circular = open.leave(depth, number, own, references);
        depth--;
        weight = OpenContainers.capped(outer + own - circular);
    }
}
