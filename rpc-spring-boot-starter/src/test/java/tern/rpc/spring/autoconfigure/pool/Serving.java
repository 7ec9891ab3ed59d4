package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;

/** Runs code in the context of a simulated call, whose {@link CallLedger} records the time by phase. */
final class Serving {

    interface Nothing {
        void nothing();
    }

    private Serving() {}

    /** Runs the code and returns the ledger of the simulated call. */
    static CallLedger ledgerOf(Callable<?> code) throws Exception {
        CallLedger ledger = new CallLedger(NanoClock.SYSTEM);
        Invocation call = new Invocation(
                new ServiceKey(Nothing.class.getName(), "", ServiceKey.NO_VERSION),
                ServiceDescriptor.of(Nothing.class).methods().get(0),
                new Object[0],
                new Metadata(),
                Deadline.none(),
                Runnable::run);
        ServerContext before = ServerContext.replace(new ServerContext(call, new InMemory(), ledger));
        try {
            code.call();
        } finally {
            ServerContext.replace(before);
        }
        return ledger;
    }

    private static final class InMemory implements ServerContext.Exchange {

        @Override
        public String protocol() {
            return "memory";
        }

        @Override
        public java.net.@Nullable SocketAddress remoteAddress() {
            return null;
        }
    }
}
