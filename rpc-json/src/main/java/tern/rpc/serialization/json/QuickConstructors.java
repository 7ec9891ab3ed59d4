package tern.rpc.serialization.json;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.SettableBeanProperty;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.ValueInstantiators;
import tools.jackson.databind.deser.bean.PropertyValueBuffer;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.introspect.AnnotatedConstructor;

/**
 * Calls constructors with arguments, such as constructors of records, through a method handle that is created once per
 * class. Jackson's own code adapts its handle to the number of arguments on each call. This adaptation takes longer
 * than decoding the arguments. Thread-safe.
 */
final class QuickConstructors implements ValueInstantiators {

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final MethodType OF_ARRAY = MethodType.methodType(Object.class, Object[].class);

    @Override
    public @Nullable ValueInstantiator findValueInstantiator(
            DeserializationConfig config, BeanDescription.Supplier description) {
        return null;
    }

    @Override
    public ValueInstantiator modifyValueInstantiator(
            DeserializationConfig config, BeanDescription.Supplier description, ValueInstantiator made) {
        return made.getClass() == StdValueInstantiator.class
                        && made.getWithArgsCreator() instanceof AnnotatedConstructor creator
                ? quick(made, creator.getAnnotated())
                : made;
    }

    private static ValueInstantiator quick(ValueInstantiator made, Constructor<?> constructor) {
        if (!constructor.trySetAccessible()) {
            return made;
        }
        try {
            MethodHandle handle = LOOKUP.unreflectConstructor(constructor).asFixedArity();
            return new Quick(
                    made,
                    handle.asSpreader(Object[].class, constructor.getParameterCount())
                            .asType(OF_ARRAY));
        } catch (IllegalAccessException closed) {
            return made;
        }
    }

    private static final class Quick extends ValueInstantiator.Delegating {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial") // Mappers that contain this object are never serialized.
        private final MethodHandle constructor;

        Quick(ValueInstantiator made, MethodHandle constructor) {
            super(made);
            this.constructor = constructor;
        }

        @Override
        public ValueInstantiator createContextual(
                DeserializationContext context, BeanDescription.Supplier description) {
            ValueInstantiator contextual = delegate().createContextual(context, description);
            return contextual == delegate() ? this : contextual;
        }

        @Override
        public Object createFromObjectWith(DeserializationContext context, Object[] arguments) {
            try {
                return (Object) constructor.invokeExact(arguments);
            } catch (Error failure) {
                throw failure;
            } catch (Throwable refused) {
                // The constructor has thrown an exception. Jackson calls the constructor a second time, because the
                // exception that Jackson throws contains the position in the text.
                return delegate().createFromObjectWith(context, arguments);
            }
        }

        @Override
        public Object createFromObjectWith(
                DeserializationContext context, SettableBeanProperty[] properties, PropertyValueBuffer buffer) {
            return createFromObjectWith(context, buffer.getParameters(context, properties));
        }
    }
}
