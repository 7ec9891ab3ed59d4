package tern.rpc.load.cluster;

import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import tern.rpc.load.sample.Program;

/**
 * A run of one framework with one load balancer, one or more clients, and ten nodes. The first node is faulty for part
 * of the run.
 */
final class BadNodeRun implements AutoCloseable {

    /** The offered load as a share of the total capacity of all nodes. */
    private static final double LOAD = 0.6;

    private static final int NODES = 10;
    private static final int WARM_UP_SECONDS = 6;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /**
     * The time from the end of a fault until the recovered node's share of the calls is measured, in seconds. The
     * measurement takes one second.
     */
    private static final int CURED_SECONDS = 4;

    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
    private final EventLoopGroup relayLoop = FaultyRelay.loop();
    private final List<Station> stations = new ArrayList<>();
    private final List<Framework.Client> clients = new ArrayList<>();
    private final Framework framework;
    private final FaultyRelay relay;
    private final double perSecond;

    /**
     * The results of a run.
     *
     * @param curedPercent the first node's share of the calls in the fifth second after the end of its fault, in
     *     percent
     */
    record Result(String policy, int clients, BadNode badNode, Timeline timeline, double curedPercent) {}

    /** @param workers the number of workers per node */
    BadNodeRun(Supplier<Framework> made, String policy, int count, int workers) throws Exception {
        this.framework = made.get();
        this.perSecond = LOAD * NODES * workers * SECOND / Station.MEAN_NANOS;
        // The clients use different loopback addresses, so the relay listens on all addresses.
        InetAddress all = InetAddress.getByName("0.0.0.0");
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            Station station = new Station(i, workers, timer);
            int port = Program.freePort();
            framework.serve(station, port);
            stations.add(station);
            ports.add(port);
        }
        this.relay = new FaultyRelay(relayLoop, all, ports.get(0));
        ports.set(0, relay.port());
        for (int client = 0; client < count; client++) {
            // Each client uses a different loopback address. Some load balancers keep their state in static fields, by
            // address, so clients with the same address would share this state.
            String host = "127.0." + (1 + client / 250) + "." + (1 + client % 250);
            clients.add(framework.connect(
                    ports.stream()
                            .map(port -> new InetSocketAddress(host, port))
                            .toList(),
                    policy));
        }
    }

    Result run(String label, BadNode badNode) throws InterruptedException {
        long start = System.nanoTime() + WARM_UP_SECONDS * SECOND;
        Timeline timeline = new Timeline(start, clients.size());
        Thread pace = new Thread(() -> pace(timeline, start + timeline.seconds() * SECOND), "pace");
        pace.start();
        sleepUntil(start + Timeline.BEFORE * SECOND);
        badNode.begin(stations.get(0), relay);
        sleepUntil(start + (Timeline.BEFORE + Timeline.FAULT) * SECOND);
        badNode.cure(stations.get(0), relay);
        sleepUntil(start + (Timeline.BEFORE + Timeline.FAULT + CURED_SECONDS) * SECOND);
        long[] before = arrived();
        TimeUnit.SECONDS.sleep(1);
        double cured = share(before, arrived());
        pace.join();
        TimeUnit.MILLISECONDS.sleep(2 * Framework.TIMEOUT_MILLIS); // The pause gives the last calls time to end.
        return new Result(label, clients.size(), badNode, timeline, cured);
    }

    private void pace(Timeline timeline, long end) {
        Random random = new Random(1);
        double next = System.nanoTime();
        for (int number = 0; next < end; number++) {
            long left = (long) next - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(left);
            }
            int client = random.nextInt(clients.size());
            long intended = (long) next;
            clients.get(client).call(number, failure -> timeline.ended(client, intended, failure));
            next += -Math.log(1 - random.nextDouble()) * SECOND / perSecond;
        }
    }

    private long[] arrived() {
        return stations.stream().mapToLong(Station::arrived).toArray();
    }

    private static double share(long[] before, long[] after) {
        long all = 0;
        for (int i = 0; i < before.length; i++) {
            all += after[i] - before[i];
        }
        return all == 0 ? 0 : 100.0 * (after[0] - before[0]) / all;
    }

    private static void sleepUntil(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(Math.max(0, nanos - System.nanoTime()));
    }

    @Override
    public void close() {
        framework.close();
        relay.close();
        relayLoop.shutdownGracefully();
        timer.shutdownNow();
    }
}
