package tern.rpc.console;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Internal;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tern.rpc.console.TypeShape.Definition;
import tern.rpc.console.TypeShape.Field;

/**
 * Describes how protobuf message types look in the canonical JSON form. This class is loaded only if protobuf is on the
 * class path.
 */
final class MessageTypes {

    private static final TypeShape ANY = TypeShape.any("google.protobuf.Value");

    private final Map<String, Definition> definitions;

    /**
     * @param definitions the map to which this object adds the types that it describes
     */
    MessageTypes(Map<String, Definition> definitions) {
        this.definitions = definitions;
    }

    static boolean isMessage(Class<?> type) {
        return Message.class.isAssignableFrom(type) && type != Message.class;
    }

    TypeShape shape(Class<?> type) {
        return shape(Internal.getDefaultInstance(type.asSubclass(Message.class)).getDescriptorForType());
    }

    private TypeShape shape(Descriptor type) {
        String name = type.getFullName();
        return switch (name) {
            case "google.protobuf.Timestamp" -> TypeShape.scalar("instant", name);
            case "google.protobuf.Duration" -> TypeShape.scalar("duration", name);
            case "google.protobuf.FieldMask", "google.protobuf.StringValue" -> TypeShape.scalar("string", name);
            case "google.protobuf.BytesValue" -> TypeShape.scalar("bytes", name);
            case "google.protobuf.BoolValue" -> TypeShape.scalar("boolean", name);
            case "google.protobuf.FloatValue", "google.protobuf.DoubleValue" -> TypeShape.scalar("number", name);
            case "google.protobuf.Int32Value",
                    "google.protobuf.Int64Value",
                    "google.protobuf.UInt32Value",
                    "google.protobuf.UInt64Value" -> TypeShape.scalar("integer", name);
            case "google.protobuf.Value", "google.protobuf.Any" -> TypeShape.any(name);
            case "google.protobuf.ListValue" -> TypeShape.list(name, ANY);
            case "google.protobuf.Struct" -> TypeShape.map(name, TypeShape.scalar("string", "string"), ANY);
            default -> message(type, name);
        };
    }

    private TypeShape message(Descriptor type, String name) {
        if (!definitions.containsKey(name)) {
            if (definitions.size() >= TypeCatalog.MAX_TYPES) {
                return TypeShape.any(name);
            }
            // While the fields of a message are examined, this entry ends the recursion for a message that contains
            // itself.
            definitions.put(name, new Definition("message", type.getName(), List.of(), List.of()));
            List<Field> fields = new ArrayList<>();
            for (FieldDescriptor field : type.getFields()) {
                fields.add(new Field(field.getJsonName(), fieldShape(field), field.hasPresence()));
            }
            definitions.put(name, new Definition("message", type.getName(), List.copyOf(fields), List.of()));
        }
        return TypeShape.reference("object", name, name);
    }

    private TypeShape fieldShape(FieldDescriptor field) {
        if (field.isMapField()) {
            List<FieldDescriptor> entry = field.getMessageType().getFields();
            TypeShape key = single(entry.get(0));
            TypeShape value = single(entry.get(1));
            return TypeShape.map("map<" + key.java() + ", " + value.java() + ">", key, value);
        }
        TypeShape one = single(field);
        return field.isRepeated() ? TypeShape.list("repeated " + one.java(), one) : one;
    }

    private TypeShape single(FieldDescriptor field) {
        String written = field.getType().name().toLowerCase(Locale.ROOT);
        return switch (field.getJavaType()) {
            case INT, LONG -> TypeShape.scalar("integer", written);
            case FLOAT, DOUBLE -> TypeShape.scalar("number", written);
            case BOOLEAN -> TypeShape.scalar("boolean", written);
            case STRING -> TypeShape.scalar("string", written);
            case BYTE_STRING -> TypeShape.scalar("bytes", written);
            case ENUM -> enumShape(field.getEnumType());
            case MESSAGE -> shape(field.getMessageType());
        };
    }

    private TypeShape enumShape(EnumDescriptor type) {
        String name = type.getFullName();
        if (!definitions.containsKey(name)) {
            if (definitions.size() >= TypeCatalog.MAX_TYPES) {
                return TypeShape.scalar("string", name);
            }
            List<String> values =
                    type.getValues().stream().map(EnumValueDescriptor::getName).toList();
            definitions.put(name, new Definition("enum", type.getName(), List.of(), values));
        }
        return TypeShape.reference("enum", name, name);
    }
}
