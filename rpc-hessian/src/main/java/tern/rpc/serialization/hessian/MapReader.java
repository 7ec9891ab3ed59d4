package tern.rpc.serialization.hessian;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a map into the map type declared for its position. Not thread-safe. */
final class MapReader {

    private static final String ENUM_MAP = "java.util.EnumMap";

    private final HessianInput in;
    private final ValueReader values;
    private final HashBudget hashes;

    MapReader(HessianInput in, ValueReader values, HashBudget hashes) {
        this.in = in;
        this.values = values;
        this.hashes = hashes;
    }

    /**
     * Reads a map.
     *
     * @param type the type name in the message; empty if there is none
     */
    Object read(String type, Slot slot) {
        MapType wire =
                type.isEmpty() || type.equals(ENUM_MAP) ? null : values.types().map(type, slot);
        if (slot.raw == EnumMap.class || (type.equals(ENUM_MAP) && slot.raw.isAssignableFrom(EnumMap.class))) {
            return enumMap(slot);
        }
        MapType made = wire != null && slot.raw.isAssignableFrom(wire.type()) ? wire : declared(slot);
        values.makeRoom(made.shellBytes());
        @SuppressWarnings("unchecked") // The cast is safe, because each key and value is checked when it is read.
        Map<@Nullable Object, @Nullable Object> map =
                (Map<Object, Object>) made.empty().get();
        values.references().add(map);
        fill(map, slot, made.isChained(), made.isHashed());
        return map;
    }

    /**
     * Returns the map type to create if the message does not name a map type that is assignable to the declared type.
     */
    private MapType declared(Slot slot) {
        MapType fitting = MapType.fitting(slot.raw);
        if (fitting == null && Map.class.isAssignableFrom(slot.raw)) {
            fitting = values.types().map(slot);
        }
        if (fitting == null) {
            throw slot.mismatch("a map");
        }
        return fitting;
    }

    private void fill(Map<@Nullable Object, @Nullable Object> map, Slot slot, boolean chained, boolean hashed) {
        int nonScalars = 0;
        Object classes = null;
        long referred = 0;
        OpenContainers open = values.open();
        while (!in.isEnd()) {
            hashes.enterKey();
            long before = values.weight();
            long part = open.part();
            long outer = open.beginKey();
            Object key = values.read(slot.key());
            long own = open.endKey(outer);
            part = open.part() - part;
            if (part > 0) {
                referred = hashes.chargeOpen(part, own, referred, nonScalars);
            }
            nonScalars = hashes.charge(key, values.weight() - before - part, nonScalars, map, chained);
            hashes.leaveKey();
            if (hashed && key != null && key.getClass() != classes) {
                classes = hashes.chargeEqual(classes, key, map.keySet());
            }
            map.put(key, values.read(slot.value()));
        }
    }

    /**
     * Reads an {@link EnumMap}. The message does not contain the key class. The key class is the enum in the declared
     * type or, without such an enum, the class of the first key.
     */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private Object enumMap(Slot slot) {
        int number = values.references().addUnfinished();
        Class<?> keys = slot.key().raw;
        Map map = keys.isEnum() ? new EnumMap(keys) : null;
        while (!in.isEnd()) {
            Object key = values.read(slot.key());
            if (!(key instanceof Enum<?> constant)) {
                throw slot.mismatch("a key that is not an enum constant");
            }
            if (map == null) {
                keys = constant.getDeclaringClass();
                map = new EnumMap(keys);
            } else if (constant.getDeclaringClass() != keys) {
                throw slot.mismatch("a key of class "
                        + constant.getDeclaringClass().getName() + " in a map with keys of class " + keys.getName());
            }
            values.references().finish(number, map);
            map.put(constant, values.read(slot.value()));
        }
        if (map == null) {
            map = slot.raw.isAssignableFrom(HashMap.class) ? new LinkedHashMap<>() : new EnumMap(Nothing.class);
        }
        values.references().finish(number, map);
        return map;
    }

    /**
     * A placeholder for the key class of an empty {@link EnumMap}, used if neither the declared type nor a key
     * determines the class.
     */
    private enum Nothing {}
}
