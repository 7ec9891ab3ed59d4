package tern.rpc;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Describes one method of a service. Descriptors are created at startup. Immutable. */
public final class MethodDescriptor {

    private final ServiceDescriptor service;
    private final int index;
    private final MethodSignature signature;
    private final List<Class<?>> exceptions;
    private final boolean idempotent;
    private final boolean readOnly;
    private final boolean oneWay;
    private final String fullName;
    private final String label;
    private final String distinctName;

    /**
     * @param effects the side effects of a call, unless {@link RpcMethod} declares that the method has fewer side
     *     effects
     */
    MethodDescriptor(
            ServiceDescriptor service, int index, MethodSignature signature, ServiceDescriptor.Effects effects) {
        this.service = service;
        this.index = index;
        this.signature = signature;
        Method method = signature.method();
        RpcMethod marks = method == null ? null : MethodAnnotations.of(method, RpcMethod.class);
        this.exceptions = signature.exceptions();
        this.readOnly = effects == ServiceDescriptor.Effects.NONE || (marks != null && marks.readOnly());
        this.idempotent =
                readOnly || effects == ServiceDescriptor.Effects.IDEMPOTENT || (marks != null && marks.idempotent());
        this.oneWay = marks != null && marks.oneWay();
        this.fullName = service.simpleName() + "/" + signature.name();
        this.label = service.simpleName() + "." + signature.name();
        this.distinctName = signature.name() + "(" + signature.descriptor() + ")";
    }

    public ServiceDescriptor service() {
        return service;
    }

    /** Returns the index of this method in {@link ServiceDescriptor#methods()}. */
    public int index() {
        return index;
    }

    /** Returns the name on the wire: the name that {@link WireName} sets, or otherwise the Java name. */
    public String name() {
        return signature.name();
    }

    /** Returns the Java method; null if the service has no Java interface. */
    public @Nullable Method javaMethod() {
        return signature.method();
    }

    public MethodType type() {
        return signature.type();
    }

    /** Returns the form of the requests in the Java signature: {@code VALUE} or one of the stream forms. */
    public JavaShape requests() {
        return signature.requests();
    }

    /** Returns the form of the answers in the Java signature, such as a value, a future or a stream. */
    public JavaShape responses() {
        return signature.responses();
    }

    public Payload payload() {
        return signature.payload();
    }

    /**
     * Returns the types of the values in one request message. For a stream of requests, this is the type of one
     * element.
     */
    public List<ValueType> parameters() {
        return signature.parameters();
    }

    /** Returns the parameter names; {@code arg0} and so on if the class file contains no parameter names. */
    public List<String> parameterNames() {
        return signature.parameterNames();
    }

    /**
     * Returns the type of one answer, without a wrapper such as {@code CompletionStage}, {@code Mono} or {@code Flux}.
     * A {@code void} method has the type {@code void}.
     */
    public ValueType result() {
        return signature.result();
    }

    /**
     * Describes the first parameter or result whose type contains a type variable, for an error message. Formats that
     * rely on declared types would decode such a value as the wrong class. Returns null if all types are known.
     */
    public @Nullable String unknownType() {
        for (int i = 0; i < parameters().size(); i++) {
            if (TypeVariables.unknown(parameters().get(i).generic()) != null) {
                return unknownType("parameter " + (i + 1), parameters().get(i));
            }
        }
        return TypeVariables.unknown(result().generic()) == null ? null : unknownType("result", result());
    }

    private String unknownType(String position, ValueType type) {
        return label + ", " + position + ": " + type.generic().getTypeName() + " does not name a class"
                + MethodSignature.advice(type.generic());
    }

    /** Returns the exceptions that the Java method declares. */
    public List<Class<?>> exceptions() {
        return exceptions;
    }

    /** Returns whether the method declares the class of the given exception or a superclass. */
    public boolean declares(Throwable failure) {
        for (Class<?> declared : exceptions) {
            if (declared.isInstance(failure)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the method returns its single answer as a {@code CompletionStage} or a {@code Mono}. */
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

    /** Returns the timeout set with {@link RpcMethod#timeout()}; null if it is not set or contains placeholders. */
    public @Nullable Duration timeout() {
        return signature.timeout();
    }

    /** Returns the text of {@link RpcMethod#timeout()} if it contains placeholders; otherwise null. */
    public @Nullable String timeoutPlaceholder() {
        Method method = javaMethod();
        RpcMethod marks = method == null ? null : method.getAnnotation(RpcMethod.class);
        return marks == null || !isPlaceholder(marks.timeout()) ? null : marks.timeout();
    }

    static boolean isPlaceholder(String text) {
        return text.contains("${");
    }

    /** Returns the concatenated JVM descriptors of the erased parameter types, such as {@code JLjava/lang/String;}. */
    public String descriptor() {
        return signature.descriptor();
    }

    /** Returns the name of the service and method in error messages and meters: {@code UserService/getUser}. */
    public String fullName() {
        return fullName;
    }

    /** Returns the name of the service and method in ledgers and diagnoses: {@code UserService.getUser}. */
    public String label() {
        return label;
    }

    /** Returns the name and the {@link #descriptor()} in parentheses. Overloads have different distinct names. */
    public String distinctName() {
        return distinctName;
    }

    @Override
    public String toString() {
        return fullName;
    }
}
