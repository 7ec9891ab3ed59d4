package tern.rpc.netty.protocols;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.Http1Protocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.serialization.Serializer;

/** Creates the protocols that a port can serve. */
public final class ServerProtocols {

    private ServerProtocols() {}

    /**
     * Creates the {@code dubbo} protocol; Triple, gRPC, gRPC-Web, Connect and JSON over HTTP/2; and gRPC-Web, Connect
     * and JSON over HTTP/1.1. Exceptions are sent without stack frames.
     *
     * @param serializer the serializer of Java values for {@code dubbo} and Triple
     * @param json the format of JSON calls; null to disable JSON
     * @param http the optional HTTP features
     */
    public static List<ServerProtocol> all(Serializer serializer, @Nullable JsonFormat json, HttpSettings http) {
        TripleCodecs codecs = new TripleCodecs(serializer, json, 0);
        return List.of(
                new DubboProtocol(serializer, 0), new TripleProtocol(codecs, http), new Http1Protocol(codecs, http));
    }
}
