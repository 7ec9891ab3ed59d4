package tern.rpc.serialization.hessian;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tern.rpc.serialization.SerializationException;

/** Reads an enum constant by its name. Thread-safe. */
final class EnumShape extends Shape {

    private static final Slot NAME = Slot.of(String.class);

    private final Map<String, Object> constants = new HashMap<>();

    EnumShape(Class<?> type) {
        super(type, List.of("name"), false);
        for (Object constant : type.getEnumConstants()) {
            constants.put(((Enum<?>) constant).name(), constant);
        }
    }

    @Override
    Object read(ValueReader reader, WireClass wire) {
        int number = reader.references().addUnfinished();
        String name = null;
        for (int place : wire.bind(this)) {
            reader.fulfil();
            if (place < 0) {
                reader.skip();
            } else {
                name = (String) reader.read(NAME);
            }
        }
        Object constant = constants.get(name);
        if (constant == null) {
            throw new SerializationException("enum " + type.getName() + " has no constant " + Texts.shortened(name)
                    + " in this application; add the version of the interface's jar that the sender has");
        }
        reader.references().finish(number, constant);
        return constant;
    }
}
