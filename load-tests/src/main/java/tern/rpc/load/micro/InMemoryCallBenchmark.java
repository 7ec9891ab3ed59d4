package tern.rpc.load.micro;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import tern.rpc.ClientFilter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;
import tern.sample.api.Page;
import tern.sample.api.User;
import tern.sample.api.UserService;

/**
 * Measures a call from the proxy to the method and back, through filters and serializer but without a network. The
 * calling thread also runs the method.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class InMemoryCallBenchmark {

    private static final int CALLS = 1_000;

    private final InMemoryTransport transport =
            new InMemoryTransport(HessianSerializer.builder().build());
    private final RpcServer server = RpcServer.builder(transport)
            .export(ServiceExport.of(UserService.class, new Users()))
            .threads(CallingThread::new, Duration.ZERO)
            .limit(() -> new FixedLimit(CALLS))
            .build();
    private final RpcClient client;
    private final RpcClient filtering;
    private final UserService users;
    private final UserService filtered;

    public InMemoryCallBenchmark() {
        server.start();
        client = RpcClient.builder().transport(transport).build();
        filtering =
                RpcClient.builder().transport(transport).filter(new Through()).build();
        users = refer(client);
        filtered = refer(filtering);
    }

    private static UserService refer(RpcClient from) {
        return from.refer(
                ServiceReference.to(UserService.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", 1))))
                        .protocol(InMemoryTransport.PROTOCOL)
                        .build());
    }

    @TearDown
    public void stop() {
        client.close();
        filtering.close();
        server.close();
    }

    @Benchmark
    public boolean existUser() {
        return users.existUser("1236");
    }

    /**
     * Makes the call through one more application filter than the other benchmarks. The filter adds one completion
     * stage.
     */
    @Benchmark
    public boolean existUserFiltered() {
        return filtered.existUser("1236");
    }

    @Benchmark
    public @Nullable User getUser() {
        return users.getUser(7);
    }

    private static final class Through implements ClientFilter {
        @Override
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            return next.invoke(call);
        }
    }

    private static final class Users implements UserService {

        private final User user = Samples.user();

        @Override
        public boolean existUser(String email) {
            return !email.isEmpty();
        }

        @Override
        public boolean createUser(User given) {
            return true;
        }

        @Override
        public User getUser(long id) {
            return user;
        }

        @Override
        public Page<User> listUser(int pageNo) {
            return new Page<>(pageNo, 1, List.of(user));
        }
    }
}
