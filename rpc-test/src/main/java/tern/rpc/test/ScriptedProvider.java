package tern.rpc.test;

import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Attributes;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.protocols.ServerProtocols;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * A provider for tests of consumers. The provider listens on a free port of the loopback interface, supports every
 * protocol, answers calls according to scripts, and records the calls. The provider listens from its creation until
 * {@link #close}. Thread-safe.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final ScriptedProvider provider = ScriptedProvider.of(GreetingService.class);
 *
 * @DynamicPropertySource
 * static void address(DynamicPropertyRegistry properties) {
 *     properties.add("rpc.client.url", provider::address);
 * }
 *
 * @Test
 * void asksAgainWhenTheProviderIsFull() {
 *     provider.on("greet").refuse().answer("Hello");
 *     …
 *     provider.assertCalled("greet", 2);
 * }
 * }</pre>
 *
 * <p>As a JUnit extension, the provider discards scripts and recorded calls after each test, and then accepts
 * connections again. A provider in a static field is closed after the test class, and a provider in an instance field
 * after the test.
 */
public final class ScriptedProvider implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AutoCloseable {

    private static final Namespace NAMESPACE = Namespace.create(ScriptedProvider.class);
    private static final String JSON = "tools.jackson.databind.json.JsonMapper";

    private final List<ServiceDescriptor> services;
    private final EventLoops loops = EventLoops.start(1);
    private final RpcServer server;
    private final Relay relay;
    private final Map<String, Script> scripts = new ConcurrentHashMap<>();
    private final List<SeenCall> calls = new ArrayList<>(); // the received calls; guarded by the list's own lock
    private static final ThreadLocal<@Nullable Object> STREAM_ANSWER = new ThreadLocal<>();

    private ScriptedProvider(List<ServiceKey> keys, List<Class<?>> types, Serializer serializer) {
        this.services = types.stream().map(ServiceDescriptor::of).toList();
        NettyServerTransport transport = new NettyServerTransport(
                settings(), loops, ServerProtocols.all(serializer, json(), HttpSettings.defaults()));
        RpcServer.Builder builder = RpcServer.builder(transport).filter(this::serve);
        for (int i = 0; i < types.size(); i++) {
            Object target = target(types.get(i));
            builder.export(ServiceExport.of(services.get(i), keys.get(i), () -> target, Attributes.DEFAULT_WEIGHT));
        }
        this.server = builder.build();
        server.start();
        this.relay = new Relay(server.port());
    }

    private static ServerTransportSettings settings() {
        return ServerTransportSettings.onPort(0)
                .withAddress(InetAddress.getLoopbackAddress().getHostAddress());
    }

