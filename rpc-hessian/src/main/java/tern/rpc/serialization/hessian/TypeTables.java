package tern.rpc.serialization.hessian;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.serialization.SerializationException;

/** The class definitions and type names of one message, to which later values refer by number. Not thread-safe. */
final class TypeTables {

    private final HessianInput in;
    private final HessianLimits limits;
    private final KnownDefinitions known;
    private final List<WireClass> definitions = new ArrayList<>();
    private final List<String> typeNames = new ArrayList<>();

    /** True while a value is read that was skipped earlier. The tables then already contain its types. */
    private boolean isFrozen;

    TypeTables(HessianInput in, HessianLimits limits, KnownDefinitions known) {
        this.in = in;
        this.limits = limits;
        this.known = known;
    }

    void start() {
        definitions.clear();
        typeNames.clear();
        isFrozen = false;
    }

    /**
     * Sets whether the tables stay unchanged, because the next value was skipped earlier.
     *
     * @return the previous setting
     */
    boolean freeze(boolean frozen) {
        boolean before = isFrozen;
        isFrozen = frozen;
        return before;
    }

    /** Keeps the definition for later messages. */
    void remember(WireClass definition) {
        known.add(definition, in);
    }

    /** Reads a class definition, whose tag the caller has read. */
    void define() {
        if (definitions.size() >= limits.classDefinitions()) {
            throw new SerializationException(
                    "more than " + limits.classDefinitions() + " class definitions (fixed limit)");
        }
        WireClass found = known.find(in);
        WireClass definition = found != null ? found : parseDefinition();
        if (!isFrozen) {
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
                    "object of class definition " + index + ", there are " + definitions.size() + in.here());
        }
        return definitions.get(index);
    }

    /** Reads a list's or map's type, which is either a name or the number of a type name that was read earlier. */
    String readTypeName() {
        int tag = in.next();
        if (Tags.kind(tag) == Tags.TEXT) {
            String name = in.textOf(tag, limits.typeNameLength());
            if (!isFrozen) {
                typeNames.add(name);
            }
            return name;
        }
        int index = in.intOf(tag);
        if (index < 0 || index >= typeNames.size()) {
            throw new SerializationException("type name " + index + ", there are " + typeNames.size() + in.here());
        }
        return typeNames.get(index);
    }
}
