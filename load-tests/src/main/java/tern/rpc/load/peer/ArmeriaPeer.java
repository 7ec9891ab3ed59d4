package tern.rpc.load.peer;

import com.linecorp.armeria.client.ClientFactory;
import com.linecorp.armeria.client.grpc.GrpcClientBuilder;
import com.linecorp.armeria.client.grpc.GrpcClients;
import com.linecorp.armeria.common.util.BlockingTaskExecutor;
import com.linecorp.armeria.server.Server;
import com.linecorp.armeria.server.grpc.GrpcService;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import tern.rpc.load.peer.proto.BenchmarkGrpc.BenchmarkBlockingStub;
import tern.rpc.load.peer.proto.StreamsGrpc.StreamsStub;

/**
 * Armeria's gRPC server and client with default settings. Methods run on Armeria's blocking executor, which has 200
 * threads.
 */
final class ArmeriaPeer implements Peer {

    private final Opened opened = new Opened();

    @Override
    public void serve(int port, Services services) {
        BlockingTaskExecutor workers =
                BlockingTaskExecutor.builder().numThreads(Workers.THREADS).build();
        Server server = Server.builder()
                .http(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .blockingTaskExecutor(workers, true)
                .service(GrpcService.builder()
                        .addService(new GrpcAnswers(new ProtobufAnswers(services)))
                        .addService(new GrpcStreamAnswers())
                        .useBlockingTaskExecutor(true)
                        .build())
                .build();
        opened.add(server).start().join();
    }

    @Override
    public Services connect(int port) {
        ClientFactory factory = opened.add(ClientFactory.builder().build());
        GrpcClientBuilder clients = GrpcClients.builder(
                        "gproto+h2c://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port + "/")
                .factory(factory);
        return GrpcCalls.over(clients.build(BenchmarkBlockingStub.class))
                .withStreams(new GrpcStreamCalls(clients.build(StreamsStub.class)));
    }

    @Override
    public void close() {
        opened.close();
    }
}
