package tern.rpc.serialization.json;

import java.io.OutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tern.rpc.MethodDescriptor;
import tern.rpc.ValueType;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.introspect.BeanPropertyDefinition;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.ser.bean.BeanSerializerBase;
import tools.jackson.databind.ser.impl.UnknownSerializer;

/**
 * Finds fields that other formats send but JSON does not send, because no getter or annotation makes the fields visible
 * to Jackson. Searches the application classes that occur in a method's signature, and the classes of their properties.
 */
final class LostFields {

    private final SerializationContext context;
    private final Set<JavaType> seen = new HashSet<>();
    private final List<String> warnings = new ArrayList<>();

    private LostFields(SerializationContext context) {
        this.context = context;
    }

    /** Returns one warning for each class with fields that JSON does not send. */
    static List<String> of(MethodDescriptor method, JsonMapper mapper) {
        try (JsonGenerator generator = mapper.createGenerator(OutputStream.nullOutputStream())) {
            LostFields lost = new LostFields((SerializationContext) generator.objectWriteContext());
            for (ValueType type : method.parameters()) {
                lost.search(mapper.constructType(type.generic()));
            }
            lost.search(mapper.constructType(method.result().generic()));
            return lost.warnings;
        }
    }

    private void search(JavaType type) {
        if (!seen.add(type)) {
            return;
        }
        for (JavaType part : type.getBindings().getTypeParameters()) {
            search(part);
        }
        if (type.getContentType() != null) {
            search(type.getContentType());
        }
        if (type.isContainerType() || type.isInterface() || type.isEnumType() || !isOfApplication(type.getRawClass())) {
            return;
        }
        try {
            ValueSerializer<?> serializer = context.findValueSerializer(type);
            // Jackson's UnknownSerializer writes an empty object for a class without any visible property.
            if (serializer instanceof BeanSerializerBase || serializer instanceof UnknownSerializer) {
                searchBean(type, context.introspectBeanDescription(type));
            }
        } catch (RuntimeException e) {
            // Jackson cannot write this class. JacksonMethod reports the parameter or result that contains it.
            return;
        }
    }

    private void searchBean(JavaType type, BeanDescription description) {
        Set<String> sent = new HashSet<>(description.getIgnoredPropertyNames());
        for (BeanPropertyDefinition property : description.findProperties()) {
            if (property.couldSerialize()) {
                sent.add(property.getInternalName());
                sent.add(property.getName());
                search(property.getPrimaryType());
            }
        }
        List<String> lost = new ArrayList<>();
        for (Class<?> in = type.getRawClass(); in != null && isOfApplication(in); in = in.getSuperclass()) {
            for (Field field : in.getDeclaredFields()) {
                if (isState(field) && !sent.contains(field.getName())) {
                    lost.add(field.getName());
                }
            }
        }
        if (!lost.isEmpty()) {
            warnings.add("Objects of " + type.getRawClass().getName() + " lose state in JSON: the "
                    + (lost.size() == 1 ? "field " : "fields ") + String.join(", ", lost) + " "
                    + (lost.size() == 1 ? "has" : "have") + " no getter. Add one, annotate the field with"
                    + " @JsonProperty or @JsonIgnore, make the class a record, or use the protocol tri");
        }
    }

    private static boolean isState(Field field) {
        return (field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0
                && !field.isSynthetic()
                && field.getAnnotations().length == 0;
    }

    private static boolean isOfApplication(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return loader != null && loader != ClassLoader.getPlatformClassLoader();
    }
}
