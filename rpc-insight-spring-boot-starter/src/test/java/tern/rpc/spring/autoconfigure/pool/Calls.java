package tern.rpc.spring.autoconfigure.pool;

import java.util.List;
import java.util.concurrent.Callable;
import org.springframework.context.ApplicationContext;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/** Runs code as a call, and keeps the call's ledger for assertions. */
final class Calls {

    private Calls() {}

    static CallLedger ledgerOf(Callable<?> code) throws Exception {
        CallLedger ledger = new CallLedger(NanoClock.SYSTEM);
        CallLedger before = CallLedger.replace(ledger);
        try {
            code.call();
        } finally {
            CallLedger.replace(before);
        }
        return ledger;
    }

    /** Returns the names of the operations that are of the given kind and took long enough to be recorded by name. */
    static List<String> names(CallLedger ledger, Phase kind) {
        return ledger.named().stream()
                .filter(entry -> entry.kind() == kind)
                .map(NamedTimes.Entry::name)
                .toList();
    }

    static PoolSnapshot pool(ApplicationContext application, String name) {
        List<PoolSnapshot> all = application.getBeanProvider(PoolSource.class).stream()
                .map(PoolSource::snapshot)
                .toList();
        return all.stream()
                .filter(pool -> pool.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no pool " + name + " among "
                        + all.stream().map(PoolSnapshot::name).toList()));
    }
}
