package tern.rpc.netty;

import io.netty.channel.Channel;
import java.net.InetAddress;
import java.time.Duration;

/** A connection whose bytes always arrive too slowly. */
final class SlowReading implements IncompleteInput.Reading {

    static final Duration FIRST_BYTES = Duration.ofSeconds(1);
    static final String REASON = "too slow";

    private static final long MAX_BYTES = 1 << 20;

    /** The result of {@link #hasPatience}, which tests can change. */
    boolean patient;

    private final ServerTransportSettings settings;
    private final OpenRequestMemory memory;

    SlowReading(Channel channel, Duration idleTimeout) {
        settings = ServerTransportSettings.onPort(0)
                .withFirstBytesTimeout(FIRST_BYTES)
                .withIdleTimeout(idleTimeout);
        InetAddress network = InetAddress.getLoopbackAddress();
        InboundBudget budget = InboundBudget.forAll(MAX_BYTES);
        memory = new OpenRequestMemory(new FairBudget(MAX_BYTES), budget, network, () -> {
            throw new AssertionError("few bytes are not counted on " + channel);
        });
    }

    @Override
    public ServerTransportSettings settings() {
        return settings;
    }

    @Override
    public OpenRequestMemory memory() {
        return memory;
    }

    @Override
    public boolean isTooSlow(BodyPace pace, long arrivedBytes, long now) {
        return true;
    }

    @Override
    public boolean hasPatience() {
        return patient;
    }

    @Override
    public String slowBody(BodyPace pace, long arrivedBytes, long now) {
        return REASON;
    }
}
