package tern.rpc.transport;

import java.util.function.UnaryOperator;
import tern.rpc.limit.Refusal;

/** A call handler for tests. The handler wraps each call and passes it to another handler. */
public record WrappedCalls(CallHandler handler, UnaryOperator<ServerCall> wrapper) implements CallHandler {

    @Override
    public void handle(ServerCall call) {
        handler.handle(wrapper.apply(call));
    }

    @Override
    public void refused(Refusal reason) {
        handler.refused(reason);
    }

    @Override
    public ServiceLookup services() {
        return handler.services();
    }

    @Override
    public boolean asksWhoCalls() {
        return handler.asksWhoCalls();
    }

    @Override
    public boolean hasAuthorizers() {
        return handler.hasAuthorizers();
    }

    @Override
    public AcceptedTokens tokens() {
        return handler.tokens();
    }
}
