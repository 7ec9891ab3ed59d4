package tern.rpc.transport;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.endpoint.Endpoint;

/**
 * Creates exceptions for failures returned by a server. Each stack trace has one frame for the server, followed by the
 * frames of the caller's code. The frames that decoded the answer are omitted. Errors, and exceptions whose classes
 * exist only on the server, become an {@link RpcException}.
 */
public final class RemoteFailures {

    private static final String FAILED_WITH = " failed with ";
    private static final String LOGGED = " (logged by the server as ";
    private static final Pattern FOREIGN =
            Pattern.compile(".*\\(logged by the server as [0-9a-f]{8}\\)", Pattern.DOTALL);

    /**
     * The messages that Tern, Dubbo and the gRPC libraries send if a service exists but lacks the method. Only the
     * text distinguishes this case from a missing service.
     */
    private static final Pattern MISSING_METHOD = Pattern.compile(
            "has no method |method.{0,200} not found|unknown method |method.{0,200} is unimplemented"
                    + "|does not implement the method ",
            Pattern.CASE_INSENSITIVE);

    /**
     * The messages that Tern's servers send if a method exists, but with other parameters. The caller's method then
     * counts as missing on the server.
     */
    private static final Pattern MISSING_SIGNATURE =
            Pattern.compile("has no method | takes (?:no|\\d+) arguments?, not \\d+$");

    /** Part of the error message that Tern's client creates for an answer that does not come from an RPC server. */
    private static final String ANOTHER_SERVER = "does the address belong to ";

    /**
     * The messages that Tern, gRPC for Go, and Dubbo on Triple send if the whole service, or its group or version, is
     * missing.
     */
    private static final Pattern MISSING_SERVICE =
            Pattern.compile(" is not exported here|unknown service |Invoker (?:for gRPC )?not found|" + ANOTHER_SERVER);

    /** The message that grpc-java sends both for a missing service and for a missing method. */
    private static final String GRPC_JAVA_MISSING = "Method not found: ";

    /**
     * The message that a Dubbo provider sends with status 40 if the provider lacks the service in the requested
     * version.
     */
    private static final String DUBBO_MISSING_SERVICE = " not found, invocation rejected";

    /**
     * The message that older Dubbo providers send with status 40, both for a missing service and for a missing method.
     */
    private static final String DUBBO_MISSING = "Service not found:";

    /**
     * The end of the message that Dubbo 3.3 sends with status 40 if it cannot determine the parameter types of a call.
     * Either the service or the class of a parameter is missing.
     */
    private static final String DUBBO_UNDECODED = ", parameterTypes=null]";

    /** Which part is missing on the server, according to the failure that the server sent. */
    public enum Missing {
        /** The failure does not mean that a service or method is missing. */
        NOTHING,
        /** The service exists, but the method is missing or has other parameters. */
        METHOD,
        /** The message does not show whether the service or only the method is missing. */
        SERVICE_OR_METHOD,
        /** The whole service is missing, or the server exports it only with another group or version. */
        SERVICE
    }

    private RemoteFailures() {}

    /** Returns whether the service or the method is missing on the server, according to the failure. */
    public static Missing missing(RpcException failure) {
        if (failure.wasExecuted() == Executed.YES) {
            return Missing.NOTHING;
        }
        String text = failure.status().description();
        return switch (failure.code()) {
            case UNIMPLEMENTED -> {
                if (MISSING_SERVICE.matcher(text).find()) {
                    yield Missing.SERVICE;
                }
                if (text.isEmpty() || text.contains(GRPC_JAVA_MISSING)) { // gRPC for C++ sends no message
                    yield Missing.SERVICE_OR_METHOD;
                }
                yield failure.wasExecuted() == Executed.NO && isMissingMethod(text) ? Missing.METHOD : Missing.NOTHING;
            }
            case INVALID_ARGUMENT -> {
                if (failure.wasExecuted() != Executed.NO) {
                    yield Missing.NOTHING;
                }
                if (text.contains(DUBBO_MISSING_SERVICE)) {
                    yield Missing.SERVICE;
                }
                if (text.contains(DUBBO_MISSING) || text.endsWith(DUBBO_UNDECODED)) {
                    yield Missing.SERVICE_OR_METHOD;
                }
                yield MISSING_SIGNATURE.matcher(text).find() ? Missing.METHOD : Missing.NOTHING;
            }
            case UNKNOWN, INTERNAL, UNAUTHENTICATED, PERMISSION_DENIED ->
                text.contains(ANOTHER_SERVER) ? Missing.SERVICE : Missing.NOTHING;
            default -> Missing.NOTHING;
        };
    }

    /**
     * Returns whether the text of an UNIMPLEMENTED failure means that the service, group and version exist and only the
     * method is missing.
     */
    public static boolean isMissingMethod(String text) {
        return MISSING_METHOD.matcher(text).find();
    }

    /**
     * Returns the message of the plain {@link RuntimeException} that replaces an exception whose class is unknown to
     * callers. Tern clients recognize this format, and Dubbo clients can read the exception.
     *
     * @param description the class name, with the message if the message may be sent
     * @param id the id in the server's log
     */
    public static String foreignText(String description, int id) {
        return description + LOGGED + String.format("%08x", id) + ")";
    }

    /** Returns whether the failure replaces an exception whose class is unknown to callers. */
    public static boolean isForeign(Throwable failure) {
        if (failure.getClass() != RuntimeException.class) {
            return false;
        }
        String text = failure.getMessage();
        return text != null && isForeignText(text);
    }

