package tern.rpc.cluster;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.endpoint.Endpoint;

/** Hash functions that return the same values in all processes. */
public final class Hashes {

    private static final Logger LOG = LoggerFactory.getLogger(Hashes.class);
    private static final long STEP = 0x100000001B3L;

    /**
     * The interface of all protobuf messages. The hash code of a message depends on objects of the current process, so
     * it differs between processes.
     */
    private static final String MESSAGE = "com.google.protobuf.MessageLite";

    /**
     * True for each class that computes hash codes from the content of its instances. For other classes, a warning is
     * logged once.
     */
    private static final ClassValue<Boolean> HASHES_CONTENT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return hashesContent(type);
        }
    };

    private static final ClassValue<Method[]> ACCESSORS = new ClassValue<>() {
        @Override
        protected Method[] computeValue(Class<?> type) {
            return accessors(type);
        }
    };

    private Hashes() {}

    static long of(Endpoint endpoint) {
        return mix(endpoint.host().hashCode() * 31L + endpoint.port());
    }

    /** Returns the hash of a call's key. The hash is never 0, because 0 means that a call has no key. */
    public static long ofKey(Object key) {
        long hash = mix(ofContent(key));
        return hash == 0 ? 1 : hash;
    }

    /**
     * Returns a hash of the value's content. The identity hash codes of arrays and enum constants are not used, because
     * they differ between processes or between equal values.
     */
    private static long ofContent(@Nullable Object value) {
        if (value == null) {
            return 0;
        }
        if (value instanceof CharSequence text) {
            return ofText(text);
        }
        if (value instanceof Enum<?> constant) {
            return ofText(constant.name());
        }
        if (value instanceof byte[] bytes) {
            return Arrays.hashCode(bytes);
        }
        if (value instanceof Record) {
            return ofRecord(value);
        }
        if (value instanceof Set<?> set) {
            return ofUnordered(set);
        }
        if (value instanceof Map<?, ?> map) {
            return ofUnordered(map.entrySet());
        }
        if (value instanceof Map.Entry<?, ?> entry) {
            return mix(ofContent(entry.getKey())) * STEP + ofContent(entry.getValue());
        }
        if (value instanceof Collection<?> values) {
            return ofOrdered(values);
        }
        if (value instanceof Optional<?> optional) {
            return optional.isEmpty() ? 0 : ofContent(optional.get());
        }
        return value.getClass().isArray() ? ofArray(value) : ofOther(value);
    }

    private static long ofRecord(Object value) {
        long hash = 1;
        try {
            for (Method accessor : ACCESSORS.get(value.getClass())) {
                hash = hash * STEP + ofContent(accessor.invoke(value));
            }
        } catch (ReflectiveOperationException e) { // An accessor of the record has thrown an exception.
            return value.hashCode();
        }
        return hash;
    }

    private static long ofOrdered(Iterable<?> values) {
        long hash = 1;
        for (Object each : values) {
            hash = hash * STEP + ofContent(each);
        }
        return hash;
    }

    private static long ofUnordered(Iterable<?> values) {
        long hash = 0;
        for (Object each : values) {
            hash += mix(ofContent(each));
        }
        return hash;
    }

    private static long ofArray(Object array) {
        long hash = 1;
        for (int i = 0; i < Array.getLength(array); i++) {
            hash = hash * STEP + ofContent(Array.get(array, i));
        }
        return hash;
    }

    private static long ofOther(Object value) {
        if (!HASHES_CONTENT.get(value.getClass())) {
            return System.identityHashCode(value);
        }
        return value.hashCode();
    }

    private static boolean hashesContent(Class<?> type) {
        if (isMessage(type)) {
            LOG.warn(
                    "A key of the load balancing consistent-hash is of {}, a message of protobuf. The hash codes of"
                            + " messages differ between processes, so different clients send equal keys to different"
                            + " providers. Use another argument or CallOptions.key as the key.",
                    type.getName());
            return true;
        }
        try {
            if (type.getMethod("hashCode").getDeclaringClass() != Object.class) {
                return true;
            }
        } catch (NoSuchMethodException e) {
            return true; // The exception cannot occur, because Object has the method hashCode.
        }
        LOG.warn(
                "A key of the load balancing consistent-hash is of {}, which does not override hashCode. Calls with equal"
                        + " keys therefore go to different providers. Override equals and hashCode, make the class a"
                        + " record, or use another argument or CallOptions.key as the key.",
                type.getName());
        return false;
    }

    /** Returns whether the class was generated by protobuf's compiler. */
    private static boolean isMessage(@Nullable Class<?> type) {
        return type != null
                && (type.getName().equals(MESSAGE)
                        || isMessage(type.getSuperclass())
                        || Arrays.stream(type.getInterfaces()).anyMatch(Hashes::isMessage));
    }

    private static Method[] accessors(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        Method[] accessors = new Method[components.length];
        for (int i = 0; i < accessors.length; i++) {
            accessors[i] = components[i].getAccessor();
            accessors[i].trySetAccessible();
        }
        return accessors;
    }

    private static long ofText(CharSequence text) {
        long hash = text.length();
        for (int i = 0; i < text.length(); i++) {
            hash = hash * STEP + text.charAt(i);
        }
        return hash;
    }

    /** Mixes all bits of the value (the finalizer of SplitMix64). */
    static long mix(long value) {
        long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
