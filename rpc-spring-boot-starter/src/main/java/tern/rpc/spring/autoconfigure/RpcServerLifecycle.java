package tern.rpc.spring.autoconfigure;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import tern.rpc.Thrown;
import tern.rpc.server.RpcServer;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.settings.RpcStartException;

/**
 * Starts the server after all other beans, and drains the server before any other bean stops. The drain begins when the
 * application context starts closing, before executors reject tasks and before the web server stops. The health service
 * reports the shutdown before the drain. A running server keeps the process alive.
 */
public final class RpcServerLifecycle
        implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, Ordered, DisposableBean {

    private static final Logger LOG = LoggerFactory.getLogger(RpcServerLifecycle.class);
    private static final String PORT_PROPERTY = "local.rpc.port";
    private static final String PROPERTY_SOURCE = "rpc.ports";

    /** The lowest port that a process without special permissions may use on most systems. */
    private static final int FIRST_OPEN_PORT = 1_024;

    private final RpcServer server;
    private final ServerSettings settings;
    private final List<BuiltInService> builtIns;
    private final String description;
    private final ObjectProvider<RpcReferences> references;
    private final ConfigurableApplicationContext context;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile boolean started;
    private volatile boolean running;
    private volatile int openPort; // the port of the server; 0 while the server does not listen

    /**
     * @param builtIns the built-in services, which are notified when the shutdown begins
     * @param description a description of the protocols, event loops and threads, for the log
     * @param references the application's references, which can include references to this server
     */
    RpcServerLifecycle(
            RpcServer server,
            ServerSettings settings,
            List<BuiltInService> builtIns,
            String description,
            ObjectProvider<RpcReferences> references,
            ApplicationContext context) {
        this.server = server;
        this.settings = settings;
        this.builtIns = builtIns;
        this.description = description;
        this.references = references;
        this.context = (ConfigurableApplicationContext) context;
    }

    @Override
    public void start() {
        if (!servesSomething()) {
            LOG.info("No RPC server starts, because neither a bean with @RpcService nor an RpcServerCustomizer exports"
                    + " a service");
            return;
        }
        if (started) {
            throw new RpcStartException(
                    "The RPC server of this application was stopped, and a stopped server cannot start again",
                    "Close the application context and create another one, in place of calling stop() and start().",
                    null);
        }
        ExportedBeans.checkMade(context.getBeanFactory(), server.exports());
        try {
            server.start();
        } catch (UncheckedIOException e) {
            throw cannotListen(e);
        }
        started = true;
        running = true;
        openPort = server.port();
        PortsOfThisProcess.opened(openPort);
        publishPort(openPort);
        keepAlive();
        List<String> services = BuiltInService.others(server.exports());
        LOG.info(
                "RPC server started on port {} ({}) with {}: {}",
                server.port(),
                description,
                StartLine.count(services.size(), "service"),
                StartLine.names(services));
        references.ifAvailable(each -> {
            each.checkLocal(server.exports());
            each.connectToOwnServer();
        });
    }

    private RpcStartException cannotListen(UncheckedIOException failure) {
        String address = settings.transport().address();
        int port = settings.transport().port();
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        String listening = "The RPC server cannot listen on port " + port + " of ";
        if (address != null && !OwnServer.isOfThisMachine(address)) {
            return new RpcStartException(
                    listening + address + ", which is not an address of this machine",
                    "Set rpc.server.address to an address or a name of this machine, or remove it to listen on all"
                            + " addresses.",
                    failure);
        }
        String other = otherServer(port);
        if (other != null) {
            return new RpcStartException(
                    listening + (address == null ? "all addresses" : address) + ", because " + other
                            + " is the same port",
                    "Set rpc.server.port or " + other + " to another port; RPC and web pages need one each.",
                    failure);
        }
        if (PortsOfThisProcess.contains(port)) {
            return new RpcStartException(
                    listening + (address == null ? "all addresses" : address)
                            + ", because another application context of this process listens there",
                    "In tests, set rpc.server.port=0, which selects a free port for each context. For several"
                            + " applications in one web server, set a different rpc.server.port in each. Otherwise,"
                            + " close the other context first.",
                    failure);
        }
        if (port < FIRST_OPEN_PORT && String.valueOf(cause.getMessage()).contains("ermission denied")) {
            return new RpcStartException(
                    listening + (address == null ? "all addresses" : address) + ": " + cause.getMessage(),
                    "Set rpc.server.port to " + FIRST_OPEN_PORT + " or above, or give the process the permission to use"
                            + " lower ports.",
                    failure);
        }
        return new RpcStartException(
                listening + (address == null ? "all addresses" : address) + ": " + cause.getMessage(),
                "Stop the process that uses that port, or set rpc.server.port to another one (0 for any that is free).",
                failure);
    }

    /**
     * Returns the property that assigns the given port to a different server of this application; null if there is
     * none.
     */
    private @Nullable String otherServer(int port) {
        Environment environment = context.getEnvironment();
        return Stream.of("server.port", "management.server.port", "local.server.port")
                .filter(property -> String.valueOf(port).equals(environment.getProperty(property)))
                .findFirst()
                .map(property -> property.equals("local.server.port") ? "server.port" : property)
                .orElse(null);
    }

    private void publishPort(int port) {
        ConfigurableEnvironment environment = context.getEnvironment();
        environment.getPropertySources().addFirst(new MapPropertySource(PROPERTY_SOURCE, Map.of(PORT_PROPERTY, port)));
    }

    /**
     * Keeps the process alive with a non-daemon thread. A non-daemon thread is necessary because the server's own
     * threads are daemon threads, and there might be no web server.
     */
    private void keepAlive() {
        Thread thread = new Thread(
                () -> {
                    try {
                        stopped.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "rpc-keep-alive");
        thread.setDaemon(false);
        thread.start();
    }

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() == context) {
            stop();
        }
    }

    /** Places this listener before the listeners that make executors reject tasks. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void stop() {
        if (!running) {
            return;
        }
        running = false;
        Duration atMost = settings.shutdownTimeout();
        // The built-in services are notified first. The health service then reports NOT_SERVING, and load balancers
        // choose other servers.
        builtIns.forEach(RpcServerLifecycle::shutDown);
        LOG.info(
                "Draining the RPC server for at most {} (set by rpc.server.shutdown-timeout)",
                PropertyCheck.text(atMost));
        try {
            server.drain(atMost);
        } finally {
            destroy();
        }
        LOG.info("RPC server stopped");
    }

    /**
     * Notifies a built-in service. A failure of the service must not prevent the drain, because running calls would be
     * lost without the drain.
     */
    private static void shutDown(BuiltInService service) {
        try {
            service.shutDown();
        } catch (RuntimeException | Error e) {
            Thrown.log(
                    e,
                    shown -> LOG.error(
                            "{} failed when the shutdown began; the server drains nevertheless",
                            service.getClass().getName(),
                            shown));
        }
    }

    /** Stops the server. If the application failed to start, Spring calls only this method and not {@link #stop}. */
    @Override
    public void destroy() {
        running = false;
        server.close();
        int port = openPort;
        // The port is set to 0. A second call to this method then cannot remove the same port number of another
        // application context.
        openPort = 0;
        PortsOfThisProcess.closed(port);
        stopped.countDown();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /**
     * Returns whether the server has ever listened on its port. The result stays true after the server has stopped,
     * unlike the result of {@link #isRunning}.
     */
    boolean hasStarted() {
        return started;
    }

    /**
     * Returns whether the application exports a service. A server without services never starts. For example, such a
     * server exists if the application has only a customizer that changes settings.
     */
    public boolean servesSomething() {
        return !BuiltInService.others(server.exports()).isEmpty();
    }

    /**
     * Returns false, because a stopped server cannot start again. If the method returned true, a test framework could
     * stop the server when it pauses an application context.
     */
    @Override
    public boolean isPauseable() {
        return false;
    }

    /** Returns the server's port; null if the server is not running. */
    public @Nullable Integer port() {
        return running ? server.port() : null;
    }
}
