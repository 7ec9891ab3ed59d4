package tern.rpc.netty.peer;

import java.util.List;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.protocols.ServerProtocols;
import tern.rpc.netty.triple.Http1ClientProtocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tools.jackson.databind.json.JsonMapper;

/** All protocols with their default settings, for tests that run over each of them. */
public final class AllProtocols {

    private final HessianSerializer hessian = HessianSerializer.builder().build();
    private final JsonCodec json = new JsonCodec(JsonMapper.builder().build());
    private final TripleCodecs codecs = new TripleCodecs(hessian, json, 0);

    public List<ServerProtocol> ofServer() {
        return ServerProtocols.all(hessian, json, HttpSettings.defaults());
    }

    /** @param name {@code dubbo}, {@code tri} or {@code http} */
    public ClientProtocol ofClient(String name) {
        return switch (name) {
            case DubboProtocol.NAME -> new DubboProtocol(hessian, 0);
            case TripleClientProtocol.NAME -> new TripleClientProtocol(codecs);
            case Http1ClientProtocol.NAME -> new Http1ClientProtocol(codecs);
            default -> throw new IllegalArgumentException(name);
        };
    }
}
