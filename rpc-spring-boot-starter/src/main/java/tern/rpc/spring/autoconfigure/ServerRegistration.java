package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;
import tern.rpc.concurrent.DaemonThreads;
import tern.rpc.registry.Registrar;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.server.RpcServer;

/**
 * Registers the server while Spring reports that the application accepts traffic. Until the registration has been read
 * back from the registry, this class reports that the application refuses traffic. On shutdown, the registration is
 * withdrawn before the server drains.
 */
public final class ServerRegistration
        implements BuiltInService,
                ApplicationListener<AvailabilityChangeEvent<ReadinessState>>,
                Ordered,
                DisposableBean {

    private static final Logger LOG = LoggerFactory.getLogger(ServerRegistration.class);

    /**
     * The maximum time that an unreachable registry delays the application's readiness. Does not apply if the
     * registration is required.
     */
    static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

    private final RegistrationSettings settings;
    private final Registries registries;
    private final ObjectProvider<RpcServer> server;
    private final OwnRegistration own;
    private final RunningLimits limits;
    private final ApplicationContext context;
    private final Set<Registry> watched = ConcurrentHashMap.newKeySet(); // the registries whose rules are watched
    private @Nullable ScheduledThreadPoolExecutor timer; // guarded by this
    private @Nullable Registrar registrar; // guarded by this
    private boolean accepting; // guarded by this
    private int registered; // the number of registrations so far; guarded by this
    // True after the shutdown has begun. Even then, Spring can report that the application accepts traffic, for example
    // if SIGTERM arrived while an ApplicationRunner was running. Guarded by this.
    private boolean ended;
    private volatile @Nullable Registration registration; // the most recently published registration

    ServerRegistration(
            RegistrationSettings settings,
            Registries registries,
            ObjectProvider<RpcServer> server,
            Supplier<List<String>> protocols,
            RunningLimits limits,
            ApplicationContext context) {
        this.settings = settings;
        this.registries = registries;
        this.server = server;
        this.own = new OwnRegistration(settings, registries, server, protocols);
        this.limits = limits;
        this.context = context;
    }

    /** Does nothing, because this class exports no built-in service. */
    @Override
    public void addTo(RpcServer.Builder ignored) {}

    /**
     * Places this listener after the listeners that record the readiness. These listeners receive the original event
     * first. The event that this listener publishes comes later and takes precedence.
     */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void onApplicationEvent(AvailabilityChangeEvent<ReadinessState> event) {
        boolean ofAnother = event.getSource() instanceof ApplicationContext source && source != context;
        if (event.getSource() == this || ofAnother || settings.registries().isEmpty()) {
            return;
        }
        if (event.getState() != ReadinessState.ACCEPTING_TRAFFIC) {
            withdraw();
        } else if (!BuiltInService.others(server.getObject().exports()).isEmpty()) {
            register();
        }
    }

    private void register() {
        CompletableFuture<Void> seen;
        int number;
        synchronized (this) {
            if (ended) {
                LOG.debug("Not registering, because the server is shutting down");
                return;
            }
            registered += accepting ? 0 : 1;
            accepting = true;
            number = registered;
            seen = registrar().register(this::registration);
        }
        if (seen.isDone()) {
            return;
        }
        publish(ReadinessState.REFUSING_TRAFFIC);
        // Readiness listeners belong to the application, so they must not run on the threads of the registries.
        seen.thenRunAsync(() -> ready(number, true), timer());
        timer().schedule(() -> ready(number, false), LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Reports that the application accepts traffic.
     *
     * @param number the number of the registration that was seen or timed out; the call has no effect if a later
     *     registration exists
     * @param isSeen false if the registration was not seen within {@link #LONGEST_WAIT}
     */
    void ready(int number, boolean isSeen) {
        synchronized (this) {
            if (!accepting
                    || number != registered
                    || (!isSeen && registrar().seen().isDone())) {
                return;
            }
            if (!isSeen) {
                LOG.warn(
                        "Not registered after {} s: {}. The application {}; rpc.server.registry.required decides",
                        LONGEST_WAIT.toSeconds(),
                        registrar().problems(),
                        settings.required() ? "stays not ready" : "is ready nevertheless");
                if (settings.required()) {
                    return;
                }
            }
        }
        try {
            publish(ReadinessState.ACCEPTING_TRAFFIC);
        } catch (RuntimeException e) {
            LOG.error(
                    "{} listener of the application's readiness failed. The listeners after it, and probes, may still"
                            + " regard the application as not ready",
                    isSeen ? "The provider is registered, but a" : "A",
                    e);
        }
    }

    private void publish(ReadinessState state) {
        context.publishEvent(new AvailabilityChangeEvent<>(this, state));
    }

    private synchronized ScheduledThreadPoolExecutor timer() {
        ScheduledThreadPoolExecutor current = timer;
        if (current == null) {
            current = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("rpc-registration"));
            current.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            timer = current;
        }
        return current;
    }

    private synchronized Registrar registrar() {
        Registrar current = registrar;
        if (current == null) {
            current = new Registrar(
                    settings.registries().stream().map(registries::at).toList(), timer());
            registrar = current;
        }
        return current;
    }

    private Registration registration(Registry registry) {
        Registration made = own.at(registry);
        registration = made;
        if (watched.add(registry)) {
            registry.watchLimits(made, ruled -> limits.rule(registry.url().toString(), ruled));
        }
        return made;
    }

    /** Returns whether the server should be registered in at least one registry with the given URL scheme. */
    boolean isAt(String scheme) {
        return settings.registries().stream().anyMatch(url -> url.scheme().equals(scheme));
    }

    /** Returns the name under which the server is registered. */
    String application() {
        return settings.application();
    }

    /** Returns whether the server should be registered but has not been registered yet. */
    boolean isToCome() {
        return !settings.registries().isEmpty() && registration == null;
    }

    /** Returns the most recently published registration; null if nothing has been published yet. */
    @Nullable
    Registration published() {
        return registration;
    }

    /**
     * Returns, for each registry, the reason why the server is not registered; an empty string if the server is
     * registered.
     */
    public Map<String, String> problems() {
        synchronized (this) {
            if (registrar != null && accepting) {
                return registrar.problems();
            }
        }
        Map<String, String> problems = new LinkedHashMap<>();
        settings.registries().forEach(url -> problems.put(url.toString(), "not registered"));
        return problems;
    }

    /** Withdraws the registration permanently. Blocks for at most three seconds. */
    @Override
    public void shutDown() {
        synchronized (this) {
            ended = true;
        }
        withdraw();
    }

    private void withdraw() {
        Registrar current;
        synchronized (this) {
            accepting = false;
            current = registrar;
        }
        if (current != null) {
            current.withdraw();
        }
    }

    @Override
    public void destroy() {
        shutDown();
        synchronized (this) {
            if (timer != null) {
                timer.shutdownNow();
            }
        }
    }

    @Override
    public String toString() {
        return "registration at " + settings.registries();
    }
}
