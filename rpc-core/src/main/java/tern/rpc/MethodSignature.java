package tern.rpc;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The signature of one method of a service. If the values of a type cannot be sent, the signature is rejected with an
 * exception. The message names the method and the position of the type.
 */
record MethodSignature(
        String name,
        @Nullable Method method,
        JavaShape requests,
        JavaShape responses,
        MethodType type,
        List<ValueType> parameters,
        List<String> parameterNames,
        ValueType result,
        Payload payload,
        @Nullable Duration timeout,
        String descriptor,
        List<Class<?>> exceptions,
        List<String> warnings) {

    /** The type of the parameter that Kotlin's compiler adds to suspend functions. */
    private static final String CONTINUATION = "kotlin.coroutines.Continuation";

    /** The suffix of the text that names a method's result in error messages. */
    private static final String RESULT = ", result";

    static MethodSignature of(Class<?> service, Method method, TypeVariables variables) {
        String name = service.getSimpleName() + "." + method.getName();
        checkSuspend(name, method);
        List<String> warnings = new ArrayList<>();
        List<ValueType> parameters = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        StringBuilder descriptor = new StringBuilder();
        JavaShape returned = JavaShape.of(method.getReturnType());
        Type result = variables.resolve(method.getGenericReturnType());
        JavaShape requests = returned == JavaShape.OBSERVER ? JavaShape.OBSERVER : JavaShape.VALUE;
        JavaShape responses = returned;
        for (int i = 0; i < method.getParameterCount(); i++) {
            Type type = variables.resolve(method.getGenericParameterTypes()[i]);
            String position = name + ", parameter " + (i + 1);
            JavaShape shape = JavaShape.of(method.getParameterTypes()[i]);
            descriptor.append(method.getParameterTypes()[i].descriptorString());
            if (shape == JavaShape.OBSERVER) {
                checkObserver(name, method, i);
                responses = JavaShape.OBSERVER;
                result = shape.element(type, position);
                continue;
            }
            if (shape.isStream()) {
                requests = shape;
                type = shape.element(type, position);
            }
            parameters.add(valueType(type, position, warnings, problems));
            names.add(method.getParameters()[i].getName());
        }
        String position = name + RESULT;
        if (returned == JavaShape.OBSERVER) {
            checkObservers(name, method, responses);
            parameters.add(valueType(
                    JavaShape.OBSERVER.element(variables.resolve(method.getGenericReturnType()), position),
                    position,
                    warnings,
                    problems));
            names.add("value");
        } else if (responses != JavaShape.OBSERVER) {
            result = responses.element(result, position);
        }
        checkRequests(name, requests, parameters.size());
        ValueType resultType = valueType(result, position, warnings, problems);
        if (!problems.isEmpty()) {
            throw new InvalidServiceException(service.getSimpleName(), problems, null);
        }
        RpcMethod marks = MethodAnnotations.of(method, RpcMethod.class);
        checkOneWay(name, marks, method, responses);
        WireName wireName = MethodAnnotations.of(method, WireName.class);
        MethodAnnotations.check(wireName, name);
        return new MethodSignature(
                wireName == null ? method.getName() : wireName.value(),
                method,
                requests,
                responses,
                type(requests, responses),
                List.copyOf(parameters),
                List.copyOf(names),
                resultType,
                Payload.of(name, parameters, resultType),
                timeout(name, marks),
                descriptor.toString(),
                exceptions(method, variables),
                warnings);
    }

    private static void checkRequests(String name, JavaShape requests, int parameters) {
        if (requests.isStream() && parameters != 1) {
            throw new IllegalArgumentException(name + " takes a stream and " + (parameters - 1)
                    + " other arguments; a stream of requests must be the only parameter, so put the others into its"
                    + " elements");
        }
    }

    /**
     * Returns the declared exceptions. Type variables in {@code throws} are replaced with the types that a
     * sub-interface declares.
     */
    private static List<Class<?>> exceptions(Method method, TypeVariables variables) {
        List<Class<?>> exceptions = new ArrayList<>();
        for (Type declared : method.getGenericExceptionTypes()) {
            exceptions.add(TypeVariables.rawClass(variables.resolve(declared)));
        }
        return List.copyOf(exceptions);
    }

    /**
     * Creates the signature of a method without a Java interface. Each of its messages is a byte array or a protobuf
     * message.
     */
    static MethodSignature of(ServiceDescriptor.Operation operation) {
        String name = operation.name();
        MethodType type = operation.type();
        Class<?> request = operation.request();
        List<ValueType> parameters = List.of(ValueType.of(request));
        ValueType result = ValueType.of(operation.response());
        return new MethodSignature(
                name,
                null,
                type.clientStreams() ? JavaShape.PUBLISHER : JavaShape.VALUE,
                type.serverStreams() ? operation.answers() : JavaShape.STAGE,
                type,
                parameters,
                List.of("value"),
                result,
                request == byte[].class ? Payload.RAW : Payload.of(name, parameters, result),
                null,
                request.descriptorString(),
                List.of(),
                List.of());
    }

    private static MethodType type(JavaShape requests, JavaShape responses) {
        if (requests.isStream()) {
            return responses.isStream() ? MethodType.BIDI_STREAMING : MethodType.CLIENT_STREAMING;
        }
        return responses.isStream() ? MethodType.SERVER_STREAMING : MethodType.UNARY;
    }

    private static void checkSuspend(String name, Method method) {
        for (Class<?> parameter : method.getParameterTypes()) {
            if (parameter.getName().equals(CONTINUATION)) {
                throw new IllegalArgumentException(name
                        + " is a suspend function, which cannot be remote; return a CompletableFuture, and call await()"
                        + " of kotlinx.coroutines.future on it");
            }
        }
    }

    private static void checkObserver(String name, Method method, int index) {
        boolean last = index == method.getParameterCount() - 1;
        boolean fits = method.getReturnType() == void.class || method.getReturnType() == StreamObserver.class;
        String advice = LocalTypes.advice(method.getReturnType());
        if (advice != null) { // for example, the result type is gRPC's own StreamObserver, which cannot be sent
            throw new IllegalArgumentException(
                    name + ", result: " + method.getReturnType().getName() + " cannot be sent; " + advice);
        }
        if (!last || !fits) {
            throw new IllegalArgumentException(name + ": a StreamObserver is the last parameter of a method that"
                    + " returns void, or StreamObserver for a stream of requests");
        }
    }

    private static void checkObservers(String name, Method method, JavaShape responses) {
        if (responses != JavaShape.OBSERVER || method.getParameterCount() != 1) {
            throw new IllegalArgumentException(
                    name + ": a method that returns a StreamObserver takes one StreamObserver and nothing else");
        }
    }

    /** @param problems receives the problem if values of the type cannot be sent */
    private static ValueType valueType(Type type, String position, List<String> warnings, List<String> problems) {
        Class<?> raw = TypeVariables.rawClass(type);
        try {
            checkValue(type, raw, position, warnings);
        } catch (IllegalArgumentException e) {
            problems.add(String.valueOf(e.getMessage()));
        }
        return new ValueType(type, raw);
    }

    private static void checkValue(Type type, Class<?> raw, String position, List<String> warnings) {
        if (Future.class.isAssignableFrom(raw) || JavaShape.of(raw) != JavaShape.VALUE) {
            throw new IllegalArgumentException(position + ": " + type.getTypeName()
                    + " cannot be sent; a result may be a CompletionStage or a Flow.Publisher, and the only parameter a"
                    + " Flow.Publisher" + replacement(type, raw, position));
        }
        String advice = LocalTypes.advice(raw);
        if (advice != null) {
            throw new IllegalArgumentException(position + ": " + type.getTypeName() + " cannot be sent; " + advice);
        }
        if (Callbacks.isIn(type)) {
            throw new IllegalArgumentException(position + ": " + type.getTypeName()
                    + " is a callback, which cannot be sent; return a Flow.Publisher, or take a"
                    + " StreamObserver as the last parameter of a void method; a default method that only the caller needs"
                    + " may be marked @RpcMethod(local = true)");
        }
        for (Type part : TypeVariables.parts(type)) {
            checkPart(part, type, position);
        }
        if (TypeVariables.isVague(type)) {
            warnings.add(position + ": " + type.getTypeName()
                    + " does not name a class; its values are limited to scalars, collections and the"
                    + " classes that the interface names elsewhere or rpc.limits.allowed-classes lists"
                    + advice(type));
        }
    }

    /**
     * Returns advice for a future or a stream that is declared where only plain values are allowed. Returns an empty
     * string if there is no advice.
     */
    private static String replacement(Type type, Class<?> raw, String position) {
        boolean isStream = JavaShape.of(raw).isStream();
        if (!position.endsWith(RESULT)) {
            return isStream ? "" : "; pass the value of the future";
        }
        return JavaShape.of(raw) == JavaShape.VALUE
                ? "; return a CompletableFuture"
                : "; it is inside another future or stream, so declare " + type.getTypeName() + " itself as the result";
    }

    /**
     * Rejects type arguments and element types that are futures or streams, or whose values exist only within one
     * process.
     */
    private static void checkPart(Type part, Type whole, String position) {
        Class<?> raw = TypeVariables.rawClass(part);
        if (Future.class.isAssignableFrom(raw) || JavaShape.of(raw) != JavaShape.VALUE) {
            throw new IllegalArgumentException(position + ": " + whole.getTypeName() + " cannot be sent, because a "
                    + raw.getSimpleName() + " inside another type cannot be sent; use the values themselves");
        }
        String advice = LocalTypes.advice(raw);
        if (advice != null) {
            throw new IllegalArgumentException(position + ": " + whole.getTypeName()
                    + " cannot be sent, because it contains " + raw.getSimpleName() + "; " + advice);
        }
        for (Type inner : TypeVariables.parts(part)) {
            checkPart(inner, whole, position);
        }
    }

    /**
     * Returns a hint for the message about a type that contains a type variable of a generic interface, such as
     * {@code T} in {@code Repo<T>}, or of a generic method. Returns an empty string for any other type.
     */
    static String advice(Type type) {
        TypeVariable<?> variable = TypeVariables.unknown(type);
        if (variable == null) {
            return "";
        }
        if (!(variable.getGenericDeclaration() instanceof Class<?> generic)) {
            return ". Declare the class of the values instead of the type variable " + variable.getName()
                    + " of the method";
        }
        String name = generic.getSimpleName();
        String others = ", …".repeat(generic.getTypeParameters().length - 1);
        return ". Declare an interface that sets the type parameter, such as interface Item" + name + " extends " + name
                + "<Item" + others + ">, and use it for the service and the reference";
    }

    private static void checkOneWay(String name, @Nullable RpcMethod marks, Method method, JavaShape responses) {
        if (marks != null
                && marks.oneWay()
                && (method.getReturnType() != void.class || responses == JavaShape.OBSERVER)) {
            throw new IllegalArgumentException(name + " is marked oneWay but "
                    + (responses.isStream()
                            ? "has a stream of answers"
                            : "returns " + method.getReturnType().getSimpleName())
                    + "; only void methods can be one-way");
        }
    }

    private static @Nullable Duration timeout(String name, @Nullable RpcMethod marks) {
        if (marks == null || marks.timeout().isEmpty() || MethodDescriptor.isPlaceholder(marks.timeout())) {
            return null;
        }
        return Durations.parsePositive(name + ", @RpcMethod(timeout)", marks.timeout());
    }
}
