package tern.rpc.netty.triple;

import com.google.protobuf.Message;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A client based on grpc-java with one connection. */
final class GrpcPeer implements AutoCloseable {

    private final ManagedChannel channel;

    GrpcPeer(int port) {
        this.channel = NettyChannelBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .usePlaintext()
                .build();
    }

    ManagedChannel channel() {
        return channel;
    }

    /** Returns the descriptor of a unary method with these message types, for a service without generated code. */
    static <Q extends Message, A extends Message> MethodDescriptor<Q, A> unary(
            String service, String name, Q request, A response) {
        return MethodDescriptor.<Q, A>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(service + "/" + name)
                .setRequestMarshaller(ProtoUtils.marshaller(request))
                .setResponseMarshaller(ProtoUtils.marshaller(response))
                .build();
    }

    @Override
    public void close() throws InterruptedException {
        channel.shutdownNow();
        if (!channel.awaitTermination(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the channel did not end");
        }
    }
}
