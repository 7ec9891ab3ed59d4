package tern.rpc;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** All that is known of one method of a service, worked out once at start-up. Immutable. */
public final class MethodDescriptor {

    private final ServiceDescriptor service;
    private final int index;
    private final MethodSignature signature;
    private final List<Class<?>> exceptions;
    private final boolean idempotent;
    private final boolean readOnly;
    private final boolean oneWay;
    private final String fullName;

    /** @param effects as declared elsewhere than by {@link RpcMethod} */
    MethodDescriptor(
            ServiceDescriptor service, int index, MethodSignature signature, ServiceDescriptor.Effects effects) {
        this.service = service;
        this.index = index;
        this.signature = signature;
        Method method = signature.method();
        RpcMethod marks = method == null ? null : method.getAnnotation(RpcMethod.class);
        this.exceptions = method == null ? List.of() : List.of(method.getExceptionTypes());
        this.readOnly = effects == ServiceDescriptor.Effects.NONE || (marks != null && marks.readOnly());
        this.idempotent =
                readOnly || effects == ServiceDescriptor.Effects.IDEMPOTENT || (marks != null && marks.idempotent());
        this.oneWay = marks != null && marks.oneWay();
        this.fullName = service.simpleName() + "/" + signature.name();
    }

    public ServiceDescriptor service() {
        return service;
    }

    /** Position in {@link ServiceDescriptor#methods()}. */
    public int index() {
        return index;
    }

    /** As on the wire; the Java name unless {@link WireName} says otherwise. */
    public String name() {
        return signature.name();
    }

    /** Null for a method of a service that has no Java interface. */
    public @Nullable Method javaMethod() {
        return signature.method();
    }

    public MethodType type() {
        return signature.type();
    }

    /** What the requests are in the Java signature: {@code VALUE}, or a kind of stream. */
    public JavaShape requests() {
        return signature.requests();
    }

    /** What the answer, or the answers, are in the Java signature. */
    public JavaShape responses() {
        return signature.responses();
    }

    public Payload payload() {
        return signature.payload();
    }

    /** What one request message carries; of a stream of requests the one type of its elements. */
    public List<ValueType> parameters() {
        return signature.parameters();
    }

    /** One per parameter; {@code arg0} and so on when the class file does not tell. */
    public List<String> parameterNames() {
        return signature.parameterNames();
    }

    /** What one answer carries: without what stands for later or many; {@code void} as it is. */
    public ValueType result() {
        return signature.result();
    }

    /** Exceptions that the Java method declares. */
    public List<Class<?>> exceptions() {
        return exceptions;
    }

    /** Whether the method declares this exception. */
    public boolean declares(Throwable failure) {
        for (Class<?> declared : exceptions) {
            if (declared.isInstance(failure)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the one answer comes later: a {@code CompletionStage} or a {@code Mono}. */
    public boolean isAsync() {
        return signature.responses().isLater();
    }

    public boolean isIdempotent() {
        return idempotent;
    }

    public boolean isReadOnly() {
        return readOnly;
    }

    public boolean isOneWay() {
        return oneWay;
    }

    /** From {@link RpcMethod#timeout()}; null when not set there. */
    public @Nullable Duration timeout() {
        return signature.timeout();
    }

    /** JVM descriptors of the erased parameter types one after the other, as in {@code JLjava/lang/String;}. */
    public String descriptor() {
        return signature.descriptor();
    }

    /** For messages and meters: {@code UserService/getUser}. */
    public String fullName() {
        return fullName;
    }

    @Override
    public String toString() {
        return fullName;
    }
}
