package tern.rpc.client;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.ClientFilter;
import tern.rpc.Invoker;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.ServiceKey;
import tern.rpc.TimeLimit;
import tern.rpc.cluster.UsualTime;
import tern.rpc.metrics.CallMeters;

/**
 * The settings for calls to one method of one reference, computed when the proxy is created.
 *
 * @param limit the time limit; null for none. A streaming method has a limit only if the limit is set for this method
 * @param waitForReady whether calls wait for a provider if none is available
 * @param keyArgument the index of the argument that is the key for consistent hashing; {@link #NO_KEY} for none
 * @param filters the application's filters
 * @param filtered the chain of these filters and the last step of a call; null for streams and if no call needs a
 *     completion stage
 * @param hedging decides when calls are hedged; null if calls to the method are not hedged
 */
record ClientMethod(
        ServiceKey service,
        MethodDescriptor descriptor,
        @Nullable TimeLimit limit,
        boolean idempotent,
        boolean oneWay,
        boolean waitForReady,
        int keyArgument,
        List<ClientFilter> filters,
        @Nullable Invoker filtered,
        EndpointInvoker endpoints,
        CallMeters meters,
        UsualTime usualTime,
        @Nullable Hedging hedging,
        ProviderMethodNames providerNames) {

    static final int NO_KEY = -1;

    ClientMethod filteredBy(Invoker chain) {
        return new ClientMethod(
                service,
                descriptor,
                limit,
                idempotent,
                oneWay,
                waitForReady,
                keyArgument,
                filters,
                chain,
                endpoints,
                meters,
                usualTime,
                hedging,
                providerNames);
    }

    boolean isStream() {
        return descriptor.type() != MethodType.UNARY;
    }
}
