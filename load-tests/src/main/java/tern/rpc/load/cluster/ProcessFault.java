package tern.rpc.load.cluster;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The faults that can affect the first of three providers. {@link #RESTART} affects all providers, one after another.
 */
enum ProcessFault {
    RESTART("SIGTERM, one after the other", false) {
        @Override
        void run(List<Provider> providers, FaultyRelay relay, int seconds) throws IOException, InterruptedException {
            for (Provider provider : providers) {
                provider.restart();
                TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
            }
        }
    },
    KILL("SIGKILL, started again", false) {
        @Override
        void run(List<Provider> providers, FaultyRelay relay, int seconds) throws IOException, InterruptedException {
            providers.get(0).kill();
            TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
            providers.get(0).startAgain();
        }
    },
    FREEZE("SIGSTOP, then SIGCONT", false) {
        @Override
        void run(List<Provider> providers, FaultyRelay relay, int seconds) throws IOException, InterruptedException {
            providers.get(0).signal("STOP");
            TimeUnit.SECONDS.sleep(seconds);
            providers.get(0).signal("CONT");
        }
    },
    SWALLOW("network loses all bytes", true) {
        @Override
        void run(List<Provider> providers, FaultyRelay relay, int seconds) throws InterruptedException {
            during(relay, FaultyRelay.Mode.SWALLOW, seconds);
        }
    },
    RESET("network resets each connection", true) {
        @Override
        void run(List<Provider> providers, FaultyRelay relay, int seconds) throws InterruptedException {
            during(relay, FaultyRelay.Mode.RESET, seconds);
        }
    },
    DELAY("network adds 150 ms each way", true) {
        @Override
        void run(List<Provider> providers, FaultyRelay relay, int seconds) throws InterruptedException {
            during(relay, FaultyRelay.Mode.DELAY, seconds);
        }
    },
    CLOSED("port closed for 55 s", true) {
        @Override
        void run(List<Provider> providers, FaultyRelay relay, int seconds) throws InterruptedException {
            during(relay, FaultyRelay.Mode.CLOSED, CLOSED_SECONDS);
        }
    };

    private static final int PAUSE_SECONDS = 5;
    private static final int CLOSED_SECONDS = 55;

    private final String label;
    private final boolean relayed;

    ProcessFault(String label, boolean relayed) {
        this.label = label;
        this.relayed = relayed;
    }

    /** Causes the fault, and blocks until it is over. */
    abstract void run(List<Provider> providers, FaultyRelay relay, int seconds)
            throws IOException, InterruptedException;

    private static void during(FaultyRelay relay, FaultyRelay.Mode mode, int seconds) throws InterruptedException {
        relay.mode(mode);
        TimeUnit.SECONDS.sleep(seconds);
        relay.mode(FaultyRelay.Mode.PASS);
    }

    String label() {
        return label;
    }

    /** Returns whether consumers reach the first provider through the relay. */
    boolean isRelayed() {
        return relayed;
    }
}