    /** Returns a JSON codec if Jackson is on the class path; otherwise null. */
    private static @Nullable JsonCodec json() {
        try {
            Class.forName(JSON, false, ScriptedProvider.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        }
        return Json.codec();
    }

    /** Contains all uses of Jackson, so that Jackson's classes are loaded only if Jackson is present. */
    private static final class Json {
        static JsonCodec codec() {
            return new JsonCodec(
                    tools.jackson.databind.json.JsonMapper.builder().build());
        }
    }

    /** Creates a provider of the given interfaces, without a group or version. */
    public static ScriptedProvider of(Class<?>... services) {
        return allowing().of(services);
    }

    /** Creates a provider of one interface with a group and a version. The group and the version may be empty. */
    public static ScriptedProvider of(Class<?> service, String group, String version) {
        return allowing().of(service, group, version);
    }

    /**
     * Allows classes in arguments that the interfaces do not declare. The property {@code rpc.limits.allowed-classes}
     * of the tested application does not apply to the provider.
     *
     * <pre>{@code
     * ScriptedProvider.allowing("com.example.orders.*").of(OrderService.class)
     * }</pre>
     *
     * @param classes class names, or package names that end in {@code .*} or {@code .**}, as in
     *     {@code rpc.limits.allowed-classes}
     * @throws IllegalArgumentException if an entry is neither a class name nor a package name
     */
    public static Builder allowing(String... classes) {
        return new Builder(HessianSerializer.builder().allow(classes).build());
    }

    /** Creates providers that allow classes in addition to those that their interfaces declare. Thread-safe. */
    public static final class Builder {

        private final Serializer serializer;

        private Builder(Serializer serializer) {
            this.serializer = serializer;
        }

        /** Creates a provider of the given interfaces, without a group or version. */
        public ScriptedProvider of(Class<?>... services) {
            if (services.length == 0) {
                throw new IllegalArgumentException("a ScriptedProvider needs at least one service interface, such as"
                        + " ScriptedProvider.of(OrderService.class)");
            }
            return new ScriptedProvider(
                    Arrays.stream(services)
                            .map(type -> new ServiceKey(ServiceDescriptor.nameOf(type), "", ""))
                            .toList(),
                    List.of(services),
                    serializer);
        }

        /** Creates a provider of one interface with a group and a version. The group and the version may be empty. */
        public ScriptedProvider of(Class<?> service, String group, String version) {
            return new ScriptedProvider(
                    List.of(new ServiceKey(ServiceDescriptor.nameOf(service), group, version)),
                    List.of(service),
                    serializer);
        }
    }

    /**
     * Returns the host and port, such as {@code 127.0.0.1:40123}. {@code rpc.client.url} can be set to this value if
     * each reference declares its protocol.
     */
    public String address() {
        return InetAddress.getLoopbackAddress().getHostAddress() + ":" + relay.port();
    }

    /** Returns the address with the given protocol as its scheme, such as {@code tri://127.0.0.1:40123}. */
    public String address(String protocol) {
        return protocol + "://" + address();
    }

    public int port() {
        return relay.port();
    }

    /**
     * Returns the script for all methods with the given name. New steps are appended to the existing ones.
     *
     * @throws IllegalArgumentException if no service has a method with this name
     */
    public Script on(String method) {
        List<MethodDescriptor> named = methods(method);
        return scripts.computeIfAbsent(method, unknown -> new Script(method, named));
    }

    private List<MethodDescriptor> methods(String name) {
        List<MethodDescriptor> named = services.stream()
                .flatMap(service -> service.overloads(name).stream())
                .toList();
        if (named.isEmpty()) {
            throw new IllegalArgumentException("no method is called '" + name + "'; there are "
                    + services.stream()
                            .flatMap(service -> service.methods().stream())
                            .map(MethodDescriptor::name)
                            .distinct()
                            .collect(Collectors.joining(", ")));
        }
        return named;
    }

    /**
     * Closes the port and every connection. Clients get "connection refused" until {@link #acceptConnections} is
     * called.
     */
    public void refuseConnections() {
        relay.refuse();
    }

    /** Opens the port again after {@link #refuseConnections}. */
    public void acceptConnections() {
        relay.accept();
    }

    /** Closes every connection. New connections are accepted. */
    public void dropConnections() {
        relay.dropAll();
    }

    static RpcException nothingScripted(String method) {
        return RpcException.refusal(
                StatusCode.UNIMPLEMENTED,
                "nothing is scripted for " + method + "; write provider.on(\"" + method + "\").answer(…)",
                Executed.NO);
    }

    private CompletionStage<Response> serve(Invocation call, Invoker next) {
        ServerContext context = ServerContext.current();
        List<@Nullable Object> arguments =
                Collections.unmodifiableList(new ArrayList<>(Arrays.asList(call.arguments())));
        String name = call.method().name();
        synchronized (calls) {
            calls.add(new SeenCall(
                    call.service(),
                    name,
                    arguments,
                    call.metadata().copy(),
                    context == null ? "" : context.protocol()));
            calls.notifyAll();
        }
        Script script = scripts.get(name);
        if (script == null) {
            return CompletableFuture.failedFuture(nothingScripted(name));
        }
        SocketAddress caller = context == null ? null : context.remoteAddress();
        CompletionStage<@Nullable Object> answer = script.next(arguments, () -> {
            if (caller instanceof InetSocketAddress address) {
                relay.drop(address.getPort());
            }
        });
        return call.method().type() == MethodType.UNARY
                ? answer.thenApply(Response::of)
                : answer.thenCompose(value -> stream(call, next, value));
    }

    private CompletionStage<Response> stream(Invocation call, Invoker next, @Nullable Object value) {
        STREAM_ANSWER.set(value);
        try {
            return next.invoke(call);
        } finally {
            STREAM_ANSWER.remove();
        }
    }

    /**
     * Creates the target object of a service. The target receives only streaming calls, because a filter answers all
     * other calls.
     */
    private Object target(Class<?> type) {
        return Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> switch (method.getName()) {
                    case "toString" -> "scripted " + type.getSimpleName();
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "equals" -> proxy == arguments[0];
                    default -> STREAM_ANSWER.get();
                });
    }

