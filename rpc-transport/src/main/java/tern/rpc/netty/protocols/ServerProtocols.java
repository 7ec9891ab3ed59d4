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

/** Creates all protocols of one port. */
public final class ServerProtocols {

    private ServerProtocols() {}

    /**
     * Creates the {@code dubbo} protocol; Triple, gRPC, gRPC-Web, Connect and JSON over HTTP/2; and the latter three
     * over HTTP/1.1. Exceptions are sent without stack frames.
     *
     * @param serializer for Java values over {@code dubbo} and Triple
     * @param json for calls with JSON; null to serve none
     * @param http the HTTP features besides calls with JSON and protobuf
     */
    public static List<ServerProtocol> all(Serializer serializer, @Nullable JsonFormat json, HttpSettings http) {
        TripleCodecs codecs = new TripleCodecs(serializer, json, 0);
        return List.of(
                new DubboProtocol(serializer, 0), new TripleProtocol(codecs, http), new Http1Protocol(codecs, http));
    }
}
