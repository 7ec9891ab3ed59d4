package tern.rpc.netty.dubbo;

import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Payload;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.netty.HeadersLeftOut;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.MissingMethods;
import tern.rpc.transport.ServiceLookup;
import tern.rpc.transport.WrongArguments;

/**
 * The body of a request: version, interface, service version, method, descriptors, arguments, attachments
 * (docs/wire-protocol.md 1.4).
 */
final class DubboRequestBody {

    static final String PATH = "path";
    static final String INTERFACE = "interface";
    static final String GROUP = "group";
    static final String VERSION = "version";
    static final String TIMEOUT = "timeout";
    static final String REMOTE_APPLICATION = "remote.application";
    static final String GENERIC = "generic";

    /**
     * The name prefix of the attachments that contain callback objects of a Dubbo consumer (docs/wire-protocol.md 1.9).
     */
    private static final String CALLBACK = "sys_callback_arg-";

    /** The names of attachments that the protocol itself uses. Application metadata with these names is not sent. */
    private static final Set<String> RESERVED = Set.of(PATH, INTERFACE, GROUP, VERSION, TIMEOUT, REMOTE_APPLICATION);

    /**
     * The names of attachments that the called service does not receive. The service receives the caller's application
     * name, which is therefore not in this list.
     */
    private static final Predicate<String> FOR_THE_PROTOCOL =
            name -> !name.equals(REMOTE_APPLICATION) && RESERVED.contains(name);

    /**
     * The typical number of attachments of a request: path, interface, version, timeout and the caller's application
     * name.
     */
    private static final int USUAL = 5;

    private static final int MAX_DIGITS = 18;

    private static final HeadersLeftOut LEFT_OUT = new HeadersLeftOut("dubbo");

    private DubboRequestBody() {}

    /**
     * A decoded request.
     *
     * @param takesResponseAttachments whether the caller can read attachments in the answer
     */
    record Read(Invocation call, boolean takesResponseAttachments) {}

