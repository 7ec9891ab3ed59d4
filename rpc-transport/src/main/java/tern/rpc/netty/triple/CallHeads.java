package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.BodyReader.Frame;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.BuiltInMethods;

/**
 * Creates the call heads (path, metadata and caller of a call), which authorizers check before a request is decoded.
 * For a generic call, this class decodes the method name in the message, and no other part of the message.
 */
final class CallHeads {

    private CallHeads() {}

    static CallHead of(HttpCall call, RequestBody body, Metadata metadata) {
        Route route = call.route();
        MethodDescriptor called = route.candidates().get(0);
        boolean generic = route.leadsSomewhere()
                ? BuiltInMethods.isGeneric(called)
                : BuiltInMethods.isGenericName(route.methodName());
        String name = !route.leadsSomewhere()
                ? route.methodName()
                // the first letter of the name in the path can differ in case from the declared name
                : called.name();
        if (generic) {
            name = selectedMethod(call, body);
        }
        String written = written(call, generic ? name : null);
        return new CallHead(route.key(), name, generic, written, metadata, call.deadline(), call);
    }

    /**
     * Returns the request's path without the leading slash. For a generic call, the last segment is replaced with the
     * name of the selected method.
     *
     * @param selected the name of the method that a generic call selects; null if the call is not generic
     */
    private static String written(HttpCall call, @Nullable String selected) {
        String name = Route.nameIn(Route.pathOf(call.exchange().head()));
        return selected == null ? name : name.substring(0, name.lastIndexOf('/') + 1) + selected;
    }

    /** Returns the name of the method that a generic call selects in its request message. */
    private static String selectedMethod(HttpCall call, RequestBody body) {
        DeferredMistake kept = call.hidden();
        if (kept == null) {
            return readSelectedMethod(call, body);
        }
        if (!body.hasSingle() && kept.isPresent()) {
            return call.methodName();
        }
        try {
            return readSelectedMethod(call, body);
        } catch (RpcException e) {
            kept.add(e);
        } catch (SerializationException e) {
            kept.add(RpcException.refusal(StatusCode.INTERNAL, "the request could not be read: " + e, Executed.NO));
        }
        return call.methodName();
    }

    private static String readSelectedMethod(HttpCall call, RequestBody body) {
        Frame request = call.takeRequest();
        Frame kept;
        try {
            kept = new Frame(BodyReader.copy(request.payload()), request.flags());
        } catch (Throwable e) {
            body.drop(request);
            throw e;
        }
        String name;
        try {
            name = call.encoding().readGenericMethod(call.exchange(), call.route(), request);
        } catch (Throwable e) {
            body.drop(kept);
            throw e;
        }
        body.putBack(kept);
        if (!call.isOpen()) {
            // the call ended while this method owned the request, so the end of the call did not release the request
            body.discard();
        }
        return name;
    }
}
