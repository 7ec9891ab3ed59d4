package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodType;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/** A position where a value may stand, with its declared type. Thread-safe. */
final class Slot {

    /** The declared class; of a primitive type its box. */
    final Class<?> raw;

    final TypeRef type;

    /** What null becomes here: zero at a primitive position inside of a value. */
    final @Nullable Object absent;

    /** Whether the declared type is the application's own, so that it says something about what is expected. */
    final boolean own;

    private final String where;
    private final @Nullable Slot outer; // null for the position of a whole value

    // Made at first use; threads that race make equal ones.
    private @Nullable Slot element;
    private @Nullable Slot key;
    private @Nullable Slot value;
    private @Nullable CollectionType collection;

    private Slot(TypeRef type, String where, @Nullable Slot outer, @Nullable Object absent) {
        this.type = type;
        this.outer = outer;
        this.raw = MethodType.methodType(type.raw()).wrap().returnType();
        this.absent = absent;
        this.own = AllowedClasses.isOfApplication(raw);
        this.where = where;
    }

    /** The position of a whole value, where null stays null: whether it may be is for the caller to say. */
    static Slot of(Type type) {
        TypeRef known = TypeRef.of(type);
        return new Slot(known, known.toString(), null, null);
    }

    static Slot field(TypeRef owner, String name, TypeRef type) {
        return new Slot(type, owner.raw().getName() + ", field " + name, null, Narrowing.zero(type.raw()));
    }

    /** A component of an array, or an element of a collection. */
    Slot element() {
        Slot known = element;
        if (known == null) {
            TypeRef collection = raw.isArray() ? type : type.as(Collection.class);
            known = inner(collection == null ? TypeRef.OBJECT : collection.argument(0), ", element");
            element = known;
        }
        return known;
    }

    /** A component of an array whose class comes from the message. */
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

    /** What is made here of a list when the message does not say, or null if that depends on the service. */
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
     * A position inside of this one. Where types repeat, as Object inside Object does without end, so do positions: they
     * are kept, and a message that chooses its own nesting must not add to what is kept.
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

    /** The value as an instance of the declared class. */
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