    private static boolean isForeignText(String text) {
        return FOREIGN.matcher(text).matches();
    }

    /** Returns the exception to throw instead of an exception decoded from an answer. */
    public static Throwable thrown(Invocation call, Endpoint endpoint, Throwable read) {
        String where = call + " at " + endpoint;
        Throwable result = read;
        if (read instanceof Error) {
            result = new RpcException(StatusCode.UNKNOWN, where + FAILED_WITH + Thrown.text(read), Executed.YES, read);
        } else if (isForeign(read)) {
            result = new RpcException(StatusCode.UNKNOWN, where + FAILED_WITH + read.getMessage(), Executed.YES, null);
        } else if (read instanceof RpcException unknownClass) {
            result = new RpcException(
                    unknownClass.code(),
                    where + FAILED_WITH + unknownClass.status().description(),
                    Executed.YES,
                    unknownClass.getCause());
        }
        return withTrace(result, remoteFrames(read), call, endpoint);
    }

    /**
     * Returns the exception to throw for a failure with a status code and a text. The exception's message begins with
     * the call and the address. The status contains the server's description unchanged, because callers may compare it.
     */
    public static RpcException answered(Invocation call, Endpoint endpoint, RpcException failure) {
        String where = call + " at " + endpoint;
        String text = failure.status().description();
        RpcException named = failure.code() == StatusCode.UNKNOWN && isForeignText(text)
                ? new RpcException(
                        new Status(
                                StatusCode.UNKNOWN,
                                where + FAILED_WITH + text,
                                failure.status().details()),
                        failure.wasExecuted(),
                        failure.metadata())
                : failure;
        RpcException result = TimeOuts.answered(call, endpoint, isKnownNotRun(call, named) ? notRun(named) : named);
        boolean traced = result.code() != StatusCode.RESOURCE_EXHAUSTED;
        if (!result.status().description().startsWith(where)) {
            result = result.answeredBy(where + ProtoNames.hint(call, result), traced);
        }
        if (!traced) {
            // no stack trace: an overloaded server refuses many calls, and creating a stack trace costs more than a
            // call
            return result;
        }
        withTrace(result, new StackTraceElement[0], call, endpoint);
        return result;
    }

    /**
     * Returns whether a gRPC library other than Tern has refused the call, because it does not know the service or the
     * method. The method certainly did not run, because no handler has seen the call, but the answer does not say so.
     * The message must name the service and the method of this call, because a method may also pass on the failure of
     * another call.
     */
    private static boolean isKnownNotRun(Invocation call, RpcException failure) {
        if (failure.code() != StatusCode.UNIMPLEMENTED || failure.wasExecuted() != Executed.MAYBE) {
            return false;
        }
        String service = call.service().interfaceName();
        String method = service + "/" + call.method().name();
        String text = failure.status().description();
        return text.equals(GRPC_JAVA_MISSING + method)
                // grpc-java sends this text if the service does not override the method
                || text.equals("Method " + method + " is unimplemented")
                || text.equals("unknown service " + service)
                || text.equals("unknown method " + call.method().name() + " for service " + service)
                || text.equals("The server does not implement the method /" + method) // gRPC for Node.js
                || text.equals("Method not found!") // gRPC for Python
                || text.equals("Invoker not found") // Dubbo
                || text.equals("Invoker for gRPC not found");
    }

    private static RpcException notRun(RpcException failure) {
        return RpcException.refusal(failure.status(), Executed.NO, failure.metadata());
    }

    /** Returns the exception to throw for a failure. The exception's text begins with the call and the address. */
    public static RpcException answered(Invocation call, Endpoint endpoint, Status status, Executed executed) {
        String text = status.description();
        return answered(
                call,
                endpoint,
                new RpcException(
                        status.code(),
                        status.code() == StatusCode.DEADLINE_EXCEEDED ? text : call + " at " + endpoint + ": " + text,
                        executed,
                        null));
    }

    /**
     * Returns the stack frames that the server sent. The result is empty unless {@code rpc.server.exception-frames} is
     * set on the server.
     */
    private static StackTraceElement[] remoteFrames(Throwable read) {
        return Thrown.trace(read);
    }

    private static Throwable withTrace(
            Throwable result, StackTraceElement[] remote, Invocation call, Endpoint endpoint) {
        StackTraceElement[] here = new Throwable().getStackTrace();
        int caller = firstOfCaller(here);
        StackTraceElement[] whole = new StackTraceElement[remote.length + 1 + here.length - caller];
        System.arraycopy(remote, 0, whole, 0, remote.length);
        whole[remote.length] = new StackTraceElement(
                call.service().interfaceName(), call.method().name(), "on " + endpoint, -1);
        System.arraycopy(here, caller, whole, remote.length + 1, here.length - caller);
        result.setStackTrace(whole);
        return result;
    }

    /**
     * Returns the index of the first frame after the service's proxy, or the number of frames if the current thread's
     * stack contains no proxy, for example in an asynchronous call.
     */
    private static int firstOfCaller(StackTraceElement[] frames) {
        for (int i = 0; i < frames.length; i++) {
            if (isProxy(frames[i].getClassName())) {
                return i + 1;
            }
        }
        return frames.length;
    }

    private static boolean isProxy(@Nullable String className) {
        return className != null && className.contains("$Proxy");
    }
}
