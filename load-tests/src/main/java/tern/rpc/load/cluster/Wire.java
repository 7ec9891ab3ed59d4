package tern.rpc.load.cluster;

import java.util.List;
import java.util.function.Supplier;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.Http1ClientProtocol;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.sample.api.EchoService;
import tools.jackson.databind.json.JsonMapper;

/** The protocols of the consumers. The protocols have the same names as in the providers' meters. */
enum Wire {
    DUBBO(DubboProtocol.NAME),
    TRIPLE(TripleClientProtocol.NAME),
    HTTP(Http1ClientProtocol.NAME);

    private final String protocol;

    Wire(String protocol) {
        this.protocol = protocol;
    }

    String protocol() {
        return protocol;
    }

    /**
     * A consumer with Tern's defaults.
     *
     * @param safe a proxy for calls that may be repeated
     * @param once a proxy for calls that must not be repeated
     */
    record Consumer(RpcClient client, EchoService safe, EchoService once) implements AutoCloseable {

        @Override
        public void close() {
            client.close();
        }
    }

    Consumer connect(EventLoops loops, List<Integer> ports) {
        List<Endpoint> addresses =
                ports.stream().map(port -> new Endpoint("127.0.0.1", port)).toList();
        return connect(loops, () -> new StaticEndpoints(addresses), MethodSettings.NONE);
    }

    /**
     * Creates a consumer.
     *
     * @param providers creates a source of providers for each reference
     */
    Consumer connect(EventLoops loops, Supplier<EndpointSource> providers, MethodSettings settings) {
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("cluster-" + protocol), loops, clientProtocol()))
                .build();
        return new Consumer(
                client,
                refer(client, providers.get(), settings.withIdempotent(true)),
                refer(client, providers.get(), settings.withIdempotent(false)));
    }

    private EchoService refer(RpcClient client, EndpointSource providers, MethodSettings settings) {
        return client.refer(ServiceReference.to(EchoService.class, providers)
                .protocol(protocol)
                .defaults(settings)
                .build());
    }

    private ClientProtocol clientProtocol() {
        Serializer serializer = HessianSerializer.builder().build();
        TripleCodecs codecs =
                new TripleCodecs(serializer, new JsonCodec(JsonMapper.builder().build()), 0);
        return switch (this) {
            case DUBBO -> new DubboProtocol(serializer, 0);
            case TRIPLE -> new TripleClientProtocol(codecs);
            case HTTP -> new Http1ClientProtocol(codecs);
        };
    }
}
