package tern.rpc.serialization.hessian;

import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.SerializationException;

/** Reads a Hessian 2 message from a byte array in one pass. Not thread-safe. */
final class HessianReader implements ObjectReader {

    private static final int MAX_LEADING_TEXT = 1 << 16;

    /**
     * Matches the JVM's message about an element or a key that a sorted container cannot order, because the class is
     * not Comparable.
     */
    private static final Pattern NOT_COMPARABLE =
            Pattern.compile("class (\\S+) cannot be cast to class java\\.lang\\.Comparable ");

    private static final Object UNKNOWN_SENDER = "unknown sender";

    private final HessianInput in = new HessianInput();
    private final KnownTexts texts = new KnownTexts();
    private final ValueReader values;
    private final HashBudget hashes;
    private final MetadataReader metadata;
    private final Function<ServiceDescriptor, ServicePolicy> policies;
    private final Function<ValueType, Slot> slots;

    HessianReader(
            HessianLimits limits,
            KnownDefinitions definitions,
            Function<ServiceDescriptor, ServicePolicy> policies,
            Function<ValueType, Slot> slots) {
        this(limits, definitions, new HashBudget(limits), policies, slots);
    }

    HessianReader(
            HessianLimits limits,
            KnownDefinitions definitions,
            HashBudget hashes,
            Function<ServiceDescriptor, ServicePolicy> policies,
            Function<ValueType, Slot> slots) {
        this.values = new ValueReader(in, limits, definitions, hashes);
        this.hashes = hashes;
        this.metadata = new MetadataReader(in, values, texts);
        this.policies = policies;
        this.slots = slots;
    }

    @Override
    public void start(byte[] array, int offset, int length) {
        start(array, offset, length, UNKNOWN_SENDER);
    }

    @Override
    public void start(byte[] array, int offset, int length, Object sender) {
        in.start(array, offset, length);
        values.start();
        hashes.sender(sender);
    }

    @Override
    public void trust(ServiceDescriptor service) {
        values.trust(policies.apply(service));
    }

    @Override
    public @Nullable String readString() {
        int tag = in.next();
        return tag == 'N' ? null : in.textOf(tag, MAX_LEADING_TEXT, texts, true);
    }

    @Override
    public int readInt() {
        return in.intOf(in.next());
    }

    @Override
    public @Nullable Object readObject(ValueType type) {
        checkTrust();
        Slot slot = slots.apply(type);
        try {
            return values.read(slot);
        } catch (SerializationException failure) {
            throw failure;
        } catch (RuntimeException failure) {
            throw hashes.isRefusal(failure) ? failure : broken("a value of type " + type, failure);
        } catch (StackOverflowError | LinkageError failure) {
            throw broken("a value of type " + type, failure);
        } finally {
            hashes.endTurn();
        }
    }

    @Override
    public @Nullable Object readScalar() {
        int tag = in.next();
        return switch (Tags.kind(tag)) {
            case Tags.NULL -> null;
            case Tags.BOOLEAN -> tag == 'T';
            case Tags.INT -> in.intOf(tag);
            case Tags.LONG -> in.longOf(tag);
            case Tags.DOUBLE -> in.doubleOf(tag);
            case Tags.TEXT -> in.textOf(tag, Integer.MAX_VALUE);
            default -> throw in.unexpected(tag, "text, a number or a boolean");
        };
    }

    @Override
    public void skip() {
        values.skip();
    }

    @Override
    public Throwable readThrowable() {
        checkTrust();
        int start = in.position();
        boolean isFirst = values.references().next() == 0;
        try {
            return values.throwables().read();
        } catch (SerializationException failure) {
            return isFirst ? readPlainly(start, failure) : rethrow(failure);
        } catch (RuntimeException | StackOverflowError | LinkageError failure) {
            SerializationException broken = broken("an exception", failure);
            return isFirst ? readPlainly(start, broken) : rethrow(broken);
        } finally {
            hashes.endTurn();
        }
    }

    private static Throwable rethrow(SerializationException failure) {
        throw failure;
    }

    /**
     * Reads the exception of a failed call again, but only its class name, message and stack trace. The caller then
     * receives the provider's error even if a field of the exception cannot be read.
     */
    private Throwable readPlainly(int start, SerializationException failure) {
        try {
            in.moveTo(start, 0);
            values.startAgain();
            return values.throwables().readWithoutClass(String.valueOf(failure.getMessage()));
        } catch (SerializationException | StackOverflowError alsoNot) {
            throw failure;
        }
    }

    @Override
    public void readMetadata(Metadata into) {
        metadata.read(into);
    }

    @Override
    public int remaining() {
        return in.remaining();
    }

    private void checkTrust() {
        if (!values.isTrusting()) {
            throw new IllegalStateException("objects can be read only if the types of a service are set");
        }
    }

    /**
     * Wraps an exception that application code threw while a value was being read, for example in a static initializer,
     * {@code equals}, {@code compareTo} or {@code readResolve}.
     */
    private SerializationException broken(String what, Throwable failure) {
        return new SerializationException(
                what + " cannot be created from its parts: " + cause(failure) + in.here(), failure);
    }

    private static String cause(Throwable failure) {
        String message = failure instanceof ClassCastException ? failure.getMessage() : null;
        Matcher unsorted = NOT_COMPARABLE.matcher(message == null ? "" : message);
        return unsorted.lookingAt()
                ? unsorted.group(1) + " is not Comparable, and the comparator of a sorted set or map is not sent:"
                        + " implement Comparable, or send a List or a LinkedHashMap"
                : failure.getClass().getName();
    }
}
