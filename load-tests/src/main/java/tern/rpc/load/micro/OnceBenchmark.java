package tern.rpc.load.micro;

import io.netty.util.Recycler;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.JavaShape;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;
import tern.sample.api.UserService;

/**
 * Compares doing work once with repeating it for every call or step. In the first variant, the work is done when a
 * proxy or connection is created, or when a call begins. The name of each benchmark ends with the variant that it
 * measures.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class OnceBenchmark {

    private static final int FILTERS = 8;

    private final ServiceDescriptor service = ServiceDescriptor.of(UserService.class);
    private final Map<Method, MethodDescriptor> methods = new ConcurrentHashMap<>();
    private final Method called;
    private final Map<String, Object> attributes = new ConcurrentHashMap<>();
    private final InetAddress resolved = InetAddress.getLoopbackAddress();
    private final Invocation call;
    private final Response response = Response.of(true);
    private final Recycled recycled = new Recycled();
    private final String host = "127.0.0.1";
    private final int port = 20_880;
    private long lastRead;

    public OnceBenchmark() {
        called = Objects.requireNonNull(service.overloads("getUser").get(0).javaMethod());
        for (MethodDescriptor method : service.methods()) {
            Method java = method.javaMethod();
            if (java != null) {
                methods.put(java, method);
            }
        }
        call = new Invocation(
                new ServiceKey(service.name(), "", ""),
                service.overloads("existUser").get(0),
                new Object[] {"1236"},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
    }

    /** Reads the result type, which was resolved when the proxy was created. */
    @Benchmark
    public @Nullable Object resultTypeOnce() {
        MethodDescriptor method = methods.get(called);
        return method == null ? null : method.result();
    }

    @Benchmark
    public Type resultTypeByReflection() throws NoSuchMethodException {
        return UserService.class.getMethod("getUser", long.class).getGenericReturnType();
    }

    /**
     * Reads from the method's descriptor whether the caller blocks. The descriptor was created together with the proxy.
     */
    @Benchmark
    public boolean callModeOnce() {
        MethodDescriptor method = methods.get(called);
        return method != null && method.responses() == JavaShape.STAGE;
    }

    @Benchmark
    public boolean callModeByReflection() throws NoSuchMethodException {
        Class<?> result = UserService.class.getMethod("getUser", long.class).getReturnType();
        return CompletableFuture.class.isAssignableFrom(result);
    }

    /** Runs eight steps of a call that need its context. Only the first step looks up the context. */
    @Benchmark
    public int contextOnce() {
        ServerContext context = ServerContext.current();
        int current = 0;
        for (int i = 0; i < FILTERS; i++) {
            current += context == null ? 0 : 1;
        }
        return current;
    }

    @Benchmark
    public int contextAtEachStep() {
        int current = 0;
        for (int i = 0; i < FILTERS; i++) {
            current += ServerContext.current() == null ? 0 : 1;
        }
        return current;
    }

    /**
     * Uses one object for all steps of a blocking call: registering the call, completing it, and reading the answer.
     */
    @Benchmark
    public Response futureOnce() throws Throwable {
        PendingCall pending = new PendingCall(call, false, 0, null);
        pending.answer(new Given(response));
        return pending.await();
    }

    /** Uses three futures, one each for transport, protocol and caller. Each future completes the next future. */
    @Benchmark
    public Object futureOfEachLayer() throws Exception {
        CompletableFuture<Response> transport = new CompletableFuture<>();
        CompletableFuture<Response> protocol = transport.thenApply(answer -> answer);
        CompletableFuture<Object> caller = new CompletableFuture<>();
        protocol.whenComplete((answer, failure) -> caller.complete(answer));
        transport.complete(response);
        return caller.get();
    }

    /**
     * Uses one completion stage per filter. Each stage restores the context, as in a chain of {@code
     * thenApplyWithContext} calls.
     */
    @Benchmark
    public Object stageOfEachFilter() throws Exception {
        CompletableFuture<Response> last = new CompletableFuture<>();
        CompletableFuture<Response> stage = last;
        for (int i = 0; i < FILTERS; i++) {
            stage = stage.thenApply(OnceBenchmark::inContext);
        }
        last.complete(response);
        return stage.get();
    }

    private static Response inContext(Response answer) {
        ServerContext before = ServerContext.replace(ServerContext.current());
        try {
            return answer;
        } finally {
            ServerContext.replace(before);
        }
    }

    @Benchmark
    public InetAddress localAddressOnce() {
        return resolved;
    }

    @Benchmark
    public InetAddress localAddressByLookup() throws UnknownHostException {
        return InetAddress.getLocalHost();
    }

    /** Stores the time of a connection's last read operation in a field. */
    @Benchmark
    public long lastReadInField() {
        lastRead = System.nanoTime();
        return lastRead;
    }

    @Benchmark
    public @Nullable Object lastReadInMap() {
        return attributes.put("LAST_READ_TIME", System.nanoTime());
    }

    @Benchmark
    public MethodDescriptor addressOnce() {
        return call.method();
    }

    /** Converts an address to a string for each call. */
    @Benchmark
    public String addressAsUrl() {
        return "dubbo://" + host + ":" + port + "/" + service.name() + "?timeout=3000&version=0.0.0";
    }

    /** Allocates a new object for each call. Young garbage collections free these objects. */
    @Benchmark
    public PendingCall objectMade() {
        return new PendingCall(call, false, 0, null);
    }

    @Benchmark
    public @Nullable Invocation objectRecycled() {
        Reused reused = recycled.get();
        reused.call = call;
        Invocation used = reused.call;
        reused.call = null;
        reused.handle.recycle(reused);
        return used;
    }

    private record Given(Response response) implements Answer {
        @Override
        public Response decode(Invocation answered) {
            return response;
        }

        @Override
        public void discard() {}
    }

    private static final class Reused {
        private final Recycler.Handle<Reused> handle;
        private @Nullable Invocation call;

        Reused(Recycler.Handle<Reused> handle) {
            this.handle = handle;
        }
    }

    private static final class Recycled extends Recycler<Reused> {
        @Override
        protected Reused newObject(Handle<Reused> handle) {
            return new Reused(handle);
        }
    }
}