    /**
     * Decodes the whole request. Runs on a worker thread.
     *
     * @param receivedNanos the arrival time of the request, from which its timeout is measured
     * @throws RpcException if the service or method does not exist
     * @throws tern.rpc.serialization.SerializationException if the bytes are invalid
     */
    static Read read(ObjectReader reader, ServiceLookup services, long receivedNanos, Executor executor) {
        boolean attachments = DubboVersion.takesResponseAttachments(reader.readString());
        String interfaceName = orEmpty(reader.readString());
        String version = orEmpty(reader.readString());
        String methodName = orEmpty(reader.readString());
        String descriptor = orEmpty(reader.readString());
        ServiceDescriptor service = services.service(interfaceName);
        MethodDescriptor method = method(services, service, methodName, descriptor);
        reader.trust(service);
        Object[] arguments = new Object[method.parameters().size()];
        boolean scalarsOnly = method.service() != service && !services.genericCalls();
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = scalarsOnly ? scalar(reader) : WrongArguments.read(reader, method, i);
        }
        Metadata metadata = new Metadata(USUAL);
        reader.readMetadata(metadata);
        checkGeneric(metadata);
        metadata.forEach(DubboRequestBody::checkNoCallback);
        ServiceKey key = key(metadata, interfaceName, version);
        if (!key.interfaceName().equals(interfaceName) && services.service(key.interfaceName()) != service) {
            throw differentServices(key.interfaceName(), interfaceName);
        }
        Deadline deadline = deadline(metadata, receivedNanos);
        metadata.removeIf(FOR_THE_PROTOCOL);
        return new Read(new Invocation(key, method, arguments, metadata, deadline, executor), attachments);
    }

    /**
     * Decodes the request without its arguments. The arguments are skipped, and no objects are created or classes
     * loaded for them. Runs on a worker thread.
     *
     * @param receivedNanos the arrival time of the request, from which its timeout is measured
     * @throws RpcException if the request names two different services
     * @throws tern.rpc.serialization.SerializationException if the bytes are invalid
     */
    static CallHead readHead(ObjectReader reader, long receivedNanos, ServerContext.Exchange exchange) {
        reader.readString(); // skips the protocol version
        String interfaceName = orEmpty(reader.readString());
        String version = orEmpty(reader.readString());
        String methodName = orEmpty(reader.readString());
        String descriptor = orEmpty(reader.readString());
        int arguments = Descriptor.parameters(descriptor);
        MethodDescriptor builtIn = BuiltInMethods.DESCRIPTOR.method(methodName, descriptor);
        boolean generic = builtIn != null && BuiltInMethods.isGeneric(builtIn);
        if (generic) {
            methodName = orEmpty(reader.readString());
            arguments--;
        }
        for (int i = 0; i < arguments; i++) {
            reader.skip();
        }
        Metadata metadata = new Metadata(USUAL);
        reader.readMetadata(metadata);
        ServiceKey key = key(metadata, interfaceName, version);
        if (!key.interfaceName()
                // the two service names must be equal: if they differed, the caller could be authorized for one service
                // while the arguments are decoded for the other service
                .equals(interfaceName)) {
            throw differentServices(key.interfaceName(), interfaceName);
        }
        Deadline deadline = deadline(metadata, receivedNanos);
        metadata.removeIf(FOR_THE_PROTOCOL);
        return new CallHead(key, methodName, generic, key + "/" + methodName, metadata, deadline, exchange);
    }

    /** Returns whether the method can be called over the dubbo protocol. */
    static boolean isCallable(MethodDescriptor method) {
        return method.type() == MethodType.UNARY && method.payload() == Payload.JAVA;
    }

    private static MethodDescriptor method(
            ServiceLookup services, ServiceDescriptor service, String name, String descriptor) {
        MethodDescriptor method = service.method(name, descriptor);
        if (method == null && name.startsWith("$")) {
            method = services.builtIn(name, descriptor);
        }
        if (method == null) {
            throw noSuchMethod(service, name, descriptor);
        }
        if (!isCallable(method)) {
            throw RpcException.refusal(
                    StatusCode.UNIMPLEMENTED,
                    method + " has " + method.type() + " calls of " + method.payload()
                            + " messages, which the dubbo protocol does not have; call it with Triple",
                    Executed.NO);
        }
        return method;
    }

    /**
     * Returns the failure for arguments that do not match the method. As in every other protocol, the status code
     * indicates a caller error.
     */
    private static RpcException noSuchMethod(ServiceDescriptor service, String name, String descriptor) {
        String missing = service.name() + " has no method " + PeerText.name(name);
        if (service.overloads(name).isEmpty()) {
            return MissingMethods.refusal(service, name);
        }
        MethodDescriptor only =
                service.overloads(name).size() == 1 ? service.overloads(name).get(0) : null;
        if (only != null && isReadable(descriptor)) {
            int given = Descriptor.parameters(descriptor);
            if (given != only.parameters().size()) {
                return WrongArguments.count(only, given);
            }
        }
        String declared = service.overloads(name).stream()
                .map(overload -> name + "(" + Descriptor.readable(overload.descriptor()) + ")")
                .collect(Collectors.joining(", "));
        return RpcException.refusal(
                StatusCode.INVALID_ARGUMENT, missing + "(" + shown(descriptor) + "); it has " + declared, Executed.NO);
    }

    private static String shown(String descriptor) {
        // an error message must not repeat an invalid descriptor
        return isReadable(descriptor) ? Descriptor.readable(descriptor) : "…";
    }

    private static boolean isReadable(String descriptor) {
        try {
            return Descriptor.parameters(descriptor) >= 0;
        } catch (SerializationException e) {
            return false;
        }
    }

    /**
     * Reads a scalar argument for the echo method, which every service has for probes. If the echo method accepted
     * objects, callers could create instances of any allowed class.
     */
    private static @Nullable Object scalar(ObjectReader reader) {
        try {
            return reader.readScalar();
        } catch (SerializationException e) {
            throw unknown("echo of objects is switched off on this server; rpc.server.generic-calls=true allows it");
        }
    }

    private static void checkGeneric(Metadata metadata) {
        String generic = metadata.get(GENERIC);
        if (generic != null && !generic.equals("true") && !generic.equals("false")) {
            // FAILED_PRECONDITION is sent as status 70, which Dubbo's callers recognize (docs/wire-protocol.md 1.9).
            throw RpcException.refusal(
                    StatusCode.FAILED_PRECONDITION,
                    "generic calls of kind '" + PeerText.name(generic) + "' are not served; use generic=true",
                    Executed.NO);
        }
    }

    /**
     * Refuses a call that passes a callback object. The method would get null for this argument and run without the
     * callback.
     */
    private static void checkNoCallback(String attachment, Object value) {
        if (attachment.startsWith(CALLBACK)) {
            throw RpcException.refusal(
                    // FAILED_PRECONDITION is sent as status 70, as for generic calls that are not supported
                    StatusCode.FAILED_PRECONDITION,
                    "an argument is a callback object, which this server cannot call; use a method that returns a"
                            + " stream, over Triple",
                    Executed.NO);
        }
    }

    private static ServiceKey key(Metadata metadata, String interfaceName, String version) {
        String path = metadata.get(PATH);
        String group = metadata.get(GROUP);
        String attachedVersion = metadata.get(VERSION);
        return new ServiceKey(
                path == null || path.isEmpty() ? interfaceName : path,
                group == null ? "" : group,
                attachedVersion == null ? version : attachedVersion);
    }

    private static Deadline deadline(Metadata metadata, long receivedNanos) {
        String timeout = metadata.get(TIMEOUT);
        long millis = timeout == null ? 0 : Math.min(number(timeout), TimeUnit.DAYS.toMillis(365));
        return millis == 0 ? Deadline.none() : Deadline.at(receivedNanos + TimeUnit.MILLISECONDS.toNanos(millis));
    }

    /** Parses a decimal integer. Returns 0 if the string is not an integer. */
    private static long number(String digits) {
        long number = 0;
        if (digits.length() > MAX_DIGITS) {
            return 0;
        }
        for (int i = 0; i < digits.length(); i++) {
            char digit = digits.charAt(i);
            if (digit < '0' || digit > '9') {
                return 0;
            }
            number = number * 10 + (digit - '0');
        }
        return number;
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    private static RpcException differentServices(String path, String interfaceName) {
        return unknown("the path " + PeerText.name(path) + " and the interface " + PeerText.name(interfaceName)
                + " of a call are different services");
    }

    private static RpcException unknown(String description) {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, description, Executed.NO);
    }

    /**
     * The parts of a request body that are the same in all requests for a method. These parts are encoded only once.
     */
    record Prepared(byte[] head, byte[] attachments) {}

    static void writeHead(ObjectWriter writer, ServiceKey service, MethodDescriptor method) {
        writer.writeString(DubboVersion.OURS);
        writer.writeString(service.interfaceName());
        writer.writeString(wireVersion(service));
        writer.writeString(method.name());
        writer.writeString(method.descriptor());
    }

    static void writeFixedAttachments(ObjectWriter writer, ServiceKey service, String application) {
        writePair(writer, PATH, service.interfaceName());
        writePair(writer, INTERFACE, service.interfaceName());
        writePair(writer, VERSION, wireVersion(service));
        if (!service.group().isEmpty()) {
            writePair(writer, GROUP, service.group());
        }
        if (!application.isEmpty()) {
            writePair(writer, REMOTE_APPLICATION, application);
        }
    }

    /** Encodes the whole request body. */
    static void write(ObjectWriter writer, Prepared prepared, Invocation call, long now) {
        writer.writeEncoded(prepared.head());
        for (Object argument : call.arguments()) {
            writer.writeObject(argument);
        }
        writer.startMap();
        writer.writeEncoded(prepared.attachments());
        if (call.deadline().isLimited()) {
            long millis = TimeUnit.NANOSECONDS.toMillis(call.deadline().remainingNanos(now));
            writePair(writer, TIMEOUT, Long.toString(Math.max(1, millis)));
        }
        writeMetadata(writer, call.metadata(), RESERVED);
        writer.endMap();
    }

    /**
     * Writes the metadata as entries of the map that is being encoded. Omits values with the given names, with a
     * warning for each name.
     */
    static void writeMetadata(ObjectWriter writer, Metadata metadata, Set<String> without) {
        if (metadata.isEmpty()) {
            return;
        }
        metadata.forEach((name, value) -> {
            if (without.contains(name)) {
                // services often pass on remote.application, so its omission is not logged
                if (!name.equals(REMOTE_APPLICATION)) {
                    LEFT_OUT.warn(name);
                }
                return;
            }
            writer.writeString(name);
            if (value instanceof byte[] bytes) {
                writer.writeBytes(bytes);
            } else {
                writer.writeString((String) value);
            }
        });
    }

    private static void writePair(ObjectWriter writer, String name, String value) {
        writer.writeString(name);
        writer.writeString(value);
    }

    private static String wireVersion(ServiceKey service) {
        return service.version().isEmpty() ? ServiceKey.NO_VERSION : service.version();
    }
}
