package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodType;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/** A position of a value in a message, with its declared type. Thread-safe. */
final class Slot {

    /** The declared class, or the wrapper class if the declared type is primitive. */
    final Class<?> raw;

    final TypeRef type;

    /**
     * The value that replaces null: zero if the type is primitive and the position is inside another value; otherwise
     * null.
     */
    final @Nullable Object absent;

    /**
     * True if the declared type is an application type. Subclasses from the service's packages may then also be allowed
     * at this position.
     */
    final boolean own;

    private final String where;
    // The enclosing position; null for a whole argument, a whole result or a field.
    private final @Nullable Slot outer;

    // The positions of elements, keys and values, and the collection type. Each is created on first use. Several
    // threads can create equal objects at the same time.
    private @Nullable Slot element;
    private @Nullable Slot key;
    private @Nullable Slot value;
    private @Nullable CollectionType collection;

    private Slot(TypeRef type, String where, @Nullable Slot outer, @Nullable Object absent) {
        this.type = type;
        this.outer = outer;
        this.raw = MethodType.methodType(type.raw()).wrap().returnType();
        this.absent = absent;
        this.own = ClassOrigin.isOfApplication(raw);
        this.where = where;
    }

    /**
     * Returns the position of a whole argument or result. A null argument or result stays null, even if the declared
     * type is primitive. The caller of this method decides whether null is allowed.
     */
    static Slot of(Type type) {
        TypeRef known = TypeRef.of(type);
        return new Slot(known, known.toString(), null, null);
    }

    static Slot field(TypeRef owner, String name, TypeRef type) {
        return new Slot(type, owner.raw().getName() + ", field " + name, null, Narrowing.zero(type.raw()));
    }

    /** Returns the position of an array component or a collection element. */
    Slot element() {
        Slot known = element;
        if (known == null) {
            TypeRef collection = raw.isArray() ? type : type.as(Collection.class);
            known = inner(collection == null ? TypeRef.OBJECT : collection.argument(0), ", element");
            element = known;
        }
        return known;
    }

    /**
     * Returns the position of a component of an array.
     *
     * @param array the array type that the message names, which may differ from the declared type
     */
    Slot elementOf(Class<?> array) {
        return array == type.raw() ? element() : inner(TypeRef.of(array.getComponentType()), ", element");
    }

    Slot key() {
        Slot known = key;
        if (known == null) {
            known = inner(mapArgument(0), ", key");
            key = known;
        }
        return known;
    }

    Slot value() {
        Slot known = value;
        if (known == null) {
            known = inner(mapArgument(1), ", value");
            value = known;
        }
        return known;
    }

    /**
     * Returns the collection type to create if the message names no type. Returns null if the type depends on the
     * service.
     */
    @Nullable
    CollectionType collection() {
        CollectionType known = collection;
        if (known == null) {
            known = CollectionType.fitting(raw);
            collection = known;
        }
        return known;
    }

    /**
     * Returns the position of a part of this value. If an enclosing position has the same type, for example an Object
     * inside an Object, returns the enclosing position. Otherwise, a deeply nested message could add cached positions
     * without limit.
     */
    private Slot inner(TypeRef declared, String suffix) {
        for (Slot around = this; around.outer != null; around = around.outer) {
            if (around.type.equals(declared)) {
                return around;
            }
        }
        return new Slot(declared, where + suffix, this, Narrowing.zero(declared.raw()));
    }

    private TypeRef mapArgument(int index) {
        TypeRef map = type.as(Map.class);
        return map == null ? TypeRef.OBJECT : map.argument(index);
    }

    /** Converts a value to an instance of the declared class. */
    @Nullable
    Object accept(@Nullable Object found) {
        if (raw.isInstance(found)) {
            return found;
        }
        if (found == null) {
            return absent;
        }
        Object narrowed = Narrowing.to(raw, found);
        if (narrowed == null) {
            throw mismatch(found.getClass().getName());
        }
        return narrowed;
    }

    SerializationException mismatch(String found) {
        return new SerializationException(found + " where " + type + " is declared, at " + where);
    }

    @Override
    public String toString() {
        return where;
    }
}
