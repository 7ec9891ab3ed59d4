package tern.rpc.spring.autoconfigure;

import java.util.function.Consumer;
import java.util.function.Supplier;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;

/**
 * A source of addresses that explains failed calls to the application's own server. This server starts after all other
 * beans, so calls made while beans are created cannot reach it.
 *
 * @param found finds the addresses
 * @param own returns the advice for a call that reaches no provider; an empty string if there is no advice
 */
record OwnServerSource(EndpointSource found, Supplier<String> own) implements EndpointSource {

    @Override
    public void start(Consumer<EndpointSnapshot> listener) {
        found.start(listener);
    }

    @Override
    public void refresh() {
        found.refresh();
    }

    @Override
    public Object key() {
        return found.key();
    }

    @Override
    public String advice() {
        return found.advice() + own.get();
    }

    @Override
    public String toString() {
        return found.toString();
    }

    @Override
    public void close() {
        found.close();
    }
}
