package tern.rpc.load.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import tern.rpc.ServiceKey;
import tern.rpc.client.MethodSettings;
import tern.rpc.cluster.ClusterReport;
import tern.rpc.netty.EventLoops;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.zookeeper.ZooKeeperRegistry;
import tern.sample.api.EchoService;

/**
 * The consumer of {@link ClusterDemo}. The consumer finds the providers in the registry and calls them at a steady rate
 * until its standard input ends. The consumer prints a line for each lost call and, once a second, a line for each
 * provider. {@link DemoReport} reads these lines.
 */
public final class DemoConsumer {

    /**
     * The timeout is longer than the time that a provider is frozen. Calls in flight at the frozen provider are
     * therefore answered when the provider continues.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final Object OUTPUT = new Object();

    private DemoConsumer() {}

    /** @param arguments {@code --registry=} the address of the registry, {@code --rate=} the calls per second */
    public static void main(String[] arguments) throws Exception {
        Options options = new Options(arguments);
        RegistryUrl url = RegistryUrl.parse(options.text("registry", ""));
        Subscription subscription =
                new Subscription(new ServiceKey(EchoService.class.getName(), "", ""), Wire.DUBBO.protocol());
        try (EventLoops loops = EventLoops.start(1);
                Registry registry = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT).open(url)) {
            Wire.Consumer consumer = Wire.DUBBO.connect(
                    loops, () -> registry.source(subscription), MethodSettings.NONE.withTimeout(TIMEOUT));
            awaitProvider(consumer);
            SteadyCalls calls = new SteadyCalls(consumer, options.number("rate", 300), "demo", DemoConsumer::lost);
            List<SteadyCalls.Counts> parts = new CopyOnWriteArrayList<>();
            Thread seconds = new Thread(() -> reportSeconds(consumer, calls, parts), "seconds");
            seconds.setDaemon(true);
            seconds.start();
            awaitEndOfInput();
            boolean ended = calls.close();
            parts.add(calls.next());
            print("end " + ended + " "
                    + parts.stream().mapToLong(SteadyCalls.Counts::calls).sum());
        }
        System.exit(0);
    }

    private static void awaitProvider(Wire.Consumer consumer) throws InterruptedException {
        while (consumer.client().references().stream()
                .noneMatch(reference -> reference.cluster().providers().stream()
                        .anyMatch(provider -> provider.link() == ClusterReport.Link.CONNECTED))) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    private static void awaitEndOfInput() throws IOException {
        int read = System.in.read();
        while (read >= 0) {
            read = System.in.read();
        }
    }

    private static void lost(boolean safe, long startedMillis, RuntimeException failure) {
        String reason = String.valueOf(failure.getMessage()).replaceAll("\\s+", " ");
        print("lost " + startedMillis + " " + System.currentTimeMillis() + " " + safe + " " + reason);
    }

    private static void reportSeconds(Wire.Consumer consumer, SteadyCalls calls, List<SteadyCalls.Counts> parts) {
        try {
            while (true) {
                TimeUnit.SECONDS.sleep(1);
                List<ClusterReport.Provider> providers =
                        consumer.client().references().get(0).cluster().providers();
                parts.add(calls.next());
                synchronized (OUTPUT) {
                    providers.forEach(provider -> print(
                            "provider " + provider.endpoint().port() + " " + provider.calls() + " " + state(provider)));
                    print("second");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String state(ClusterReport.Provider provider) {
        if (!provider.stalledFor().isZero()) {
            return "silent";
        }
        return provider.ejectedFor().isZero() ? provider.link().name().toLowerCase(Locale.ROOT) : "ejected";
    }

    private static void print(String line) {
        synchronized (OUTPUT) {
            System.out.println(line);
            System.out.flush();
        }
    }
}
