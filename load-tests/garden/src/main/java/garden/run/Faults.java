package garden.run;

import com.alibaba.druid.pool.DruidDataSource;
import com.sun.net.httpserver.HttpServer;
import garden.shop.Naps;
import garden.shop.RateApplication;
import garden.shop.ShopApplication;
import garden.shop.Switches;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.springframework.context.ConfigurableApplicationContext;
import redis.embedded.RedisServer;
import tern.rpc.diagnosis.Cause;
import tern.rpc.diagnosis.Diagnosis;
import tern.rpc.diagnosis.Diagnostician;

/** Plants one fault after the other and prints the diagnosis beside the expected one. */
public final class Faults {

    private static final int CALLS_PER_SECOND = 100;
    private static final int HEALTHY_SECONDS = 80;
    private static final int FAULT_SECONDS = 25;
    private static final int AFTER_FIRST_SECONDS = 8;
    private static final int RECOVERY_SECONDS = 75;

    private final ConfigurableApplicationContext shop;
    private final Diagnostician diagnostician;
    private final Load load;

    private Faults(ConfigurableApplicationContext shop, Load load) {
        this.shop = shop;
        this.diagnostician = shop.getBean(Diagnostician.class);
        this.load = load;
    }

    public static void main(String[] arguments) throws Exception {
        List<String> only = arguments.length == 0 ? List.of() : List.of(arguments[0].split(","));
        Path table = Files.createDirectories(Path.of("target", "faults")).resolve("table.txt");
        int redisPort = freePort();
        RedisServer redis = new RedisServer(redisPort);
        redis.start();
        int ratePort = freePort();
        ConfigurableApplicationContext rates = RateApplication.start(ratePort);
        boolean[] slow = {false};
        HttpServer http = http(slow);
        int port = freePort();
        ConfigurableApplicationContext shop = ShopApplication.start(
                "--rpc.server.port=" + port,
                "--server.port=0",
                "--garden.http-port=" + http.getAddress().getPort(),
                "--rpc.client.services.RateService.url=127.0.0.1:" + ratePort,
                "--spring.data.redis.port=" + redisPort,
                "--spring.data.redis.client-type=jedis",
                "--spring.datasource.url=jdbc:h2:mem:shop",
                "--rpc.server.threads=60",
                "--spring.application.name=shop");
        try (ConfigurableApplicationContext caller = Caller.start(port);
                Load load = new Load(caller.getBean(Caller.class).orders(), CALLS_PER_SECOND)) {
            Faults faults = new Faults(shop, load);
            faults.run(faults.all(slow), only, table);
        } finally {
            shop.close();
            rates.close();
            http.stop(0);
            redis.stop();
        }
        System.exit(0);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static HttpServer http(boolean[] slow) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/quote", exchange -> {
            if (slow[0]) {
                Naps.millis(160);
            }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(new byte[] {'o', 'k'});
            exchange.close();
        });
        server.start();
        return server;
    }

    private List<Fault> all(boolean[] slow) {
        List<Fault> faults = new ArrayList<>();
        faults.add(Fault.of("connection-leak", "NOT GIVEN BACK.*druid", "close.*Stock.export", on -> {
            Switches.set("connection-leak", on);
            if (!on) {
                ShopApplication.findLostConnections();
            }
        }));
        faults.add(Fault.of("statement-slow", "SLOW STATEMENT.*nap", "statement.*no pool size"));
        faults.add(Fault.of("monitor", "LOCK.*monitor of Basket.*Basket.stamp", "Basket.stamp"));
        faults.add(Fault.of("heap-full", "COLLECTOR.*heap", "bound", on -> ShopApplication.memory(on ? 0.86 : 0)));
        faults.add(Fault.of("provider-slow", "PEER.*RateService.rate", "provider of RateService"));
        faults.add(Fault.of("sleeps", "SLEEPS.*Basket.pause", "Basket.pause"));
        faults.add(Fault.of("lock", "LOCK.*Basket.number", "Basket.number"));
        faults.add(Fault.of("map-compute", "LOCK.*Basket.*label", "Basket.*label"));
        faults.add(Fault.of("computes", "(COMPUTES|PROCESSORS).*", "Basket.sort"));
        faults.add(Fault.of("statements-many", "MANY STATEMENTS", "one statement in place of"));
        faults.add(Fault.of("held-over-call", "POOL|SLEEPS|RESULT|HELD", "Stock.settle|no size|Naps"));
        faults.add(Fault.of(
                "redis-big-value", "REDIS COMMAND.*catalogue|COLLECTOR|PROCESSORS", "catalogue|value|objects"));
        faults.add(Fault.of("redis-many", "MANY COMMANDS", "MGET|pipeline"));
        faults.add(Fault.of("http-slow", "HTTP PEER.*127.0.0.1", "ask", on -> slow[0] = on));
        faults.add(Fault.of("fails", "FAILURE.*IllegalArgumentException.*Basket.refuse", "Basket.refuse"));
        faults.add(Fault.of("provider-fails", "PEER.*RateService", "RateService"));
        faults.add(Fault.of("common-pool", "RESULT.*Basket.gather", "Basket.gather"));
        faults.add(Fault.of("file-sync", "FILE.*Basket.note", "Basket.note"));
        faults.add(Fault.of("allocates", "COLLECTOR|COMPUTES|PROCESSORS", "Basket.copy"));
        faults.add(Fault.of("hangs", "RESULT.*Basket.await", "Basket.await", on -> {
            Switches.set("hangs", on);
            if (!on) {
                ShopApplication.openGate(shop);
            }
        }));
        faults.add(Fault.of("foreign-holder", "HELD BY OTHERS.*druid", "Faults", this::holdConnections));
        faults.add(Fault.of("pool-small", "POOL TOO SMALL.*druid", "max-active=", on -> {
            shop.getBean(DruidDataSource.class).setMaxActive(on ? 1 : 60);
            Switches.set("statement-short-nap", on);
        }));
        faults.add(Fault.of("burst", "NO FREE WORKER|PROCESSORS", "caller|processors", on -> load.factor(on ? 12 : 1)));
        return faults;
    }

    private final List<Connection> held = new ArrayList<>();

    private void holdConnections(boolean on) throws Exception {
        DataSource source = shop.getBean(DataSource.class);
        if (on) {
            int size = shop.getBean(DruidDataSource.class).getMaxActive();
            for (int i = 0; i < size; i++) {
                held.add(source.getConnection());
            }
        } else {
            for (Connection connection : held) {
                connection.close();
            }
            held.clear();
        }
    }

    private void run(List<Fault> faults, List<String> only, Path table) throws Exception {
        sleep(HEALTHY_SECONDS);
        int named = 0;
        int right = 0;
        int planted = 0;
        StringBuilder rows = new StringBuilder();
        if (diagnostician.diagnosis().state() == Diagnosis.State.MISS) {
            System.out.println("FALSE ALARM before any fault:\n"
                    + diagnostician.diagnosis().text());
        }
        for (Fault fault : faults) {
            if (!only.isEmpty() && !only.contains(fault.name())) {
                continue;
            }
            planted++;
            long bad = load.bad.sum();
            fault.plant().set(true);
            int seconds = awaitMiss();
            sleep(AFTER_FIRST_SECONDS);
            Diagnosis diagnosis = diagnostician.diagnosis();
            fault.plant().set(false);
            Cause first =
                    diagnosis.causes().isEmpty() ? null : diagnosis.causes().get(0);
            String title = first == null ? diagnosis.state().name() : first.kind() + ": " + first.name();
            boolean firstRight = first != null && fault.first().matcher(title).find();
            boolean changeRight = firstRight
                    && first != null
                    && fault.change().matcher(first.change().text()).find();
            named += firstRight ? 1 : 0;
            right += changeRight ? 1 : 0;
            String row = String.format(
                    Locale.ROOT,
                    "%-18s %-5s %-6s %3d s %5d bad  %s -> %s",
                    fault.name(),
                    firstRight ? "first" : "-",
                    changeRight ? "change" : "-",
                    seconds,
                    load.bad.sum() - bad,
                    title,
                    first == null ? "" : first.change().text());
            System.out.println(row);
            if (!changeRight) {
                System.out.println(diagnosis.text());
            }
            rows.append(row).append('\n');
            Files.writeString(table, rows);
            awaitHealthy();
        }
        System.out.printf(Locale.ROOT, "%d of %d named first, %d with the right change%n", named, planted, right);
    }

    /** @return seconds until the diagnosis reported a missed target; -1 if it did not */
    private int awaitMiss() throws InterruptedException {
        for (int i = 1; i <= FAULT_SECONDS; i++) {
            sleep(1);
            if (diagnostician.diagnosis().state() == Diagnosis.State.MISS) {
                return i;
            }
        }
        return -1;
    }

    private void awaitHealthy() throws InterruptedException {
        for (int i = 0; i < RECOVERY_SECONDS; i++) {
            sleep(1);
            if (diagnostician.diagnosis().state() == Diagnosis.State.HEALTHY) {
                sleep(3);
                return;
            }
        }
        System.out.println("NOT HEALTHY AGAIN:\n" + diagnostician.diagnosis().text());
    }

    private static void sleep(int seconds) throws InterruptedException {
        Thread.sleep(seconds * 1_000L);
    }
}
