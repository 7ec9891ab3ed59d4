package tern.rpc.netty.triple;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.serialization.Coder;
import tern.rpc.serialization.CoderPool;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.ServiceLookup;

/** The codecs of all methods. Each codec is created once. Thread-safe. */
final class PayloadCodecs {

    /** True if the optional module for protobuf messages is on the class path. */
    private static final boolean MESSAGES = isPresent("tern.rpc.serialization.protobuf.ProtobufCodec");

    private final CoderPool coders;
    private final ConcurrentMap<MethodDescriptor, PayloadCodec> known = new ConcurrentHashMap<>();

    /** @param coders the pool of hessian encoders and decoders */
    PayloadCodecs(CoderPool coders) {
        this.coders = coders;
    }

    PayloadCodec of(MethodDescriptor method) {
        PayloadCodec codec = known.get(method);
        return codec != null ? codec : known.computeIfAbsent(method, this::create);
    }

    private PayloadCodec create(MethodDescriptor method) {
        return switch (method.payload()) {
            case JAVA -> new WrapperCodec(coders, method);
            case PROTOBUF -> protobuf(method);
            case RAW -> new PayloadCodec.Raw(method);
        };
    }

    private static PayloadCodec protobuf(MethodDescriptor method) {
        if (!MESSAGES) {
            throw new IllegalArgumentException(method + " takes or returns protobuf messages, which need"
                    + " io.github.tern-rpc:tern-rpc-protobuf on the class path");
        }
        return new PayloadCodec.Protobuf(method);
    }

    private static boolean isPresent(String className) {
        try {
            Class.forName(className, false, PayloadCodecs.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /**
     * Decodes a complete request. Must run on a thread that is allowed to block.
     *
     * @param service the called service, whose classes may be instantiated
     * @param overloads the possible methods, found by {@link MethodLookup}
     * @param sender identifies the caller
     * @throws RpcException UNIMPLEMENTED if the request matches none of the methods, INVALID_ARGUMENT if the arguments
     *     do not match the method
     * @throws SerializationException if the bytes are invalid
     */
    DecodedRequest readRequest(
            ServiceLookup services,
            ServiceDescriptor service,
            List<MethodDescriptor> overloads,
            byte[] bytes,
            int length,
            Object sender) {
        PayloadCodec first = of(overloads.get(0));
        if (!(first instanceof WrapperCodec)) {
            return new DecodedRequest(first.method(), first.readRequest(bytes, 0, length), first);
        }
        WrapperRequest request = wrapper(service, overloads, bytes, length);
        MethodDescriptor method = request.choose(overloads);
        if (!(of(method) instanceof WrapperCodec codec)) {
            throw RpcException.refusal(StatusCode.UNIMPLEMENTED, method + " does not take Java values", Executed.NO);
        }
        boolean scalarsOnly = method.service() != service && !services.genericCalls();
        return new DecodedRequest(
                method, arguments(codec, request, service, scalarsOnly, sender), codec.answering(request));
    }

    private static WrapperRequest wrapper(
            ServiceDescriptor service, List<MethodDescriptor> overloads, byte[] bytes, int length) {
        try {
            if (overloads.size() > 1 && isValue(overloads, bytes, length)) {
                throw new PlainProtobufException();
            }
            return WrapperRequest.parse(bytes, 0, length);
        } catch (PlainProtobufException e) {
            throw plainProtobuf(service, overloads);
        }
    }

    private static boolean isValue(List<MethodDescriptor> overloads, byte[] bytes, int length) {
        for (MethodDescriptor overload : overloads) {
            if (ValueMessages.isRequest(bytes, 0, length, overload.parameters().size())) {
                return true;
            }
        }
        return false;
    }

    /** Returns the exception for a request that contains a plain protobuf message instead of Java values. */
    static RpcException plainProtobuf(ServiceDescriptor service, List<MethodDescriptor> overloads) {
        return RpcException.refusal(StatusCode.INVALID_ARGUMENT, expected(service, overloads), Executed.NO);
    }

    private static String expected(ServiceDescriptor service, List<MethodDescriptor> overloads) {
        MethodDescriptor first = overloads.get(0);
        if (first.service() != service) {
            return first + " takes Java values in Triple's wrapper message; it cannot be called with plain protobuf";
        }
        if (overloads.size() > 1) {
            String paths = JsonOverloads.unambiguous(overloads);
            return paths.isEmpty()
                    ? first + " has overloads; with plain protobuf, call a method without overloads"
                    : first + " has overloads, so it cannot be called with plain protobuf; call one of " + paths
                            + " with JSON over HTTP, or call a method without overloads";
        }
        return first + " takes Java values in hessian4 or hessian2; with plain protobuf, the request must be a "
                + (first.parameters().size() == 1 ? "google.protobuf.Value" : "google.protobuf.ListValue")
                + "; JSON over HTTP works too";
    }

    /** Decodes only the first argument of a wrapped request, which must be a string. */
    String firstText(byte[] bytes, int length, Object sender) {
        WrapperRequest request = WrapperRequest.parse(bytes, 0, length);
        if (request.arguments() == 0) {
            return "";
        }
        Coder coder = coders.take();
        request.startArgument(coder.reader(), 0, sender);
        String text = coder.reader().readString();
        coders.giveBack(coder);
        return text == null ? "" : text;
    }

    /**
     * Decodes the arguments. The echo method, which every service has, accepts only scalar values. If the echo method
     * accepted other values, callers could use it to create instances of any allowed class.
     */
    private static Object[] arguments(
            WrapperCodec codec, WrapperRequest request, ServiceDescriptor service, boolean scalarsOnly, Object sender) {
        try {
            return codec.readArguments(request, service, scalarsOnly, sender);
        } catch (SerializationException e) {
            if (!scalarsOnly) {
                throw e;
            }
            throw RpcException.refusal(
                    StatusCode.UNIMPLEMENTED,
                    "echo of objects is switched off on this server; rpc.server.generic-calls=true allows it",
                    Executed.NO);
        }
    }
}