    /** Returns the calls received so far, in order. */
    public List<SeenCall> calls() {
        synchronized (calls) {
            return List.copyOf(calls);
        }
    }

    /**
     * Returns the calls to the given method received so far, in order.
     *
     * @throws IllegalArgumentException if no service has a method with this name
     */
    public List<SeenCall> calls(String method) {
        methods(method);
        return calls().stream().filter(call -> call.method().equals(method)).toList();
    }

    /**
     * Checks that the method was called exactly the given number of times.
     *
     * @throws IllegalArgumentException if no service has a method with this name
     */
    public void assertCalled(String method, int times) {
        List<SeenCall> seen = calls(method);
        if (seen.size() != times) {
            throw new AssertionError("expected " + times + (times == 1 ? " call of " : " calls of ") + method
                    + ", but there " + (seen.size() == 1 ? "was 1" : "were " + seen.size()) + listed(seen));
        }
    }

    /** Checks that no call was received. */
    public void assertNotCalled() {
        List<SeenCall> seen = calls();
        if (!seen.isEmpty()) {
            throw new AssertionError("expected no calls, but there were " + seen.size() + listed(seen));
        }
    }

    /** Checks that all steps of all scripts were used. */
    public void assertScriptDone() {
        String left = scripts.values().stream()
                .map(Script::left)
                .filter(text -> !text.isEmpty())
                .sorted()
                .collect(Collectors.joining("; "));
        if (!left.isEmpty()) {
            throw new AssertionError("these steps were not reached: " + left);
        }
    }

    /**
     * Blocks until the method has been called the given number of times. Use this method for calls whose end the caller
     * cannot observe, such as one-way calls. Fails if the time limit is exceeded.
     */
    public void awaitCalls(String method, int times, Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        synchronized (calls) {
            while (calls(method).size() < times) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw new AssertionError(
                            "expected " + times + " calls of " + method + " within " + atMost.toMillis()
                                    + " ms, but there were " + calls(method).size() + listed(calls()));
                }
                calls.wait(left / 1_000_000 + 1);
            }
        }
    }

    private static String listed(List<SeenCall> seen) {
        return seen.isEmpty() ? "" : seen.stream().map(SeenCall::toString).collect(Collectors.joining(", ", ": ", ""));
    }

    /** Discards scripts and recorded calls, and accepts connections again. */
    public void reset() {
        scripts.clear();
        synchronized (calls) {
            calls.clear();
        }
        relay.accept();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        closeWith(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        closeWith(context);
    }

    /**
     * Registers the provider to be closed when the outermost test context ends. For a static extension, this method is
     * also called before nested classes and individual tests.
     */
    private void closeWith(ExtensionContext context) {
        // The provider is registered once for nested contexts, because get() also finds values of parent contexts.
        ExtensionContext.Store store = context.getStore(NAMESPACE);
        if (store.get(this) == null) {
            store.put(this, (AutoCloseable) this::close);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        reset();
    }

    @Override
    public void close() {
        relay.close();
        server.close();
        loops.close();
    }
}
