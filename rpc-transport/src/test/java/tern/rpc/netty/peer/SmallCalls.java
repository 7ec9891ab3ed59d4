package tern.rpc.netty.peer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.netty.util.ResourceLeakDetector;
import java.lang.management.ManagementFactory;
import java.util.List;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Measures the heap memory that client and server together allocate for a small call. */
public final class SmallCalls {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int CALLS = 5_000;

    private SmallCalls() {}

    /** A service whose method has a very small request and answer. */
    public interface Exists {
        boolean exists(String id);
    }

    /** Returns the mean number of bytes that one call allocates. */
    public static long allocatedBytes(List<ServerProtocol> served, ClientProtocol called) {
        ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
        EventLoops loops = EventLoops.start(1);
        RpcServer server = RpcServer.builder(new NettyServerTransport(ServerTransportSettings.onPort(0), loops, served))
                .export(ServiceExport.of(Exists.class, id -> !id.isEmpty()))
                .build();
        server.start();
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(ClientTransportSettings.named("test"), loops, called))
                .build();
        try {
            Exists service = client.refer(ServiceReference.to(
                            Exists.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", server.port()))))
                    .protocol(called.name())
                    .check(true)
                    .build());
            // the leak detector is turned off, because its records would occupy more memory than the calls
            ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
            call(service); // the first calls create shared objects, so they are not measured

            long before = allocated();
            call(service);

            return (allocated() - before) / CALLS;
        } finally {
            ResourceLeakDetector.setLevel(level);
            client.close();
            server.close();
            loops.close();
        }
    }

    private static void call(Exists service) {
        int found = 0;
        for (int i = 0; i < CALLS; i++) {
            found += service.exists("1236") ? 1 : 0;
        }
        assertThat(found).isEqualTo(CALLS);
    }

    /** Returns the number of bytes allocated by the threads that take part in calls. */
    private static long allocated() {
        long sum = 0;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread == Thread.currentThread() || thread.getName().startsWith("rpc-")) {
                sum += Math.max(0, THREADS.getThreadAllocatedBytes(thread.getId()));
            }
        }
        return sum;
    }
}
